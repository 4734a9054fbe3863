"""Recorded answers to 11.4: wrong ones, and right ones in other styles."""

import functools
import re
from pathlib import PurePosixPath

COLUMNS = {"query", "key", "value", "up"}
ROWS = {"output", "down"}


def _is_block(part):
    return re.fullmatch(r"block_\d+", part) is not None


def _answer(
    name,
    axis=lambda layer, shape: -1 if layer in COLUMNS else 0,
    in_block=lambda parts: any(map(_is_block, parts)),
    layer_of=lambda parts: parts[-2],
    bias=lambda layer, along: along == -1,
    finish=lambda entries, path, shape: tuple(entries),
    six=COLUMNS | ROWS,
):
    """An answer to 11.4 with these parts; as they stand it is right."""

    def layout(path, shape):
        parts, entries = path.split("/"), [None] * len(shape)
        layer = layer_of(parts)
        if in_block(parts) and layer in six:
            along = axis(layer, shape)
            if along is not None and (len(shape) == 2 or bias(layer, along)):
                entries[along] = "model"
        return finish(entries, path, shape)

    layout.__name__ = name
    return layout


right = _answer("right")


def start_11_4(path, shape):
    return (None,) * len(shape)


def _swap(*layers):
    def axis(layer, shape):
        along = -1 if layer in COLUMNS else 0
        return -1 - along if layer in layers else along

    return axis


def _found(pattern):
    """Whether a part of a path has this form."""
    return lambda parts: any(re.fullmatch(pattern, part) for part in parts)


def _but(layer):
    """The bias of all layers that are split by columns, without this one."""
    return lambda other, _: other in COLUMNS - {layer}


def splits_the_longer(last_if_square):
    def axis(layer, shape):
        if len(shape) == 1:
            return -1 if layer in COLUMNS else 0
        if shape[0] == shape[1]:
            return -1 if last_if_square else 0
        return -1 if shape[1] > shape[0] else 0

    return axis


def _kernels(change):
    def finish(entries, path, shape):
        if len(shape) == 2 and "model" in entries:
            return change(entries)
        return tuple(entries)

    return finish


def splits_norms(path, shape):
    if any(map(_is_block, path.split("/"))) and path.endswith(("gamma", "beta")):
        return ("model",)
    return right(path, shape)


def splits_the_router(path, shape):
    *_, layer, weight = path.split("/")
    if any(map(_is_block, path.split("/"))) and weight == "kernel" and layer not in ROWS:
        return (None, "model")
    return right(path, shape)


def splits_all_but_two(path, shape):
    *_, layer, _ = path.split("/")
    if any(map(_is_block, path.split("/"))) and shape and layer not in ROWS:
        return (*[None] * (len(shape) - 1), "model")
    return right(path, shape)


def splits_one_norm(path, shape):
    """Only the first norm of each block."""
    if "/norm_1/" in f"/{path}" and path.endswith("gamma"):
        return ("model",)
    return right(path, shape)


def splits_logits(path, shape):
    if "logits" in path:
        return (*[None] * (len(shape) - 1), "model")
    return right(path, shape)


def splits_embeddings(path, shape):
    return (None, "model") if path.endswith("embeddings") else right(path, shape)


def splits_rows_of_embeddings(path, shape):
    return ("model", None) if path.endswith("words/embeddings") else right(path, shape)


def splits_patches(path, shape):
    return (None, None, None, "model") if len(shape) == 4 else right(path, shape)


def finds_names_in_names(path, shape):
    parts = path.split("/")
    if not any(map(_is_block, parts)) or not shape:
        return (None,) * len(shape)
    first = [None] * len(shape)
    if any(name in parts[-2] for name in COLUMNS):
        first[-1] = "model"
    elif any(name in parts[-2] for name in ROWS) and len(shape) > 1:
        first[0] = "model"
    return tuple(first)


def finds_names_in_paths(path, shape):
    """The order of its tests matters: `up` is in `upper`."""
    if not any(map(_is_block, path.split("/"))) or not shape:
        return (None,) * len(shape)
    for name in ("query", "key", "value", "up"):
        if name in path:
            return (*[None] * (len(shape) - 1), "model")
    if ("output" in path or "down" in path) and len(shape) > 1:
        return ("model", *[None] * (len(shape) - 1))
    return (None,) * len(shape)


def splits_the_path_in_three(path, shape):
    """Of a longer path it takes the first parts."""
    block, layer, *_ = path.split("/") if path.count("/") > 1 else ("", "", "")
    return right(f"{block}/{layer}/{path.rsplit('/', 1)[1]}", shape)


def _pairs(entries, path, shape):
    return tuple(entries) if len(shape) == 1 else (*entries, None, None)[:2]


def _single(entries, path, shape):
    return ("model",) if "model" in entries else (None,)


def _without_none(entries, path, shape):
    return tuple(entry for entry in entries if entry)


def _with(word):
    """Another value in place of None."""
    return lambda entries, path, shape: tuple(entry or word for entry in entries)


def raises_without_axes(path, shape):
    shape[0] + 0  # of no axes there is no first
    return right(path, shape)


def returns_a_name(path, shape):
    return "model" if "model" in right(path, shape) else None


def returns_a_dict(path, shape):
    return dict(enumerate(right(path, shape)))


def returns_nothing(path, shape):
    right(path, shape)


def returns_endless_entries(path, shape):
    return right(path, shape) + (None,) * 1_000_000


_seen = {}


def remembers_by_path(path, shape):
    """As if a path always had the same shape."""
    return _seen.setdefault(path, right(path, shape))


_asked = []


def turns_around_when_asked_again(path, shape):
    entries = right(path, shape)
    if (path, shape) in _asked:
        return tuple(None if entry else "model" for entry in entries)
    _asked.append((path, shape))
    return entries


# --- right ----------------------------------------------------------------
def by_parts(path, shape):
    *outer, layer, weight = path.split("/")
    whole = (None,) * len(shape)
    if not any(re.fullmatch(r"block_[0-9]+", part) for part in outer):
        return whole
    if layer in ("query", "key", "value", "up"):
        return (None, "model") if weight == "kernel" else ("model",)
    if layer in ("output", "down") and weight == "kernel":
        return ("model", None)
    return whole


def by_pattern(path, shape):
    """One pattern for the whole path."""
    found = re.search(
        r"(?:^|/)block_\d+/(?:.*/)?(query|key|value|up|output|down)/(kernel|bias)$", path
    )
    match found and found.groups():
        case (("query" | "key" | "value" | "up"), "kernel"):
            return None, "model"
        case (("query" | "key" | "value" | "up"), "bias"):
            return ("model",)
        case (("output" | "down"), "kernel"):
            return "model", None
    return tuple(None for _ in shape)


TABLE = {
    **{f"{layer}/kernel": (None, "model") for layer in COLUMNS},
    **{f"{layer}/bias": ("model",) for layer in COLUMNS},
    **{f"{layer}/kernel": ("model", None) for layer in ROWS},
}


def by_table(path, shape):
    parts = path.split("/")
    numbers = [p.removeprefix("block_") for p in parts if p.startswith("block_")]
    if any(number.isdigit() for number in numbers):
        return TABLE.get("/".join(parts[-2:]), (None,) * len(shape))
    return (None,) * len(shape)


def by_patterns_in_turn(path, shape):
    """As Keras' own LayoutMap: the first pattern that is found decides."""
    rules = [
        (r"(^|/)block_\d+/(query|key|value|up)/kernel$", (None, "model")),
        (r"(^|/)block_\d+/(query|key|value|up)/bias$", ("model",)),
        (r"(^|/)block_\d+/(output|down)/kernel$", ("model", None)),
    ]
    for pattern, spec in rules:
        if re.search(pattern, path):
            return spec
    return tuple([None] * len(shape))


def by_the_path_library(path, shape):
    where = PurePosixPath(path)
    axes = dict.fromkeys(range(len(shape)))
    blocks = [p.name for p in where.parents if re.match(r"block_\d+$", p.name)]
    if blocks and where.parent.name in COLUMNS:
        axes[len(shape) - 1] = "model"
    elif blocks and where.parent.name in ROWS and where.name == "kernel":
        axes[0] = "model"
    return tuple(axes.values())


def by_padding(path, shape):
    layer = path.split("/")[-2]
    if not re.search(r"/block_\d+/", "/" + path) or layer not in COLUMNS | ROWS:
        return (None,) * len(shape)
    if layer in COLUMNS:
        return (None,) * (len(shape) - 1) + ("model",)
    return ("model", None) if len(shape) == 2 else (None,)


def by_index(path, shape):
    result = []
    names = path.split("/")
    inside = False
    for name in names:
        if name[:6] == "block_" and name[6:].isnumeric():
            inside = True
    for i in range(len(shape)):
        is_columns = names[-2] in COLUMNS and i == len(shape) - 1
        is_rows = names[-2] in ROWS and i == 0 and len(shape) == 2
        result.append("model" if inside and (is_columns or is_rows) else None)
    return tuple(result)


@functools.cache
def with_a_cache(path, shape):
    return by_parts(path, shape)


def as_a_list(path, shape):
    return list(by_parts(path, shape))


class Layout:
    """A callable object."""

    __name__ = "layout"

    def __init__(self, axis="model"):
        self.axis = axis

    def __call__(self, path, shape):
        parts = path.rsplit("/", 2)
        if len(parts) < 3 or not re.search(r"\bblock_\d+\b", parts[0]):
            return (None,) * len(shape)
        _, layer, weight = parts
        if layer in COLUMNS and weight in ("kernel", "bias"):
            return ((None,) if weight == "kernel" else ()) + (self.axis,)
        if layer in ROWS and weight == "kernel":
            return (self.axis, None)
        return (None,) * len(shape)


def by_outputs(path, shape):
    """Whether the inputs or the outputs of the layer are split decides."""
    *outer, layer, weight = path.split("/")
    if not any(part[:6] == "block_" and part[6:].isdigit() for part in outer):
        layer = ""
    split_inputs = "model" if layer in ROWS else None
    split_outputs = "model" if layer in COLUMNS else None
    if weight == "kernel" and layer in COLUMNS | ROWS:
        return split_inputs, split_outputs
    if weight == "bias":
        return (split_outputs,)
    return (None,) * len(shape)


by_choice = _answer("by_choice")


def with_a_generator(path, shape):
    def entries():
        *outer, layer, weight = path.split("/")
        block = any(part.partition("block_")[2].isdecimal() for part in outer)
        split = {"kernel": 0 if layer in ROWS else 1, "bias": 1 if layer in ROWS else 0}
        for place, _ in enumerate(shape):
            yes = block and layer in (*COLUMNS, *ROWS) and split.get(weight) == place
            yield "model" if yes else None

    return tuple(entries())


def looks_at_the_first_block_only(path, shape):
    """`block_stack/block_3` begins with no block."""
    parts = path.split("/")
    first = next((part for part in parts if part.startswith("block_")), "")
    return right(path, shape) if _is_block(first) else (None,) * len(shape)


def compares_the_end_of_names(path, shape):
    """`warm_up` ends with `up`."""
    *_, layer, weight = path.split("/")
    if any(map(_is_block, path.split("/"))) and weight == "kernel":
        if layer.endswith(tuple(COLUMNS)):
            return None, "model"
        if layer.endswith(tuple(ROWS)):
            return "model", None
    return right(path, shape)


_six = ("query", "key", "value", "output", "up", "down")
WRONG = [
    ("one", "start", start_11_4),
    (
        "two",
        "swapped",
        _answer("swapped", _swap(*_six), bias=lambda layer, _: layer in ROWS),
    ),
    (
        "two",
        "attention_swapped",
        _answer(
            "attention_swapped",
            _swap("query", "key", "value", "output"),
            bias=lambda layer, _: layer in ("output", "up"),
        ),
    ),
    (
        "two",
        "feed_forward_swapped",
        _answer(
            "feed_forward_swapped",
            _swap("up", "down"),
            bias=lambda layer, _: layer in ("query", "key", "value", "down"),
        ),
    ),
    ("two", "all_columns", _answer("all_columns", lambda *_: -1)),
    ("two", "all_rows", _answer("all_rows", lambda *_: 0, bias=lambda *_: False)),
    ("two", "attention_by_columns", _answer("attention_by_columns", _swap("output"))),
    (
        "two",
        "value_by_rows",
        _answer("value_by_rows", _swap("value"), bias=_but("value")),
    ),
    (
        "two",
        "other",
        _answer("query_by_rows", _swap("query"), bias=_but("query")),
    ),
    ("two", "other", _answer("key_by_rows_bias_split", _swap("key"))),
    ("two", "longer_or_first", _answer("longer_or_first", splits_the_longer(False))),
    ("two", "longer_or_last", _answer("longer_or_last", splits_the_longer(True))),
    (
        "one",
        "both",
        _answer("both", finish=_kernels(lambda entries: ("model", "model"))),
    ),
    ("one", "one", _answer("leaves_down", six=COLUMNS | {"output"})),
    ("one", "one", _answer("leaves_key", six=COLUMNS - {"key"} | ROWS)),
    ("bias", "bias_whole", _answer("bias_whole", bias=lambda *_: False)),
    ("bias", "bias_split", _answer("bias_split", bias=lambda *_: True)),
    ("bias", "bias", _answer("bias_of_up", bias=lambda layer, _: layer == "up")),
    ("bias", "bias", _answer("bias_of_down", bias=lambda layer, _: layer != "output")),
    ("others", "norms", splits_norms),
    ("others", "norms_and_rest", splits_all_but_two),
    ("others", "every_kernel", splits_the_router),
    ("others", "others", splits_one_norm),
    ("outside", "outside", _answer("outside", in_block=lambda parts: True)),
    ("outside", "logits", splits_logits),
    ("outside", "embeddings", splits_embeddings),
    ("outside", "outside", splits_rows_of_embeddings),
    ("outside", "outside", splits_patches),
    ("names", "part_of_name", finds_names_in_names),
    ("names", "part_of_path", finds_names_in_paths),
    ("block", "first_part", _answer("first_part", in_block=lambda p: _is_block(p[0]))),
    (
        "block",
        "one_digit",
        _answer("one_digit", in_block=_found(r"block_\d")),
    ),
    (
        "block",
        "two_digits",
        _answer("two_digits", in_block=_found(r"block_\d\d?")),
    ),
    (
        "block",
        "any_block",
        _answer("any_block", in_block=_found("block_.*")),
    ),
    (
        "block",
        "any_block",
        _answer("block_in_path", in_block=lambda p: "block_" in "/".join(p)),
    ),
    (
        "block",
        "any_number",
        _answer("any_number", in_block=_found(r"(\w+_)?\d+")),
    ),
    ("block", "first_part", splits_the_path_in_three),
    ("one", "one", looks_at_the_first_block_only),
    (
        "outside",
        "outside",
        _answer("begins_as_a_block", in_block=_found(r"block_\d+.*")),
    ),
    ("others", "others", compares_the_end_of_names),
    ("axes", "pairs", _answer("pairs", finish=_pairs)),
    ("axes", "single", _answer("single", finish=_single)),
    ("axes", "axes", _answer("without_none", finish=_without_none)),
    ("axes", "axes", returns_endless_entries),
    ("axes", "raised", raises_without_axes),
    ("entry", "entry", returns_a_name),
    ("entry", "entry", returns_a_dict),
    ("entry", "entry", returns_nothing),
    ("entry", "entry", _answer("words", finish=lambda e, *_: tuple(map(str, e)))),
    ("entry", "entry", _answer("truths", finish=lambda e, *_: tuple(map(bool, e)))),
    ("entry", "entry", _answer("surrogate", finish=_with("\ud800"))),
    (
        "entry",
        "entry",
        _answer("other_axis", finish=lambda e, *_: tuple(x and "data" for x in e)),
    ),
    ("axes", "axes", remembers_by_path),
    ("again", "again", turns_around_when_asked_again),
]
RIGHT = [
    by_parts, by_pattern, by_table, by_patterns_in_turn, by_the_path_library, by_padding,
    by_index, with_a_cache, as_a_list, Layout(), by_outputs, by_choice, with_a_generator,
]  # fmt: skip
