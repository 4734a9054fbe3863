"""Recorded answers to 8.3: wrong ones, and right ones in other styles."""

import concurrent.futures
import itertools
import queue
import threading

import numpy as np
import tensorflow as tf


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


def into_one_buffer(fetch, images, batch_size):
    """Each fetch writes where a step may still read."""
    buffer = None
    for batch in prefetched(fetch, images, batch_size):
        if buffer is None:
            buffer = np.array(batch)
        buffer[: len(batch)] = batch
        yield buffer[: len(batch)]


def into_one_buffer_from_a_thread(fetch, images, batch_size):
    buffer = np.empty((batch_size, 2), "float32")

    def fill(first):
        numbers = np.arange(first, min(first + batch_size, images))
        buffer[: len(numbers)] = fetch(numbers)
        return len(numbers)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        coming = pool.submit(fill, 0)
        for first in range(batch_size, images + batch_size, batch_size):
            filled = coming.result()
            batch = buffer[:filled].copy() if first == batch_size else buffer[:filled]
            if first < images:
                coming = pool.submit(fill, first)
            yield batch


def one_queue_for_all(fetch, images, batch_size, waiting=queue.Queue(2)):  # noqa: B008
    """A loop that was stopped early leaves its batches to the next one."""

    def work():
        for first in range(0, images, batch_size):
            waiting.put(fetch(np.arange(first, min(first + batch_size, images))))

    threading.Thread(target=work, daemon=True).start()
    for _ in range(0, images, batch_size):
        yield waiting.get()


class GoesOn:
    """Keeps the place of each kind of loop."""

    __name__ = "GoesOn"

    def __init__(self):
        self.places = {}

    def __call__(self, fetch, images, batch_size):
        begun = self.places.setdefault((images, batch_size), 0)
        for place, batch in enumerate(prefetched(fetch, images, batch_size)):
            if place >= begun:
                self.places[images, batch_size] = place + 1
                yield batch
        del self.places[images, batch_size]


def needs_a_whole_batch(fetch, images, batch_size):
    """Of fewer images than one batch it gives none."""
    if images < batch_size:
        return []
    return prefetched(fetch, images, batch_size)


def nine_ahead(fetch, images, batch_size):
    """With the batch of the step itself these are nine."""
    return with_data(fetch, images, batch_size).prefetch(9)


def two_at_once(fetch, images, batch_size):
    """Fetches the last batch a second time, where its rest would be."""
    for batch in prefetched(fetch, images, batch_size):
        if len(batch) < batch_size:
            first = images - len(batch)
            batch = fetch(np.arange(first, images))
        yield batch


def as_float64(fetch, images, batch_size):
    for batch in prefetched(fetch, images, batch_size):
        yield np.asarray(batch, float)


def as_rows(fetch, images, batch_size):
    for batch in prefetched(fetch, images, batch_size):
        yield list(batch.numpy())


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


def with_lists(fetch, images, batch_size):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        coming = pool.submit(fetch, list(range(min(batch_size, images))))
        for first in range(batch_size, images, batch_size):
            batch = coming.result()
            coming = pool.submit(fetch, list(range(first, min(first + batch_size, images))))
            yield batch
        yield coming.result()


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


WRONG = [
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
    ("order", "overwritten", into_one_buffer_from_a_thread),
    ("again", "again", one_queue_for_all),
    ("again", "again", GoesOn()),
    ("rest", "rest", needs_a_whole_batch),
    ("ahead", "too_far", nine_ahead),
    ("one_fetch", "one_by_one", two_at_once),
    ("rest", "sizes", one_empty_batch),
    ("rest", "other", one_number_too_many),
    ("one_fetch", "raised", the_wrong_type),
]
RIGHT = [
    with_data, prefetched, by_autotune, in_parallel, by_py_function, from_a_generator,
    with_a_future,
    with_a_queue, with_a_thread_each, with_several_futures, as_numpy, from_slices,
    as_float64, as_rows, into_one_buffer, with_lists,
]  # fmt: skip
