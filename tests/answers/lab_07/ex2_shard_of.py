"""Recorded answers to 7.2: wrong ones, and right ones in other styles."""

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np


# --- 7.2 ------------------------------------------------------------------
def _places(mesh, device):
    return dict(zip(mesh, np.unravel_index(device, tuple(mesh.values())), strict=True))


def _answer(name, part, places=_places, refuses=lambda size, n: size % n):
    """The reference with another part, other places, or another reason to refuse."""

    def shard_of(shape, spec, mesh, device):
        found, at = [], places(mesh, device)
        for size, axis in zip(shape, spec, strict=True):
            if axis is None:
                found.append((0, size))
                continue
            if refuses(size, mesh[axis]):
                raise ValueError(f"{size} is no multiple of {mesh[axis]}")
            found.append(part(size, mesh[axis], int(at[axis])))
        return found

    shard_of.__name__ = name
    return shard_of


def _part(size, parts, place):
    each = size // parts
    return place * each, (place + 1) * each


def start_7_2(shape, spec, mesh, device):
    return [(0, size) for size in shape]


def _first_fastest(mesh, device):
    found = {}
    for name, size in mesh.items():
        device, found[name] = divmod(device, size)
    return found


def _device_modulo(mesh, device):
    return {name: device % size for name, size in mesh.items()}


def _last_two(mesh, device):
    """Written for a mesh of rows and columns."""
    *others, last = mesh
    row, column = divmod(device, mesh[last])
    return {name: row % mesh[name] for name in others} | {last: column}


def unpacks_two_axes(shape, spec, mesh, device):
    """A mesh of one axis or three cannot be unpacked, which is a ValueError, too."""
    (rows_name, _), (columns_name, columns) = mesh.items()
    row, column = divmod(device, columns)
    places = {rows_name: row, columns_name: column}
    return _answer("", _part, lambda mesh, device: places)(shape, spec, mesh, device)


def takes_the_axis_at_the_same_place(shape, spec, mesh, device):
    names = list(mesh)
    by_place = [axis and names[min(i, len(names) - 1)] for i, axis in enumerate(spec)]
    return _answer("", _part)(shape, by_place, mesh, device)


def counts_from_the_end(mesh, device):
    return {name: mesh[name] - 1 - at for name, at in _places(mesh, device).items()}


def as_numpy_splits(size, parts, place):
    piece = np.array_split(np.arange(size), parts)[place]
    return (int(piece[0]), int(piece[-1]) + 1) if len(piece) else (size, size)


def checks_the_first_axis(shape, spec, mesh, device):
    if spec and spec[0] and shape[0] % mesh[spec[0]]:
        raise ValueError
    return rounds_down(shape, spec, mesh, device)


def divides_by_all_devices(shape, spec, mesh, device):
    if any(size % math.prod(mesh.values()) for size in shape):
        raise ValueError
    return rounds_down(shape, spec, mesh, device)


def divides_cut_axes_by_all_devices(shape, spec, mesh, device):
    devices = math.prod(mesh.values())
    if any(a and size % devices for size, a in zip(shape, spec, strict=True)):
        raise ValueError
    return rounds_down(shape, spec, mesh, device)


def divides_whole_axes_too(shape, spec, mesh, device):
    if any(size % n for size in shape for n in mesh.values()):
        raise ValueError
    return rounds_down(shape, spec, mesh, device)


def refuses_arrays_smaller_than_the_mesh(shape, spec, mesh, device):
    """One row for each place would be allowed."""
    if any(a and size <= mesh[a] for size, a in zip(shape, spec, strict=True)):
        raise ValueError
    return _answer("", _part)(shape, spec, mesh, device)


def asks_only_the_last_device(shape, spec, mesh, device):
    """The remainder is seen only where a part reaches beyond the end."""
    found = []
    at = _places(mesh, device)
    for size, axis in zip(shape, spec, strict=True):
        parts = mesh.get(axis, 1)
        each, place = -(-size // parts), int(at.get(axis, 0))
        if (place + 1) * each > size:
            raise ValueError
        found.append((place * each, (place + 1) * each))
    return found


def gives_the_first_ones_a_single_entry(shape, spec, mesh, device):
    """Only a larger size than the number of parts is refused if it is uneven."""
    uneven = [
        size > mesh.get(axis, 1) and size % mesh.get(axis, 1)
        for size, axis in zip(shape, spec, strict=True)
    ]
    if any(uneven):
        raise ValueError
    at = _places(mesh, device)
    return [
        as_numpy_splits(size, mesh.get(axis, 1), int(at.get(axis, 0)))
        for size, axis in zip(shape, spec, strict=True)
    ]


rounds_down = _answer("rounds_down", _part, refuses=lambda *_: False)
rounds_up = _answer(
    "rounds_up",
    lambda size, n, at: tuple(min(size, -(-size // n) * i) for i in (at, at + 1)),
    refuses=lambda *_: False,
)
gives_the_remainder_to_the_first = _answer(
    "gives_the_remainder_to_the_first", as_numpy_splits, refuses=lambda *_: False
)
first_axis_fastest = _answer("first_axis_fastest", _part, _first_fastest)
takes_the_device_modulo = _answer("takes_the_device_modulo", _part, _device_modulo)
knows_two_axes = _answer("knows_two_axes", _part, _last_two)
last_part_first = _answer("last_part_first", _part, counts_from_the_end)
gives_lengths = _answer("gives_lengths", lambda size, n, at: (at * size // n, size // n))
gives_the_last_entry = _answer(
    "gives_the_last_entry", lambda size, n, at: (at * size // n, (at + 1) * size // n - 1)
)
gives_the_first_part = _answer("gives_the_first_part", lambda size, n, at: (0, size // n))
gives_the_number = _answer("gives_the_number", lambda size, n, at: (at, at + 1))
divides_to_floats = _answer(
    "divides_to_floats", lambda size, n, at: (at * size / n, (at + 1) * size / n)
)


def leaves_whole_axes_out(shape, spec, mesh, device):
    parts = _answer("", _part)(shape, spec, mesh, device)
    return [part for part, axis in zip(parts, spec, strict=True) if axis]


def gives_shapes(shape, spec, mesh, device):
    parts = _answer("", _part)(shape, spec, mesh, device)
    return [(stop - start,) for start, stop in parts]


def none_is_nothing(shape, spec, mesh, device):
    parts = _answer("", _part)(shape, spec, mesh, device)
    return [p if axis else (0, 0) for p, axis in zip(parts, spec, strict=True)]


def none_is_the_last_entry_short(shape, spec, mesh, device):
    parts = _answer("", _part)(shape, spec, mesh, device)
    return [p if a else (0, p[1] - 1) for p, a in zip(parts, spec, strict=True)]


def swaps_three_axes(mesh, device):
    """Right for two axes; of three the first two are taken in the wrong order."""
    if len(mesh) < 3:
        return _places(mesh, device)
    first, second, third = mesh
    device, last = divmod(device, mesh[third])
    two, one = divmod(device, mesh[first])
    return {first: one, second: two, third: last}


takes_three_axes_in_another_order = _answer(
    "takes_three_axes_in_another_order", _part, swaps_three_axes
)
_parts_by_shape = {}


def remembers_by_shape(shape, spec, mesh, device):
    """As if an array were always cut in the same way."""
    key = shape, spec, device
    if key not in _parts_by_shape:
        _parts_by_shape[key] = _answer("", _part)(shape, spec, mesh, device)
    return _parts_by_shape[key]


_parts = []


def returns_one_list(shape, spec, mesh, device):
    """The same for all devices: each call changes what the earlier ones have returned."""
    _parts[:] = _answer("", _part)(shape, spec, mesh, device)
    return _parts


_calls = []


def shifts_when_asked_again(shape, spec, mesh, device):
    """What was asked before is shifted, as a generator that has moved on would."""
    parts = _answer("", _part)(shape, spec, mesh, device)
    key = shape, spec, tuple(mesh.items()), device
    if key in _calls:
        return [(start + 1, stop + 1) for start, stop in parts]
    _calls.append(key)
    return parts


def indexes_a_list(shape, spec, mesh, device):
    """A scalar has no first axis."""
    parts = _answer("", _part)(shape, spec, mesh, device)
    return [parts[0], *parts[1:]]


# --- right ----------------------------------------------------------------
def by_unravel(shape, spec, mesh, device):
    place = dict(zip(mesh, np.unravel_index(device, list(mesh.values())), strict=True))
    pairs = []
    for size, name in zip(shape, spec, strict=True):
        if name is None:
            pairs.append((0, size))
        else:
            each, left = divmod(size, mesh[name])
            if left:
                raise ValueError("not a multiple")
            pairs.append((place[name] * each, (place[name] + 1) * each))
    return pairs


def by_divmod(shape, spec, mesh, device):
    places = {}
    for name in reversed(mesh):
        device, places[name] = divmod(device, mesh[name])
    for size, name in zip(shape, spec, strict=True):
        if name and size % mesh[name] != 0:
            raise ValueError(f"{size} / {mesh[name]}")
    return [
        (0, n) if a is None else (places[a] * n // mesh[a], (places[a] + 1) * n // mesh[a])
        for n, a in zip(shape, spec, strict=True)
    ]


def by_strides(shape, spec, mesh, device):
    names, sizes = list(mesh), list(mesh.values())

    def place(name):
        i = names.index(name)
        return device // math.prod(sizes[i + 1 :]) % sizes[i]

    def pair(size, name):
        if name is None:
            return [0, size]
        if size % mesh[name]:
            raise ValueError
        each = size // mesh[name]
        return [place(name) * each, place(name) * each + each]

    return tuple(map(pair, shape, spec))


def by_product(shape, spec, mesh, device):
    """The places of all devices, one after another."""
    everywhere = list(itertools.product(*[range(size) for size in mesh.values()]))
    mine = dict(zip(mesh.keys(), everywhere[device], strict=True))
    result = []
    for i in range(len(shape)):
        parts = mesh.get(spec[i], 1)
        if shape[i] % parts != 0:
            raise ValueError("cannot cut")
        part = shape[i] // parts
        first = mine.get(spec[i], 0) * part
        result.append((first, first + part))
    return result


def by_a_grid(shape, spec, mesh, device):
    """The place of the device's number in a table of numbers."""
    numbers = np.arange(math.prod(mesh.values())).reshape(*mesh.values())
    where = np.argwhere(numbers == device)[0]
    names = list(mesh)
    starts, stops = [], []
    for size, name in zip(shape, spec, strict=True):
        n = mesh[name] if name is not None else 1
        if size / n != size // n:
            raise ValueError
        k = where[names.index(name)] if name is not None else 0
        starts.append(k * size // n)
        stops.append((k + 1) * size // n)
    return list(zip(starts, stops, strict=True))


def by_recursion(shape, spec, mesh, device):
    if not shape:
        return []
    (size, *sizes), (name, *names) = shape, spec
    if name is None:
        first = (0, size)
    else:
        after = math.prod(itertools.islice(mesh.values(), [*mesh].index(name) + 1, None))
        place = device // after % mesh[name]
        if size % mesh[name]:
            raise ValueError("uneven")
        length = size // mesh[name]
        first = (place * length, (place + 1) * length)
    return [first, *by_recursion(sizes, names, mesh, device)]


def by_ranges(shape, spec, mesh, device):
    """The first and the last of the entries that a device holds."""
    place, rest = {}, device
    for name, size in list(mesh.items())[::-1]:
        place[name] = rest % size
        rest = rest // size
    found = []
    for size, name in zip(shape, spec, strict=True):
        if name:
            if size % mesh[name] > 0:
                raise ValueError(name)
            rows = np.array_split(np.arange(size), mesh[name])[place[name]]
            found.append((rows[0], rows[-1] + 1))
        else:
            found.append((0, size))
    return found


def by_numpy(shape, spec, mesh, device):
    """One array of all pairs; NumPy's numbers are whole, too."""
    parts = np.array([mesh[a] if a else 1 for a in spec], int)
    at = dict(zip(mesh, np.unravel_index(device, tuple(mesh.values())), strict=True))
    at = np.array([at[a] if a else 0 for a in spec], int)
    sizes = np.array(shape, int)
    if (sizes % parts).any():
        raise ValueError("a size is no multiple of its parts")
    return np.stack([at, at + 1], axis=1) * (sizes // parts)[:, None]


@dataclass(frozen=True)
class Mesh:
    names: tuple
    sizes: tuple

    def place(self, device, name):
        index = self.names.index(name)
        for size in self.sizes[:index:-1]:
            device //= size
        return device % self.sizes[index]


def by_a_class(shape, spec, mesh, device):
    grid = Mesh(tuple(mesh), tuple(mesh.values()))
    pairs = []
    for size, name in zip(shape, spec, strict=True):
        low, high = 0, size
        if name is not None:
            each, rest = divmod(size, mesh[name])
            if rest != 0:
                raise ValueError(f"{size} columns for {mesh[name]} devices")
            low = each * grid.place(device, name)
            high = low + each
        pairs.append((low, high))
    return pairs


def by_reduce(shape, spec, mesh, device):
    def one_axis(state, name):
        rest, places = state
        return rest // mesh[name], places | {name: rest % mesh[name]}

    _, places = functools.reduce(one_axis, list(mesh)[::-1], (device, {None: 0}))
    sizes = {None: 1, **mesh}
    if any(n % sizes[a] for n, a in zip(shape, spec, strict=True)):
        raise ValueError("uneven")
    each = [n // sizes[a] for n, a in zip(shape, spec, strict=True)]
    return [(places[a] * e, places[a] * e + e) for e, a in zip(each, spec, strict=True)]


def by_slices(shape, spec, mesh, device):
    """As JAX says it, with slices, and pairs of them in the end."""
    numbers = np.arange(math.prod(mesh.values())).reshape(tuple(mesh.values()))
    place = dict(zip(mesh, (int(n[0]) for n in np.nonzero(numbers == device)), strict=True))
    cuts = []
    for size, name in zip(shape, spec, strict=True):
        if name is None:
            cuts.append(slice(None))
            continue
        each, left = divmod(size, mesh[name])
        if left:
            raise ValueError(left)
        cuts.append(slice(place[name] * each, (place[name] + 1) * each))
    return [cut.indices(size)[:2] for cut, size in zip(cuts, shape, strict=True)]


def finds_axes_by_their_size(shape, spec, mesh, device):
    """Of two axes with as many devices it takes the first."""
    sizes = list(mesh.values())
    places, found = np.unravel_index(device, sizes), []
    for size, name in zip(shape, spec, strict=True):
        each, left = divmod(size, mesh[name] if name else 1)
        if left:
            raise ValueError(f"{size} cannot be divided")
        place = int(places[sizes.index(mesh[name])]) if name else 0
        found.append((place * each, (place + 1) * each))
    return found


WRONG = [
    ("parts", "start", start_7_2),
    ("order", "first_fastest", first_axis_fastest),
    ("order", "device_modulo", takes_the_device_modulo),
    ("axes", "many_axes", knows_two_axes),
    ("axes", "refused", unpacks_two_axes),
    ("axes", "many_axes", takes_three_axes_in_another_order),
    ("parts", "by_place", takes_the_axis_at_the_same_place),
    ("parts", "backwards", last_part_first),
    ("parts", "from_zero", gives_the_first_part),
    ("parts", "number", gives_the_number),
    ("pairs", "length", gives_lengths),
    ("pairs", "last", gives_the_last_entry),
    ("pairs", "form", divides_to_floats),
    ("pairs", "form", leaves_whole_axes_out),
    ("pairs", "form", gives_shapes),
    ("pairs", "raised", indexes_a_list),
    ("whole", "whole", none_is_nothing),
    ("whole", "whole", none_is_the_last_entry_short),
    ("divide", "rounds_down", rounds_down),
    ("divide", "rounds_up", rounds_up),
    ("divide", "remainder", gives_the_remainder_to_the_first),
    ("divide", "first_uneven", checks_the_first_axis),
    ("divide", "all_uneven", divides_by_all_devices),
    ("divide", "refused", divides_cut_axes_by_all_devices),
    ("divide", "every_axis_uneven", divides_whole_axes_too),
    ("divide", "refused", refuses_arrays_smaller_than_the_mesh),
    ("divide", "not_refused", asks_only_the_last_device),
    ("divide", "not_refused", gives_the_first_ones_a_single_entry),
    ("parts", "remembers", remembers_by_shape),
    ("parts", "shares", returns_one_list),
    ("parts", "other", finds_axes_by_their_size),
    ("again", "again", shifts_when_asked_again),
]
RIGHT = [
    by_unravel, by_divmod, by_strides, by_product, by_a_grid, by_recursion, by_ranges,
    by_numpy, by_a_class, by_reduce, by_slices,
]  # fmt: skip
