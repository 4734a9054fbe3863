"""`fit` on two workers learns what it learns in one process."""

import json
import runpy
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from helpers.machine import cluster
from helpers.machine.multi_worker_fit import needed

SCRIPT = Path(__file__).with_name("fit_as_worker.py")


@pytest.mark.weekly
def test_fit_on_two_workers_ends_as_in_one_process(tmp_path):
    alone = runpy.run_path(SCRIPT)["trained"](tf.distribute.get_strategy(), keras.Model)
    with cluster.start([sys.executable, str(SCRIPT)], 2, tmp_path) as job:
        job.wait(600)
        together = [json.loads(job.log(rank).splitlines()[-1]) for rank in job.ranks]
    assert together[0] == together[1]
    assert together[0].pop("replicas") == 2
    # Once Keras can do it alone the class has no work left, and can go.
    assert together[0].pop("keras_can") == (not needed())
    assert together[0].keys() == alone.keys()
    for name, value in alone.items():
        np.testing.assert_allclose(together[0][name], value, rtol=1e-5, err_msg=name)
