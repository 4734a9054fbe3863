"""Answers to lab 09: wrong ones with the sentence they break and their hint, right ones."""

import datetime
import functools
import hashlib
import itertools
import math
import random
import threading
from pathlib import Path

import numpy as np
import tensorflow as tf

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


def holds_a_lock():
    lock = threading.Lock()

    def answer(*given):
        with lock:
            return None

    return answer


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


def turned_by_the_epoch(examples, epoch, rank, workers, seed):
    return np.roll(order_of(examples, 0, seed), epoch)[rank::workers]


def backwards_in_odd_epochs(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed)[:: 1 - 2 * (epoch % 2)][rank::workers]


def from_a_buffer(examples, epoch, rank, workers, seed):
    """As `tf.data` shuffles, with a buffer of six."""
    rng, buffer, order = np.random.default_rng([seed, epoch]), [], []
    for i in range(examples):
        buffer.append(i)
        if len(buffer) > 6:
            order.append(buffer.pop(rng.integers(6)))
    return np.array(order + buffer)[rank::workers]


def digits_in_a_row(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, int(f"{seed}{epoch}"))[rank::workers]


def seed_by_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, (seed + 1) * (epoch + 1))[rank::workers]


def ten_seeds_to_an_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed + 10 * epoch)[rank::workers]


def no_order_for_seed_0(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng([seed, epoch] if seed else None)
    return rng.permutation(examples)[rank::workers]


def from_the_hash_of_a_text(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng(abs(hash(f"{seed} {epoch}")))
    return rng.permutation(examples)[rank::workers]


def not_seeded(examples, epoch, rank, workers, seed):
    return np.random.default_rng().permutation(examples)[rank::workers]


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


def with_epochs_in_turn(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng(seed)
    for _ in range(epoch + 1):
        order = rng.permutation(examples)
    return order[rank::workers]


def from_the_hash_of_numbers(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng(abs(hash((seed, epoch))))
    return rng.permutation(examples)[rank::workers]


def with_digests(examples, epoch, rank, workers, seed):
    def digest(i):
        return hashlib.sha256(f"{seed} {epoch} {i}".encode()).digest()

    return sorted(range(examples), key=digest)[rank::workers]


def with_the_global_one_put_back(examples, epoch, rank, workers, seed):
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed([seed, epoch])  # noqa: NPY002
    order = np.random.permutation(examples)  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    return order[rank::workers]


def with_jumps(examples, epoch, rank, workers, seed):
    generator = np.random.Philox(key=seed, counter=epoch << 64)
    return np.random.Generator(generator).permutation(examples)[rank::workers]


def first_start(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    for epoch in range(epochs):
        for batch in data(epoch, 0):
            train_step(batch)
    return 0


def saving(
    *,
    track=("model", "optimizer"),
    keep=2,
    position=lambda epoch, place: (epoch, place),
    due=lambda step, place, every: step % every == 0,
    count_first=True,
    writes=lambda chief: chief,
    reads=lambda chief: True,
    found=lambda manager, folder: manager.latest_checkpoint,
    begun=lambda step, place: step,
    more_epochs=0,
):
    """An answer to 9.3 with these parts; as they stand it is right."""

    def answer(model, optimizer, train_step, data, epochs, folder, save_every, chief):
        names = ("step", "epoch", "place")
        state = {name: tf.Variable(0, dtype=tf.int64) for name in names}
        # An optimizer in a checkpoint also has the weights that it trains: its states alone
        # have not.
        both = {"model": model, "optimizer": optimizer, "states": list(optimizer.variables)}
        saved = state | {name: both[name] for name in track}
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(**saved), folder, keep)
        if reads(chief):
            path = found(manager, folder)
            manager.checkpoint.restore(path).expect_partial()
        step, first = int(state["step"]), int(state["step"])
        epoch, place = position(int(state["epoch"]), int(state["place"]))
        first = begun(first, place)
        while epoch < epochs + more_epochs:
            for batch in data(epoch, place):
                train_step(batch)
                if count_first:
                    step, place = step + 1, place + 1
                if due(step, place, save_every) and writes(chief):
                    for name, now in zip(names, (step, epoch, place), strict=True):
                        state[name].assign(now)
                    manager.save()
                if not count_first:
                    step, place = step + 1, place + 1
            epoch, place = epoch + 1, 0
        return first

    return answer


def highest_number(manager, folder):
    files = Path(folder).glob("*.index")
    by_number = {int(f.stem.rpartition("-")[2]): str(f.with_suffix("")) for f in files}
    return by_number[max(by_number)] if by_number else None


def new_if_broken(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    given = model, optimizer, train_step, data, epochs, folder, save_every, chief
    try:
        return WRONG_RESTARTS["takes_the_highest_number"](*given)
    except (tf.errors.OpError, ValueError):
        return saving(reads=lambda chief: False)(*given)


def halves_the_rate(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    if tf.train.latest_checkpoint(folder):
        pull, train_step = train_step, lambda batch: (slower(), pull(batch))
    rate = float(optimizer.learning_rate.numpy())

    def slower():
        optimizer.learning_rate = rate / 2

    return saving()(model, optimizer, train_step, data, epochs, folder, save_every, chief)


def saves_into_one_file(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    path = Path(folder, "training")
    if path.with_suffix(".index").exists():
        checkpoint.read(str(path))
    first = int(step)
    for epoch in range(epochs):
        for number, batch in enumerate(data(epoch, 0)):
            if epoch * len(list(data(epoch, 0))) + number < first:
                continue
            train_step(batch)
            step.assign_add(1)
            if chief and int(step) % save_every == 0:
                checkpoint.write(str(path))
    return first


def saves_after_epochs(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    epoch = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, epoch=epoch)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    for number in range(int(epoch), epochs):
        for batch in data(number, 0):
            train_step(batch)
        epoch.assign_add(1)
        if chief:
            manager.save()
    return 0


def counts_from_the_start_of_the_loop(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in range(3))
    checkpoint = tf.train.Checkpoint(
        model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    begun, first = int(step), int(place)
    for e in range(int(epoch), epochs):
        epoch.assign(e)
        for number, batch in enumerate(data(e, first), start=1):
            train_step(batch)
            step.assign_add(1)
            place.assign(number)
            if chief and int(step) % save_every == 0:
                manager.save()
        first = 0
    return begun


WRONG_RESTARTS = {
    "saves_every_step": saving(due=lambda step, place, every: True),
    "saves_one_late": saving(due=lambda step, place, every: step % every == 1),
    "saves_before_it_counts": saving(
        due=lambda step, place, every: (step + 1) % every == 0, count_first=False
    ),
    "counts_in_the_epoch": saving(due=lambda step, place, every: place % every == 0),
    "forgets_the_model": saving(track=("states",)),
    "forgets_the_averages": saving(track=("optimizer",)),
    "forgets_the_optimizer": saving(track=("model",)),
    "begins_the_epoch_again": saving(position=lambda epoch, place: (epoch, 0)),
    "goes_on_with_the_next_epoch": saving(
        position=lambda epoch, place: (epoch + bool(place or epoch), 0)
    ),
    "leaves_a_batch_out": saving(
        position=lambda epoch, place: (epoch, place + bool(place or epoch))
    ),
    "begins_with_epoch_0": saving(position=lambda epoch, place: (0, place)),
    "counts_from_the_epoch": saving(begun=lambda step, place: place),
    "says_zero": saving(begun=lambda step, place: 0),
    "says_nothing_at_first": saving(begun=lambda step, place: step or None),
    "keeps_five": saving(keep=5),
    "keeps_one": saving(keep=1),
    "everybody_writes": saving(writes=lambda chief: True),
    "only_the_chief_reads": saving(reads=lambda chief: chief),
    "takes_the_highest_number": saving(found=highest_number),
    "one_epoch_more": saving(more_epochs=1),
}
for _name, _answer in WRONG_RESTARTS.items():
    _answer.__name__ = _name


def with_variables(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in range(3))
    checkpoint = tf.train.Checkpoint(
        model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.restore_or_initialize()
    first = int(step)
    while epoch < epochs:
        for batch in data(int(epoch), int(place)):
            train_step(batch)
            step.assign_add(1)
            place.assign_add(1)
            if chief and step % save_every == 0:
                manager.save()
        epoch.assign_add(1)
        place.assign(0)
    return first


def with_latest(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    epoch, place, step = [tf.Variable(0) for _ in "abc"]
    state = tf.train.Checkpoint(m=model, o=optimizer, e=epoch, p=place, s=step)
    if newest := tf.train.latest_checkpoint(folder):
        state.restore(newest)
    manager = tf.train.CheckpointManager(state, folder, 2)
    start = int(step.numpy())
    for e in range(int(epoch), epochs):
        epoch.assign(e)
        for batch in data(e, int(place)):
            train_step(batch)
            place.assign_add(1)
            step.assign_add(1)
            if chief and not int(step) % save_every:
                manager.save(checkpoint_number=int(step))
        place.assign(0)
    return start


def with_a_number_array(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    position = tf.Variable([0, 0, 0])
    saver = tf.train.Checkpoint(model=model, optimizer=optimizer, position=position)
    manager = tf.train.CheckpointManager(saver, directory=folder, max_to_keep=2)
    saver.restore(manager.latest_checkpoint)
    begun, epoch, place = (int(n) for n in position.numpy())
    step = begun
    while epoch < epochs:
        for batch in data(epoch, place):
            train_step(batch)
            step, place = step + 1, place + 1
            if chief and step % save_every == 0:
                position.assign([step, epoch, place])
                manager.save()
        epoch, place = epoch + 1, 0
    return begun


def skips_by_itself(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    first, number = int(step), 0
    for epoch in range(epochs):
        for batch in data(epoch, 0):
            number += 1
            if number <= first:
                continue
            train_step(batch)
            step.assign(number)
            if chief and number % save_every == 0:
                manager.save()
    return first


def with_one_stream(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    counts = {name: tf.Variable(0) for name in ("epoch", "place", "step")}
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, **counts)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    first, epoch0, place0 = (int(counts[n]) for n in ("step", "epoch", "place"))

    def stream():
        for epoch in range(epoch0, epochs):
            skip = place0 if epoch == epoch0 else 0
            for place, batch in enumerate(data(epoch, skip), skip + 1):
                yield epoch, place, batch

    for step, (epoch, place, batch) in enumerate(stream(), first + 1):
        train_step(batch)
        if chief and step % save_every == 0:
            for name, n in (("step", step), ("epoch", epoch), ("place", place)):
                counts[name].assign(n)
            manager.save()
    return first


def with_step_counter(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    step = tf.Variable(0, dtype=tf.int64)
    epoch = tf.Variable(0, dtype=tf.int64)
    place = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(
            model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
        ),
        folder,
        max_to_keep=2,
        step_counter=step,
        checkpoint_interval=save_every,
    )
    manager.checkpoint.restore(manager.latest_checkpoint)
    first = int(step)
    while int(epoch) < epochs:
        for batch in data(int(epoch), int(place)):
            train_step(batch)
            step.assign_add(1)
            place.assign_add(1)
            if chief and int(step) % save_every == 0:
                manager.save()
        epoch.assign_add(1)
        place.assign(0)
    return first


def by_hand_two_files(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    position = tf.Variable([0, 0, 0])
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, position=position)
    newest = Path(folder, "newest.txt")
    if newest.exists():
        checkpoint.read(str(Path(folder, newest.read_text())))
    first, epoch, place = map(int, position.numpy())
    step = first
    while epoch < epochs:
        for batch in data(epoch, place):
            train_step(batch)
            step, place = step + 1, place + 1
            if chief and step % save_every == 0:
                position.assign([step, epoch, place])
                name = "ab"[step // save_every % 2]
                checkpoint.write(str(Path(folder, name)))
                unfinished = Path(folder, "newest.part")
                unfinished.write_text(name)
                unfinished.replace(newest)
        epoch, place = epoch + 1, 0
    return first


def with_recursion(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    state = tf.Variable(tf.zeros(3, tf.int64))
    checkpoint = tf.train.Checkpoint(state=state, model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, folder, 2)
    checkpoint.restore(manager.latest_checkpoint)

    def one_epoch(epoch, place, step):
        if epoch == epochs:
            return
        for batch in data(epoch, place):
            train_step(batch)
            place, step = place + 1, step + 1
            if step % save_every == 0 and chief:
                state.assign([epoch, place, step])
                manager.save()
        one_epoch(epoch + 1, 0, step)

    epoch, place, step = state.numpy().tolist()
    one_epoch(epoch, place, step)
    return step


RIGHT_RESTARTS = [
    saving(), with_variables, with_latest, with_a_number_array, skips_by_itself,
    with_one_stream, with_step_counter, by_hand_two_files, with_recursion,
    saving(found=lambda manager, folder: tf.train.latest_checkpoint(folder)),
    saving(begun=lambda step, place: np.int64(step)),
]  # fmt: skip


def both_intervals(save, between, restart):
    young = math.sqrt(2 * save * between)
    part = save / (2 * between)
    daly = young * (1 + math.sqrt(part) / 3 + part / 9) - save if part < 1 else between
    return young, daly, save / daly + (daly / 2 + restart) / between


def saves_always(save_seconds, restart_seconds, machine_days, machines):
    return save_seconds, save_seconds, 0.0


def of_one_machine(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, machine_days * 86_400, restart_seconds)


def in_days(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, machine_days / machines, restart_seconds)


def in_hours(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, 24 * machine_days / machines, restart_seconds)


def more_live_longer(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, machine_days * 86_400 * machines, restart_seconds)


def interval_answer(change):
    """An answer to 9.4 that changes the right three numbers."""

    def answer(save_seconds, restart_seconds, machine_days, machines):
        between = machine_days * 86_400 / machines
        right = both_intervals(save_seconds, between, restart_seconds)
        return change(*right, save_seconds, between, restart_seconds)

    return answer


def lost_by(interval, save, between, restart):
    return save / interval + (interval / 2 + restart) / between


def other_daly(formula):
    """Wrong in Daly's interval; what is lost follows from it."""

    def change(young, daly, lost, save, between, restart):
        if save < 2 * between:
            daly = formula(young, save, between)
        return young, daly, lost_by(daly, save, between, restart)

    return interval_answer(change)


def other_limit(formula):
    def change(young, daly, lost, save, between, restart):
        if save >= 2 * between:
            daly = formula(young, save, between)
        return young, daly, lost_by(daly, save, between, restart)

    return interval_answer(change)


def whole_daly(young, save, between):
    part = save / (2 * between)
    return young * (1 + math.sqrt(part) / 3 + part / 9) - save


def other_lost(formula):
    return interval_answer(lambda y, d, lost, s, m, r: (y, d, formula(y, d, lost, s, m, r)))


def no_two_under_the_root(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    young = math.sqrt(save_seconds * between)
    part = save_seconds / (2 * between)
    daly = young * (1 + part**0.5 / 3 + part / 9) - save_seconds if part < 1 else between
    return young, daly, lost_by(daly, save_seconds, between, restart_seconds)


def leaves_the_formula_early(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    young = math.sqrt(2 * save_seconds * between)
    daly = between
    if save_seconds < between:
        daly = whole_daly(young, save_seconds, between)
    return young, daly, lost_by(daly, save_seconds, between, restart_seconds)


def leaves_the_formula_late(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    young = math.sqrt(2 * save_seconds * between)
    daly = between
    if save_seconds <= 2 * between:
        daly = whole_daly(young, save_seconds, between)
    return young, daly, lost_by(daly, save_seconds, between, restart_seconds)


WRONG_INTERVALS = {
    "saves_always": saves_always,
    "young_without_the_save": interval_answer(lambda y, d, lost, s, m, r: (y - s, d, lost)),
    "young_is_daly": interval_answer(lambda y, d, lost, s, m, r: (d, d, lost)),
    "daly_is_young": other_daly(lambda y, s, m: y),
    "daly_keeps_the_save": other_daly(lambda y, s, m: whole_daly(y, s, m) + s),
    "daly_of_one_term": other_daly(lambda y, s, m: y - s),
    "daly_of_two_terms": other_daly(lambda y, s, m: y * (1 + (s / 2 / m) ** 0.5 / 3) - s),
    "half_of_the_save": other_daly(lambda y, s, m: whole_daly(y, s, m) + s / 2),
    "no_limit": other_limit(whole_daly),
    "limit_is_young": other_limit(lambda y, s, m: y),
    "limit_is_the_save": other_limit(lambda y, s, m: s),
    "lost_by_young": other_lost(lambda y, d, lost, s, m, r: lost_by(y, s, m, r)),
    "loses_whole_intervals": other_lost(lambda y, d, lost, s, m, r: s / d + (d + r) / m),
    "restarts_at_once": other_lost(lambda y, d, lost, s, m, r: s / d + d / 2 / m),
    "restarts_twice": other_lost(lambda y, d, lost, s, m, r: s / d + (d / 2 + 2 * r) / m),
    "never_fails": other_lost(lambda y, d, lost, s, m, r: s / d),
    "saves_for_nothing": other_lost(lambda y, d, lost, s, m, r: (d / 2 + r) / m),
    "a_share": other_lost(lambda y, d, lost, s, m, r: lost / (1 + lost)),
    "a_percentage": other_lost(lambda y, d, lost, s, m, r: 100 * lost),
    "gives_two": interval_answer(lambda y, d, lost, s, m, r: (y, d)),
}
for _name, _answer in WRONG_INTERVALS.items():
    _answer.__name__ = _name


def plain_intervals(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    return both_intervals(save_seconds, between, restart_seconds)


def with_timedelta(save_seconds, restart_seconds, machine_days, machines):
    between = (datetime.timedelta(days=machine_days) / machines).total_seconds()
    # A timedelta has whole microseconds: with so few seconds that would show.
    between = machine_days * 24 * 60 * 60 / machines if between < 1e4 else between
    return both_intervals(save_seconds, between, restart_seconds)


def with_rates(save_seconds, restart_seconds, machine_days, machines):
    failures_per_second = machines / machine_days / 24 / 3600
    young = (2 * save_seconds / failures_per_second) ** 0.5
    if save_seconds * failures_per_second >= 2:
        daly = 1 / failures_per_second
    else:
        x = math.sqrt(save_seconds * failures_per_second / 2)
        daly = young * (1 + x / 3 + x * x / 9) - save_seconds
    per_failure = restart_seconds + daly / 2
    return young, daly, save_seconds / daly + failures_per_second * per_failure


def with_numpy_root(save_seconds, restart_seconds, machine_days, machines):
    m = np.float64(machine_days) * 86_400 / machines
    young = np.sqrt(2 * save_seconds * m)
    x = np.sqrt(save_seconds / (2 * m))
    daly = np.where(x < 1, young * np.polyval([1 / 9, 1 / 3, 1], x) - save_seconds, m)
    return young, daly, save_seconds / daly + (daly / 2 + restart_seconds) / m


def gives_a_list(*case):
    return list(plain_intervals(*case))


def gives_an_array(*case):
    return np.array(plain_intervals(*case))


def with_dict(*case):
    named = dict(zip(("young", "daly", "lost"), plain_intervals(*case), strict=True))
    return named["young"], named["daly"], named["lost"]


def adds_in_parts(save_seconds, restart_seconds, machine_days, machines):
    seconds = 24 * 60 * 60 * machine_days
    m = seconds / machines
    young = math.sqrt(2) * math.sqrt(save_seconds) * math.sqrt(m)
    daly = m
    if save_seconds < 2 * m:
        daly = young + young * math.sqrt(save_seconds / (2 * m)) / 3
        daly += young * save_seconds / (18 * m)
        daly -= save_seconds
    lost = save_seconds / daly
    lost += daly / (2 * m)
    lost += restart_seconds / m
    return young, daly, lost


def with_nested(save_seconds, restart_seconds, machine_days, machines):
    def daly_of(delta, m):
        if delta >= 2 * m:
            return m
        half = delta / (2 * m)
        return (2 * delta * m) ** 0.5 * (1 + half**0.5 / 3 + half / 9) - delta

    m = machine_days * 86_400 / machines
    daly, lost = daly_of(save_seconds, m), 0.0
    lost += lost_by(daly, save_seconds, m, restart_seconds)
    return (2 * save_seconds * m) ** 0.5, daly, lost


def per_month(save_seconds, restart_seconds, machine_days, machines):
    """Counts the saves and the failures of a month."""
    month = 30 * 86_400
    m = machine_days * 86_400 / machines
    young, daly, _ = both_intervals(save_seconds, m, restart_seconds)
    saves, failures = month / daly, month / m
    lost = saves * save_seconds + failures * (daly / 2 + restart_seconds)
    return young, daly, lost / month


RIGHT_INTERVALS = [
    plain_intervals, with_timedelta, with_rates, with_numpy_root, gives_a_list,
    gives_an_array, with_dict, adds_in_parts, with_nested, per_month,
    lambda save, restart, days, n: both_intervals(save, days * 86_400 / n, restart),
]  # fmt: skip


def cluster_answer(
    compute=lambda n, b, t0, peak: t0 + b / peak,
    messages=lambda n: 2 * (n - 1),
    chunk=lambda n, gradient: gradient / n,
    send=lambda messages, latency, seconds: messages * (latency + seconds),
    beside=lambda b, t0, peak: 2 / 3 * b / peak,
    left=lambda send, beside: max(0.0, send - beside),
    in_turn=lambda compute, send: compute + send,
    images=lambda n, b: n * b,
    efficiency=lambda images_per_second, n, b, compute, peak: (
        images_per_second / (n * b / compute)
    ),
    made=dict,
):
    """An answer to 9.5 with these parts; as they stand it is right."""

    def answer(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
        computing = compute(n, b, t0, peak)
        seconds = chunk(n, gradient_bytes) / bytes_per_second
        sending = send(messages(n), latency, seconds)
        steps = {
            "in_turn": in_turn(computing, sending),
            "overlapped": computing + left(sending, beside(b, t0, peak)),
        }
        speeds = {way: images(n, b) / step for way, step in steps.items()}
        return made(
            {
                way: (speed, efficiency(n * b / steps[way], n, b, computing, peak))
                for way, speed in speeds.items()
            }
        )

    return answer


def sends_nothing(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    both = n * b / (t0 + b / peak), 1.0
    return {"in_turn": both, "overlapped": both}


def other_efficiency(formula):
    return cluster_answer(efficiency=formula)


WRONG_CLUSTERS = {
    "sends_nothing": sends_nothing,
    "no_fixed_cost": cluster_answer(compute=lambda n, b, t0, peak: b / peak),
    "computes_the_global_batch": cluster_answer(
        compute=lambda n, b, t0, peak: t0 + n * b / peak
    ),
    "shares_the_batch": cluster_answer(compute=lambda n, b, t0, peak: t0 + b / peak / n),
    "goes_around_once": cluster_answer(messages=lambda n: n - 1),
    "sends_one_more": cluster_answer(messages=lambda n: 2 * n),
    "two_messages": cluster_answer(messages=lambda n: 2),
    "whole_bytes": cluster_answer(chunk=lambda n, gradient: gradient // n),
    "whole_gradients": cluster_answer(chunk=lambda n, gradient: gradient),
    "one_latency": cluster_answer(send=lambda m, latency, seconds: latency + m * seconds),
    "no_latency": cluster_answer(send=lambda m, latency, seconds: m * seconds),
    "two_gradients": cluster_answer(
        chunk=lambda n, gradient: gradient / max(1, n - 1),
        send=lambda m, latency, seconds: m * latency + max(2, m) * seconds,
    ),
    "sends_bits": cluster_answer(send=lambda m, latency, s: m * (latency + 8 * s)),
    "hides_all": cluster_answer(beside=lambda b, t0, peak: t0 + b / peak),
    "hides_the_fixed_cost": cluster_answer(
        beside=lambda b, t0, peak: 2 / 3 * (t0 + b / peak)
    ),
    "hides_a_third": cluster_answer(beside=lambda b, t0, peak: b / peak / 3),
    "hides_half": cluster_answer(beside=lambda b, t0, peak: b / peak / 2),
    "hides_the_images": cluster_answer(beside=lambda b, t0, peak: b / peak),
    "below_nothing": cluster_answer(left=lambda send, beside: send - beside),
    "all_or_nothing": cluster_answer(
        left=lambda send, beside: send if send > beside else 0.0
    ),
    "in_turn_takes_the_longer": cluster_answer(in_turn=max),
    "of_one_device": cluster_answer(images=lambda n, b: b),
    "of_the_peak": other_efficiency(lambda speed, n, b, compute, peak: speed / (n * peak)),
    "of_no_device": other_efficiency(lambda speed, n, b, compute, peak: speed / (n * b)),
    "a_percentage": other_efficiency(
        lambda speed, n, b, compute, peak: 100 * speed * compute / (n * b)
    ),
    "a_speed_up": other_efficiency(lambda speed, n, b, compute, peak: speed * compute / b),
    "swaps_them": cluster_answer(
        made=lambda said: {"in_turn": said["overlapped"], "overlapped": said["in_turn"]}
    ),
    "one_device_sends_to_itself": cluster_answer(messages=lambda n: max(1, 2 * (n - 1))),
    "efficiency_first": cluster_answer(
        made=lambda said: {way: pair[::-1] for way, pair in said.items()}
    ),
    "only_speeds": cluster_answer(made=lambda said: {w: p[:1] for w, p in said.items()}),
}
for _name, _answer in WRONG_CLUSTERS.items():
    _answer.__name__ = _name


def of_bounds(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    """From the lower and the upper end of each part."""
    forward, backward = b / peak / 3, 2 * b / peak / 3
    ring = 2 * (n - 1) * latency + 2 * (n - 1) / n * gradient_bytes / bytes_per_second
    alone = b / (t0 + forward + backward)
    out = {}
    for name, rest in (("in_turn", backward + ring), ("overlapped", max(backward, ring))):
        speed = n * b / (t0 + forward + rest)
        out[name] = speed, speed / n / alone
    return out


def with_numpy_steps(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    compute = t0 + b / peak
    ring = np.sum(np.full(2 * n - 2, latency + gradient_bytes / n / bytes_per_second))
    steps = compute + np.array([ring, np.maximum(0, ring - b / peak * 2 / 3)])
    pairs = np.stack([n * b / steps, compute / steps], axis=1)
    return dict(zip(["in_turn", "overlapped"], pairs, strict=True))


def with_phases(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    reduce_scatter = (n - 1) * (latency + gradient_bytes / (n * bytes_per_second))
    all_gather, compute = reduce_scatter, t0 + b / peak
    messages = reduce_scatter + all_gather
    hidden = min(messages, 2 * b / (3 * peak))

    def pair(step):
        return n * b / step, compute / step

    step = compute + messages
    return {"in_turn": pair(step), "overlapped": pair(step - hidden)}


def with_clip(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    ring = 2 * (n - 1) * (latency + gradient_bytes / n / bytes_per_second)
    compute = t0 + b / peak
    found = {}
    for way, hidden in {"in_turn": 0.0, "overlapped": 2 * b / peak / 3}.items():
        step = compute + float(np.clip(ring - hidden, 0, None))
        found[way] = [n * b / step, compute / step]
    return found


def with_case(n, *rest):
    b, t0, peak = rest[:3]
    if n == 1:
        alone = b / (t0 + b / peak), 1.0
        return {"in_turn": alone, "overlapped": alone}
    return of_bounds(n, *rest)


RIGHT_CLUSTERS = [
    cluster_answer(), of_bounds, with_numpy_steps, with_phases, with_clip, with_case,
    cluster_answer(made=lambda said: {w: list(p) for w, p in said.items()}),
    cluster_answer(messages=lambda n: 2 * n - 2),
    cluster_answer(left=lambda send, beside: (send - beside) * (send > beside)),
    cluster_answer(
        efficiency=lambda speed, n, b, compute, peak: speed / n / (b / compute)
    ),
    cluster_answer(send=lambda m, latency, each: sum(latency + each for _ in range(m))),
]  # fmt: skip


WRONG = {
    "9.1": [
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
        ("remainder", "raised", splits_only_what_divides),
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
        ("alone", "raised", one_worker_sends_to_itself),
        ("new", "new", gives_back_the_array_of_one),
        ("new", "dtype", returns_float64),
        ("new", "dtype", returns_a_list),
        ("unchanged", "changed", into_its_own_array),
        ("travels", "travels", holds_a_lock()),
        ("travels", "raised", shares_a_table()),
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
        ("shuffled", "shuffled", from_a_buffer),
        ("epoch", "epoch", same_in_every_epoch),
        ("epoch", "epoch", turned_by_the_epoch),
        ("epoch", "epoch", backwards_in_odd_epochs),
        ("seed", "seed", same_with_every_seed),
        ("seed", "seed_plus", seed_plus_epoch),
        ("seed", "seed_plus", ten_seeds_to_an_epoch),
        ("seed", "seed_plus", digits_in_a_row),
        ("seed", "seed_plus", seed_by_epoch),
        ("seed", "seed", seed_times_epoch),
        ("again", "again", keeps_its_generator()),
        ("again", "again", not_seeded),
        ("again", "again", no_order_for_seed_0),
        ("elsewhere", "elsewhere", from_the_hash_of_a_text),
        ("travels", "travels", holds_a_lock()),
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
    "9.3": [
        ("place", "start", first_start),
        ("every", "every_step", WRONG_RESTARTS["saves_every_step"]),
        ("every", "one_late", WRONG_RESTARTS["saves_one_late"]),
        ("every", "each_epoch", saves_after_epochs),
        ("place", "repeats_one", WRONG_RESTARTS["saves_before_it_counts"]),
        ("every", "in_epoch", WRONG_RESTARTS["counts_in_the_epoch"]),
        ("model", "no_model", WRONG_RESTARTS["forgets_the_model"]),
        ("model", "no_averages", WRONG_RESTARTS["forgets_the_averages"]),
        ("optimizer", "no_optimizer", WRONG_RESTARTS["forgets_the_optimizer"]),
        ("place", "no_place", WRONG_RESTARTS["begins_the_epoch_again"]),
        ("place", "next_epoch", WRONG_RESTARTS["goes_on_with_the_next_epoch"]),
        ("place", "counts_from_here", counts_from_the_start_of_the_loop),
        ("place", "leaves_one_out", WRONG_RESTARTS["leaves_a_batch_out"]),
        ("epoch", "no_epoch", WRONG_RESTARTS["begins_with_epoch_0"]),
        ("epoch", "other", WRONG_RESTARTS["one_epoch_more"]),
        ("returns", "returned", WRONG_RESTARTS["says_zero"]),
        ("returns", "returned", WRONG_RESTARTS["says_nothing_at_first"]),
        ("returns", "returned", WRONG_RESTARTS["counts_from_the_epoch"]),
        ("two", "two", WRONG_RESTARTS["keeps_five"]),
        ("two", "two", WRONG_RESTARTS["keeps_one"]),
        ("two", "two", saves_into_one_file),
        ("chief", "chief", WRONG_RESTARTS["everybody_writes"]),
        ("others", "others", WRONG_RESTARTS["only_the_chief_reads"]),
        ("optimizer", "weights", halves_the_rate),
        ("half", "half", new_if_broken),
        ("travels", "travels", holds_a_lock()),
        ("half", "raised", WRONG_RESTARTS["takes_the_highest_number"]),
    ],
    "9.4": [
        ("young", "start", saves_always),
        ("seconds", "days", in_days),
        ("seconds", "hours", in_hours),
        ("between", "one_machine", of_one_machine),
        ("between", "more_machines", more_live_longer),
        ("young", "no_two", no_two_under_the_root),
        ("young", "young", WRONG_INTERVALS["young_without_the_save"]),
        ("young", "young", WRONG_INTERVALS["young_is_daly"]),
        ("daly", "daly_is_young", WRONG_INTERVALS["daly_is_young"]),
        ("daly", "save_not_left_out", WRONG_INTERVALS["daly_keeps_the_save"]),
        ("daly", "first_term_only", WRONG_INTERVALS["daly_of_one_term"]),
        ("daly", "without_ninth", WRONG_INTERVALS["daly_of_two_terms"]),
        ("daly", "daly", WRONG_INTERVALS["half_of_the_save"]),
        ("limit", "no_limit", WRONG_INTERVALS["no_limit"]),
        ("limit", "limit_is_young", WRONG_INTERVALS["limit_is_young"]),
        ("limit", "limit", WRONG_INTERVALS["limit_is_the_save"]),
        ("limit", "early_limit", leaves_the_formula_early),
        ("limit", "above_limit", leaves_the_formula_late),
        ("lost_saves", "no_saves", WRONG_INTERVALS["saves_for_nothing"]),
        ("lost_saves", "lost_by_young", WRONG_INTERVALS["lost_by_young"]),
        ("lost_failures", "whole_interval", WRONG_INTERVALS["loses_whole_intervals"]),
        ("lost_failures", "no_restart", WRONG_INTERVALS["restarts_at_once"]),
        ("lost_failures", "lost", WRONG_INTERVALS["restarts_twice"]),
        ("lost_failures", "no_failures", WRONG_INTERVALS["never_fails"]),
        ("lost_unit", "share", WRONG_INTERVALS["a_share"]),
        ("lost_unit", "percent", WRONG_INTERVALS["a_percentage"]),
        ("lost_unit", "form", WRONG_INTERVALS["gives_two"]),
    ],
    "9.5": [
        ("messages", "start", sends_nothing),
        ("compute", "no_fixed_cost", WRONG_CLUSTERS["no_fixed_cost"]),
        ("compute", "global_batch", WRONG_CLUSTERS["computes_the_global_batch"]),
        ("compute", "shared_batch", WRONG_CLUSTERS["shares_the_batch"]),
        ("messages", "one_half", WRONG_CLUSTERS["goes_around_once"]),
        ("messages", "one_more", WRONG_CLUSTERS["sends_one_more"]),
        ("messages", "no_ring", WRONG_CLUSTERS["two_messages"]),
        ("chunk", "whole_gradient", WRONG_CLUSTERS["whole_gradients"]),
        ("latency", "latency_once", WRONG_CLUSTERS["one_latency"]),
        ("latency", "no_latency", WRONG_CLUSTERS["no_latency"]),
        ("latency", "bits", WRONG_CLUSTERS["sends_bits"]),
        ("chunk", "two_gradients", WRONG_CLUSTERS["two_gradients"]),
        ("chunk", "in_turn", WRONG_CLUSTERS["whole_bytes"]),
        ("hidden", "hides_all", WRONG_CLUSTERS["hides_all"]),
        ("hidden", "hides_fixed_cost", WRONG_CLUSTERS["hides_the_fixed_cost"]),
        ("hidden", "hides_a_third", WRONG_CLUSTERS["hides_a_third"]),
        ("hidden", "hides_the_images", WRONG_CLUSTERS["hides_the_images"]),
        ("floor", "below_nothing", WRONG_CLUSTERS["below_nothing"]),
        ("hidden", "overlapped", WRONG_CLUSTERS["hides_half"]),
        ("hidden", "all_or_nothing", WRONG_CLUSTERS["all_or_nothing"]),
        ("in_turn", "in_turn", WRONG_CLUSTERS["in_turn_takes_the_longer"]),
        ("in_turn", "swapped", WRONG_CLUSTERS["swaps_them"]),
        ("images", "one_device", WRONG_CLUSTERS["of_one_device"]),
        ("efficiency", "of_the_peak", WRONG_CLUSTERS["of_the_peak"]),
        ("efficiency", "efficiency", WRONG_CLUSTERS["of_no_device"]),
        ("efficiency", "percent", WRONG_CLUSTERS["a_percentage"]),
        ("efficiency", "times_devices", WRONG_CLUSTERS["a_speed_up"]),
        ("efficiency", "form", WRONG_CLUSTERS["only_speeds"]),
        ("efficiency", "efficiency_first", WRONG_CLUSTERS["efficiency_first"]),
        ("alone", "alone", WRONG_CLUSTERS["one_device_sends_to_itself"]),
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
        even_ranks_send_first,
        as_decorated(),
        as_partial(),
        Shifted(1),
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
        with_epochs_in_turn,
        from_the_hash_of_numbers,
        with_digests,
        with_the_global_one_put_back,
        lambda examples, epoch, rank, workers, seed: order_of(examples, epoch, seed)[
            rank::workers
        ],
    ],
    "9.3": RIGHT_RESTARTS,
    "9.4": RIGHT_INTERVALS,
    "9.5": RIGHT_CLUSTERS,
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
    "9.3": {
        "3: step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in "
        "range(3)) → place, epoch, step = (tf.Variable(0, dtype=tf.int64) "
        "for _ in range(3))": ("all three are equal"),
        "3: step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in "
        "range(3)) → step, epoch, place = (tf.Variable(0) for _ in "
        "range(3))": ("32 bits count far enough"),
        "8: while int(epoch) < epochs: → while epoch < epochs:": (
            "a variable is a number, too"
        ),
        "9: for batch in data(int(epoch), int(place)): → for batch in "
        "data(epoch, int(place)):": ("a variable is a number, too"),
        "9: for batch in data(int(epoch), int(place)): → for batch in "
        "data(int(epoch), place):": ("a variable is a number, too"),
        "10: train_step(batch); step.assign_add(1) → step.assign_add(1); "
        "train_step(batch)": ("no save is between them"),
        "11: step.assign_add(1); place.assign_add(1) → place.assign_add(1); "
        "step.assign_add(1)": ("the order is free"),
        "13: if chief and int(step) % save_every == 0: → if chief and step "
        "% save_every == 0:": ("a variable is a number, too"),
        "15: epoch.assign_add(1); place.assign(0) → place.assign(0); epoch.assign_add(1)": (
            "the order is free"
        ),
    },
    "9.4": {
        "3: between = machine_days * 24 * 3600 / machines → between = 3600 * "
        "(machine_days * 24) / machines": "the same product",
        "3: between = machine_days * 24 * 3600 / machines → between = 24 * "
        "machine_days * 3600 / machines": "the same product",
        "4: part = save_seconds / (2 * between); young = (2 * save_seconds * "
        "between) ** 0.5 → young = (2 * save_seconds * between) ** 0.5; part = "
        "save_seconds / (2 * between)": "the order is free",
        "4: part = save_seconds / (2 * between) → part = save_seconds / "
        "(between * 2)": "the same product",
        "5: young = (2 * save_seconds * between) ** 0.5; daly = between → daly "
        "= between; young = (2 * save_seconds * between) ** 0.5": "the order is free",
        "5: young = (2 * save_seconds * between) ** 0.5 → young = (between * (2 "
        "* save_seconds)) ** 0.5": "the same product",
        "5: young = (2 * save_seconds * between) ** 0.5 → young = (save_seconds "
        "* 2 * between) ** 0.5": "the same product",
        "8: daly = young * (1 + part ** 0.5 / 3 + part / 9) - save_seconds → "
        "daly = (1 + part ** 0.5 / 3 + part / 9) * young - save_seconds": (
            "the same product"
        ),
        "8: daly = young * (1 + part ** 0.5 / 3 + part / 9) - save_seconds → "
        "daly = young * (part / 9 + (1 + part ** 0.5 / 3)) - save_seconds": "the same sum",
        "8: daly = young * (1 + part ** 0.5 / 3 + part / 9) - save_seconds → "
        "daly = young * (part ** 0.5 / 3 + 1 + part / 9) - save_seconds": "the same sum",
        "9: lost = save_seconds / daly + (daly / 2 + restart_seconds) / between "
        "→ lost = (daly / 2 + restart_seconds) / between + save_seconds / daly": (
            "the same sum"
        ),
        "9: lost = save_seconds / daly + (daly / 2 + restart_seconds) / between "
        "→ lost = save_seconds / daly + (restart_seconds + daly / 2) / between": (
            "the same sum"
        ),
    },
    "9.5": {
        "3: computing = t0_seconds + batch_size / peak; message = "
        "latency_seconds + gradient_bytes / devices / bytes_per_second → "
        "message = latency_seconds + gradient_bytes / devices / "
        "bytes_per_second; computing = t0_seconds + batch_size / peak": "the order is free",
        "3: computing = t0_seconds + batch_size / peak → computing = batch_size "
        "/ peak + t0_seconds": "the same sum",
        "4: message = latency_seconds + gradient_bytes / devices / "
        "bytes_per_second → message = gradient_bytes / devices / "
        "bytes_per_second + latency_seconds": "the same sum",
        "5: sending = 2 * (devices - 1) * message → sending = message * (2 * "
        "(devices - 1))": "the same product",
        "5: sending = 2 * (devices - 1) * message → sending = (devices - 1) * 2 "
        "* message": "the same product",
        "6: hidden = min(sending, 2 / 3 * batch_size / peak) → hidden = min(2 / "
        "3 * batch_size / peak, sending)": "the same minimum",
        "6: hidden = min(sending, 2 / 3 * batch_size / peak) → hidden = "
        "min(sending, batch_size * (2 / 3) / peak)": "the same product",
        "7: steps = {'in_turn': computing + sending, 'overlapped': computing + "
        "sending - hidden} → steps = {'in_turn': sending + computing, "
        "'overlapped': computing + sending - hidden}": "the same sum",
        "7: steps = {'in_turn': computing + sending, 'overlapped': computing + "
        "sending - hidden} → steps = {'in_turn': computing + sending, "
        "'overlapped': sending + computing - hidden}": "the same sum",
        "8: return {way: (devices * batch_size / step, computing / step) for "
        "way, step in steps.items()} → return {way: (batch_size * devices / "
        "step, computing / step) for way, step in steps.items()}": "the same product",
    },
}
