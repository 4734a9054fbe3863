"""Record the profiles that lab 08 shows where TensorFlow has no profiler."""

import datetime
import os
from pathlib import Path

import numpy as np

from callbacks.live.progress import progress
from helpers.lab_08.profile import RECORDED, profile_steps, summarize
from helpers.network.models import conv_bn_relu, original_conv_bn_relu, wide_resnet
from helpers.plain_json import write_json
from kit.bench.measurement import machine

UNITS = {"Keras' own": original_conv_bn_relu, "fused": conv_bn_relu}
# As lab 08 at laptop scale.
NETWORK = {"depth": 10, "width": 1, "stem_pool": 4, "dropout": 0.01}
BATCH_SIZE = 32
STEPS = 50


def bench(path: Path = RECORDED, steps: int = STEPS) -> None:
    """Write recorded_profiles.json beside lab 08's helpers, for random images."""
    rng = np.random.default_rng(0)
    images = rng.normal(size=(BATCH_SIZE, 28, 28, 1)).astype("float32")
    labels = np.eye(10, dtype="float32")[rng.integers(10, size=BATCH_SIZE)]
    profiles = {}
    for name, unit in progress(UNITS.items(), desc="profiles"):
        network = wide_resnet(unit=unit, **NETWORK)
        network.compile("sgd", "categorical_crossentropy", jit_compile=False)

        def step(network=network):
            network.train_on_batch(images, labels)

        for _ in range(3):  # tracing, and what is made at the first step
            step()
        profiles[name] = summarize(profile_steps(step, steps))
    result: dict = {
        "date": datetime.date.today().isoformat(),
        **machine(),
        "load_average": round(os.getloadavg()[0], 2),
        "network": f"WRN-{NETWORK['depth']}-{NETWORK['width']} at laptop scale, "
        f"batches of {BATCH_SIZE}",
        "steps": steps,
        "profiles": profiles,
    }
    write_json(path, result)
    print(f"{result['device']['name']}; written to {path}")
