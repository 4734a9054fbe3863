"""Recorded answers to 10.1: wrong ones, and right ones in other styles."""

import itertools
from functools import reduce

import numpy as np


def bucket_answer(
    full=lambda held, size, least: held >= least,
    before=lambda held, size, least: False,
    kept=lambda held, least: 0,
    rest=lambda held: held > 0,
    sizes=lambda sizes: sizes,
    ready=lambda of_bucket, ready_at: of_bucket[-1],
    free=lambda ends: ends[-1],
    took=lambda latency, held, bandwidth, sent, least: latency + held / bandwidth,
    result=lambda begins, ends, ready_at: ends[-1],
):
    """An answer to 10.1 with these parts; as they stand it is right."""

    def answer(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
        begins, ends, held, times = [0.0], [0.0], 0, []

        def send():
            begins.append(max(ready(times, ready_at), free(ends)))
            seconds = took(latency, held, bandwidth, len(ends) - 1, bucket_bytes)
            ends.append(begins[-1] + seconds)
            times.clear()

        for size, when in zip(sizes(gradient_bytes), ready_at, strict=True):
            if held and before(held, size, bucket_bytes):
                send()
                held = 0
            held += size
            times.append(when)
            if full(held, size, bucket_bytes):
                send()
                held = kept(held, bucket_bytes)
        if rest(held):
            times.append(ready_at[-1])
            send()
        return result(begins, ends, ready_at)

    return answer


def one_message(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    return ready_at[-1] + latency + sum(gradient_bytes) / bandwidth


def cuts_gradients(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    """Sends pieces of exactly a bucket's size."""
    free = held = 0
    for size, ready in zip(gradient_bytes, ready_at, strict=True):
        held += size
        while held >= bucket_bytes:
            free = max(free, ready) + latency + bucket_bytes / bandwidth
            held -= bucket_bytes
    if held:
        free = max(free, ready_at[-1]) + latency + held / bandwidth
    return free


def other_seconds(took):
    return bucket_answer(took=took)


def two_links(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    """Alternates between two links."""
    free, held, place = [0.0, 0.0], 0, 0
    for at, (size, ready) in enumerate(zip(gradient_bytes, ready_at, strict=True)):
        held += size
        if held >= bucket_bytes or at == len(ready_at) - 1:
            free[place] = max(free[place], ready) + latency + held / bandwidth
            held, place = 0, 1 - place
    return max(free)


class Remembers:
    """Carries the open bucket and the link over from one step to the next."""

    __name__ = "remembers"

    def __init__(self):
        self.free = 0.0

    def __call__(self, gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
        held = 0
        for at, (size, ready) in enumerate(zip(gradient_bytes, ready_at, strict=True)):
            held += size
            if held >= bucket_bytes or at == len(ready_at) - 1:
                self.free = max(self.free, ready) + latency + held / bandwidth
                held = 0
        return self.free


def sorts_by_size(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    return bucket_answer(sizes=sorted)(
        gradient_bytes, ready_at, latency, bandwidth, bucket_bytes
    )


def needs_two_gradients(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    gap = ready_at[1] - ready_at[0]  # the first comes after such a time, too
    assert gap >= 0
    return with_max(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes)


def returns_all_ends(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    return [0.0, with_max(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes)]


def with_max(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    """The last gradient closes its bucket, full or not."""
    free, held, left = 0.0, 0, len(gradient_bytes)
    for size, ready in zip(gradient_bytes, ready_at, strict=True):
        held, left = held + size, left - 1
        if held >= bucket_bytes or (held and not left):
            begins = ready if ready > free else free
            free, held = begins + latency + held / bandwidth, 0
    return free


def with_two_passes(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    """Packs first, and lets time pass afterwards."""
    buckets = [[]]
    for gradient in zip(gradient_bytes, ready_at, strict=True):
        if sum(size for size, _ in buckets[-1]) >= bucket_bytes:
            buckets.append([])
        buckets[-1].append(gradient)
    now = 0.0
    for bucket in buckets:
        now = max(now, bucket[-1][1]) + latency
        now += sum(size for size, _ in bucket) / bandwidth
    return now


def with_while(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    place, end = 0, 0.0
    while place < len(gradient_bytes):
        held = 0
        while place < len(gradient_bytes) and held < bucket_bytes:
            held += gradient_bytes[place]
            place += 1
        begin = ready_at[place - 1] if ready_at[place - 1] > end else end
        end = begin + latency + held / bandwidth
    return end


def with_index(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    last = len(gradient_bytes) - 1
    finished = waiting = 0
    for i in range(len(gradient_bytes)):
        waiting = waiting + gradient_bytes[i]
        if waiting >= bucket_bytes or i == last:
            if finished < ready_at[i]:
                finished = ready_at[i]
            finished = finished + latency + waiting / bandwidth
            waiting = 0
    return finished


def with_recursion(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes, free=0.0):
    if not gradient_bytes:
        return free
    held = taken = 0
    for size in gradient_bytes:
        held, taken = held + size, taken + 1
        if held >= bucket_bytes:
            break
    free = max(free, ready_at[taken - 1]) + latency + held / bandwidth
    rest = gradient_bytes[taken:], ready_at[taken:]
    return with_recursion(*rest, latency, bandwidth, bucket_bytes, free)


def with_numpy(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    so_far, end, first = np.cumsum(gradient_bytes), np.float64(0), 0
    while first < len(so_far):
        sent = so_far[first - 1] if first else 0
        last = min(np.searchsorted(so_far, sent + bucket_bytes), len(so_far) - 1)
        seconds = latency + (so_far[last] - sent) / bandwidth
        end = np.maximum(end, ready_at[last]) + seconds
        first = last + 1
    return end


def from_the_end(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    """The last end is the longest way: a bucket's ready time and all after it."""
    buckets, held = [], 0
    for size, ready in zip(gradient_bytes, ready_at, strict=True):
        held += size
        if held >= bucket_bytes:
            buckets.append((ready, latency + held / bandwidth))
            held = 0
    if held:
        buckets.append((ready_at[-1], latency + held / bandwidth))
    after = list(itertools.accumulate(seconds for _, seconds in reversed(buckets)))[::-1]
    return max(ready + rest for (ready, _), rest in zip(buckets, after, strict=True))


def with_generator(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    def full():
        held = 0
        for size, ready in zip(gradient_bytes, ready_at, strict=True):
            held += size
            if held >= bucket_bytes:
                yield ready, held
                held = 0
        if held > 0:
            yield ready, held

    return reduce(lambda end, b: max(end, b[0]) + latency + b[1] / bandwidth, full(), 0.0)


def with_copies(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    left, times, end = list(gradient_bytes), list(ready_at), 0.0
    while left:
        held, ready = left.pop(0), times.pop(0)
        while left and held < bucket_bytes:
            held, ready = held + left.pop(0), times.pop(0)
        end = max(end, ready) + (latency * bandwidth + held) / bandwidth
    return end


class Link:
    def __init__(self, latency, bandwidth):
        self.latency, self.bandwidth, self.free_at = latency, bandwidth, 0.0

    def all_reduce(self, ready, size):
        self.free_at = max(self.free_at, ready) + self.latency + size / self.bandwidth


def with_class(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    link, bucket = Link(latency, bandwidth), []
    for size, ready in zip(gradient_bytes, ready_at, strict=True):
        bucket.append(size)
        if sum(bucket) >= bucket_bytes:
            link.all_reduce(ready, sum(bucket))
            bucket = []
    if bucket:
        link.all_reduce(ready_at[-1], sum(bucket))
    return link.free_at


def empties_the_list(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    end = with_max(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes)
    gradient_bytes.clear()
    return end


def looks_up_when_a_size_was_ready(
    gradient_bytes, ready_at, latency, bandwidth, bucket_bytes
):
    """It finds the first gradient of this size."""
    end, held = 0.0, 0
    for size in gradient_bytes:
        held += size
        if held >= bucket_bytes:
            ready = ready_at[list(gradient_bytes).index(size)]
            end = max(ready, end) + latency + held / bandwidth
            held = 0
    if held:
        end = max(ready_at[-1], end) + latency + held / bandwidth
    return end


WRONG = [
    ("seconds", "other", looks_up_when_a_size_was_ready),
    ("packed", "start", one_message),
    ("packed", "each_alone", bucket_answer(full=lambda held, size, least: True)),
    (
        "packed",
        "at_most",
        bucket_answer(
            full=lambda held, size, least: False,
            before=lambda held, size, least: held + size > least,
        ),
    ),
    ("packed", "from_the_front", bucket_answer(sizes=lambda sizes: sizes[::-1])),
    ("exact", "above", bucket_answer(full=lambda held, size, least: held > least)),
    (
        "whole",
        "large_alone",
        bucket_answer(before=lambda held, size, least: size >= least),
    ),
    ("whole", "split", cuts_gradients),
    ("new", "carries_over", bucket_answer(kept=lambda held, least: held - least)),
    ("rest", "drops_rest", bucket_answer(rest=lambda held: False)),
    ("no_empty", "empty", bucket_answer(rest=lambda held: True)),
    ("ready", "first_ready", bucket_answer(ready=lambda times, ready_at: times[0])),
    (
        "ready",
        "after_backward",
        bucket_answer(ready=lambda times, ready_at: ready_at[-1]),
    ),
    ("ready", "no_ready", bucket_answer(ready=lambda times, ready_at: 0.0)),
    ("one", "side_by_side", bucket_answer(free=lambda ends: 0.0)),
    (
        "one",
        "side_by_side_longest",
        bucket_answer(
            free=lambda ends: 0.0, result=lambda begins, ends, ready_at: max(ends)
        ),
    ),
    ("seconds", "no_latency", other_seconds(lambda lat, held, bw, sent, least: held / bw)),
    (
        "seconds",
        "latency_once",
        other_seconds(lambda lat, held, bw, sent, least: held / bw + lat * (not sent)),
    ),
    ("seconds", "bits", other_seconds(lambda lat, held, bw, s, least: lat + 8 * held / bw)),
    (
        "seconds",
        "latency_for_each_byte",
        other_seconds(lambda lat, held, bw, sent, least: held * (lat + 1 / bw)),
    ),
    (
        "seconds",
        "nominal",
        other_seconds(lambda lat, held, bw, s, least: lat + min(held, least) / bw),
    ),
    (
        "seconds",
        "other",
        other_seconds(lambda lat, held, bw, sent, least: 2 * lat + held / bw),
    ),
    ("seconds", "other", two_links),
    ("seconds", "other", Remembers()),
    ("seconds", "other", sorts_by_size),
    ("end", "begins", bucket_answer(result=lambda begins, ends, ready_at: begins[-1])),
    (
        "end",
        "on_top",
        bucket_answer(result=lambda begins, ends, ready_at: ends[-1] - ready_at[-1]),
    ),
    ("unchanged", "changed", empties_the_list),
    ("end", "raised", needs_two_gradients),
    ("end", "raised", returns_all_ends),
]
RIGHT = [
    with_max, with_two_passes, with_while, with_index, with_recursion, with_numpy,
    from_the_end, with_generator, with_copies, with_class, bucket_answer(),
]  # fmt: skip
