"""Run in a box by `whole_notebook.py`: execute the notebook on stdin, print the result."""

import json
import os
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from filter_in_box import load_filter, step_back

del sys.path[0]

CORES = 4
# The judges are not in the box: a check returns the answer that it gets.
STARTUP = """
import helpers.checks
helpers.checks.check = lambda exercise, answer: answer
"""
# A thread that saves what ran would complain in any cell, once a cell deletes its file.
NO_HISTORY = {"HistoryManager": {"enabled": False}}


def main(home: str, work: str) -> None:
    """Execute until the deadline; errors stay in the notebook as outputs."""
    job = json.load(sys.stdin)
    os.environ.clear()
    os.environ.update(
        job["environment"],
        HOME=home,
        LABS_RUNS_DIR=f"{work}/runs",
        TMPDIR=home,
    )
    for name, value in job["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    _link_cache(Path(job["cache"]))
    step_back(0, CORES)
    if "filter" in job:
        load_filter(bytes.fromhex(job["filter"]))
        spec = Path(home, ".local", "share", "jupyter", "kernels", "boxed", "kernel.json")
        spec.parent.mkdir(parents=True)
        kernel = {"argv": job["kernel"], "display_name": "boxed", "language": "python"}
        spec.write_text(json.dumps(kernel, allow_nan=False))
    profile = Path(home, ".ipython", "profile_default")
    startup = profile / "startup" / "checks.py"
    startup.parent.mkdir(parents=True)
    startup.write_text(STARTUP)
    (profile / "ipython_kernel_config.json").write_text(
        json.dumps(NO_HISTORY, allow_nan=False)
    )

    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.reads(job["notebook"], as_version=4)
    deadline = time.monotonic() + job["seconds"]
    client = NotebookClient(
        notebook,
        kernel_name="boxed" if "filter" in job else "python3",
        allow_errors=True,
        interrupt_on_timeout=True,
        # What is left of the whole time; the cells after that get a second each.
        timeout_func=lambda cell: max(1, int(deadline - time.monotonic())),
        resources={"metadata": {"path": work}},
    )
    verdict = "executed"
    try:
        client.execute()
    except Exception as error:  # a dead kernel: keep what has run
        verdict = f"stopped by {type(error).__name__}"
    errors = sum(
        output.get("output_type") == "error"
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    )
    cells = f"{errors} cell{'s' * (errors != 1)} with errors"
    print(f"{verdict}, {cells}" if errors else verdict)
    print(nbformat.writes(notebook))


def _link_cache(cache):
    """Show the data sets of the grader's cache; what is missing must stay writable."""
    import platformdirs

    own = Path(platformdirs.user_cache_dir(cache.name))
    for path in cache.glob("*/*"):
        link = own / path.relative_to(cache)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
