"""Run in a box by `box_run.py`: train with a submission, then predict what it is sent.

A message is a line of JSON, followed by as many bytes as it says. What this process says
is believed by nobody: the submission runs in it, and may say anything in its place.
"""

import json
import linecache
import os
import resource
import sys
import types
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from filter_in_box import load_filter

del sys.path[0]

NAME = "submission"


def main() -> None:
    """Answer messages until the judge hangs up."""
    given, taken = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):  # nobody reads what a submission prints
        os.dup2(nowhere, descriptor)
    job = json.loads(given.readline())
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.path.insert(0, job["repository"])
    for name, value in job["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    load_filter(bytes.fromhex(job["filter"]))

    def say(message, content=b""):
        taken.write(json.dumps(message, allow_nan=False).encode() + b"\n" + content)
        taken.flush()

    say({"ready": True})
    predict = None
    while line := given.readline():
        message = json.loads(line)
        content = given.read(message["bytes"])
        try:
            if message["task"] == "train":
                predict = train(message, content)
                say({"trained": True})
            else:
                labels = predictions(predict, message, content)
                say({"bytes": len(labels)}, labels)
        except BaseException as error:  # SystemExit, too
            lines = str(error).strip().splitlines() or [""]
            say({"error": f"{type(error).__name__}: {lines[0][:300]}"})


def train(message: dict, content: bytes) -> Callable:
    """Run the source, and call its `train`."""
    import numpy as np

    n = message["images"]
    x = np.frombuffer(bytearray(content[: n * 784]), "uint8").reshape(n, 28, 28, 1)
    y = np.frombuffer(bytearray(content[n * 784 :]), "uint8")
    return module(message["code"]).train(x, y, message["seed"])


def module(code: str) -> types.ModuleType:
    """The submission as a module; a second call with the same code runs nothing again."""
    if NAME not in sys.modules:
        made = types.ModuleType(NAME)
        file = f"<{NAME}>"
        # So that tracebacks and tf.function find the source.
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        sys.modules[NAME] = made
        exec(compile(code, file, "exec"), made.__dict__)
    return sys.modules[NAME]


def predictions(predict: Callable, message: dict, content: bytes) -> bytes:
    """The labels of some images, as bytes."""
    import numpy as np

    n = message["images"]
    images = np.frombuffer(bytearray(content), "uint8").reshape(n, 28, 28, 1)
    labels = np.asarray(predict(images))
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"predict must return {n} whole numbers, not {labels.dtype} {labels.shape}"
        )
    return labels.astype("uint8").tobytes()


if __name__ == "__main__":
    main()
