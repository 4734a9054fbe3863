"""The course's own functions as they were before a submission ran, so that changes show.

It runs in the process of the answer, so an attacker who knows it can get around it. It is
meant for those who replace a probe, or one of its tools, and go no further.
"""

import sys
import types
from typing import Any, NamedTuple

PACKAGE = "helpers"


class Original(NamedTuple):
    """A function, a class or a module, where it is bound, and what it consists of."""

    name: str  # such as "helpers.checks.observe.observe"
    owner: Any  # the module or the class
    key: str
    value: Any
    parts: dict[str, Any]  # of a function: its code and its defaults


def keep() -> list[Original]:
    """Everything that the modules of our package define or import, but no data.

    Returns
    -------
    list of Original
        Data may change: a lab prepares its devices, for example.
    """
    originals = []
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != PACKAGE or not isinstance(module, types.ModuleType):
            continue
        for key, value in list(vars(module).items()):
            originals += _kept(f"{name}.{key}", module, key, value)
            if isinstance(value, type) and value.__module__ == name:
                for part, inner in list(vars(value).items()):
                    originals += _kept(f"{name}.{key}.{part}", value, part, inner)
    return originals


def _kept(name, owner, key, value):
    if isinstance(value, types.FunctionType):
        names = ("__code__", "__defaults__", "__kwdefaults__")
        return [
            Original(name, owner, key, value, {one: getattr(value, one) for one in names})
        ]
    if isinstance(value, type | types.ModuleType):
        return [Original(name, owner, key, value, {})]
    return []


def put_back(originals: list[Original]) -> list[str]:
    """Undo what was changed since `keep`.

    Parameters
    ----------
    originals : list of Original

    Returns
    -------
    list of str
        The names of what had been changed.
    """
    changed = []
    for name, owner, key, value, parts in originals:
        differs = vars(owner).get(key) is not value
        if differs:
            setattr(owner, key, value)
        for part, then in parts.items():
            if getattr(value, part) is not then:
                differs = True
                setattr(value, part, then)
        if differs:
            changed.append(name)
    return changed
