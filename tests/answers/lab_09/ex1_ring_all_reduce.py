"""Recorded answers to 9.1: wrong ones, and right ones in other styles."""

import functools
import itertools

import numpy as np

from tests.answers.lab_09.shared import holds_a_lock, ring


def everyone_to_everyone(array, rank, workers, send, receive):
    others = [other for other in range(workers) if other != rank]
    for other in others:
        send(other, array)
    return array + sum((receive(other) for other in others), np.zeros_like(array))


def gives_its_own(array, rank, workers, send, receive):
    return array.copy()


def through_the_first(array, rank, workers, send, receive):
    total = array.copy()
    if rank:
        send(0, array)
        return receive(0)
    for other in range(1, workers):
        total += receive(other)
    for other in range(1, workers):
        send(other, total)
    return total


def by_a_tree(array, rank, workers, send, receive):
    total, distance = array.copy(), 1
    while distance < workers:
        if rank % (2 * distance):
            send(rank - distance, total)
            break
        if rank + distance < workers:
            total += receive(rank + distance)
        distance *= 2
    else:
        distance *= 2
    if rank:
        total = receive(rank - distance)
    while distance > 1:
        distance //= 2
        if rank % (2 * distance) == 0 and rank + distance < workers:
            send(rank + distance, total)
    return total


def whole_arrays_round_the_ring(array, rank, workers, send, receive):
    total, passing = array.copy(), array
    for _ in range(workers - 1):
        send((rank + 1) % workers, passing)
        passing = receive((rank - 1) % workers)
        total += passing
    return total


def mean_of_all(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive, scale=np.float32(1 / workers))


def puts_its_own_chunk_first(array, rank, workers, send, receive):
    chunks = np.array_split(ring(array, rank, workers, send, receive), workers)
    return np.concatenate(chunks[rank:] + chunks[:rank])


def only_scatters(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive, rounds=0)


def gathers_one_round_less(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive, rounds=max(0, workers - 2))


def gathers_the_wrong_chunk(array, rank, workers, send, receive):
    chunks = np.array_split(array.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):
        send(after, chunks[(rank - step) % workers])
        chunks[(rank - step - 1) % workers] += receive(before)
    for step in range(workers - 1):
        send(after, chunks[(rank - step) % workers])
        chunk = chunks[(rank - step - 1) % workers]
        chunk[:] = np.resize(receive(before), chunk.shape)
    return np.concatenate(chunks)


def adds_in_both_rounds(array, rank, workers, send, receive):
    chunks = np.array_split(array.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(2 * (workers - 1)):
        send(after, chunks[(rank - step) % workers])
        chunks[(rank - step - 1) % workers] += receive(before)
    return np.concatenate(chunks)


def drops_the_rest(array, rank, workers, send, receive):
    each = len(array) // workers
    summed = ring(array[: each * workers], rank, workers, send, receive)
    return np.concatenate([summed, array[each * workers :]])


def rest_in_the_last_chunk(array, workers):
    each = len(array) // workers
    return np.split(array, [each * (i + 1) for i in range(workers - 1)])


def long_last_chunk(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive, split=rest_in_the_last_chunk)


def the_other_way_round(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive, into=-1)


def receives_first(array, rank, workers, send, receive):
    chunks = np.array_split(array.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):
        chunks[(rank - step - 1) % workers] += receive(before)
        send(after, chunks[(rank - step) % workers])
    return np.concatenate(chunks)


def skips_empty_chunks(array, rank, workers, send, receive):
    chunks = np.array_split(array.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for shift, first in ((0, True), (1, False)):
        for step in range(workers - 1):
            sent = chunks[(rank + shift - step) % workers]
            if sent.size:
                send(after, sent)
            got = chunks[(rank + shift - step - 1) % workers]
            if got.size:
                got[:] = receive(before) + (got if first else 0)
    return np.concatenate(chunks)


def one_message_more(array, rank, workers, send, receive):
    result = ring(array, rank, workers, send, receive)
    if workers > 1:
        send((rank + 1) % workers, result[:1])
    return result


def sends_float64(array, rank, workers, send, receive):
    wide = array.astype("float64")
    return ring(wide, rank, workers, send, receive).astype("float32")


def sends_float16(array, rank, workers, send, receive):
    def narrow(to, chunk):
        send(to, chunk.astype("float16"))

    return ring(array, rank, workers, narrow, receive)


def sends_whole_numbers(array, rank, workers, send, receive):
    """As many bytes, another dtype."""

    def whole(to, chunk):
        send(to, (8 * chunk).astype("int32"))

    def back(sender):
        return (receive(sender) / 8).astype("float32")

    return ring(array, rank, workers, whole, back)


def splits_only_what_divides(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive, split=np.split)


def shares_a_table():
    """What all workers of one process could share, but no two processes."""
    table = {}

    def through_one_memory(array, rank, workers, send, receive):
        table[rank] = array
        ring(array, rank, workers, send, receive)
        return sum(table[other] for other in range(workers))

    return through_one_memory


def returns_float64(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive).astype("float64")


def returns_a_list(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive).tolist()


def returns_only_its_chunk(array, rank, workers, send, receive):
    summed = ring(array, rank, workers, send, receive)
    return np.array_split(summed, workers)[rank]


def into_its_own_array(array, rank, workers, send, receive):
    array[:] = ring(array, rank, workers, send, receive)
    return array.copy()


def gives_back_the_array_of_one(array, rank, workers, send, receive):
    return ring(array, rank, workers, send, receive) if workers > 1 else array


def one_worker_sends_to_itself(array, rank, workers, send, receive):
    if workers == 1:
        send(0, array)
    return ring(array, rank, workers, send, receive)


def forgets_to_return(array, rank, workers, send, receive):
    ring(array, rank, workers, send, receive)


def takes_three_arguments(array, rank, workers):
    return array


# Right ones.
class Shifted:
    """An answer that is an object: other processes get it, too."""

    def __init__(self, shift):
        self.shift, self.__name__ = shift, "an_object"

    def __call__(self, array, rank, workers, send, receive):
        return ring(array, rank, workers, send, receive, into=self.shift)


def as_partial():
    answer = functools.partial(ring, split=np.array_split)
    answer.__name__ = "a_partial"
    return answer


def as_decorated():
    def logged(function):
        @functools.wraps(function)
        def inside(*given):
            return function(*given)

        return inside

    return logged(with_slices)


def even_ranks_send_first(array, rank, workers, send, receive):
    chunks = np.array_split(array, workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers

    def swap(chunk):
        if rank % 2 == 0:
            send(after, chunk)
            return receive(before)
        got = receive(before)
        send(after, chunk)
        return got

    now = rank
    for step in range(2 * (workers - 1)):
        got, now = swap(chunks[now]), (now - 1) % workers
        chunks[now] = got + chunks[now] if step < workers - 1 else got
    return np.concatenate(chunks).copy()


def with_slices(array, rank, workers, send, receive):
    total = array.copy()
    ends = [len(array) * i // workers for i in range(workers + 1)]
    places = [slice(a, b) for a, b in itertools.pairwise(ends)]
    for step in range(2 * (workers - 1)):
        send((rank + 1) % workers, total[places[(rank - step) % workers]])
        place = places[(rank - step - 1) % workers]
        got = receive((rank - 1) % workers)
        total[place] = total[place] + got if step < workers - 1 else got
    return total


def with_padding(array, rank, workers, send, receive):
    each = -(-len(array) // workers)
    padded = np.zeros(each * workers, array.dtype)
    padded[: len(array)] = array
    return ring(padded, rank, workers, send, receive)[: len(array)]


def with_a_carried_chunk(array, rank, workers, send, receive):
    if workers == 1:
        return array.copy()
    after, before = (rank + 1) % workers, (rank - 1) % workers
    own, carried, at = np.array_split(array, workers), None, rank
    for step in range(workers):
        carried = own[at] if step == 0 else own[at] + carried
        if step < workers - 1:
            send(after, carried)
            carried, at = receive(before), (at - 1) % workers
    found = {at: carried}
    for _ in range(workers - 1):
        send(after, carried)
        carried, at = receive(before), (at - 1) % workers
        found[at] = carried
    return np.concatenate([found[i] for i in range(workers)])


def recursive(array, rank, workers, send, receive):
    chunks = np.array_split(array, workers)

    def go(chunks, step):
        if step == 2 * (workers - 1):
            return chunks
        send((rank + 1) % workers, chunks[(rank - step) % workers])
        at, got = (rank - step - 1) % workers, receive((rank - 1) % workers)
        new = chunks[at] + got if step < workers - 1 else got
        return go([*chunks[:at], new, *chunks[at + 1 :]], step + 1)

    return np.concatenate(go(chunks, 0)).copy()


def with_a_dict(array, rank, workers, send, receive):
    parts = {i: part.copy() for i, part in enumerate(np.array_split(array, workers))}
    nxt, prev = (rank + 1) % workers, (rank + workers - 1) % workers
    now = rank
    for _ in range(workers - 1):
        send(nxt, parts[now])
        now = (now - 1) % workers
        parts[now] = parts[now] + receive(prev)
    for _ in range(workers - 1):
        send(nxt, parts[now])
        now = (now - 1) % workers
        parts[now] = receive(prev)
    return np.hstack([parts[i] for i in sorted(parts)])


def with_rolled_chunks(array, rank, workers, send, receive):
    chunks = [c.copy() for c in np.array_split(array, workers)]
    order = chunks[rank::-1] + chunks[:rank:-1]  # this worker's own first, then backwards
    for one, two in itertools.pairwise(order):
        send((rank + 1) % workers, one)
        two += receive((rank - 1) % workers)
    order = [order[-1], *order[:-1]]
    for one, two in itertools.pairwise(order):
        send((rank + 1) % workers, one)
        two[...] = receive((rank - 1) % workers)
    return np.concatenate(chunks)


def with_lists_of_numbers(array, rank, workers, send, receive):
    values = [float(v) for v in array]
    edges = [round(i * len(values) / workers) for i in range(workers + 1)]
    for step in range(2 * workers - 2):
        a, b = edges[(rank - step) % workers :][:2]
        send((rank + 1) % workers, np.array(values[a:b], "float32"))
        a, b = edges[(rank - step - 1) % workers :][:2]
        got = receive((rank - 1) % workers)
        values[a:b] = got if step >= workers - 1 else np.add(values[a:b], got)
    return np.array(values, np.float32)


class Ring:
    def __init__(self, rank, workers, send, receive):
        self.send = functools.partial(send, (rank + 1) % workers)
        self.receive = functools.partial(receive, (rank - 1) % workers)
        self.rank, self.workers = rank, workers

    def __call__(self, chunks):
        for reduce in (True, False):
            for step in range(self.workers - 1):
                sent = self.rank - step + (not reduce)
                self.send(chunks[sent % self.workers])
                got = self.receive()
                chunk = chunks[(sent - 1) % self.workers]
                np.copyto(chunk, chunk + got if reduce else got)
        return np.concatenate(chunks)


def with_a_class(array, rank, workers, send, receive):
    return Ring(rank, workers, send, receive)(np.array_split(np.array(array), workers))


def with_strided_chunks(array, rank, workers, send, receive):
    total = array.copy()
    for step in range(2 * (workers - 1)):
        send((rank + 1) % workers, total[(rank - step) % workers :: workers])
        mine = total[(rank - step - 1) % workers :: workers]
        if step < workers - 1:
            mine += receive((rank - 1) % workers)
        else:
            mine[:] = receive((rank - 1) % workers)
    return total


def starts_with_the_chunk_before(array, rank, workers, send, receive):
    chunks = np.array_split(array.copy(), workers)
    for step in range(workers - 1):
        send((rank + 1) % workers, chunks[rank - step - 1])
        chunks[rank - step - 2 if workers > 1 else 0] += receive((rank - 1) % workers)
    for step in range(workers - 1):
        send((rank + 1) % workers, chunks[(rank - step) % workers])
        chunks[(rank - step - 1) % workers][:] = receive((rank - 1) % workers)
    return np.concatenate(chunks)


class KeepsTheFirstResult:
    """By the length of the array, as a cache with too short a key."""

    __name__ = "KeepsTheFirstResult"

    def __init__(self):
        self.results = {}

    def __call__(self, array, rank, workers, send, receive):
        total = ring(array, rank, workers, send, receive)
        return self.results.setdefault(array.size, total).copy()


class ReturnsOneBuffer:
    """The next call writes into the array that this one returned."""

    __name__ = "ReturnsOneBuffer"

    def __init__(self):
        self.buffers = {}

    def __call__(self, array, rank, workers, send, receive):
        buffer = self.buffers.setdefault(array.size, np.empty_like(array))
        buffer[:] = ring(array, rank, workers, send, receive)
        return buffer


WRONG = [
    ("sum", "kept", KeepsTheFirstResult()),
    ("new", "kept", ReturnsOneBuffer()),
    ("chunks", "start", everyone_to_everyone),
    ("sum", "nothing", gives_its_own),
    ("sum", "mean", mean_of_all),
    ("sum", "scattered", only_scatters),
    ("sum", "other", gathers_one_round_less),
    ("sum", "other", gathers_the_wrong_chunk),
    ("sum", "gathers", adds_in_both_rounds),
    ("sum", "shape", puts_its_own_chunk_first),
    ("sum", "shape", returns_only_its_chunk),
    ("sum", "shape", forgets_to_return),
    ("sum", "raised", takes_three_arguments),
    ("remainder", "remainder", drops_the_rest),
    ("sum", "raised", splits_only_what_divides),
    ("ring", "ring", the_other_way_round),
    ("ring", "ring", through_the_first),
    ("ring", "ring", by_a_tree),
    ("chunks", "whole", whole_arrays_round_the_ring),
    ("chunks", "even", long_last_chunk),
    ("messages", "messages", skips_empty_chunks),
    ("messages", "messages", one_message_more),
    ("bytes", "bytes", sends_float64),
    ("bytes", "bytes", sends_float16),
    ("bytes", "bytes", sends_whole_numbers),
    ("deadlock", "deadlock", receives_first),
    ("alone", "alone", one_worker_sends_to_itself),
    ("new", "new", gives_back_the_array_of_one),
    ("new", "dtype", returns_float64),
    ("new", "dtype", returns_a_list),
    ("unchanged", "changed", into_its_own_array),
    ("travels", "travels", holds_a_lock()),
    ("sum", "raised", shares_a_table()),
]
RIGHT = [
    ring,
    with_slices,
    with_padding,
    with_a_carried_chunk,
    recursive,
    with_a_dict,
    with_rolled_chunks,
    with_lists_of_numbers,
    with_a_class,
    with_strided_chunks,
    starts_with_the_chunk_before,
    even_ranks_send_first,
    as_decorated(),
    as_partial(),
    Shifted(1),
]
