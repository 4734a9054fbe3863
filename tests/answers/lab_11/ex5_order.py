"""Recorded answers to 11.5: wrong ones, and right ones in other styles."""

import heapq
import random
from collections import deque
from itertools import chain, zip_longest

import numpy as np


def order_answer(
    warm_up=lambda stage, stages, m: min(stages - stage, m),
    item=lambda kind, i: (kind, i),
    number=lambda i, m: i,
    whole=lambda work, stage, stages, m: work,
):
    """An answer to 11.5 with these parts; as they stand it is right."""

    def answer(stage, stages, micro_batches):
        ahead = max(1, min(warm_up(stage, stages, micro_batches), micro_batches))
        work = [("F", i) for i in range(ahead)]
        for i in range(micro_batches):
            work.append(("B", i))
            if i + ahead < micro_batches:
                work.append(("F", i + ahead))
        work = [item(kind, number(i, micro_batches)) for kind, i in work]
        return whole(work, stage, stages, micro_batches)

    return answer


RIGHT_ONE = order_answer()


def gpipe(stage, stages, micro_batches):
    forwards = [("F", i) for i in range(micro_batches)]
    return forwards + [("B", i) for i in range(micro_batches)]


def gpipe_backwards_reversed(stage, stages, micro_batches):
    """As if the backward of a batch were a stack."""
    forwards = [("F", i) for i in range(micro_batches)]
    return forwards + [("B", i) for i in reversed(range(micro_batches))]


def groups_of_stages(stage, stages, micro_batches):
    """Flushes after as many micro-batches as there are stages."""
    work = []
    for first in range(0, micro_batches, stages):
        group = range(first, min(first + stages, micro_batches))
        work += [("F", i) for i in group] + [("B", i) for i in group]
    return work


def groups_that_fit(stage, stages, micro_batches):
    """Flushes after as many micro-batches as this stage may hold."""
    work, most = [], stages - stage
    for first in range(0, micro_batches, most):
        group = range(first, min(first + most, micro_batches))
        work += [("F", i) for i in group] + [("B", i) for i in group]
    return work


def one_by_one(stage, stages, micro_batches):
    return [(kind, i) for i in range(micro_batches) for kind in "FB"]


def no_leftovers(stage, stages, micro_batches):
    """Forgets the backwards after the last forward."""
    ahead = min(stages - stage, micro_batches)
    work = [("F", i) for i in range(ahead)]
    for i in range(micro_batches - ahead):
        work += [("B", i), ("F", i + ahead)]
    return work


def too_many_forwards(stage, stages, micro_batches):
    """Its loop does not know when no micro-batch is left."""
    ahead = min(stages - stage, micro_batches)
    work = [("F", i) for i in range(ahead)]
    for i in range(micro_batches):
        work += [("B", i), ("F", i + ahead)]
    return work


def too_many_at_first(stage, stages, micro_batches):
    """More forwards at first than there are micro-batches."""
    ahead = stages - stage
    work = [("F", i) for i in range(ahead)]
    for i in range(micro_batches):
        work.append(("B", i))
        if i + ahead < micro_batches:
            work.append(("F", i + ahead))
    return work


def backward_first(stage, stages, micro_batches):
    work = RIGHT_ONE(stage, stages, micro_batches)
    return [("B", 0), *(item for item in work if item != ("B", 0))]


def odd_stages_reversed(stage, stages, micro_batches):
    """Each second stage takes the micro-batches from the last to the first."""
    work = RIGHT_ONE(stage, stages, micro_batches)
    if stage % 2 == 0:
        return work
    return [(kind, micro_batches - 1 - i) for kind, i in work]


def last_stage_reversed(stage, stages, micro_batches):
    work = RIGHT_ONE(stage, stages, micro_batches)
    if stage < stages - 1 or stages == 1:
        return work
    return [(kind, micro_batches - 1 - i) for kind, i in work]


def latest_backward(stage, stages, micro_batches):
    """Of those that it holds, it takes the newest."""
    held, work = [], []
    for i in range(micro_batches):
        if len(held) == stages - stage:
            work.append(("B", held.pop()))
        held.append(i)
        work.append(("F", i))
    return work + [("B", i) for i in reversed(held)]


def numbers_as_text(stage, stages, micro_batches):
    return [(kind, str(i)) for kind, i in RIGHT_ONE(stage, stages, micro_batches)]


def as_generator(stage, stages, micro_batches):
    yield from RIGHT_ONE(stage, stages, micro_batches)


def as_array(stage, stages, micro_batches):
    return np.array(RIGHT_ONE(stage, stages, micro_batches))


def huge(stage, stages, micro_batches):
    return [("F", 0)] * 10**6


def nothing(stage, stages, micro_batches):
    RIGHT_ONE(stage, stages, micro_batches)


class RemembersStageZero:
    """Plans for all stages when stage 0 asks, and knows nothing else."""

    __name__ = "remembers_stage_zero"

    def __init__(self):
        self.plans = {}

    def __call__(self, stage, stages, micro_batches):
        if stage == 0:
            for each in range(stages):
                plan = RIGHT_ONE(each, stages, micro_batches)
                self.plans[each, stages, micro_batches] = plan
        known = self.plans.get((stage, stages, micro_batches))
        return known or one_by_one(stage, stages, micro_batches)


class Grows:
    """Adds to the list of the last call."""

    __name__ = "grows"

    def __init__(self):
        self.work = []

    def __call__(self, stage, stages, micro_batches):
        self.work += RIGHT_ONE(stage, stages, micro_batches)
        return self.work


class FirstSizes:
    """Computes the forwards at first only once for each stage."""

    __name__ = "first_sizes"

    def __init__(self):
        self.ahead = {}

    def __call__(self, stage, stages, micro_batches):
        ahead = self.ahead.setdefault(stage, min(stages - stage, micro_batches))
        fixed = order_answer(warm_up=lambda stage, stages, m: ahead)
        return fixed(stage, stages, micro_batches)


class Unpicklable:
    __name__ = "unpicklable"

    def __reduce__(self):
        raise TypeError("this object stays here")

    def __call__(self, stage, stages, micro_batches):
        return RIGHT_ONE(stage, stages, micro_batches)


def at_random(stage, stages, micro_batches):
    """Draws which number each micro-batch has."""
    numbers = list(range(micro_batches))
    random.shuffle(numbers)
    return [(kind, numbers[i]) for kind, i in RIGHT_ONE(stage, stages, micro_batches)]


def needs_two_stages(stage, stages, micro_batches):
    return RIGHT_ONE(stage, stages, micro_batches) if 1 // (stages - 1) >= 0 else []


def swaps_the_end(work, stage, stages, micro_batches):
    """Stage 0 does its last forward one backward later."""
    if stage or stages == 1 or micro_batches <= stages:
        return work
    place = work.index(("F", micro_batches - 1))
    work[place], work[place + 1] = work[place + 1], work[place]
    return work


def with_queue(stage, stages, micro_batches):
    """Does a backward whenever it holds as many as it may."""
    held, work = deque(), []
    for i in range(micro_batches):
        if len(held) == stages - stage:
            work.append(("B", held.popleft()))
        held.append(i)
        work.append(("F", i))
    return work + [("B", i) for i in held]


def in_three_phases(stage, stages, micro_batches):
    """Warm-up, steady state and cool-down, as Megatron-LM has them."""
    warm_up = min(stages - stage - 1, micro_batches)
    work = [("F", i) for i in range(warm_up)]
    for i in range(micro_batches - warm_up):
        work += [("F", warm_up + i), ("B", i)]
    return work + [("B", i) for i in range(micro_batches - warm_up, micro_batches)]


def by_simulation(stage, stages, micro_batches):
    """Each stage does a backward if one is possible, else a forward if it may."""
    now, done, work = 0, {}, [[] for _ in range(stages)]
    free, forwards, backwards = [0] * stages, [0] * stages, [0] * stages
    while min(backwards) < micro_batches:
        for s in range(stages):
            if free[s] > now:
                continue
            f, b = forwards[s], backwards[s]
            source = (s + 1, "B", b) if s < stages - 1 else (s, "F", b)
            if b < micro_batches and done.get(source, now + 1) <= now:
                work[s].append(("B", b))
                backwards[s], free[s] = b + 1, now + 2
                done[s, "B", b] = now + 2
            elif f < micro_batches and f - b < stages - s:
                if s and done.get((s - 1, "F", f), now + 1) > now:
                    continue
                work[s].append(("F", f))
                forwards[s], free[s] = f + 1, now + 1
                done[s, "F", f] = now + 1
        now += 1
    return work[stage]


def with_zip(stage, stages, micro_batches):
    ahead = stages - stage
    first = [("F", i) for i in range(micro_batches)[:ahead]]
    later = [("F", i) for i in range(micro_batches)[ahead:]]
    backwards = [("B", i) for i in range(micro_batches)]
    pairs = chain.from_iterable(zip_longest(backwards, later))
    return first + [item for item in pairs if item]


def by_sorting(stage, stages, micro_batches):
    """The place of each item in the list as a number."""
    ahead = min(stages - stage, micro_batches)
    items = [(max(0, 2 * (i - ahead) + 2), i, "F") for i in range(micro_batches)]
    items += [(2 * i + 1, i, "B") for i in range(micro_batches)]
    return [(kind, i) for _, i, kind in sorted(items)]


def with_heap(stage, stages, micro_batches):
    heap = [(2 * i + 1, "B", i) for i in range(micro_batches)]
    for i in range(micro_batches):
        heap.append((max(i - stages, 2 * (i - stages + stage) + 2 if i >= stages - stage
                         else i - stages), "F", i))  # fmt: skip
    heapq.heapify(heap)
    popped = [heapq.heappop(heap) for _ in range(2 * micro_batches)]
    return [(kind, i) for _, kind, i in popped]


def with_numpy(stage, stages, micro_batches):
    """Its numbers are NumPy's."""
    numbers = np.arange(micro_batches)
    ahead = min(stages - stage, micro_batches)
    work = [("F", i) for i in numbers[:ahead]]
    for i in numbers:
        work += [("B", i)] + [("F", j) for j in numbers[numbers == i + ahead]]
    return work


def with_recursion(stage, stages, micro_batches, forwards=0, backwards=0):
    if backwards == micro_batches:
        return []
    may = forwards < micro_batches and forwards - backwards < stages - stage
    now = ("F", forwards) if may else ("B", backwards)
    after = (forwards + may, backwards + (not may))
    return [now, *with_recursion(stage, stages, micro_batches, *after)]


def with_while(stage, stages, micro_batches):
    work, f, b = [], 0, 0
    while b < micro_batches:
        if f < micro_batches and f - b < stages - stage:
            work.append(["F", f])
            f += 1
        else:
            work.append(["B", b])
            b += 1
    return work


def with_slices(stage, stages, micro_batches):
    ahead = min(stages - stage, micro_batches)
    work = [None] * (2 * micro_batches)
    work[:ahead] = [("F", i) for i in range(ahead)]
    rest = micro_batches - ahead
    work[ahead : ahead + 2 * rest : 2] = [("B", i) for i in range(rest)]
    work[ahead + 1 : ahead + 2 * rest : 2] = [("F", i + ahead) for i in range(rest)]
    work[ahead + 2 * rest :] = [("B", i) for i in range(rest, micro_batches)]
    return work


WRONG = [
    ("held", "start", gpipe),
    ("held", "start", gpipe_backwards_reversed),
    ("held", "same_limit", order_answer(warm_up=lambda stage, stages, m: stages)),
    ("held", "one_more", order_answer(warm_up=lambda stage, stages, m: stages - stage + 1)),
    ("held", "held", order_answer(warm_up=lambda stage, stages, m: stages - stage + 2)),
    ("held", "held", order_answer(warm_up=lambda stage, stages, m: 2 * (stages - stage))),
    ("held", "held", order_answer(warm_up=lambda stage, stages, m: stage + 1)),
    ("held", "same_limit", groups_of_stages),
    ("form", "form_list", as_generator),
    ("form", "form_list", as_array),
    ("form", "form_list", nothing),
    ("form", "form_list", order_answer(whole=lambda work, *_: str(work))),
    ("form", "form_list", order_answer(whole=lambda work, *_: dict(enumerate(work)))),
    ("form", "form_item", numbers_as_text),
    ("form", "form_item", order_answer(item=lambda kind, i: f"{kind}{i}")),
    ("form", "form_item", order_answer(item=lambda kind, i: (i, kind))),
    ("form", "form_item", order_answer(item=lambda kind, i: (kind.lower(), i))),
    ("form", "form_item", order_answer(item=lambda kind, i: (kind, float(i)))),
    ("form", "form_item", order_answer(item=lambda kind, i: (kind, i + 10**5000))),
    ("form", "form_item", order_answer(item=lambda kind, i: ("\ud800", i))),
    ("form", "form_item", order_answer(item=lambda kind, i: (kind, i, None))),
    ("form", "from_one", order_answer(number=lambda i, m: i + 1)),
    ("form", "outside", order_answer(number=lambda i, m: i - 1)),
    ("form", "outside", too_many_forwards),
    ("form", "outside", too_many_at_first),
    ("form", "raised", needs_two_stages),
    ("once", "missing", no_leftovers),
    ("once", "missing", order_answer(whole=lambda work, *_: work[:-1])),
    ("once", "missing", order_answer(whole=lambda work, *_: [])),
    ("once", "twice", order_answer(whole=lambda work, *_: [*work, work[-1]])),
    ("once", "twice", order_answer(whole=lambda work, *_: [*work, *work])),
    ("once", "twice", huge),
    ("deadlock", "backward_first", backward_first),
    ("deadlock", "deadlock", odd_stages_reversed),
    ("deadlock", "deadlock", last_stage_reversed),
    ("early", "one_by_one", one_by_one),
    ("early", "one_by_one", order_answer(warm_up=lambda stage, stages, m: 1)),
    ("early", "too_few", order_answer(warm_up=lambda stage, stages, m: stages - stage - 1)),
    ("early", "too_few", order_answer(warm_up=lambda s, stages, m: min(2, stages - s))),
    ("deadlock", "deadlock", groups_that_fit),
    ("early", "late", latest_backward),
    ("early", "late", order_answer(whole=swaps_the_end)),
    ("own", "state", RemembersStageZero()),
    ("own", "state", Grows()),
    ("own", "state", FirstSizes()),
    ("own", "state", at_random),
    ("own", "travels", Unpicklable()),
]  # fmt: skip
RIGHT = [
    RIGHT_ONE, with_queue, in_three_phases, by_simulation, with_zip, by_sorting, with_heap,
    with_numpy, with_recursion, with_while, with_slices,
    # Any numbering that all stages share.
    order_answer(number=lambda i, m: m - 1 - i),
    order_answer(item=lambda kind, i: [kind, i]),
    order_answer(whole=lambda work, *_: tuple(work)),
]  # fmt: skip
