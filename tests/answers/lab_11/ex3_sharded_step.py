"""Recorded answers to 11.3: wrong ones, and right ones in other styles."""

import functools
import itertools
import threading

import numpy as np


def sharded(
    weights, gradient, state, update, rank, workers, send, receive,
    *, split=np.array_split, into=1, mean=lambda sums, n: sums / n,
    call=lambda update, part, mean, state: update(part, mean, state),
    new=lambda before, after: after, narrow=lambda chunk: chunk, gather=None, tail=None,
):  # fmt: skip
    """The ring with the update in its middle; a mistake is an argument."""
    after, before = (rank + into) % workers, (rank - into) % workers
    own = (rank + into) % workers
    sums = [chunk.copy() for chunk in split(gradient, workers)]
    parts = [chunk.copy() for chunk in split(weights, workers)]
    for step in range(workers - 1):
        send(after, narrow(sums[(rank - step * into) % workers]))
        sums[(rank - (step + 1) * into) % workers] += receive(before)
    part, state = call(update, parts[own], mean(sums[own], workers), state)
    parts[own] = new(parts[own], part)
    for step in range(workers - 1 if gather is None else gather):
        send(after, narrow(parts[(own - step * into) % workers]))
        parts[(rank - step * into) % workers] = receive(before)
    return np.concatenate(parts), state


def variant(name, **changes):
    """The ring with other parts of it."""

    def answer(weights, gradient, state, update, rank, workers, send, receive):
        return sharded(
            weights, gradient, state, update, rank, workers, send, receive, **changes
        )

    answer.__name__ = name
    return answer


# Wrong ones.
def each_alone(weights, gradient, state, update, rank, workers, send, receive):
    return update(weights, gradient, state)


def mean_gradient_of(gradient, rank, workers, send, receive):
    """An all-reduce: the ring, with no optimizer in it."""

    def first(part, mean, state):
        return mean, state

    zeros = np.zeros_like(gradient)
    mean, _ = sharded(zeros, gradient, None, first, rank, workers, send, receive)
    return mean


def halves_the_precision(weights, gradient, state, update, rank, workers, send, receive):
    gradient = gradient.astype("float16").astype("float32")
    return sharded(weights, gradient, state, update, rank, workers, send, receive)


def updates_everything(weights, gradient, state, update, rank, workers, send, receive):
    """Data parallelism: an all-reduce, and a whole optimizer on every worker."""
    mean = mean_gradient_of(gradient, rank, workers, send, receive)
    return update(weights, mean, state)


def updates_part_by_part(weights, gradient, state, update, rank, workers, send, receive):
    mean = mean_gradient_of(gradient, rank, workers, send, receive)
    parts = zip(
        np.array_split(weights, workers), np.array_split(mean, workers), strict=True
    )
    done = [
        update(part, own, one)
        for (part, own), one in zip(parts, state or [None] * workers, strict=True)
    ]
    return np.concatenate([part for part, _ in done]), [one for _, one in done]


def never_updates(weights, gradient, state, update, rank, workers, send, receive):
    def nothing(update, part, mean, state):
        return part - np.float32(0.1) * mean, state

    given = weights, gradient, state, update, rank, workers, send, receive
    return sharded(*given, call=nothing)


def skips_empty(update, part, mean, state):
    return update(part, mean, state) if part.size else (part, state)


def twice(update, part, mean, state):
    update(part, mean, state)
    return update(part, mean, state)


def forgets(update, part, mean, state):
    return update(part, mean, None)


def gives_back_the_old(update, part, mean, state):
    return update(part, mean, state)[0], state


def returns_no_state(weights, gradient, state, update, rank, workers, send, receive):
    return sharded(weights, gradient, state, update, rank, workers, send, receive)[0]


def returns_three(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    return *sharded(*given), rank


class KeepsItsState:
    """In itself, as in a global name: two trainings get mixed up."""

    __name__ = "KeepsItsState"

    def __init__(self):
        self.state = None

    def __call__(self, weights, gradient, state, *rest):
        weights, self.state = sharded(weights, gradient, self.state, *rest)
        return weights, None


class KeepsTheFirstState:
    """Every step begins with the state after the first one."""

    __name__ = "KeepsTheFirstState"

    def __call__(self, weights, gradient, state, update, *rest):
        first, now = state or (None, None)
        weights, now = sharded(weights, gradient, first, update, *rest)
        return weights, (first or now, now)


class KeepsTheFirstUpdate:
    __name__ = "KeepsTheFirstUpdate"

    def __init__(self):
        self.update = None

    def __call__(self, weights, gradient, state, update, *rest):
        self.update = self.update or update
        return sharded(weights, gradient, state, self.update, *rest)


class KeepsItsPart:
    """The part that it updated last, by length: it never looks at the weights again."""

    __name__ = "KeepsItsPart"

    def __init__(self):
        self.parts = {}

    def __call__(self, weights, gradient, state, update, rank, *rest):
        def call(update, part, mean, state):
            part, state = update(self.parts.get(weights.size, part), mean, state)
            self.parts[weights.size] = part
            return part, state

        given = weights, gradient, state, update, rank, *rest
        return sharded(*given, call=call)


class KeepsTheFirstResult:
    __name__ = "KeepsTheFirstResult"

    def __init__(self):
        self.results = {}

    def __call__(self, weights, *rest):
        new, state = sharded(weights, *rest)
        return self.results.setdefault(new.size, new).copy(), state


class Remembers:
    """Two trainings may begin with the same weights, or with the same gradients."""

    def __init__(self, place):
        self.place, self.steps = place, {}
        self.__name__ = f"remembers_by_{('weights', 'gradient')[place]}"

    def __call__(self, *given):
        key = given[self.place].tobytes()
        if key not in self.steps:
            self.steps[key] = sharded(*given)
        new, state = self.steps[key]
        return new.copy(), state


class KeepsTheStart:
    """Two trainings with as many weights may begin with other ones."""

    __name__ = "KeepsTheStart"

    def __init__(self):
        self.starts = {}

    def __call__(self, weights, gradient, state, *rest):
        if state is None:
            weights = self.starts.setdefault(weights.size, weights.copy())
        return sharded(weights, gradient, state, *rest)


class ReturnsOneBuffer:
    """The next call writes into the array that this one returned."""

    __name__ = "ReturnsOneBuffer"

    def __init__(self):
        self.buffers = {}

    def __call__(self, weights, *rest):
        buffer = self.buffers.setdefault(weights.size, np.empty_like(weights))
        new, state = sharded(weights, *rest)
        buffer[:] = new
        return buffer, state


def sends_the_change(weights, gradient, state, update, rank, workers, send, receive):
    """The others add the change to their own old weights: not the same number."""
    kept = {}

    def call(update, part, mean, state):
        new, state = update(part, mean, state)
        kept["new"], kept["place"] = new, (rank + 1) % workers
        return new - part, state

    parts = [part.copy() for part in np.array_split(weights, workers)]
    given = weights, gradient, state, update, rank, workers, send, receive
    changes, state = sharded(*given, call=call)
    changes = np.array_split(changes, workers)
    new = [part + change for part, change in zip(parts, changes, strict=True)]
    new[kept["place"]] = kept["new"]
    return np.concatenate(new), state


def rounds_what_it_sends(weights, gradient, state, update, rank, workers, send, receive):
    kept = {}

    def call(update, part, mean, state):
        new, state = update(part, mean, state)
        kept["new"] = new
        return np.round(new, 6), state

    given = weights, gradient, state, update, rank, workers, send, receive
    weights, state = sharded(*given, call=call)
    parts = np.array_split(weights, workers)
    parts[(rank + 1) % workers] = kept["new"]
    return np.concatenate(parts), state


def uses_its_own_gradient(weights, gradient, state, update, rank, workers, send, receive):
    def call(update, part, mean, state):
        own = np.array_split(gradient, workers)[(rank + 1) % workers]
        return update(part, own, state)

    given = weights, gradient, state, update, rank, workers, send, receive
    return sharded(*given, call=call)


def sends_the_rank_along(weights, gradient, state, update, rank, workers, send, receive):
    def sends(to, chunk):
        send(to, np.append(chunk, np.float32(rank)))

    def receives(sender):
        return receive(sender)[:-1]

    return sharded(weights, gradient, state, update, rank, workers, sends, receives)


def another_part(weights, gradient, state, update, rank, workers, send, receive):
    """It updates the part of its rank, but has the sum of the next one."""
    parts = np.array_split(weights, workers)

    def call(update, part, mean, state):
        own = parts[rank][: mean.size]
        own = np.concatenate([own, np.zeros(mean.size - own.size, "float32")])
        return update(own, mean, state)

    given = weights, gradient, state, update, rank, workers, send, receive
    return sharded(*given, call=call)


def gathers_gradients(weights, gradient, state, update, rank, workers, send, receive):
    """The others get the mean of a part, and go down it."""

    def call(update, part, mean, state):
        return mean, update(part, mean, state)[1]

    given = weights, gradient, state, update, rank, workers, send, receive
    mean, state = sharded(*given, call=call)
    return weights - np.float32(0.1) * mean, state


def own_part_first(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    weights, state = sharded(*given)
    parts = np.array_split(weights, workers)
    return np.concatenate(parts[rank:] + parts[:rank]), state


def only_its_part(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    weights, state = sharded(*given)
    return np.array_split(weights, workers)[rank], state


def drops_the_rest(weights, gradient, state, update, rank, workers, send, receive):
    whole = len(weights) // workers * workers
    rest = weights[whole:]
    given = weights[:whole], gradient[:whole], state, update, rank, workers, send, receive
    weights, state = sharded(*given)
    return np.concatenate([weights, rest]), state


def rest_in_the_last_part(array, workers):
    each = len(array) // workers
    return np.split(array, [each * (i + 1) for i in range(workers - 1)])


def long_messages(weights, gradient, state, update, rank, workers, send, receive):
    """Whole gradients round the ring; each updates its part, and all-gathers them."""
    after, before = (rank + 1) % workers, (rank - 1) % workers
    total, passing = gradient.copy(), gradient
    for _ in range(workers - 1):
        send(after, passing)
        passing = receive(before)
        total += passing
    parts = np.array_split(weights, workers)
    mean = np.array_split(total, workers)[rank] / workers
    parts[rank], state = update(parts[rank], mean, state)
    for step in range(workers - 1):
        send(after, parts[(rank - step) % workers])
        parts[(rank - step - 1) % workers] = receive(before)
    return np.concatenate(parts), state


def through_the_first(weights, gradient, state, update, rank, workers, send, receive):
    """A server: it adds up the gradients, and collects the parts."""
    places = np.array_split(np.arange(len(weights)), workers)
    others = range(1, workers)
    if rank == 0:
        total = gradient + sum((receive(one) for one in others), np.zeros_like(gradient))
        for one in others:
            send(one, total[places[one]])
        new = weights.copy()
        mean = total[places[0]] / workers
        new[places[0]], state = update(weights[places[0]], mean, state)
        for one in others:
            new[places[one]] = receive(one)
        for one in others:
            send(one, new)
        return new, state
    send(0, gradient)
    mean = receive(0) / workers
    part, state = update(weights[places[rank]], mean, state)
    send(0, part)
    return receive(0), state


def skips_empty_messages(weights, gradient, state, update, rank, workers, send, receive):
    sizes = [len(part) for part in np.array_split(weights, workers)]
    sent = itertools.chain(
        [(rank - step) % workers for step in range(workers - 1)],
        [(rank + 1 - step) % workers for step in range(workers - 1)],
    )
    got = itertools.chain(
        [(rank - step - 1) % workers for step in range(workers - 1)],
        [(rank - step) % workers for step in range(workers - 1)],
    )

    def sends(to, chunk):
        if sizes[next(sent)]:
            send(to, chunk)

    def receives(sender):
        return receive(sender) if sizes[next(got)] else np.zeros(0, "float32")

    return sharded(weights, gradient, state, update, rank, workers, sends, receives)


def one_message_more(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    result = sharded(*given)
    if workers > 1:
        send((rank + 1) % workers, gradient[:1])
    return result


def receives_first(weights, gradient, state, update, rank, workers, send, receive):
    sums = np.array_split(gradient.copy(), workers)
    for step in range(workers - 1):
        sums[(rank - step - 1) % workers] += receive((rank - 1) % workers)
        send((rank + 1) % workers, sums[(rank - step) % workers])
    return update(weights, gradient, state)


def sends_to_itself(weights, gradient, state, update, rank, workers, send, receive):
    if workers == 1:
        send(0, gradient)
        gradient = receive(0)
    return sharded(weights, gradient, state, update, rank, workers, send, receive)


def in_float64(weights, gradient, state, update, rank, workers, send, receive):
    given = weights.astype("float64"), gradient.astype("float64"), state, update
    weights, state = sharded(*given, rank, workers, send, receive)
    return weights.astype("float32"), state


def sends_float64(weights, gradient, state, update, rank, workers, send, receive):
    def call(update, part, mean, state):
        part, state = update(part.astype("float32"), mean.astype("float32"), state)
        return part.astype("float64"), state

    given = weights.astype("float64"), gradient.astype("float64"), state, update
    weights, state = sharded(*given, rank, workers, send, receive, call=call)
    return weights.astype("float32"), state


def returns_float64(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    weights, state = sharded(*given)
    return weights.astype("float64"), state


def returns_a_list(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    weights, state = sharded(*given)
    return weights.tolist(), state


def returns_a_huge_list(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    return [0.0] * 10**6, sharded(*given)[1]


def returns_text(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    return "\ud800", sharded(*given)[1]


def returns_nan(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    weights, state = sharded(*given)
    return weights * np.float32("nan"), state


def updates_for_ever(weights, gradient, state, update, rank, workers, send, receive):
    while True:
        _, state = update(weights, gradient, state)


def into_the_weights(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    new, state = sharded(*given)
    weights[:] = new
    return new, state


def into_the_gradient(weights, gradient, state, update, rank, workers, send, receive):
    sums = np.array_split(gradient, workers)

    def split(array, workers):
        return sums if array is gradient else np.array_split(array, workers)

    given = weights, gradient, state, update, rank, workers, send, receive
    result = sharded(*given, split=split)
    gradient /= workers
    return result


def gives_the_weights_back(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    _, state = sharded(*given)
    return weights, state


def holds_a_lock():
    lock = threading.Lock()

    def answer(*given):
        with lock:
            return sharded(*given)

    return answer


def shares_a_table():
    """What all workers of one process could share, but no two processes."""
    table = {}

    def through_one_memory(weights, gradient, state, update, rank, workers, send, receive):
        table[rank] = gradient
        result = sharded(weights, gradient, state, update, rank, workers, send, receive)
        sum(table[other] for other in range(workers))
        return result

    return through_one_memory


def takes_no_state(weights, gradient, update, rank, workers, send, receive):
    return weights


# Right ones.
def with_slices(weights, gradient, state, update, rank, workers, send, receive):
    total, new = gradient.copy(), weights.copy()
    ends = [len(total) * i // workers for i in range(workers + 1)]
    places = [slice(a, b) for a, b in itertools.pairwise(ends)]
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):
        send(after, total[places[(rank - step) % workers]])
        total[places[(rank - step - 1) % workers]] += receive(before)
    own = places[after]
    new[own], state = update(new[own], total[own] / np.float32(workers), state)
    for step in range(workers - 1):
        send(after, new[places[(rank + 1 - step) % workers]])
        new[places[(rank - step) % workers]] = receive(before)
    return new, state


def with_padding(weights, gradient, state, update, rank, workers, send, receive):
    each = -(-len(weights) // workers)
    padded = np.zeros((2, each * workers), "float32")
    padded[:, : len(weights)] = weights, gradient
    new, state = sharded(*padded, state, update, rank, workers, send, receive)
    return new[: len(weights)].copy(), state


def starts_with_the_chunk_before(
    weights, gradient, state, update, rank, workers, send, receive
):
    """In the end it has the sum of the chunk of its own rank."""
    sums = np.array_split(gradient.copy(), workers)
    parts = np.array_split(weights.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):
        send(after, sums[(rank - step - 1) % workers])
        sums[(rank - step - 2) % workers] += receive(before)
    parts[rank], state = update(parts[rank], sums[rank] / workers, state)
    for step in range(workers - 1):
        send(after, parts[(rank - step) % workers])
        parts[(rank - step - 1) % workers] = receive(before)
    return np.concatenate(parts), state


def with_a_dict(weights, gradient, state, update, rank, workers, send, receive):
    parts = dict(enumerate(np.array_split(gradient, workers)))
    now, nxt, prev = rank, (rank + 1) % workers, (rank - 1) % workers
    for _ in range(workers - 1):
        send(nxt, parts[now])
        now = (now - 1) % workers
        parts[now] = parts[now] + receive(prev)
    own = np.array_split(weights, workers)[now]
    found = {}
    found[now], state = update(own, parts[now] / workers, state)
    for _ in range(workers - 1):
        send(nxt, found[now])
        now = (now - 1) % workers
        found[now] = receive(prev)
    return np.hstack([found[i] for i in sorted(found)]), state


def recursive(weights, gradient, state, update, rank, workers, send, receive):
    nxt, prev = (rank + 1) % workers, (rank - 1) % workers

    def reduce(sums, at, left):
        if not left:
            return sums[at], at
        send(nxt, sums[at])
        at = (at - 1) % workers
        sums = [*sums[:at], sums[at] + receive(prev), *sums[at + 1 :]]
        return reduce(sums, at, left - 1)

    def gather(parts, at, left):
        if not left:
            return parts
        send(nxt, parts[at])
        at = (at - 1) % workers
        return gather([*parts[:at], receive(prev), *parts[at + 1 :]], at, left - 1)

    total, own = reduce(np.array_split(gradient, workers), rank, workers - 1)
    parts = np.array_split(weights, workers)
    parts[own], state = update(parts[own], total / workers, state)
    return np.concatenate(gather(parts, own, workers - 1)), state


def with_lists_of_numbers(weights, gradient, state, update, rank, workers, send, receive):
    values, new = [float(v) for v in gradient], [float(v) for v in weights]
    edges = [round(i * len(values) / workers) for i in range(workers + 1)]

    def place(chunk):
        return slice(*edges[chunk % workers :][:2])

    def swap(numbers, chunk):
        send((rank + 1) % workers, np.array(numbers[place(chunk)], "float32"))
        return receive((rank - 1) % workers).tolist()

    for step in range(workers - 1):
        got, at = swap(values, rank - step), place(rank - step - 1)
        values[at] = [a + b for a, b in zip(values[at], got, strict=True)]
    own = place(rank + 1)
    mean = np.array([v / workers for v in values[own]], "float32")
    part, state = update(np.array(new[own], "float32"), mean, state)
    new[own] = part.tolist()
    for step in range(workers - 1):
        new[place(rank - step)] = swap(new, rank + 1 - step)
    return np.array(new, np.float32), state


def with_strided_chunks(weights, gradient, state, update, rank, workers, send, receive):
    total, new = gradient.copy(), weights.copy()
    for step in range(workers - 1):
        send((rank + 1) % workers, total[(rank - step) % workers :: workers])
        total[(rank - step - 1) % workers :: workers] += receive((rank - 1) % workers)
    own = slice((rank + 1) % workers, None, workers)
    new[own], state = update(new[own], total[own] / workers, state)
    for step in range(workers - 1):
        send((rank + 1) % workers, new[(rank + 1 - step) % workers :: workers])
        new[(rank - step) % workers :: workers] = receive((rank - 1) % workers)
    return new, state


class Ring:
    def __init__(self, rank, workers, send, receive):
        self.send = functools.partial(send, (rank + 1) % workers)
        self.receive = functools.partial(receive, (rank - 1) % workers)
        self.rank, self.workers = rank, workers

    def turn(self, chunks, first, join):
        for step in range(self.workers - 1):
            self.send(chunks[(first - step) % self.workers])
            at = (first - step - 1) % self.workers
            chunks[at] = join(chunks[at], self.receive())


def with_a_class(weights, gradient, state, update, rank, workers, send, receive):
    ring, own = Ring(rank, workers, send, receive), (rank + 1) % workers
    sums, parts = (np.array_split(array, workers) for array in (gradient, weights))
    ring.turn(sums, rank, np.add)
    parts[own], state = update(parts[own], sums[own] / workers, state)
    ring.turn(parts, own, lambda old, got: got)
    return np.concatenate(parts), state


def state_with_its_place(weights, gradient, state, update, rank, workers, send, receive):
    """Its own state has more in it than what `update` returned."""
    state = state or {"steps": 0, "optimizer": None}
    given = weights, gradient, state["optimizer"], update, rank, workers, send, receive
    weights, optimizer = sharded(*given)
    return weights, {"steps": state["steps"] + 1, "optimizer": optimizer}


def as_a_list(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient, state, update, rank, workers, send, receive
    return list(sharded(*given))


def divides_before_it_adds(weights, gradient, state, update, rank, workers, send, receive):
    given = weights, gradient / workers, state, update, rank, workers, send, receive
    return sharded(*given, mean=lambda sums, n: sums)


def with_an_all_reduce(weights, gradient, state, update, rank, workers, send, receive):
    """Half of the ring of 9.1, cut by counting its messages."""
    turns, own = 2 * (workers - 1), (rank + 1) % workers
    chunks, parts = (
        list(np.array_split(array.copy(), workers)) for array in (gradient, weights)
    )

    def finish():
        nonlocal state
        parts[own], state = update(parts[own], chunks[own] / workers, state)

    for step in range(turns):
        if step == workers - 1:
            finish()
        held = chunks if step < workers - 1 else parts
        send((rank + 1) % workers, held[(rank - step) % workers])
        at = (rank - step - 1) % workers
        got = receive((rank - 1) % workers)
        held[at] = held[at] + got if held is chunks else got
    if not turns:
        finish()
    return np.concatenate(parts), state


WRONG = [
    ("part", "start", each_alone),
    ("part", "start", updates_everything),
    ("part", "part", variant("long_last_part", split=rest_in_the_last_part)),
    ("once", "once", updates_part_by_part),
    ("once", "once", never_updates),
    ("once", "once", variant("skips_empty_parts", call=skips_empty)),
    ("once", "once", variant("updates_twice", call=twice)),
    ("state", "lost", variant("forgets_the_state", call=forgets)),
    ("state", "lost", variant("returns_the_old_state", call=gives_back_the_old)),
    ("state", "old", KeepsTheFirstState()),
    ("state", "pair", returns_no_state),
    ("state", "pair", returns_three),
    ("kept", "mixed", KeepsItsState()),
    ("kept", "kept", KeepsTheFirstUpdate()),
    ("kept", "kept", KeepsItsPart()),
    ("kept", "kept", KeepsTheFirstResult()),
    ("kept", "kept", Remembers(0)),
    ("kept", "kept", Remembers(1)),
    ("kept", "kept", KeepsTheStart()),
    ("new", "kept", ReturnsOneBuffer()),
    ("mean", "sum", variant("sum", mean=lambda sums, n: sums)),
    ("mean", "own", uses_its_own_gradient),
    ("chunks", "even", sends_the_rank_along),
    ("bits", "not_the_same", sends_the_change),
    ("bits", "not_the_same", rounds_what_it_sends),
    ("weights", "scattered", variant("no_gather", gather=0)),
    ("weights", "other", gathers_gradients),
    ("weights", "other", halves_the_precision),
    ("weights", "other", another_part),
    ("weights", "order", own_part_first),
    ("weights", "shape", only_its_part),
    ("weights", "shape", returns_text),
    ("weights", "shape", returns_a_huge_list),
    ("weights", "nothing", gives_the_weights_back),
    ("weights", "raised", takes_no_state),
    ("weights", "raised", shares_a_table()),
    ("weights", "raised", updates_for_ever),
    ("weights", "raised", variant("splits_only_what_divides", split=np.split)),
    ("remainder", "remainder", drops_the_rest),
    ("ring", "ring", variant("the_other_way_round", into=-1)),
    ("ring", "ring", through_the_first),
    ("chunks", "whole", long_messages),
    ("messages", "messages", skips_empty_messages),
    ("messages", "messages", one_message_more),
    ("bytes", "bytes", sends_float64),
    ("bytes", "bytes", variant("sends_float16", narrow=lambda c: c.astype("float16"))),
    ("floats", "floats", in_float64),
    ("deadlock", "deadlock", receives_first),
    ("alone", "alone", sends_to_itself),
    ("new", "dtype", returns_float64),
    ("new", "dtype", returns_a_list),
    ("unchanged", "changed", into_the_weights),
    ("unchanged", "changed", into_the_gradient),
    ("travels", "travels", holds_a_lock()),
]
RIGHT = [
    sharded, with_slices, with_padding, starts_with_the_chunk_before, with_a_dict,
    recursive, with_lists_of_numbers, with_strided_chunks, with_a_class,
    state_with_its_place, as_a_list, divides_before_it_adds, with_an_all_reduce,
]  # fmt: skip
