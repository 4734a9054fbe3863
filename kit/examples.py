"""An example for the help of each command, as a person would type it."""

import typer

EXAMPLES = {
    "lab": "labs lab --no-browser --port 8888",
    "update": "labs update 02",
    "reset": "labs reset 2.1",
    "run": "labs run 02 -p batch_size=256 -p epochs=3",
    "sweep": "labs sweep 02 -p batch_size=32,128,512 -p seed=0..4",
    "parameters": "labs parameters 03",
    "launch": "labs launch 09 --workers 4 --restart 3",
    "certificate": "labs certificate",
    "leaderboard add": "labs leaderboard add mine.py --seeds 2 --train-images 5000",
    "leaderboard add-all": "labs leaderboard add-all submissions",
    "leaderboard verify": "labs leaderboard verify --top 3",
    "leaderboard build": "labs leaderboard build",
    "data fetch": "labs data fetch --to labs-data",
    "doctor": "labs doctor --json",
    "bench": "labs bench training",
    "plan": "labs plan --devices 64 --link 25Gbit --price 2",
    "grade": "labs grade submissions/week2 --lab 02 --out grades/02",
    "release": "labs release ../course",
    "collect": "labs collect submissions/class.zip submissions/week2 "
    "--table submissions/worksheet.csv --out grades/02",
    "rehearse": "labs rehearse submissions/rehearsal --lab 02",
    "pool": "labs pool class --names",
    "mark": "labs mark --out grades/02",
    "hand-back": "labs hand-back submissions/worksheet.csv --out grades/02",
    "build": "labs build 02",
    "new": "labs new 13_example",
    "outputs": "labs outputs 02",
    "verify": "labs verify 01",
    "new-version": "labs new-version 0.2.0",
    "mutants": "labs mutants 2.1",
    "contact-sheet": "labs contact-sheet",
}


def add_examples(app: typer.Typer, group: str = "") -> None:
    """Let each command end its help with its example; `group` is as in ``"data "``."""
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        if example := EXAMPLES.get(f"{group}{name}"):
            command.epilog = f"For example: {example}"
