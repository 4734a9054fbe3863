"""What every test starts from: run cards of its own, and TensorFlow kept quiet."""

import pytest

from helpers.quiet import silence_tensorflow

silence_tensorflow()

from helpers.devices import prepare_devices  # noqa: E402

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
