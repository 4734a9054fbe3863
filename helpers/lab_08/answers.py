"""Answers to lab 08: wrong ones with the sentence they break and their hint, right ones."""

import concurrent.futures
import copy
import functools
import itertools
import math
import operator
import queue
import threading

import keras
import numpy as np
import tensorflow as tf
from keras import ops


def by_hand(kind, inputs, outputs, kernel, value_bytes):
    """What many answers to 8.1 have in common: four counts, in values."""
    x, y = math.prod(inputs), math.prod(outputs)
    if kind == "conv":
        w = math.prod(kernel)
        return [2 * y * w // kernel[3], x + w + y, 4 * y * w // kernel[3], 2 * (x + w + y)]
    return [5 * x, 3 * x, 10 * x, 5 * x] if kind == "norm" else [x, 2 * x, x, 3 * x]


def paired(counts, value_bytes):
    a, b, c, d = counts
    return {"forward": (a, b * value_bytes), "backward": (c, d * value_bytes)}


def wrong_costs(kind, change):
    """An answer to 8.1 that is wrong for one kind of layer."""

    def answer(*case):
        counts = by_hand(*case)
        return paired(change(counts, *case) if case[0] == kind else counts, case[4])

    return answer


def named(name, answer):
    answer.__name__ = name
    return answer


def start_costs(kind, inputs, outputs, kernel, value_bytes):
    values = math.prod(outputs)
    return dict.fromkeys(("forward", "backward"), (values, value_bytes * values))


def counts_no_batch(kind, inputs, outputs, kernel, value_bytes):
    inputs, outputs = (1, *inputs[1:]), (1, *outputs[1:])
    return paired(by_hand(kind, inputs, outputs, kernel, value_bytes), value_bytes)


def bytes_first(*case):
    costs = paired(by_hand(*case), case[4])
    return {way: pair[::-1] for way, pair in costs.items()}


def always_float32(*case):
    return paired(by_hand(*case), 4)


def gives_values(*case):
    return paired(by_hand(*case), 1)


def forgets_backward(*case):
    return {"forward": paired(by_hand(*case), case[4])["forward"]}


def gives_three(*case):
    costs = paired(by_hand(*case), case[4])
    return {way: (*pair, sum(pair)) for way, pair in costs.items()}


def kernel_always(kind, inputs, outputs, kernel, value_bytes):
    math.prod(kernel)
    return paired(by_hand(kind, inputs, outputs, kernel, value_bytes), value_bytes)


def conv_from_input(counts, kind, x, y, kernel, value_bytes):
    operations = 2 * math.prod(x) * math.prod(kernel[:3])
    return [operations, counts[1], 2 * operations, counts[3]]


def conv_kernel_moved_apart(counts, kind, x, y, kernel, value_bytes):
    moved = math.prod(x) + math.prod(y)
    return [counts[0], moved, counts[2], 2 * moved]


WRONG_CONV = {
    "multiplies_only": lambda c, *_: [c[0] / 2, c[1], c[2] / 2, c[3]],
    "takes_positions_of_the_input": conv_from_input,
    "takes_all_filters": lambda c, k, x, y, w, b: [c[0] * w[3], c[1], c[2] * w[3], c[3]],
    "reads_no_kernel": conv_kernel_moved_apart,
    "one_gradient": lambda c, *_: [c[0], c[1], c[0], c[1]],
    "whole_step_backward": lambda c, *_: [c[0], c[1], 3 * c[0], 3 * c[1]],
    "three_for_each_weight": lambda c, *_: [1.5 * c[0], c[1], 1.5 * c[2], c[3]],
    "reads_the_kernel_twice": lambda c, k, x, y, w, b: [
        c[0], c[1] + math.prod(w), c[2], c[3],
    ],
    "operations_twice_bytes_once": lambda c, *_: [c[0], c[1], c[2], c[1]],
}  # fmt: skip
WRONG_NORM = {
    "reads_once": lambda c, *_: [c[0], c[1] * 2 / 3, c[2], c[3] * 3 / 5],
    "reads_once_backward": lambda c, *_: [c[0], c[1], c[2], c[3] * 3 / 5],
    "same_operations": lambda c, *_: [c[0], c[1], c[0], c[3]],
}
WRONG_RELU = {
    "needs_no_output": lambda c, *_: [c[0], c[1], c[2], c[3] * 2 / 3],
    "two_for_each_value": lambda c, *_: [2 * c[0], c[1], c[2], c[3]],
    "works_in_place": lambda c, *_: [c[0], c[1] / 2, c[2], c[3]],
}
WRONG_COSTS = {
    name: named(name, wrong_costs(kind, change))
    for kind, changes in (("conv", WRONG_CONV), ("norm", WRONG_NORM), ("relu", WRONG_RELU))
    for name, change in changes.items()
}


def plain_costs(*case):
    return paired(by_hand(*case), case[4])


def with_lists(kind, inputs, outputs, kernel, value_bytes):
    a, b, c, d = by_hand(kind, inputs, outputs, kernel, value_bytes)
    return {"forward": [a, b * value_bytes], "backward": [c, d * value_bytes]}


def with_numpy(kind, inputs, outputs, kernel, value_bytes):
    x, y = np.prod(inputs), np.prod(outputs)
    if kind == "conv":
        forward = np.array([2 * y * np.prod(kernel[:-1]), x + y + np.prod(kernel)])
        both = np.stack([forward, 2 * forward])
    else:
        both = x * np.array([[5, 3], [10, 5]] if kind == "norm" else [[1, 2], [1, 3]])
    both = both * [1, value_bytes]
    return {"forward": both[0], "backward": both[1]}


def with_match(kind, inputs, outputs, kernel, value_bytes):
    n = functools.reduce(operator.mul, inputs)
    match kind:
        case "relu":
            counts = n, 2 * n, n, 3 * n
        case "norm":
            counts = 5 * n, 3 * n, 10 * n, 5 * n
        case _:
            counts = by_hand(kind, inputs, outputs, kernel, value_bytes)
    return paired(counts, value_bytes)


def with_a_table(kind, inputs, outputs, kernel, value_bytes):
    table = {"norm": ((5, 3), (10, 5)), "relu": ((1, 2), (1, 3))}
    if kind in table:
        n = math.prod(inputs)
        pairs = [(a * n, b * n * value_bytes) for a, b in table[kind]]
        return dict(zip(("forward", "backward"), pairs, strict=True))
    return plain_costs(kind, inputs, outputs, kernel, value_bytes)


def with_passes(kind, inputs, outputs, kernel, value_bytes):
    """Adds up what each pass reads and writes."""
    x, y = math.prod(inputs), math.prod(outputs)
    reads_and_writes = {
        "relu": ([x, y], [y, y, x]),
        "norm": ([x, x, y], [x, y, x, y, x]),
    }
    if kind == "conv":
        w = math.prod(kernel)
        forward, backward = [x, w, y], [x, y, w, w, y, x]
        operations = 2 * math.prod(outputs[:3]) * w, 4 * math.prod(outputs[:3]) * w
    else:
        forward, backward = reads_and_writes[kind]
        operations = (x, x) if kind == "relu" else (5 * x, 10 * x)
    moved = sum(forward) * value_bytes, sum(backward) * value_bytes
    return {"forward": (operations[0], moved[0]), "backward": (operations[1], moved[1])}


def in_floats(*case):
    costs = paired(by_hand(*case), case[4])
    return {way: tuple(map(float, pair)) for way, pair in costs.items()}


def with_unpacking(kind, inputs, outputs, kernel, value_bytes):
    n, h, w, c = outputs
    if kind != "conv":
        return plain_costs(kind, inputs, outputs, kernel, value_bytes)
    kh, kw, c_in, c_out = kernel
    operations = 2 * n * h * w * c_out * kh * kw * c_in
    values = math.prod(inputs) + n * h * w * c + kh * kw * c_in * c_out
    forward = operations, values * value_bytes
    return {"forward": forward, "backward": tuple(2 * cost for cost in forward)}


def backward_first(*case):
    a, b, c, d = by_hand(*case)
    return {"backward": (c, d * case[4]), "forward": (a, b * case[4])}


def with_bytes_helper(kind, inputs, outputs, kernel, value_bytes):
    def size(*shapes):
        return value_bytes * sum(math.prod(shape) for shape in shapes)

    a, _, c, _ = by_hand(kind, inputs, outputs, kernel, value_bytes)
    if kind == "conv":
        once = size(inputs, kernel, outputs)
        return {"forward": (a, once), "backward": (c, 2 * once)}
    reads = (3, 5) if kind == "norm" else (2, 3)
    return {
        "forward": (a, reads[0] * size(inputs)),
        "backward": (c, reads[1] * size(inputs)),
    }


def after_change(seconds, left):
    return sum(s * left.get(name, 1) for name, s in seconds.items())


def strongest(seconds, changes):
    best = min(changes, key=lambda name: min(changes[name].values()))
    return best, 1 / (1e-9 + min(changes[best].values()))


def takes_the_largest(seconds, changes):
    largest = max(seconds, key=seconds.get)
    touching = [name for name in changes if largest in changes[name]]
    best = min(
        touching, key=lambda name: after_change(seconds, changes[name]), default=None
    )
    total = sum(seconds.values())
    if best is None or after_change(seconds, changes[best]) >= total:
        return None, 1.0
    return best, total / after_change(seconds, changes[best])


def sees_only_gains(seconds, changes):
    capped = {n: {o: min(1, p) for o, p in left.items()} for n, left in changes.items()}
    return sorts_them(seconds, capped)


def saves_most_of_one_operation(seconds, changes):
    saved = {
        name: max(
            seconds.get(operation, 0) * (1 - part) for operation, part in left.items()
        )
        for name, left in changes.items()
    }
    best = max(saved, key=saved.get)
    speedup = sum(seconds.values()) / after_change(seconds, changes[best])
    return (best, speedup) if speedup > 1 else (None, 1.0)


def looks_at_one_operation(seconds, changes):
    first = {name: dict(list(left.items())[:1]) for name, left in changes.items()}
    return sorts_them(seconds, first)


def always_takes_one(seconds, changes):
    best = min(changes, key=lambda name: after_change(seconds, changes[name]))
    return best, sum(seconds.values()) / after_change(seconds, changes[best])


def takes_one_that_changes_nothing(seconds, changes):
    best = min(changes, key=lambda name: after_change(seconds, changes[name]))
    speedup = sum(seconds.values()) / after_change(seconds, changes[best])
    return (best, speedup) if speedup >= 1 else (None, 1.0)


def says_seconds(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, sum(seconds.values()) * (1 - 1 / ratio)


def says_what_is_left(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, 1 / ratio


def says_percent(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, 100 * (1 - 1 / ratio)


def forgets_the_rest(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    mine = {o: s for o, s in seconds.items() if name and o in changes[name]}
    return name, sum(mine.values()) / after_change(mine, changes[name]) if name else ratio


def squares_it(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, ratio**2


def counts_what_is_not_there(seconds, changes):
    after = {
        name: after_change(seconds, left)
        + sum(part for operation, part in left.items() if operation not in seconds)
        for name, left in changes.items()
    }
    best, before = min(after, key=after.get), sum(seconds.values())
    return (best, before / after[best]) if after[best] < before else (None, 1.0)


def takes_zero_for_unnamed(seconds, changes):
    seen = {
        name: {operation: part or 1 for operation, part in left.items()}
        for name, left in changes.items()
    }
    return sorts_them(seconds, seen)


def leaves_out_little_gains(seconds, changes):
    best, times = sorts_them(seconds, changes)
    return (best, times) if times > 1.1 else (None, 1.0)


def wants_every_operation(seconds, changes):
    total = sum(seconds.values())
    after = {
        name: total - sum(seconds[o] * (1 - p) for o, p in left.items())
        for name, left in changes.items()
    }
    best = min(after, key=after.get)
    return best, total / after[best]


def takes_the_worst(seconds, changes):
    worst = max(changes, key=lambda name: after_change(seconds, changes[name]))
    return worst, sum(seconds.values()) / after_change(seconds, changes[worst])


def empties_the_profile(seconds, changes):
    found = sorts_them(seconds, changes)
    seconds.clear()
    return found


def sorts_them(seconds, changes):
    total = sum(seconds.values())
    after = sorted((after_change(seconds, left), name) for name, left in changes.items())
    shortest, name = after[0]
    return (name, total / shortest) if shortest < total else (None, 1.0)


def with_saved_time(seconds, changes):
    saved = {
        name: sum(seconds.get(o, 0) * (1 - p) for o, p in left.items())
        for name, left in changes.items()
    }
    best = max(saved, key=saved.get)
    total = sum(seconds.values())
    return (best, total / (total - saved[best])) if saved[best] > 0 else (None, 1.0)


def with_a_loop(seconds, changes):
    best, speedup = None, 1.0
    before = sum(seconds.values())
    for name in changes:
        after = 0.0
        for operation, s in seconds.items():
            if operation in changes[name]:
                s = s * changes[name][operation]
            after += s
        if before / after > speedup:
            best, speedup = name, before / after
    return best, speedup


def with_shares(seconds, changes):
    total = math.fsum(seconds.values())
    shares = {name: s / total for name, s in seconds.items()}
    speedups = {None: 1.0} | {n: 1 / after_change(shares, c) for n, c in changes.items()}
    best = max(speedups, key=speedups.get)
    return [best, speedups[best]]


def with_the_same_change(seconds, changes):
    choices = {None: {}} | changes
    best = min(choices, key=lambda name: after_change(seconds, choices[name]))
    return best, after_change(seconds, {}) / after_change(seconds, choices[best])


def with_arrays(seconds, changes):
    s = np.array(list(seconds.values()))
    left = np.array([[c.get(o, 1.0) for o in seconds] for c in changes.values()])
    after = left @ s
    i = int(after.argmin())
    return (
        (list(changes)[i], float(s.sum() / after[i])) if after[i] < s.sum() else (None, 1)
    )


def with_copies(seconds, changes):
    results = []
    for name, left in changes.items():
        new = copy.deepcopy(seconds)
        for operation in new.keys() & left.keys():
            new[operation] *= left[operation]
        results.append((sum(seconds.values()) / sum(new.values()), name))
    ratio, name = max(results)
    return (name, ratio) if ratio > 1 else (None, 1.0)


def with_amdahl(seconds, changes):
    """1 / (1 - p + p / s), with p the share and s the factor of what changes."""
    total, best = sum(seconds.values()), (None, 1.0)
    for name, left in changes.items():
        mine = [o for o in left if o in seconds]
        p = sum(seconds[o] for o in mine) / total
        rest = sum(seconds[o] * left[o] for o in mine) / total
        ratio = 1 / (1 - p + rest)
        if ratio > best[1]:
            best = name, ratio
    return best


def with_reduce(seconds, changes):
    total = sum(seconds.values())

    def better(best, name):
        ratio = total / after_change(seconds, changes[name])
        return (name, ratio) if ratio > best[1] else best

    return functools.reduce(better, changes, (None, 1.0))


def with_filter(seconds, changes):
    total = sum(seconds.values())
    gains = {n: total / after_change(seconds, c) for n, c in changes.items()}
    faster = {n: gain for n, gain in gains.items() if gain > 1}
    if not faster:
        return None, 1.0
    best = max(faster, key=faster.get)
    return best, faster[best]


def one_image_at_a_time(fetch, images, batch_size):
    for first in range(0, images, batch_size):
        numbers = range(first, min(first + batch_size, images))
        yield np.concatenate([fetch(np.array([number])) for number in numbers])


def with_data(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images).batch(batch_size)
    return numbers.map(lambda i: tf.numpy_function(fetch, [i], tf.float32))


def batch_by_batch(fetch, images, batch_size):
    for first in range(0, images, batch_size):
        yield fetch(np.arange(first, min(first + batch_size, images)))


def nothing_ahead(fetch, images, batch_size):
    """TensorFlow would add a prefetch by itself."""
    options = tf.data.Options()
    options.autotune.enabled = False
    return with_data(fetch, images, batch_size).with_options(options)


def image_by_image_ahead(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images)
    rows = numbers.map(lambda i: tf.numpy_function(fetch, [i[None]], tf.float32)[0])
    return rows.batch(batch_size).prefetch(2)


def one_ahead_in_the_same_thread(fetch, images, batch_size):
    waiting = None
    for first in range(0, images, batch_size):
        batch = fetch(np.arange(first, min(first + batch_size, images)))
        if waiting is not None:
            yield waiting
        waiting = batch
    yield waiting


def everything_first(fetch, images, batch_size):
    """It overlaps, but holds all of it."""
    return with_data(fetch, images, batch_size).prefetch(1000)


def all_in_a_pool(fetch, images, batch_size):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        parts = (
            range(n, min(n + batch_size, images)) for n in range(0, images, batch_size)
        )
        yield from pool.map(lambda part: fetch(np.array(part)), parts)


def without_the_rest(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images).batch(batch_size, drop_remainder=True)
    return numbers.map(lambda i: tf.numpy_function(fetch, [i], tf.float32)).prefetch(2)


def half_batches(fetch, images, batch_size):
    return prefetched(fetch, images, max(1, batch_size // 2))


def shuffled(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images).shuffle(images, seed=1).batch(batch_size)
    return numbers.map(lambda i: tf.numpy_function(fetch, [i], tf.float32)).prefetch(2)


def backwards(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images - 1, -1, -1).batch(batch_size)
    return numbers.map(lambda i: tf.numpy_function(fetch, [i], tf.float32)).prefetch(2)


def the_wrong_type(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images).batch(batch_size)
    return numbers.map(lambda i: tf.numpy_function(fetch, [i], tf.uint8)).prefetch(2)


def whichever_is_ready(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images).batch(batch_size)
    return numbers.map(
        lambda i: tf.numpy_function(fetch, [i], tf.float32),
        num_parallel_calls=3,
        deterministic=False,
    ).prefetch(1)


def as_float64(fetch, images, batch_size):
    for batch in prefetched(fetch, images, batch_size):
        yield np.asarray(batch, float)


def as_rows(fetch, images, batch_size):
    for batch in prefetched(fetch, images, batch_size):
        yield list(batch.numpy())


def by_float_numbers(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images, output_type=tf.float32).batch(batch_size)
    return numbers.map(lambda i: tf.numpy_function(fetch, [i], tf.float32)).prefetch(2)


def one_empty_batch(fetch, images, batch_size):
    """Where nothing is left over."""
    parts = np.split(np.arange(images), range(batch_size, images + 1, batch_size))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        coming = pool.submit(fetch, parts[0])
        for part in parts[1:]:
            batch, coming = coming.result(), pool.submit(fetch, part)
            yield batch
        yield coming.result()


def one_number_too_many(fetch, images, batch_size):
    return prefetched(fetch, images + 1, batch_size)


def gives_the_numbers(fetch, images, batch_size):
    return tf.data.Dataset.range(images).batch(batch_size).prefetch(2)


def prefetched(fetch, images, batch_size):
    return with_data(fetch, images, batch_size).prefetch(1)


def by_autotune(fetch, images, batch_size):
    return with_data(fetch, images, batch_size).prefetch(tf.data.AUTOTUNE)


def in_parallel(fetch, images, batch_size):
    numbers = tf.data.Dataset.range(images).batch(batch_size)
    return numbers.map(
        lambda i: tf.numpy_function(fetch, [i], tf.float32), num_parallel_calls=2
    ).prefetch(1)


def by_py_function(fetch, images, batch_size):
    data = tf.data.Dataset.range(images).batch(batch_size)
    data = data.map(lambda i: tf.py_function(lambda n: fetch(n.numpy()), [i], tf.float32))
    return data.prefetch(3)


def from_a_generator(fetch, images, batch_size):
    def fetched():
        for first in range(0, images, batch_size):
            yield fetch(np.arange(first, min(first + batch_size, images)))

    kind = tf.TensorSpec((None, 2), tf.float32)
    return tf.data.Dataset.from_generator(fetched, output_signature=kind).prefetch(2)


def with_a_future(fetch, images, batch_size):
    parts = [np.arange(images)[n : n + batch_size] for n in range(0, images, batch_size)]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        coming = pool.submit(fetch, parts[0])
        for part in parts[1:]:
            batch, coming = coming.result(), pool.submit(fetch, part)
            yield batch
        yield coming.result()


def with_a_queue(fetch, images, batch_size):
    waiting = queue.Queue(maxsize=2)

    def work():
        for first in range(0, images, batch_size):
            waiting.put(fetch(np.arange(first, min(first + batch_size, images))))
        waiting.put(None)

    threading.Thread(target=work, daemon=True).start()
    while (batch := waiting.get()) is not None:
        yield batch


def with_a_thread_each(fetch, images, batch_size):
    def begin(first, into):
        part = np.arange(first, min(first + batch_size, images))
        thread = threading.Thread(target=lambda: into.append(fetch(part)))
        thread.start()
        return thread

    into = []
    thread = begin(0, into)
    for first in range(batch_size, images + batch_size, batch_size):
        thread.join()
        batch, into = into[0], []
        if first < images:
            thread = begin(first, into)
        yield batch


def with_several_futures(fetch, images, batch_size):
    parts = iter(np.split(np.arange(images), range(batch_size, images, batch_size)))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        coming = [pool.submit(fetch, part) for part in itertools.islice(parts, 3)]
        while coming:
            batch = coming.pop(0).result()
            coming += [pool.submit(fetch, part) for part in itertools.islice(parts, 1)]
            yield batch


def as_numpy(fetch, images, batch_size):
    return prefetched(fetch, images, batch_size).as_numpy_iterator()


def from_slices(fetch, images, batch_size):
    data = tf.data.Dataset.from_tensor_slices(np.arange(images)).batch(batch_size)
    return data.map(
        lambda i: tf.ensure_shape(tf.numpy_function(fetch, [i], tf.float32), (None, 2)),
        num_parallel_calls=tf.data.AUTOTUNE,
    ).prefetch(2)


class Scaler:
    """What most answers to 8.4 have in common; each wrong one changes one thing."""

    asks_at = staticmethod(lambda scale: scale)
    back = 0.5
    kept_count = staticmethod(lambda good: 0)
    after_double = 0
    growth = 0
    doubles = True

    def gradients(self, gradients_at, weights, scale):
        asked = self.asks_at(scale)
        return [g.astype("float32") / asked for g in gradients_at(weights, asked)]

    def finite(self, gradients):
        return all(np.isfinite(g).all() for g in gradients)

    def skipped(self, weights, gradients, rate):
        return weights

    def kept(self, weights):
        return weights

    def __call__(self, weights, gradients_at, learning_rate, state, growth_steps):
        scale, good = state["scale"], state["good_steps"]
        gradients = self.gradients(gradients_at, weights, scale)
        if not self.finite(gradients):
            new = self.skipped(weights, gradients, learning_rate)
            return new, {"scale": scale * self.back, "good_steps": self.kept_count(good)}
        pairs = zip(weights, gradients, strict=True)
        new = self.kept([w - learning_rate * g for w, g in pairs])
        good += 1
        if good >= growth_steps + self.growth and self.doubles:
            scale, good = 2 * scale, good * self.after_double
        return new, {"scale": scale, "good_steps": good}


def scaler(name, **changes):
    made = type(name, (Scaler,), changes)()
    made.__name__ = name
    return made


def start_step(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = gradients_at(weights, 1.0)
    pairs = zip(weights, gradients, strict=True)
    return [w - learning_rate * g.astype("float32") for w, g in pairs], dict(state)


def moves_anyway(weights, gradients, rate):
    return [w - rate * g for w, g in zip(weights, gradients, strict=True)]


def asks_twice(weights, gradients_at, learning_rate, state, growth_steps):
    gradients_at(weights, state["scale"])
    return plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)


def changes_the_state(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    state.update(after)
    return new, state


def changes_the_weights(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    for old, changed in zip(weights, new, strict=True):
        old[...] = changed
    return weights, after


def gives_weights_only(weights, gradients_at, learning_rate, state, growth_steps):
    return plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)[0][:1]


def asks_in_half_precision(weights, gradients_at, learning_rate, state, growth_steps):
    def asked(weights, scale):
        return gradients_at([w.astype("float16") for w in weights], scale)

    return by_copy(weights, asked, learning_rate, state, growth_steps)


def gives_tensors(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = by_copy(weights, gradients_at, learning_rate, state, growth_steps)
    return [tf.constant(w) for w in new], after


def adds_up_in_half(weights, gradients_at, learning_rate, state, growth_steps):
    """The sum of large gradients is infinite in float16."""

    def asked(weights, scale):
        gradients = gradients_at(weights, scale)
        fine = all(np.isfinite(g.sum()) for g in gradients)
        return gradients if fine else [np.full_like(g, np.inf) for g in gradients]

    return by_copy(weights, asked, learning_rate, state, growth_steps)


def caps_the_scale(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    return new, after | {"scale": min(after["scale"], 2.0**16)}


def at_least_one(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    return new, after | {"scale": max(after["scale"], 1.0)}


plain_scaler = scaler("plain_scaler")
WRONG_SCALERS = [
    ("scaled", "never_scaled", scaler("never_scales", asks_at=staticmethod(lambda s: 1.0))),
    ("scaled", "scaled", scaler("asks_at_twice", asks_at=staticmethod(lambda s: 2 * s))),
    ("unscaled", "not_unscaled", scaler("keeps_it_scaled",
        gradients=lambda s, f, w, scale: [g.astype("float32") for g in f(w, scale)])),
    ("unscaled", "weights", scaler("divides_twice", gradients=lambda s, f, w, scale: [
        g.astype("float32") / scale / scale for g in f(w, scale)])),
    ("float32", "unscaled_in_half", scaler("divides_in_half",
        gradients=lambda s, f, w, scale: [
            (g / np.float16(scale)).astype("float32") for g in f(w, scale)])),
    ("weights", "half_weights", scaler("weights_in_half", kept=lambda s, new: [
        w.astype("float16").astype("float32") for w in new])),
    ("skip", "updated_anyway", scaler("moves_anyway",
        skipped=lambda s, w, g, rate: moves_anyway(w, g, rate))),
    ("skip", "zeroed", scaler("moves_the_others",
        skipped=lambda s, w, g, rate: moves_anyway(
            w, [np.where(np.isfinite(one), one, 0) for one in g], rate))),
    ("skip", "first_only", scaler("looks_at_the_first",
        finite=lambda s, g: np.isfinite(g[0]).all())),
    ("both", "only_inf", scaler("knows_infinity",
        finite=lambda s, g: not any(np.isinf(one).any() for one in g))),
    ("both", "only_nan", scaler("knows_nan",
        finite=lambda s, g: not any(np.isnan(one).any() for one in g))),
    ("halve", "not_halved", scaler("keeps_the_scale", back=1.0)),
    ("halve", "state", scaler("quarters", back=0.25)),
    ("halve", "count_kept", scaler("keeps_the_count",
        kept_count=staticmethod(lambda n: n))),
    ("count", "state", scaler("counts_bad_ones",
        kept_count=staticmethod(lambda n: n + 1))),
    ("double", "count_after", scaler("counts_on", after_double=1)),
    ("double", "never_doubled", scaler("never_doubles", doubles=False)),
    ("double", "late", scaler("doubles_late", growth=1)),
    ("double", "early", scaler("doubles_early", growth=-1)),
    ("weights", "type", scaler("divides_in_double",
        gradients=lambda s, f, w, scale: [
            g.astype("float64") / scale for g in f(w, scale)])),
    ("skip", "state", scaler("takes_the_large_for_infinite",
        finite=lambda s, g: max(np.abs(one).max() for one in g) < 15)),
    ("double", "state", caps_the_scale),
    ("halve", "state", at_least_one),
    ("once", "once", asks_twice),
    ("at", "at", asks_in_half_precision),
    ("weights", "type", gives_tensors),
    ("skip", "state", adds_up_in_half),
    ("unchanged", "changed", changes_the_state),
    ("unchanged", "changed", changes_the_weights),
]  # fmt: skip


def scale_first(weights, gradients_at, learning_rate, state, growth_steps):
    scale = state["scale"]
    scaled = gradients_at(weights, scale)
    if any(not np.all(np.isfinite(g)) for g in scaled):
        return weights, {"scale": scale / 2, "good_steps": 0}
    step = learning_rate / scale
    new = [
        w - step * np.asarray(g, "float32") for w, g in zip(weights, scaled, strict=True)
    ]
    count = (state["good_steps"] + 1) % growth_steps
    return new, {"scale": scale if count else 2 * scale, "good_steps": count}


def by_concatenation(weights, gradients_at, learning_rate, state, growth_steps):
    scale = state["scale"]
    gradients = [np.float32(g) / np.float32(scale) for g in gradients_at(weights, scale)]
    if not np.isfinite(np.concatenate([g.ravel() for g in gradients])).all():
        return [w.copy() for w in weights], {"scale": scale * 0.5, "good_steps": 0}
    new = list(map(lambda w, g: w - learning_rate * g, weights, gradients))
    good = state["good_steps"] + 1
    if good < growth_steps:
        return new, {"scale": scale, "good_steps": good}
    return new, {"scale": scale * 2, "good_steps": 0}


def by_sum(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = [g.astype(float) for g in gradients_at(weights, state["scale"])]
    if not math.isfinite(sum(float(np.abs(g).sum()) for g in gradients)):
        return weights, {"scale": state["scale"] / 2, "good_steps": 0}
    new = []
    for w, g in zip(weights, gradients, strict=True):
        new.append((w - learning_rate * g / state["scale"]).astype("float32"))
    after = dict(state, good_steps=state["good_steps"] + 1)
    if after["good_steps"] == growth_steps:
        after = {"scale": 2 * state["scale"], "good_steps": 0}
    return new, after


def by_tensors(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = [tf.cast(g, "float32") for g in gradients_at(weights, state["scale"])]
    fine = all(bool(tf.reduce_all(tf.math.is_finite(g))) for g in gradients)
    new = dict(state)
    if not fine:
        return weights, {"scale": state["scale"] / 2.0, "good_steps": 0}
    new["good_steps"] += 1
    if new["good_steps"] == growth_steps:
        new = {"scale": state["scale"] * 2.0, "good_steps": 0}
    pairs = zip(weights, gradients, strict=True)
    return [(w - learning_rate * g / state["scale"]).numpy() for w, g in pairs], new


def by_copy(weights, gradients_at, learning_rate, state, growth_steps):
    state, weights = copy.deepcopy(state), [w.copy() for w in weights]
    gradients = gradients_at(weights, state["scale"])
    if min(np.isfinite(g).min() for g in gradients):
        for w, g in zip(weights, gradients, strict=True):
            w -= learning_rate * g.astype("float32") / state["scale"]
        state["good_steps"] += 1
        if state["good_steps"] == growth_steps:
            state["scale"] *= 2
            state["good_steps"] = 0
    else:
        state["scale"] /= 2
        state["good_steps"] = 0
    return weights, state


def by_exception(weights, gradients_at, learning_rate, state, growth_steps):
    scale, good = state["scale"], state["good_steps"]
    try:
        gradients = [
            np.asarray_chkfinite(g).astype("float32") / scale
            for g in gradients_at(weights, scale)
        ]
    except ValueError:
        return weights, {"scale": scale / 2, "good_steps": 0}
    doubles = good + 1 == growth_steps
    return (
        [w - learning_rate * g for w, g in zip(weights, gradients, strict=True)],
        {"scale": scale * (2 if doubles else 1), "good_steps": 0 if doubles else good + 1},
    )


def by_largest(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = [
        np.array(g, dtype=np.float64) for g in gradients_at(weights, state["scale"])
    ]
    if not max(np.abs(g).max() for g in gradients) < np.inf or any(
        np.isnan(g).any() for g in gradients
    ):
        return weights, {"scale": state["scale"] / 2, "good_steps": 0}
    good = state["good_steps"] + 1
    new = [
        np.float32(w - learning_rate / state["scale"] * g)
        for w, g in zip(weights, gradients, strict=True)
    ]
    full = good == growth_steps
    return new, {"scale": state["scale"] * 2**full, "good_steps": good * (not full)}


def by_divmod(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = gradients_at(weights, state["scale"])
    if not all(map(np.all, map(np.isfinite, gradients))):
        return weights, {"scale": state["scale"] / 2, "good_steps": 0}
    full, good = divmod(state["good_steps"] + 1, growth_steps)
    gradients = [g.astype("float32") / state["scale"] for g in gradients]
    new = [w - learning_rate * g for w, g in zip(weights, gradients, strict=True)]
    return tuple(new), {"scale": state["scale"] * 2**full, "good_steps": good}


def by_nested_functions(weights, gradients_at, learning_rate, state, growth_steps):
    scale = state["scale"]

    def bad(g):
        return np.isnan(g).any() or np.isinf(g).any()

    def moved(w, g):
        return w - np.float32(learning_rate) * (g.astype(np.float32) / np.float32(scale))

    gradients = gradients_at(weights, scale)
    if sum(bad(g) for g in gradients):
        return list(weights), {"good_steps": 0, "scale": scale / 2}
    good = state["good_steps"] + 1
    new = [moved(*pair) for pair in zip(weights, gradients, strict=True)]
    if good == growth_steps:
        return new, {"good_steps": 0, "scale": scale * 2}
    return new, {"good_steps": good, "scale": scale}


class Cycle(keras.optimizers.schedules.LearningRateSchedule):
    """What most answers to 8.5 have in common."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        self.peak, self.steps, self.warm_up, self.last = peak, steps, warm_up, last

    def parts(self, step):
        """Up from 0, down to `last`, in parts of the peak."""
        part = ops.minimum(ops.cast(step, "float32") / self.steps, 1.0)
        down = (part - self.warm_up) / (1 - self.warm_up)
        return part / self.warm_up, 1 - (1 - self.last) * down

    def __call__(self, step):
        return self.peak * ops.minimum(*self.parts(step))

    def get_config(self):
        names = ("peak", "steps", "warm_up", "last")
        return {name: getattr(self, name) for name in names}


class ConstantRate(Cycle):
    def __call__(self, step):
        return self.peak


class IgnoresItsParts(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps)


class EndsAtARate(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps, warm_up, last / peak)

    def get_config(self):
        return super().get_config() | {"last": self.last * self.peak}


class FallsToZero(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps, warm_up, 0.0)


class CountsFromOne(Cycle):
    def __call__(self, step):
        return super().__call__(step + 1)


class StartsAtThePeak(Cycle):
    def __call__(self, step):
        return self.peak * ops.minimum(1.0, self.parts(step)[1])


class RisesFromLast(Cycle):
    def __call__(self, step):
        up, down = self.parts(step)
        return self.peak * ops.minimum(self.last + (1 - self.last) * up, down)


class NeverFalls(Cycle):
    def __call__(self, step):
        return self.peak * ops.minimum(1.0, self.parts(step)[0])


class FallsForEver(Cycle):
    def parts(self, step):
        part = ops.cast(step, "float32") / self.steps
        down = (part - self.warm_up) / (1 - self.warm_up)
        return part / self.warm_up, 1 - (1 - self.last) * down


class EndsAtZeroLater(Cycle):
    def __call__(self, step):
        return super().__call__(step) * ops.where(step > 10 * self.steps, 0.0, 1.0)


class FallsFromTheStart(Cycle):
    def __call__(self, step):
        up, _ = self.parts(step)
        part = ops.minimum(ops.cast(step, "float32") / self.steps, 1.0)
        down = 1 - (1 - self.last) * part
        return self.peak * ops.where(up <= 1, up, down)


class FallsAsACosine(Cycle):
    def __call__(self, step):
        up, down = self.parts(step)
        part = (1 - down) / (1 - self.last)
        bent = 1 - (1 - self.last) * (1 - ops.cos(math.pi * part)) / 2
        return self.peak * ops.where(up <= 1, up, bent)


class FallsAsASquare(Cycle):
    def __call__(self, step):
        up, down = self.parts(step)
        part = (1 - down) / (1 - self.last)
        return self.peak * ops.where(up <= 1, up, 1 - (1 - self.last) * part**2)


class HasOtherParts(Cycle):
    def __init__(self, peak, steps, warm_up=0.3, last=0.02):
        super().__init__(peak, steps, warm_up, last)


class PlainCycle:
    """Not a schedule of Keras."""

    def __init__(self, *arguments):
        self.made = Cycle(*arguments)

    def __call__(self, step):
        return self.made(step)

    def get_config(self):
        return self.made.get_config()

    @classmethod
    def from_config(cls, config):
        return cls(*config.values())


class ForgetsTheWarmUp(Cycle):
    def get_config(self):
        return {"peak": self.peak, "steps": self.steps, "last": self.last}


class HasNoConfig(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, *arguments):
        self.made = Cycle(*arguments)

    def __call__(self, step):
        return self.made(step)


class KeepsTensors(Cycle):
    """Its settings cannot be stored."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(tf.constant(peak), tf.constant(float(steps)), warm_up, last)


class WantsATensor(Cycle):
    def __call__(self, step):
        return super().__call__(step + tf.zeros((), step.dtype))


class DividesWholeNumbers(Cycle):
    def __call__(self, step):
        return self.peak * step / self.steps


class WithWhere(Cycle):
    def __call__(self, step):
        step = ops.cast(step, "float32")
        top = self.warm_up * self.steps
        end = self.last * self.peak
        slope = (end - self.peak) / (self.steps - top)
        after = ops.maximum(self.peak + slope * (step - top), end)
        return ops.where(step < top, self.peak * step / top, after)


class WithCond(Cycle):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        up, down = self.parts(step)
        return self.peak * tf.cond(up < 1, lambda: up, lambda: down)


class WithClip(Cycle):
    def __call__(self, step):
        top = self.warm_up * self.steps
        part = ops.clip((ops.cast(step, "float32") - top) / (self.steps - top), 0, 1)
        up = ops.clip(ops.cast(step, "float32") / top, 0, 1)
        return self.peak * up * (1 - (1 - self.last) * part)


class WithInterpolation(Cycle):
    """Weights of three corners: 0, the peak, the end."""

    def __call__(self, step):
        x = ops.minimum(ops.cast(step, "float64") / self.steps, 1.0)
        left = ops.clip(x / self.warm_up, 0, 1)
        right = ops.clip((x - self.warm_up) / (1 - self.warm_up), 0, 1)
        return self.peak * (left - right) + self.last * self.peak * right


class WithPolynomialDecay(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps, warm_up, last)
        top = warm_up * steps
        schedules = keras.optimizers.schedules
        self.up = schedules.PolynomialDecay(0.0, top, peak)
        self.down = schedules.PolynomialDecay(peak, steps - top, last * peak)

    def __call__(self, step):
        step = ops.cast(step, "float32")
        top = self.warm_up * self.steps
        after = self.down(ops.maximum(step - top, 0.0))
        return ops.where(step < top, self.up(step), after)


class WithOtherNames(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, a, b, c=0.25, d=0.02):
        self.config = {"a": a, "b": b, "c": c, "d": d}

    def __call__(self, step):
        a, b, c, d = self.config.values()
        n = tf.cast(tf.minimum(tf.cast(step, tf.int64), b), tf.float32)
        return a * tf.minimum(n / (c * b), (b - n) / (b - c * b) * (1 - d) + d)

    def get_config(self):
        return self.config


class WithKeywords(Cycle):
    def __init__(self, *arguments, **names):
        given = dict(zip(("peak", "steps", "warm_up", "last"), arguments, strict=False))
        for name, value in ({"warm_up": 0.25, "last": 0.02} | given | names).items():
            setattr(self, name, value)

    def get_config(self):
        return vars(self)


class WithHeights(Cycle):
    """Heights over the end, and over zero."""

    def __call__(self, step):
        left = 1 - ops.cast(step, "float32") / self.steps
        fall = ops.relu(left) / (1 - self.warm_up) * (1 - self.last) + self.last
        rise = (1 - left) / self.warm_up
        return ops.minimum(rise * self.peak, fall * self.peak)


class WithMinimumOfThree(Cycle):
    def __call__(self, step):
        step = ops.cast(step, "float32")
        top = self.warm_up * self.steps
        up = self.peak * step / top
        fall = self.peak * (1 - (1 - self.last) * (step - top) / (self.steps - top))
        return ops.minimum(up, ops.maximum(fall, self.peak * self.last))


def made_by_a_function(peak, steps, warm_up=0.25, last=0.02):
    return WithWhere(peak, steps, warm_up=warm_up, last=last)


WRONG = {
    "8.1": [
        ("conv_operations", "start", start_costs),
        ("conv_operations", "multiply_only", WRONG_COSTS["multiplies_only"]),
        ("conv_operations", "input_positions", WRONG_COSTS["takes_positions_of_the_input"]),
        ("conv_operations", "per_weight", WRONG_COSTS["takes_all_filters"]),
        ("conv_operations", "conv_operations", WRONG_COSTS["three_for_each_weight"]),
        ("conv_operations", "no_batch", counts_no_batch),
        ("conv_bytes", "no_kernel", WRONG_COSTS["reads_no_kernel"]),
        ("conv_bytes", "conv_bytes", WRONG_COSTS["reads_the_kernel_twice"]),
        ("conv_backward", "conv_once", WRONG_COSTS["one_gradient"]),
        ("conv_backward", "conv_three", WRONG_COSTS["whole_step_backward"]),
        ("conv_backward", "conv_backward", WRONG_COSTS["operations_twice_bytes_once"]),
        ("norm_operations", "norm_other", WRONG_COSTS["same_operations"]),
        ("norm_forward", "norm_one_pass", WRONG_COSTS["reads_once"]),
        ("norm_backward", "norm_backward", WRONG_COSTS["reads_once_backward"]),
        ("relu_operations", "relu_other", WRONG_COSTS["two_for_each_value"]),
        ("relu_forward", "relu_other", WRONG_COSTS["works_in_place"]),
        ("relu_backward", "relu_backward", WRONG_COSTS["needs_no_output"]),
        ("value_bytes", "always_four", always_float32),
        ("value_bytes", "values", gives_values),
        ("pairs", "swapped", bytes_first),
        ("pairs", "form", gives_three),
        ("pairs", "raised", forgets_backward),
        ("norm_operations", "raised", kernel_always),
    ],
    "8.2": [
        ("whole_step", "start", strongest),
        ("whole_step", "largest_operation", takes_the_largest),
        ("whole_step", "one_saving", saves_most_of_one_operation),
        ("whole_step", "other", takes_the_worst),
        ("several", "first_operation", looks_at_one_operation),
        ("missing", "raised", wants_every_operation),
        ("missing", "other", counts_what_is_not_there),
        ("whole_step", "speedup", takes_zero_for_unnamed),
        ("none", "other", leaves_out_little_gains),
        ("slower", "only_gains", sees_only_gains),
        ("none", "always", always_takes_one),
        ("none", "equal", takes_one_that_changes_nothing),
        ("speedup", "saved", says_seconds),
        ("speedup", "inverted", says_what_is_left),
        ("speedup", "percent", says_percent),
        ("speedup", "touched", forgets_the_rest),
        ("speedup", "speedup", squares_it),
        ("unchanged", "changed", empties_the_profile),
    ],
    "8.3": [
        ("one_fetch", "start", one_image_at_a_time),
        ("one_fetch", "one_by_one", image_by_image_ahead),
        ("overlap", "no_overlap", batch_by_batch),
        ("overlap", "no_overlap", nothing_ahead),
        ("overlap", "no_overlap", one_ahead_in_the_same_thread),
        ("ahead", "too_far", everything_first),
        ("ahead", "too_far", all_in_a_pool),
        ("rest", "rest", without_the_rest),
        ("sizes", "sizes", half_batches),
        ("order", "order", backwards),
        ("order", "order", shuffled),
        ("sizes", "other", gives_the_numbers),
        ("order", "order", whichever_is_ready),
        ("type", "type", as_float64),
        ("type", "type", as_rows),
        ("numbers", "numbers", by_float_numbers),
        ("rest", "sizes", one_empty_batch),
        ("rest", "other", one_number_too_many),
        ("one_fetch", "raised", the_wrong_type),
    ],
    "8.4": [
        ("scaled", "start", start_step),
        *WRONG_SCALERS,
        ("unchanged", "raised", gives_weights_only),
    ],
    "8.5": [
        ("from_zero", "start", ConstantRate),
        ("from_zero", "one_early", CountsFromOne),
        ("from_zero", "from_last", RisesFromLast),
        ("up", "no_warm_up", StartsAtThePeak),
        ("up", "fixed", IgnoresItsParts),
        ("down", "never_down", NeverFalls),
        ("down", "whole_way", FallsFromTheStart),
        ("down", "cosine", FallsAsACosine),
        ("down", "other", FallsAsASquare),
        ("end", "absolute_end", EndsAtARate),
        ("end", "to_zero", FallsToZero),
        ("stays", "goes_on", FallsForEver),
        ("stays", "other", EndsAtZeroLater),
        ("usual", "other", HasOtherParts),
        ("schedule", "no_schedule", PlainCycle),
        ("config", "config", ForgetsTheWarmUp),
        ("config", "raised", HasNoConfig),
        ("up", "raised", DividesWholeNumbers),
        ("config", "config", KeepsTensors),
        ("plain", "raised", WantsATensor),
    ],
}
RIGHT = {
    "8.1": [
        plain_costs, with_lists, with_numpy, with_match, with_a_table, with_passes,
        in_floats, with_unpacking, backward_first, with_bytes_helper,
    ],
    "8.2": [
        sorts_them, with_saved_time, with_a_loop, with_shares, with_the_same_change,
        with_arrays, with_copies, with_amdahl, with_reduce, with_filter,
    ],
    "8.3": [
        with_data, prefetched, by_autotune, in_parallel, by_py_function, from_a_generator,
        with_a_future,
        with_a_queue, with_a_thread_each, with_several_futures, as_numpy, from_slices,
    ],
    "8.4": [
        plain_scaler, scale_first, by_concatenation, by_sum, by_tensors, by_copy,
        by_exception, by_largest, by_divmod, by_nested_functions,
    ],
    "8.5": [
        Cycle, WithWhere, WithCond, WithClip, WithInterpolation, WithPolynomialDecay,
        WithOtherNames, WithKeywords, WithHeights, WithMinimumOfThree, made_by_a_function,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right, each with the reason.
RIGHT_MUTANTS = {
    "8.1": {
        "3: x, y = (math.prod(inputs), math.prod(outputs)) → y, x = "
        "(math.prod(inputs), math.prod(outputs))": (
            "a convolution adds them, elsewhere both are equal"
        ),
        "3: x, y = (math.prod(inputs), math.prod(outputs)) → x, y = "
        "(math.prod(outputs), math.prod(inputs))": (
            "a convolution adds them, elsewhere both are equal"
        ),
        "5: operations = 2 * math.prod(kernel) * math.prod(outputs[:3]); values "
        "= x + math.prod(kernel) + y → values = x + math.prod(kernel) + y; "
        "operations = 2 * math.prod(kernel) * math.prod(outputs[:3])": (
            "the order is free"
        ),
        "5: operations = 2 * math.prod(kernel) * math.prod(outputs[:3]) → "
        "operations = math.prod(outputs[:3]) * (2 * math.prod(kernel))": (
            "a product or a sum the other way round"
        ),
        "5: operations = 2 * math.prod(kernel) * math.prod(outputs[:3]) → "
        "operations = math.prod(kernel) * 2 * math.prod(outputs[:3])": (
            "a product or a sum the other way round"
        ),
        "6: values = x + math.prod(kernel) + y → values = y + (x + math.prod(kernel))": (
            "a product or a sum the other way round"
        ),
        "6: values = x + math.prod(kernel) + y → values = math.prod(kernel) + x + y": (
            "a product or a sum the other way round"
        ),
        "7: counts = (operations, values, 2 * operations, 2 * values) → counts = "
        "(operations, values, operations * 2, 2 * values)": (
            "a product or a sum the other way round"
        ),
        "7: counts = (operations, values, 2 * operations, 2 * values) → counts = "
        "(operations, values, 2 * operations, values * 2)": (
            "a product or a sum the other way round"
        ),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (x * 5, 3 * x, 10 "
        "* x, 5 * x)": ("a product or a sum the other way round"),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (5 * y, 3 * x, 10 "
        "* x, 5 * x)": ("input and output have equal shapes"),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (5 * x, x * 3, 10 "
        "* x, 5 * x)": ("a product or a sum the other way round"),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (5 * x, 3 * y, 10 "
        "* x, 5 * x)": ("input and output have equal shapes"),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (5 * x, 3 * x, x * "
        "10, 5 * x)": ("a product or a sum the other way round"),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (5 * x, 3 * x, 10 "
        "* y, 5 * x)": ("input and output have equal shapes"),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (5 * x, 3 * x, 10 "
        "* x, x * 5)": ("a product or a sum the other way round"),
        "9: counts = (5 * x, 3 * x, 10 * x, 5 * x) → counts = (5 * x, 3 * x, 10 "
        "* x, 5 * y)": ("input and output have equal shapes"),
        "11: counts = (x, 2 * x, x, 3 * x) → counts = (y, 2 * x, x, 3 * x)": (
            "input and output have equal shapes"
        ),
        "11: counts = (x, 2 * x, x, 3 * x) → counts = (x, x * 2, x, 3 * x)": (
            "a product or a sum the other way round"
        ),
        "11: counts = (x, 2 * x, x, 3 * x) → counts = (x, 2 * y, x, 3 * x)": (
            "input and output have equal shapes"
        ),
        "11: counts = (x, 2 * x, x, 3 * x) → counts = (x, 2 * x, y, 3 * x)": (
            "input and output have equal shapes"
        ),
        "11: counts = (x, 2 * x, x, 3 * x) → counts = (x, 2 * x, x, x * 3)": (
            "a product or a sum the other way round"
        ),
        "11: counts = (x, 2 * x, x, 3 * x) → counts = (x, 2 * x, x, 3 * y)": (
            "input and output have equal shapes"
        ),
        "12: return {'forward': (counts[0], value_bytes * counts[1]), "
        "'backward': (counts[2], value_bytes * counts[3])} → return {'forward': "
        "(counts[0], counts[1] * value_bytes), 'backward': (counts[2], "
        "value_bytes * counts[3])}": ("a product or a sum the other way round"),
        "12: return {'forward': (counts[0], value_bytes * counts[1]), "
        "'backward': (counts[2], value_bytes * counts[3])} → return {'forward': "
        "(counts[0], value_bytes * counts[1]), 'backward': (counts[2], counts[3] "
        "* value_bytes)}": ("a product or a sum the other way round"),
    },
    "8.2": {
        "3: before = shortest = sum(seconds.values()); best = None → best = "
        "None; before = shortest = sum(seconds.values())": ("the order is free"),
        "6: after = sum((s * left.get(operation, 1) for operation, s in "
        "seconds.items())) → after = sum((left.get(operation, 1) * s for "
        "operation, s in seconds.items()))": ("a product or a sum the other way round"),
    },
    "8.3": {
        "5: return batches.prefetch(2) → return batches.prefetch(3)": (
            "any small number works ahead"
        ),
        "5: return batches.prefetch(2) → return batches.prefetch(1)": (
            "any small number works ahead"
        ),
    },
    "8.4": {
        "5: if not all((np.isfinite(g).all() for g in gradients)):; return "
        "(weights, {'scale': scale / 2, 'good_steps': 0}); pairs = zip(weights, "
        "gradients, strict=True) → pairs = zip(weights, gradients, strict=True); "
        "if not all((np.isfinite(g).all() for g in gradients)):; return "
        "(weights, {'scale': scale / 2, 'good_steps': 0})": ("both lists are equally long"),
        "7: pairs = zip(weights, gradients, strict=True) → pairs = zip(weights, "
        "gradients)": ("both lists are equally long"),
        "7: pairs = zip(weights, gradients, strict=True) → pairs = zip(weights, "
        "gradients, strict=False)": ("both lists are equally long"),
        "8: moved = [w - learning_rate * g for w, g in pairs]; good_steps = "
        "state['good_steps'] + 1 → good_steps = state['good_steps'] + 1; moved = "
        "[w - learning_rate * g for w, g in pairs]": ("the order is free"),
        "8: moved = [w - learning_rate * g for w, g in pairs] → moved = [w - g * "
        "learning_rate for w, g in pairs]": ("a product or a sum the other way round"),
        "9: good_steps = state['good_steps'] + 1 → good_steps = 1 + state['good_steps']": (
            "a product or a sum the other way round"
        ),
        "11: return (moved, {'scale': 2 * scale, 'good_steps': 0}) → return "
        "(moved, {'scale': scale * 2, 'good_steps': 0})": (
            "a product or a sum the other way round"
        ),
    },
    "8.5": {
        "8: part = keras.ops.minimum(keras.ops.cast(step, 'float32') / "
        "self.steps, 1.0) → part = keras.ops.minimum(1.0, keras.ops.cast(step, "
        "'float32') / self.steps)": ("a product or a sum the other way round"),
        "10: down = 1 - (1 - self.last) * fallen → down = 1 - fallen * (1 - self.last)": (
            "a product or a sum the other way round"
        ),
        "11: return self.peak * keras.ops.minimum(part / self.warm_up, down) → "
        "return keras.ops.minimum(part / self.warm_up, down) * self.peak": (
            "a product or a sum the other way round"
        ),
        "11: return self.peak * keras.ops.minimum(part / self.warm_up, down) → "
        "return self.peak * keras.ops.minimum(down, part / self.warm_up)": (
            "a product or a sum the other way round"
        ),
        "14: names = ('peak', 'steps', 'warm_up', 'last') → names = ('last', "
        "'warm_up', 'steps', 'peak')": ("a dict has no order here"),
    },
}
