"""Keras as the labs need it: TensorFlow, float32, channels last.

Notebooks and the `labs` command call this. A program that imports the models, checks and
callbacks from elsewhere keeps the backend of his choice.
"""

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from helpers.errors import LabError
from helpers.files import write_atomically
from helpers.plain_json import as_json

# Keras' own defaults.
SETTINGS: dict = {
    "floatx": "float32",
    "epsilon": 1e-7,
    "backend": "tensorflow",
    "image_data_format": "channels_last",
}
# Those that end a training early, or make layers of another kind.
UNWANTED = ("KERAS_MAX_EPOCHS", "KERAS_MAX_STEPS_PER_EPOCH", "KERAS_NNX_ENABLED")


def use_own_keras() -> list[str]:
    """Make Keras compute with TensorFlow in this process, and in those that it starts.

    Returns
    -------
    list of str
        A line for each setting of the user's that does not hold here.

    Raises
    ------
    LabError
        If Keras was imported before, with other settings.
    """
    from helpers.data.places import user_cache

    lines = [f"{what} is ignored here: the labs compute with TensorFlow in float32."
             for what, _ in deviations(os.environ)]  # fmt: skip
    home = user_cache() / "keras"
    _write_settings(home / "keras.json")
    os.environ |= {"KERAS_BACKEND": SETTINGS["backend"], "KERAS_HOME": str(home)}
    for name in UNWANTED:
        os.environ.pop(name, None)
    if "keras" in sys.modules:
        _refuse_other_settings(sys.modules["keras"])
    return lines


def deviations(variables: Mapping[str, str]) -> list[tuple[str, str]]:
    """The user's settings for Keras that the labs do not take.

    Parameters
    ----------
    variables : dict of str
        The environment.

    Returns
    -------
    list of tuple of str
        What was found, what to do about it.
    """
    found = []
    backend = variables.get("KERAS_BACKEND")
    if backend not in (None, "", SETTINGS["backend"]):
        found.append((f"KERAS_BACKEND={backend}", "Unset KERAS_BACKEND"))
    found += [(f"{name}={variables[name]}", f"Unset {name}")
              for name in UNWANTED if name in variables]  # fmt: skip
    try:
        home = variables.get("KERAS_HOME") or Path("~/.keras").expanduser()
        file = Path(home, "keras.json")
        settings = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        settings = None
    except (OSError, RuntimeError):  # no such file; nobody's home
        return found
    if not isinstance(settings, dict):
        return [*found, (f"{file} is damaged", f"Delete {file}")]
    usual = SETTINGS | {"nnx_enabled": False}
    other = [name for name in usual if settings.get(name, usual[name]) != usual[name]]
    if other:
        text = ", ".join(f"{name} {settings[name]}" for name in other)
        found.append((f"{text} in {file}", f"Delete {file}"))
    return found


def _write_settings(file):
    """Write them at once and whole: in each process Keras writes it in place."""
    text = as_json(SETTINGS, indent=4)
    with contextlib.suppress(OSError):  # without a file Keras takes its defaults
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            write_atomically(file, text)


def _refuse_other_settings(keras):
    found = {
        "floatx": keras.config.floatx(),
        "backend": keras.config.backend(),
        "image_data_format": keras.config.image_data_format(),
    }
    other = [f"{name} {value}" for name, value in found.items() if value != SETTINGS[name]]
    if other:
        raise LabError(
            f"Keras was imported before this cell, with {', '.join(other)}: restart the "
            "kernel, and run the first cells before all others."
        )
