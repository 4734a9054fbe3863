"""Numbers as people write them: 24.2 GB, 3 min 20 s, 0.859, 4,810 images per second."""

from helpers.run_card.predictions import number

STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))  # of bytes
WORDS = ((1e12, "trillion"), (1e9, "billion"))  # smaller numbers are written out


def in_units(name: str, value: float) -> str:
    """A measurement in the unit that its name ends in.

    Parameters
    ----------
    name : str
        Such as ``"training_seconds"``, ``"memory_bytes_per_second"``, ``"val_accuracy"``.
    value : float

    Returns
    -------
    str
        ``"3 min 20 s"``, ``"24.2 GB per second"``, ``"0.859"``
    """
    if name.endswith("_per_second"):
        what = name.removesuffix("_per_second")
        if what.endswith("bytes"):
            return f"{_in_bytes(value)} per second"
        return f"{_in_steps(value)} {rate_unit(name)}"
    if name.endswith("seconds"):
        return _in_time(value)
    if name.endswith("bytes"):
        return _in_bytes(value)
    if name.endswith("accuracy"):
        return f"{value:.3f}"
    return number(value)


def rate_unit(name: str) -> str:
    """The unit of a measured rate, as people write it.

    Parameters
    ----------
    name : str
        Of the measurement, such as ``"images_per_second"``.

    Returns
    -------
    str
        ``"images per second"``, ``"GFLOP/s"``; of the square product in lab 00
        ``"GFLOP/s (square)"``
    """
    kind, _, unit = name.removesuffix("_per_second").rpartition("_")
    if unit != "gflop":
        return f"{unit} per second"  # of "held_out_images" the images
    return f"GFLOP/s ({kind})" if kind else "GFLOP/s"


def in_heading(name: str) -> str:
    """A measurement as the heading of a column: `in_short` says its values."""
    if name.endswith("gflop_per_second"):
        return rate_unit(name)
    return name.replace("_", " ")


def in_short(name: str, value: float) -> str:
    """A measurement below a heading that names it: of a rate the number alone."""
    if not name.endswith("_per_second"):
        return in_units(name, value)
    is_in_bytes = name.endswith("bytes_per_second")
    return _in_bytes(value) if is_in_bytes else _in_steps(value)


def in_words(value: object) -> str:
    """A prediction, an outcome or a parameter: numbers short, dicts and lists in a line."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, dict):
        parts = (f"{key}: {in_words(one)}" for key, one in value.items())
        return ", ".join(parts).replace("_", " ") or "-"
    if isinstance(value, list):
        return ", ".join(map(in_words, value))
    return str(value)


def _in_time(seconds):
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def _in_bytes(value):
    for size, letter in STEPS:
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}B"
    return f"{value:.3g} bytes"


def _in_steps(value):
    for size, word in WORDS:
        if abs(value) >= size:
            return f"{value / size:.3g} {word}"
    return number(value)
