"""`labs leaderboard`: judge submissions to the speed record, and show the board."""

import contextlib
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from helpers.errors import LabError
from helpers.files import reports_folder
from helpers.speed_record import rule
from kit.flags import Group
from kit.leaderboard.header import header

app = typer.Typer(
    cls=Group,
    help="The Fashion-MNIST speed record; docs/enter-the-race.md says how to enter.",
    no_args_is_help=True,
)
Target = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"One of {', '.join(rule.TARGETS)}; by default the one in its docstring.",
    ),
]
Seeds = Annotated[
    int, typer.Option(min=1, help="How many seeds; fewer than ten are a trial, no record.")
]
TrainImages = Annotated[
    int,
    typer.Option(min=100, max=rule.TRAIN_IMAGES, help="How many; fewer are a trial, too."),
]
TestImages = Annotated[
    int,
    typer.Option(min=100, max=rule.TEST_IMAGES, help="How many; fewer are a trial, too."),
]
Warm = Annotated[
    bool,
    typer.Option("--warm", help="Judge for the warm board: noise is trained on first."),
]


@app.command()
def add(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A Python file with `train`.")
    ],
    target: Target = None,
    seeds: Seeds = rule.SEEDS,
    train_images: TrainImages = rule.TRAIN_IMAGES,
    test_images: TestImages = rule.TEST_IMAGES,
    warm: Warm = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Also if it crashed, or predicted for too long."),
    ] = False,
) -> None:
    """Judge a submission and put it on the board; resumes where it was interrupted."""
    numbers = seeds, train_images, test_images
    if not add_files([file], target, *numbers, warm, None, again):
        raise typer.Exit(1)


@app.command("add-all")
def add_all(
    submissions: Annotated[
        Path, typer.Argument(metavar="SUBMISSIONS", help="A folder of Python files.")
    ],
    target: Target = None,
    seeds: Seeds = rule.SEEDS,
    train_images: TrainImages = rule.TRAIN_IMAGES,
    test_images: TestImages = rule.TEST_IMAGES,
    warm: Warm = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler with TLS.")
    ] = None,
) -> None:
    """Judge every file of a folder, one at a time on each machine, because it measures."""
    files = sorted(submissions.rglob("*.py"))
    if not files:
        raise LabError(f"{submissions} has no Python files: name the folder that has them.")
    if not add_files(files, target, seeds, train_images, test_images, warm, scheduler):
        raise typer.Exit(1)


@app.command()
def verify(
    top: Annotated[int, typer.Option(min=2, help="How many entries of each board.")] = 3,
    seeds: Annotated[int, typer.Option(min=2, help="How often each is judged.")] = 3,
) -> None:
    """Judge the best entries again, in turn, and compare their order with the board's."""
    from kit.leaderboard.again import OTHER
    from kit.leaderboard.again import verify as verify_entries
    from kit.leaderboard.store import Store, board_file

    _check_box()
    with _interruptible(), _alone(), Store(board_file()) as store:
        found = verify_entries(store, top, seeds)
    for board in found:
        typer.echo(f"{board['board'][0]}: entries {_numbers(board['stored'])} by score;")
        typer.echo(f"  judged again, {_numbers(board['measured'])}.")
        for pair in board["pairs"]:
            typer.echo(f"  {_pair_in_words(pair)}")
    if not found:
        typer.echo("No board of this machine has two entries to compare.")
    if any(pair["order"] == OTHER for board in found for pair in board["pairs"]):
        raise typer.Exit(1)


@app.command()
def build(
    out: Annotated[
        Path | None, typer.Option(help="The folder; by default reports/leaderboard.")
    ] = None,
) -> None:
    """Write the board's page, with the code and the log of every entry."""
    from kit.leaderboard.page import write_page
    from kit.leaderboard.store import Store, board_file

    with Store(board_file()) as store:
        page = write_page(store, out or reports_folder() / "leaderboard")
    typer.echo(f"wrote {page}")


def add_files(
    files: list[Path],
    target: str | None,
    seeds: int,
    train_images: int,
    test_images: int,
    warm: bool,
    scheduler: str | None,
    again: bool = False,
) -> bool:
    """Judge files, here or on a cluster; whether none of them was refused."""
    from kit.leaderboard.judge import Settings
    from kit.leaderboard.store import Store, board_file

    tasks = []
    for file in files:
        code = file.read_text(encoding="utf-8", errors="replace")
        settings = Settings(
            _target(code, target, file), seeds, train_images, test_images, warm
        )
        tasks.append((code, settings))
    states = []
    with _interruptible(), Store(board_file()) as store:
        entries = (
            _on_a_cluster(store, tasks, scheduler)
            if scheduler
            else _here(store, tasks, again)
        )
        for place, entry in entries:
            states.append(entry["state"])
            typer.echo(_in_words(files[place], entry))
    return "refused" not in states


def _here(store, tasks, again):
    from kit.leaderboard.calibrator import Calibrator
    from kit.leaderboard.judge import add as add_entry

    _check_box()
    with _alone(), Calibrator() as calibrator:
        for place, (code, settings) in enumerate(tasks):
            seconds = calibrator.seconds
            yield place, add_entry(store, code, settings, seconds, again=again)


def _on_a_cluster(store, tasks, scheduler):
    """Each worker judges one submission at a time, by this board's secret."""
    from kit.parallel.workers import on_a_cluster

    plain = [
        {"code": code, "settings": settings._asdict(), "secret": store.secret.hex()}
        for code, settings in tasks
    ]
    for place, result in on_a_cluster(judge_task, plain, scheduler):
        if isinstance(result, Exception):
            raise LabError(f"a worker of the cluster failed: {result}")
        number = store.begin(*(result[k] for k in ("code", "settings", "about", "machine")))
        if store.entry(number)["state"] == "judging":  # else its verdict stands
            store.forget(number)  # a part that was judged here: all logs of one machine
            for run in result["runs"]:
                store.log(number, run["kind"], run["place"], run["log"])
            store.decide(number, result["state"], result["reason"], result["result"])
        yield place, store.entry(number)


def judge_task(task: dict) -> dict:
    """Judge one submission on a worker, on a board of its own.

    A worker knows no other entries, so it gives an entry and never a record.
    """
    from kit.leaderboard.calibrator import Calibrator
    from kit.leaderboard.judge import Settings
    from kit.leaderboard.judge import add as add_entry
    from kit.leaderboard.store import Store

    with tempfile.TemporaryDirectory() as folder, _alone(), Calibrator() as calibrator:
        path = Path(folder, "board.sqlite")
        with Store(path, bytes.fromhex(task["secret"])) as store:
            settings = Settings(**task["settings"])
            entry = add_entry(store, task["code"], settings, calibrator.seconds, quiet=True)
    if entry["state"] == "record":
        reason = "Judged on a cluster: `labs leaderboard add` compares it with the holder."
        result = entry["result"] | {"elsewhere": True}
        return entry | {"state": "entry", "reason": reason, "result": result}
    return entry


def _target(code, given, file):
    if given is None:
        try:
            given = header(code).target
        except (SyntaxError, ValueError):  # it is refused, whatever its target
            given = next(iter(rule.TARGETS))
    if given not in rule.TARGETS:
        names = ", ".join(rule.TARGETS)
        raise LabError(
            f"{file.name} has no target: give --target, one of {names}."
            if given is None
            else f"--target must be one of {names}, not {given}."
        )
    return given


def _check_box():
    from kit.grading.box import sandbox

    if problem := sandbox.problem():
        raise LabError(
            f"submissions are judged in a box, and {problem}. "
            "docs/teaching/instructor.md says what it needs."
        )


def _alone():
    """A lock of the machine: two judgings side by side would measure each other."""
    from helpers.data.places import user_cache
    from helpers.files import only_one

    return only_one(user_cache() / "leaderboard")


@contextlib.contextmanager
def _interruptible():
    """Ctrl-C ends the command with a line."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(
            "labs: interrupted; the same command continues where it stopped.", err=True
        )
        raise typer.Exit(130) from None


def _in_words(file, entry):
    result, state = entry["result"], entry["state"]
    lines = [f"{file.name}: entry {entry['number']}, {state}. {entry['reason']}".rstrip()]
    if result.get("score"):
        low, middle, high = result["score"]
        lines.append(
            f"  score {middle:.3f} ({low:.3f} to {high:.3f}), {result['seconds']:.1f} s, "
            f"{result['cpu_seconds']:.1f} CPU s, accuracy {result['accuracy']:.4f}, "
            f"p = {result['p']:.2g}"
        )
    if result.get("busy"):
        lines.append(
            f"  The machine was busy during {result['busy']} of the seeds: its speed "
            f"changed by more than {rule.CALIBRATION_DRIFT:.0%}."
        )
    return "\n".join(lines)


def _numbers(numbers):
    return ", ".join(map(str, numbers))


def _pair_in_words(pair):
    one, other = pair["entries"]
    if pair["ratio"] is None:
        return f"{one} against {other}: a run crashed."
    low, middle, high = pair["ratio"]
    words = {
        "same": "the order is confirmed",
        "tie": "too close to tell",
        "other": "the order is reversed",
    }
    return (
        f"{one} takes {middle:.3f} times as long as {other} ({low:.3f} to {high:.3f}): "
        f"{words[pair['order']]}."
    )
