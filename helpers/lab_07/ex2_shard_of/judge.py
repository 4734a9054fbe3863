"""Exercise 7.2: the questions, and the verdict on what the probe saw."""

import math
from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.verdict import Wrong, wrong

REFUSED = "ValueError"  # what the probe writes for this exception
NAMES = ["data", "model", "stage", "rows", "x", "y"]
REPEATED = 3  # cases that are asked again in the end


def make_cases(rng: Random) -> dict:
    """Meshes of one to three axes; arrays with none to four, cut along some of them."""
    cases = []
    sizes = rng.sample([2, 3, 4, 5], 3)
    for i, number in enumerate((1, 2, 2, 3, 3)):
        names = rng.sample(NAMES, number)
        mesh = dict(zip(names, rng.sample(sizes, number), strict=True))
        cases += [_case(rng, mesh, axes) for axes in (1, 2, 3)]
        cases.append(_case(rng, mesh, rng.choice([2, 4]), uneven=True))
        # Every device has to refuse, even the first, whose part would lie within.
        cases[-1][3] = (math.prod(mesh.values()) - 1) * (i % 2)
    one, other = rng.sample(NAMES, 2)
    # An axis of one device cuts nothing; an array may have as few rows as the mesh, or no
    # axis at all. An array that is cut along nothing has no size that could be uneven.
    cases.append(_case(rng, {one: 1, other: rng.choice([2, 4, 8])}, 2))
    cases.append([[], [], [[one, 2], [other, 4]], rng.randrange(8)])
    cases.append([[4, 9], [other, None], [[one, 3], [other, 4]], rng.randrange(12)])
    # Fewer rows than parts, although the first devices could have one each.
    cases.append([[6, 3], [one, other], [[one, 2], [other, 4]], rng.randrange(8)])
    cases.append([[7, 11], [None, None], [[one, 2], [other, 4]], rng.randrange(8)])
    # The same array and device on two meshes, to catch parts cached by their array.
    for sizes in ((2, 6), (6, 2)):
        mesh = [[name, size] for name, size in zip((one, other), sizes, strict=True)]
        cases.append([[12, 18], [other, one], mesh, 7])
    # Axes of one size, along which this device has different places.
    mesh = [[one, 3], [other, 3]]
    cases.append([[12, 18], [other, one], mesh, rng.choice([1, 2, 3, 5, 6, 7])])
    # The last three differ in one argument from the first of these four, to catch parts
    # cached without it.
    a, b = rng.sample(range(1, 9), 2)
    shape, spec, mesh = [12 * a, 12 * b], [other, one], [[one, 3], [other, 4]]
    cases += [
        [shape, spec, mesh, 10], [shape[::-1], spec, mesh, 10],
        [shape, spec[::-1], mesh, 10], [shape, spec, mesh, 1],
    ]  # fmt: skip
    rng.shuffle(cases)
    cut = [case for case in cases if case[0] and part_of(case) != [REFUSED]]
    return {"cases": cases + rng.sample(cut, REPEATED)}


def _case(rng, mesh, axes, uneven=False):
    """One array on a mesh: its names in any order, and sizes that are not all multiples."""
    most = min(len(mesh), axes)
    used = rng.sample(list(mesh), most if axes == 3 else rng.randint(1, most))
    spec = [*used, *[None] * (axes - len(used))]
    rng.shuffle(spec)
    shape = [mesh.get(name, 1) * rng.randint(1, 9) for name in spec]
    for place, name in enumerate(spec):
        if name is None:
            shape[place] = rng.randint(3, 40)
    if uneven:
        place = rng.choice([i for i, name in enumerate(spec) if name])
        shape[place] += rng.randint(1, mesh[spec[place]] - 1)
    device = rng.randrange(math.prod(mesh.values()))
    return [shape, spec, [list(pair) for pair in mesh.items()], device]


def part_of(case: list, mistake: str = "") -> list:
    """The pairs of one device, if one makes this mistake; or that it is refused."""
    shape, spec, pairs, device = case
    mesh, places = dict(pairs), _coordinates(pairs, device, mistake)
    if mistake == "start":
        return [[0, size] for size in shape]
    cut_by = [_name_at(pairs, spec, i, mistake) for i in range(len(spec))]
    if _refuses(shape, cut_by, mesh, mistake):
        return [REFUSED]
    return [
        _pair(size, mesh[name], places[name], mistake) if name else [0, size]
        for size, name in zip(shape, cut_by, strict=True)
    ]


def _refuses(shape, cut_by, mesh, mistake):
    """Whether something is left over where one looks for it."""
    parts = [mesh[name] if name else 1 for name in cut_by]
    if mistake in ("rounds_down", "rounds_up", "remainder"):
        return False
    if mistake == "all_uneven":
        return any(size % math.prod(mesh.values()) for size in shape)
    if mistake == "every_axis_uneven":
        return any(size % n for size in shape for n in mesh.values())
    left = [size % n for size, n in zip(shape, parts, strict=True)]
    return any(left[:1] if mistake == "first_uneven" else left)


def _coordinates(pairs, device, mistake):
    """Where a device is along each axis of the mesh."""
    order = pairs if mistake == "first_fastest" else pairs[::-1]
    found, left = {}, device
    for name, size in order:
        found[name] = left % size
        left //= size
    if mistake == "device_modulo":
        return {name: device % size for name, size in pairs}
    if mistake == "many_axes" and len(pairs) > 2:  # one division, by the last size
        size = pairs[-1][1]
        found = dict.fromkeys(found, device // size) | {pairs[-1][0]: device % size}
        return {name: place % dict(pairs)[name] for name, place in found.items()}
    if mistake == "backwards":
        return {name: size - 1 - found[name] for name, size in pairs}
    return found


def _name_at(pairs, spec, place, mistake):
    """The axis of the mesh along which an axis of the array is cut."""
    if spec[place] is None or mistake != "by_place":
        return spec[place]
    names = [name for name, _ in pairs]
    return names[min(place, len(names) - 1)]


def _pair(size, parts, place, mistake):
    if mistake == "remainder":  # as numpy.array_split
        each, longer = divmod(size, parts)
        start = place * each + min(place, longer)
        return [start, start + each + (place < longer)]
    each = -(-size // parts) if mistake == "rounds_up" else size // parts
    start, stop = place * each, (place + 1) * each
    if mistake == "rounds_up":
        start, stop = min(start, size), min(stop, size)
    return {
        "length": [start, each],
        "last": [start, stop - 1],
        "from_zero": [0, each],
        "number": [place, place + 1],
    }.get(mistake, [start, stop])


PARTS = Formula(
    part_of,
    (
        "start", "first_fastest", "device_modulo", "many_axes", "backwards", "by_place",
        "length", "last", "from_zero", "number", "rounds_down", "rounds_up", "remainder",
        "first_uneven", "all_uneven", "every_axis_uneven",
    ),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Arrays for which every usual mistake gives another part."""
    return PARTS.draw(rng, make_cases)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The part of each device."""
    different = PARTS.different(question, observation["said"])
    if different is None:
        return None
    place = next(
        i
        for i, (case, said) in enumerate(
            zip(question["cases"], observation["said"], strict=True)
        )
        if said != part_of(case)
    )
    return _mistake(question["cases"], place, observation["said"], different.mistake)


def _mistake(cases, place, every, mistake):
    case, said = cases[place], every[place]
    shape, spec, pairs, device = case
    due = part_of(case)
    facts = {"shape": _text(shape), "spec": _text(spec), "mesh": dict(pairs),
             "device": device}  # fmt: skip
    if not mistake:
        first = cases.index(case)
        again = first < place and every[first] == due
        mistake = "again" if again else _other(cases, place, every)
    if due == [REFUSED]:
        return wrong(mistake, "not_refused", **facts)
    if said == [REFUSED]:
        broken = ""
        if mistake == "refused":
            broken = "axes" if _refuses_by_axes(cases, every) else "divide"
        return wrong(mistake, "refused", requirement=broken, **facts)
    pairs_said = [tuple(pair) for pair in said]
    return wrong(mistake, "part", said=pairs_said, right=list(map(tuple, due)), **facts)


def _refuses_by_axes(cases, every):
    """Whether it refuses meshes that have not two axes, and no others without reason."""
    pairs = [(c, s) for c, s in zip(cases, every, strict=True) if part_of(c) != [REFUSED]]
    return all((said == [REFUSED]) == (len(case[2]) != 2) for case, said in pairs)


def _other(cases, place, every):
    """A name for what no usual mistake gives."""
    case, said, due = cases[place], every[place], part_of(cases[place])
    if due == [REFUSED]:
        return "not_refused"
    if said == [REFUSED]:
        return "refused"
    numbers = [number for pair in said for number in pair]
    if len(said) != len(due) or any(len(pair) != 2 for pair in said) or None in numbers:
        return "form"
    if all(case[1][i] is None for i, pair in enumerate(said) if pair != due[i]):
        return "whole"
    small = [(c, s) for c, s in zip(cases, every, strict=True) if len(c[2]) < 3]
    return "many_axes" if all(part_of(c) == s for c, s in small) else "other"


def _text(values):
    """As Python writes a tuple."""
    return repr(tuple(values))
