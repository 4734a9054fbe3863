"""Answers to lab 09: wrong ones with the sentence they break and their hint, right ones."""

import functools
import itertools
import random

import numpy as np

# 9.1


def ring(
    array, rank, workers, send, receive, split=np.array_split, into=1, scale=1, rounds=None
):
    """The ring, with what a mistake changes as an argument."""
    chunks = [chunk.copy() for chunk in split(array, workers)]
    after, before = (rank + into) % workers, (rank - into) % workers
    for step in range(workers - 1):
        send(after, chunks[(rank - step * into) % workers])
        chunks[(rank - (step + 1) * into) % workers] += receive(before)
    for chunk in chunks:
        chunk *= scale
    for step in range(workers - 1 if rounds is None else rounds):
        send(after, chunks[(rank + into - step * into) % workers])
        chunks[(rank - step * into) % workers][:] = receive(before)
    return np.concatenate(chunks)


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


# 9.2


def order_of(examples, epoch, seed):
    return np.random.default_rng([seed, epoch]).permutation(examples)


def all_in_the_order_of_the_files(examples, epoch, rank, workers, seed):
    return np.arange(examples)


def all_shuffled(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)


def not_shuffled(examples, epoch, rank, workers, seed):
    return np.arange(examples)[rank::workers]


def rolled(examples, epoch, rank, workers, seed):
    return np.roll(np.arange(examples), 7 * seed + 5 * epoch + 1)[rank::workers]


def without_the_rest(examples, epoch, rank, workers, seed):
    whole = examples - examples % workers
    return order_of(examples, epoch, seed)[:whole][rank::workers]


def with_the_rest_for_all(examples, epoch, rank, workers, seed):
    order = order_of(examples, epoch, seed)
    return np.resize(order, -(-examples // workers) * workers)[rank::workers]


def each_draws_its_own(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng([seed, epoch, rank])
    return rng.permutation(examples)[rank::workers]


def with_replacement(examples, epoch, rank, workers, seed):
    drawn = np.random.default_rng([seed, epoch]).integers(examples, size=examples)
    return drawn[rank::workers]


def from_one(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)[rank::workers] + 1


def same_in_every_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed)[rank::workers]


def same_with_every_seed(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, 0)[rank::workers]


def seed_plus_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed + epoch)[rank::workers]


def seed_times_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed * epoch)[rank::workers]


def keeps_its_generator():
    generators = {}

    def worker_shard(examples, epoch, rank, workers, seed):
        key = examples, epoch, rank, workers, seed
        if key not in generators:
            generators[key] = np.random.default_rng([seed, epoch])
        return generators[key].permutation(examples)[rank::workers]

    return worker_shard


def seeds_the_global_one(examples, epoch, rank, workers, seed):
    np.random.seed(1000 * seed + epoch)  # noqa: NPY002
    return np.random.permutation(examples)[rank::workers]  # noqa: NPY002


def seeds_pythons_global_one(examples, epoch, rank, workers, seed):
    random.seed(f"{seed} {epoch}")
    order = list(range(examples))
    random.shuffle(order)
    return order[rank::workers]


def in_blocks(examples, epoch, rank, workers, seed):
    return np.array_split(order_of(examples, epoch, seed), workers)[rank]


def an_order_for_each_number_of_workers(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng([seed, epoch, workers])
    return rng.permutation(examples)[rank::workers]


def shuffles_only_its_own(examples, epoch, rank, workers, seed):
    own = np.arange(examples)[rank::workers]
    return np.random.default_rng([seed, epoch, rank]).permutation(own)


def sorted_again(examples, epoch, rank, workers, seed):
    return np.sort(order_of(examples, epoch, seed)[rank::workers])


def from_the_next_place(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)[(rank + 1) % workers :: workers]


def as_a_mask(examples, epoch, rank, workers, seed):
    mask = np.zeros(examples, bool)
    mask[order_of(examples, epoch, seed)[rank::workers]] = True
    return mask


def as_floats(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)[rank::workers].astype(float)


def takes_four(examples, epoch, rank, workers):
    return np.arange(examples)


# Right ones.


def with_shuffle(examples, epoch, rank, workers, seed):
    order = np.arange(examples)
    np.random.default_rng((seed, epoch)).shuffle(order)
    return order[rank::workers]


def with_random_state(examples, epoch, rank, workers, seed):
    return np.random.RandomState([seed, epoch]).permutation(examples)[rank::workers]


def with_python(examples, epoch, rank, workers, seed):
    order = list(range(examples))
    random.Random(f"{seed}, {epoch}").shuffle(order)
    return order[rank::workers]


def with_sorting(examples, epoch, rank, workers, seed):
    drawn = np.random.default_rng([epoch, seed]).random(examples)
    return np.argsort(drawn)[rank::workers]


def with_seed_sequence(examples, epoch, rank, workers, seed):
    sequence = np.random.SeedSequence(seed, spawn_key=(epoch,))
    order = np.random.Generator(np.random.PCG64(sequence)).permutation(examples)
    return order[np.arange(rank, examples, workers)]


def with_a_comprehension(examples, epoch, rank, workers, seed):
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    return [int(i) for place, i in enumerate(order) if place % workers == rank]


def with_islice(examples, epoch, rank, workers, seed):
    order = np.random.default_rng(seed * 1_000_003 + epoch).permutation(examples)
    return list(itertools.islice(order.tolist(), rank, None, workers))


def with_a_sample(examples, epoch, rank, workers, seed):
    drawn = random.Random(seed * 1_000_000 + epoch).sample(range(examples), examples)
    return np.array(drawn[rank::workers], dtype="int32")


def with_columns(examples, epoch, rank, workers, seed):
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    missing = -examples % workers
    table = np.append(order, np.full(missing, -1)).reshape(-1, workers)
    own = table[:, rank]
    return own[own >= 0]


def with_jumps(examples, epoch, rank, workers, seed):
    generator = np.random.Philox(key=seed, counter=epoch << 64)
    return np.random.Generator(generator).permutation(examples)[rank::workers]


WRONG = {
    "9.1": [
        ("chunks", "start", everyone_to_everyone),
        ("sum", "nothing", gives_its_own),
        ("sum", "mean", mean_of_all),
        ("sum", "scattered", only_scatters),
        ("sum", "other", gathers_one_round_less),
        ("sum", "other", gathers_the_wrong_chunk),
        ("sum", "scattered", adds_in_both_rounds),
        ("sum", "shape", returns_only_its_chunk),
        ("sum", "shape", forgets_to_return),
        ("sum", "raised", takes_three_arguments),
        ("remainder", "remainder", drops_the_rest),
        ("ring", "ring", the_other_way_round),
        ("ring", "ring", through_the_first),
        ("ring", "ring", by_a_tree),
        ("chunks", "whole", whole_arrays_round_the_ring),
        ("chunks", "even", long_last_chunk),
        ("messages", "messages", skips_empty_chunks),
        ("messages", "messages", one_message_more),
        ("bytes", "bytes", sends_float64),
        ("deadlock", "deadlock", receives_first),
        ("alone", "raised", one_worker_sends_to_itself),
        ("new", "new", gives_back_the_array_of_one),
        ("new", "dtype", returns_float64),
        ("new", "dtype", returns_a_list),
        ("unchanged", "changed", into_its_own_array),
    ],
    "9.2": [
        ("once", "start", all_in_the_order_of_the_files),
        ("once", "whole", all_shuffled),
        ("once", "once", each_draws_its_own),
        ("once", "once", with_replacement),
        ("once", "range", from_one),
        ("once", "raised", takes_four),
        ("remainder", "remainder", without_the_rest),
        ("remainder", "remainder", with_the_rest_for_all),
        ("shuffled", "shuffled", not_shuffled),
        ("shuffled", "shuffled", rolled),
        ("epoch", "epoch", same_in_every_epoch),
        ("seed", "seed", same_with_every_seed),
        ("seed", "seed_plus", seed_plus_epoch),
        ("seed", "seed", seed_times_epoch),
        ("again", "again", keeps_its_generator()),
        ("global", "global", seeds_the_global_one),
        ("global", "global", seeds_pythons_global_one),
        ("stride", "blocks", in_blocks),
        ("stride", "stride", an_order_for_each_number_of_workers),
        ("stride", "stride", shuffles_only_its_own),
        ("shuffled", "shuffled", sorted_again),
        ("stride", "stride", from_the_next_place),
        ("numbers", "numbers", as_a_mask),
        ("numbers", "numbers", as_floats),
    ],
}
RIGHT = {
    "9.1": [
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
    ],
    "9.2": [
        with_shuffle,
        with_random_state,
        with_python,
        with_sorting,
        with_seed_sequence,
        with_a_comprehension,
        with_islice,
        with_a_sample,
        with_columns,
        with_jumps,
        lambda examples, epoch, rank, workers, seed: order_of(examples, epoch, seed)[
            rank::workers
        ],
    ],
}
# Changes that `labs mutants` makes and that leave the answer right, each with the reason.
RIGHT_MUTANTS = {
    "9.1": {
        "3: chunks = np.array_split(array.copy(), workers); after, before = "
        "((rank + 1) % workers, (rank - 1) % workers) → after, before = "
        "((rank + 1) % workers, (rank - 1) % workers); "
        "chunks = np.array_split(array.copy(), workers)": "the order is free",
        "4: after, before = ((rank + 1) % workers, (rank - 1) % workers) → "
        "after, before = ((1 + rank) % workers, (rank - 1) % workers)": "the same sum",
        "6: send(after, chunks[(rank - step) % workers]) → "
        "send(after, chunks[rank - step])": "a negative index counts from the end",
        "7: chunks[(rank - step - 1) % workers] += receive(before) → "
        "chunks[rank - step - 1] += receive(before)": "a negative index, too",
        "9: send(after, chunks[(rank + 1 - step) % workers]) → "
        "send(after, chunks[(1 + rank - step) % workers])": "the same sum",
        "10: chunks[(rank - step) % workers][:] = receive(before) → "
        "chunks[rank - step][:] = receive(before)": "a negative index, too",
    },
    "9.2": {
        "3: order = np.random.default_rng([seed, epoch]).permutation(examples) → "
        "order = np.random.default_rng([epoch, seed]).permutation(examples)": (
            "the pair is as good the other way round"
        ),
    },
}
