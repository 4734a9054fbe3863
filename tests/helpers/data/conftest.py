"""Where a test of the data sets finds them: nowhere, or on a server of its own."""

import pytest

from helpers.data import places


@pytest.fixture
def nowhere(monkeypatch):
    """No copy on this machine and no network, unless a test says so."""
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    monkeypatch.setattr(places.DataSet, "system_folder", None)
    monkeypatch.setattr(places, "BASE_URL", "http://127.0.0.1:9/")


@pytest.fixture
def own(nowhere, monkeypatch, tmp_path):
    """The user's own folder, still empty."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("LABS_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def server(nowhere, monkeypatch, file_server):
    """The folder of a server on this machine, in place of the one on the web."""
    folder, address = file_server
    monkeypatch.setattr(places, "BASE_URL", address)
    return folder
