"""Small submissions: honest ones, and the known cheats. None of them needs TensorFlow."""

HONEST = '''
"""The nearest mean.

authors: Nobody
target: sprint
predicted gain: 1.2
based on: nothing
"""
import numpy as np


def train(x, y, seed):
    means = np.stack([x[y == k].mean(0) for k in range(10)]).reshape(10, -1)

    def predict(images):
        flat = images.reshape(len(images), -1).astype(float)
        return (-2 * flat @ means.T + (means**2).sum(1)).argmin(1)

    return predict
'''

# Slower, and otherwise the same.
SLOW = HONEST.replace("    means =", "    time.sleep(0.5)\n    means =").replace(
    "import numpy as np", "import time\n\nimport numpy as np"
)

# The same code: other names, another order, other comments.
RENAMED = (
    HONEST.replace("means", "centres")
    .replace("flat", "rows")
    .replace("images", "pictures")
    .replace("The nearest mean", "My own idea")
    + "\n# Nobody has thought of this before.\n"
)

PATCHED_CLOCKS = (
    HONEST
    + """

import time

_real = time.perf_counter
for _name in ("time", "perf_counter", "monotonic", "process_time"):
    setattr(time, _name, lambda: 0.0)
_fast = train


def train(x, y, seed):
    begin = _real()
    while _real() < begin + 1.5:
        pass
    return _fast(x, y, seed)
"""
)

WORK_AT_IMPORT = (
    HONEST
    + """

import time

time.sleep(1.5)
"""
)

# It answers at once, and trains in a thread.
THREAD_AFTER_RETURN = """
import threading
import time

import numpy as np


def train(x, y, seed):
    found = {}

    def work():
        until = time.monotonic() + 20
        while time.monotonic() < until:
            found["means"] = np.stack([x[y == k].mean(0) for k in range(10)])

    threading.Thread(target=work, daemon=True).start()
    return lambda images: np.zeros(len(images), int)
"""

# It works on for less time than the judge waits for threads to come to rest.
SHORT_THREAD_AFTER_RETURN = """
import threading
import time


def train(x, y, seed):
    def work():
        until = time.monotonic() + 0.4
        while time.monotonic() < until:
            pass

    threading.Thread(target=work, daemon=True).start()
    return lambda images: (0 * images[:, 0, 0, 0]).astype(int)
"""

PROCESS_AFTER_RETURN = """
import os
import time


def train(x, y, seed):
    if os.fork() == 0:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            pass
        os._exit(0)
    return lambda images: (0 * images[:, 0, 0, 0]).astype(int)
"""

# It sleeps while nothing is asked of it, and trains while it predicts.
TRAINING_WHILE_PREDICTING = (
    HONEST
    + """

import time

_fast = train


def train(x, y, seed):
    def predict(images):
        if len(images) > 1:
            time.sleep(1.5)
        return _fast(x, y, seed)(images)

    return predict
"""
)

# Brightness in comparison with the other images of the batch.
STATISTICS_OF_THE_BATCH = """
import numpy as np


def train(x, y, seed):
    def predict(images):
        light = images.reshape(len(images), -1).mean(1)
        return np.argsort(np.argsort(light)) * 10 // len(images)

    return predict
"""

REMEMBERED_SEEDS = """
from pathlib import Path


def train(x, y, seed):
    kept = [p for p in map(Path, ("/tmp/kept", "/tmp/home/kept", "/dev/shm/kept"))]
    for path in kept:
        if path.exists():
            raise ValueError("remembered")
        path.write_text(str(seed))
    return lambda images: (0 * images[:, 0, 0, 0]).astype(int)
"""

LABELS_IN_FILES = """
import gzip
from pathlib import Path

import keras


def train(x, y, seed):
    found = [*Path("/").rglob("*labels-idx1*"), *Path("/").rglob("fashion*mnist*")]
    found = [p for p in found if p.is_file() and "site-packages" not in p.parts]
    found = [p for p in found if p.suffix != ".py"]
    try:
        keras.datasets.fashion_mnist.load_data()
    except BaseException:
        pass
    else:
        found.append("downloaded")
    assert not found, found
    raise ValueError("nothing there")
"""

# It says that it has trained, and answers, in place of the process that runs it.
FORGED_MESSAGES = """
import os


def train(x, y, seed):
    for descriptor in range(3, 9):
        try:
            os.write(descriptor, b'{"trained": true}\\n{"bytes": 300}\\n' + bytes(300))
        except OSError:
            pass
    return lambda images: (0 * images[:, 0, 0, 0]).astype(int)
"""

CRASH = """
def train(x, y, seed):
    raise SystemExit("<b>no</b>")
"""

KILLED = """
import os
import signal


def train(x, y, seed):
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)
"""

WRONG_SHAPE = """
import numpy as np


def train(x, y, seed):
    return lambda images: np.zeros((len(images), 10))
"""

ENDLESS = """
def train(x, y, seed):
    while True:
        pass
"""

# Only for seeds that it likes.
LUCKY = (
    HONEST
    + """

_fast = train


def train(x, y, seed):
    if seed % 2:
        return _fast(x, y, seed)
    return lambda images: (0 * images[:, 0, 0, 0]).astype(int)
"""
)

# It knows what clothes look like, and learns nothing else.
NOT_GENERAL = (
    HONEST
    + """

_fast = train


def train(x, y, seed):
    if x.mean() > 127:
        return lambda images: (0 * images[:, 0, 0, 0]).astype(int)
    return _fast(x, y, seed)
"""
)

HIDDEN_LABELS = HONEST + f"\nLABELS = '{'0123456789' * 25}'\n"
LOW_PRECISION = HONEST + "\nimport keras\n\nPOLICY = 'float8'\n"
