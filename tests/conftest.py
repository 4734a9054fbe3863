"""What every test starts from: run cards of its own, and TensorFlow kept quiet."""

import os
from pathlib import Path

import pytest

from helpers.files import REPOSITORY
from helpers.quiet import silence_tensorflow

silence_tensorflow()

from helpers.devices import prepare_devices  # noqa: E402

# Where MNIST may be: no Debian package has it.
SHARED = [os.environ.get("LABS_DATA_DIR"), REPOSITORY.parent / "shared" / "data"]
HAVE_MNIST = [Path(p) for p in SHARED if p and (Path(p) / "mnist.npz").is_file()]

# Before any test starts TensorFlow: checks of several devices need logical CPUs.
prepare_devices(8, simulate=True)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """No test sees or leaves a run card, or downloads into the user's cache."""
    monkeypatch.setenv("LABS_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("LABS_REPORTS_DIR", str(tmp_path / "reports"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LABS_SCALE", "smoke")
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    if HAVE_MNIST:  # without it lab 06 runs on its synthetic set
        monkeypatch.setenv("LABS_DATA_DIR", str(HAVE_MNIST[0].absolute()))


@pytest.fixture
def shared_mnist():
    """The folder beside the checkout that has the real MNIST."""
    if not HAVE_MNIST:
        pytest.skip("no mnist.npz in ../shared/data or LABS_DATA_DIR")
    return HAVE_MNIST[0].absolute()
