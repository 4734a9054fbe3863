"""Exercise 11.4: the questions, and the verdict on what the probe saw."""

import re
from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.verdict import Wrong, wrong

BY_COLUMNS = ("query", "key", "value", "up")
BY_ROWS = ("output", "down")
SIX = (*BY_COLUMNS, *BY_ROWS)
SWAPPED = {  # by the mistake: the layers whose kernels are split along the other axis
    "swapped": SIX,
    "attention_swapped": ("query", "key", "value", "output"),
    "feed_forward_swapped": ("up", "down"),
}
BLOCK = re.compile(r"block_\d+")
REPEATED = 3  # cases that are asked again in the end
PREFIXES = ("", "decoder/", "block_stack/upper/", "output/stack/")
NUMBERS = ((1, 9), (10, 99), (100, 999))


def make_weights(rng: Random) -> dict:
    """Weights of three networks, of blocks and others, in any order."""
    prefixes = ["", *rng.sample(PREFIXES[1:], 2)]
    cases = []
    for number, prefix in enumerate(prefixes):
        width = 8 * rng.randint(3, 40)
        for digits in rng.sample(NUMBERS, 2):
            name = f"{prefix}block_{rng.randint(*digits)}"
            cases += _block(rng, name, width, square=number == 0)
        cases += _others(rng, prefix, width)
    rng.shuffle(cases)
    return {"cases": cases + rng.sample(cases, REPEATED)}


def _block(rng, name, width, square):
    """The weights of one block, some of its layers without a bias."""
    narrow, wide = width // rng.choice([2, 4]), width * rng.choice([2, 4])
    sizes = {
        "query": (width, width), "key": (width, width), "value": (width, width),
        "output": (width, width), "up": (width, wide), "down": (wide, width),
    }  # fmt: skip
    if not square:
        inside = rng.choice([width, narrow, wide])
        sizes |= {"query": (width, inside), "output": (inside, width)}
        sizes |= dict.fromkeys(("key", "value"), (width, narrow))
    if rng.random() < 0.5:  # even the feed-forward layers need not be wider
        middle = rng.choice([width, narrow])
        sizes |= {"up": (width, middle), "down": (middle, width)}
    cases = [[f"{name}/{layer}/kernel", list(shape)] for layer, shape in sizes.items()]
    biased = [layer for layer in SIX if rng.random() < 0.7]
    cases += [[f"{name}/{layer}/bias", [sizes[layer][1]]] for layer in biased]
    norms = ["norm_1", "norm_2", rng.choice(["query_norm", "output_norm", "upper_norm"])]
    for norm in norms:
        cases.append([f"{name}/{norm}/gamma", [width]])
        if rng.random() < 0.5:
            cases.append([f"{name}/{norm}/beta", [width]])
    # Names that end as one of the six.
    for layer in rng.sample(["warm_up", "pre_output", "low_key", "cool_down"], 2):
        cases.append([f"{name}/{layer}/kernel", [width, width]])
    if rng.random() < 0.6:
        cases.append([f"{name}/router/kernel", [width, rng.choice([8, 16])]])
        cases.append([f"{name}/{rng.choice(['down_scale', 'value_scale'])}/scale", []])
    return cases


def _others(rng, prefix, width):
    """Weights that belong to no block."""
    words = rng.randrange(1000, 9000, 8)
    layer = rng.choice(["query", "up", "value"])
    return [
        [f"{prefix}words/embeddings", [words, width]],
        [f"{prefix}positions/embeddings", [rng.randrange(64, 512, 8), width]],
        [f"{prefix}upper_norm/gamma", [width]],
        [f"{prefix}output_norm/{rng.choice(['gamma', 'beta'])}", [width]],
        [f"{prefix}logits/kernel", [width, words]],
        [f"{prefix}logits/bias", [words]],
        [f"{prefix}output/kernel", [width, width]],
        [f"{prefix}{layer}/kernel", [width, width]],
        [f"{prefix}{layer}/bias", [width]],
        # One path with two shapes, to catch layouts that are cached by their path.
        [f"{prefix}patches/kernel", [16, 16, 3, width]],
        [f"{prefix}patches/kernel", [width, width]],
        # None of these is a block.
        [f"{prefix}block_{rng.choice(['norm', 'a', 'last'])}/up/kernel", [width, width]],
        [
            f"{prefix}block_{rng.randint(1, 99)}_{rng.choice('abc')}/key/kernel",
            [width, width],
        ],
        [f"{prefix}{rng.randint(1, 99)}/key/kernel", [width, width]],
        [f"{prefix}stage_{rng.randint(1, 99)}/down/kernel", [width, width]],
        [f"{prefix}temperature/scale", []],
    ]


def split_of(case: list, mistake: str = "") -> list:
    """The axes of a weight by their names, if one makes this mistake."""
    path, shape = case
    *before, layer, weight = path.split("/")
    layer = _layer(path, layer, mistake)
    split: list[str | None] = [None] * len(shape)
    if mistake == "pairs" and len(shape) != 1:
        split = [None, None]
    if mistake == "single":
        split = split[:1] or [None]
    in_block = _in_block(before, layer, weight, mistake)
    if not in_block or not shape or mistake == "start":
        return split
    kind = _kind(layer, weight, shape, mistake)
    if mistake == "both" and len(shape) == 2 and kind:
        return ["model", "model"]
    if mistake == "single" and (kind == "columns" or (kind and len(shape) > 1)):
        return ["model"]
    if kind == "columns":
        split[-1] = "model"
    if kind == "rows" and (len(shape) > 1 or mistake == "bias_split"):
        split[0] = "model"
    if mistake == "bias_whole" and weight == "bias":
        split[0] = None
    return split


def _layer(path, layer, mistake):
    """The name of the layer, as one finds it who looks for a part of a text."""
    if mistake == "part_of_name":
        return next((name for name in SIX if name in layer), layer)
    if mistake == "part_of_path":
        return next((name for name in SIX if name in path), layer)
    return layer


def _in_block(before, layer, weight, mistake):
    """Whether a weight belongs to a block, or is taken for one that does."""
    if mistake == "first_part":
        return bool(before) and bool(BLOCK.fullmatch(before[0]))
    if mistake == "one_digit":
        return any(re.fullmatch(r"block_\d", part) for part in before)
    if mistake == "two_digits":
        return any(re.fullmatch(r"block_\d\d?", part) for part in before)
    if mistake == "any_block":
        return any(part.startswith("block_") for part in before)
    if mistake == "any_number":
        return any(re.fullmatch(r"([a-z]+_)?\d+", part) for part in before)
    if mistake in ("outside", layer, weight):
        return True
    return any(BLOCK.fullmatch(part) for part in before)


def _kind(layer, weight, shape, mistake):
    """By what the kernel of a layer is split, or "" if nothing of it is."""
    if mistake == "logits" and layer == "logits":
        return "columns"
    if mistake == "embeddings" and weight == "embeddings":
        return "columns"
    if mistake in ("norms", "norms_and_rest") and layer not in SIX:
        norm = weight in ("gamma", "beta")
        return "columns" if norm or mistake == "norms_and_rest" else ""
    if mistake == "every_kernel" and weight == "kernel" and layer not in SIX:
        return "columns"
    if layer not in SIX:
        return ""
    columns = layer in BY_COLUMNS
    if layer in SWAPPED.get(mistake, ()):
        columns = not columns
    elif mistake in ("all_columns", "all_rows"):
        columns = mistake == "all_columns"
    elif mistake == "attention_by_columns" and layer == "output":
        columns = True
    elif mistake == "value_by_rows" and layer == "value":
        columns = False
    elif mistake.startswith("longer") and len(shape) == 2:
        inputs, outputs = shape
        columns = outputs > inputs or (outputs == inputs and mistake == "longer_or_last")
    return "columns" if columns else "rows"


SPLITS = Formula(
    split_of,
    (
        "start", "swapped", "attention_swapped", "feed_forward_swapped", "all_columns",
        "all_rows", "attention_by_columns", "value_by_rows", "longer_or_first",
        "longer_or_last", "both", "bias_whole", "bias_split", "norms", "norms_and_rest",
        "every_kernel", "outside", "logits", "embeddings", "part_of_name", "part_of_path",
        "first_part", "one_digit", "two_digits", "any_block", "any_number", "pairs",
        "single",
    ),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Weights for which every usual mistake gives another layout."""
    return SPLITS.draw(rng, make_weights)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The axes of each weight."""
    cases, every = question["cases"], observation["said"]
    different = SPLITS.different(question, every)
    if different is None:
        return None
    places = [i for i, case in enumerate(cases) if every[i] != split_of(case)]
    place = min(places, key=lambda i: not cases[i][0].endswith("kernel"))
    (path, shape), said = cases[place], every[place]
    mistake = different.mistake
    if mistake not in SPLITS.mistakes:  # so few results that each is another weight's, too
        again = all(cases.index(cases[i]) < i for i in places)
        mistake = "again" if again else _other(cases[place], said)
    facts = {"path": path, "shape": repr(tuple(shape))}
    if any(one not in (None, "model") for one in said):
        return wrong("entry", "entry", said=repr(tuple(said)), **facts)
    # A judge that showed the right axes would do the exercise.
    return wrong(mistake, "split", said=repr(tuple(said)), **facts)


def _other(case, said):
    """A name for what no usual mistake gives."""
    path, shape = case
    *before, layer, weight = path.split("/")
    if len(said) != len(shape):
        return "axes"
    if not _in_block(before, layer, weight, ""):
        return "outside"
    if layer not in SIX:
        return "others"
    if weight == "bias":
        return "bias"
    return "one" if said.count("model") != 1 else "other"
