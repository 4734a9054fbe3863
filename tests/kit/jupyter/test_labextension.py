"""JupyterLab finds the kit's extension, for the width of a notebook and for links."""

import sys
from pathlib import Path

from jupyterlab_server.config import get_federated_extensions


def test_jupyterlab_finds_it():
    folder = Path(sys.prefix, "share", "jupyter", "labextensions")
    found = get_federated_extensions([str(folder)])["scaling-labs"]
    script = Path(found["ext_path"], found["jupyterlab"]["_build"]["load"])
    assert f'window._JUPYTERLAB["{found["name"]}"] = ' in script.read_text(encoding="utf-8")
