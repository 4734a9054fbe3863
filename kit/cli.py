"""The `labs` command."""

import contextlib
import errno
import os
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from kit.place import environment

environment.leave_out_foreign_folders()

import typer

from helpers import plain_json
from helpers.errors import LabError
from helpers.files import FULL, REPOSITORY, WORK, reports_folder, sweep
from kit.examples import add_examples
from kit.flags import Group
from kit.headless.given_parameters import (
    by_name,
    check_folder,
    declared,
    for_each,
    parsed,
    texts_of,
    warning,
)
from kit.labs import all_labs, find_lab
from kit.leaderboard.commands import app as leaderboard_app

app = typer.Typer(
    cls=Group,
    help="Build, run and verify the Scaling Labs. Here, labs stands for .venv/bin/labs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
# The help's groups, in its order.
GROUPS = STUDENTS, OPERATORS, INSTRUCTORS, AUTHORS = (
    "For students", "For operators", "For instructors", "For authors of labs",
)  # fmt: skip
WITH_MODEL, WITHOUT_MODEL = "With --model", "Without --model, from your run cards"
data_app = typer.Typer(
    cls=Group, help="Download the data sets that the labs train on.", no_args_is_help=True
)
app.add_typer(data_app, name="data", rich_help_panel=OPERATORS)
app.add_typer(leaderboard_app, name="leaderboard", rich_help_panel=STUDENTS)

# Where commands write: a killed one may have left a part of a file.
WRITTEN = (
    "notebooks",
    "solutions",
    "docs/*",
    "helpers/lab_*",
    "reports",
    "reports/*",
    "work",
    "work/*",
)


MOST = 1e15  # tokens or parameters: more than any network has


def _amount(text: str) -> int:
    """A large whole number, which may be written as 1e9."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not (number.is_integer() and 1 <= number <= MOST):
        raise typer.BadParameter(f"give a whole number from 1 to {MOST:.0e}, such as 1e9")
    return int(number)


def _parameters_beginning(incomplete: str) -> list[str]:
    # A line that ends in `-p` has not been parsed: bash's words, or those of zsh and fish.
    line = " ".join(
        os.environ.get(name, "") for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
    )
    labs = [lab for lab in all_labs() if {lab.name, lab.number} & set(line.split())]
    known = dict.fromkeys(name for lab in labs or all_labs() for name in declared(lab)[0])
    return [f"{name}=" for name in known if name.startswith(incomplete)]


def _models_beginning(incomplete: str) -> list[str]:
    from helpers.lab_11.plans.published_trainings import trainings

    return [name for name in trainings() if name.startswith(incomplete)]


def _devices_beginning(incomplete: str) -> list[str]:
    from helpers.lab_11.plans.published_trainings import trainings

    known = dict.fromkeys(one.device for one in trainings().values())
    return [name for name in known if name.startswith(incomplete)]


def _with_values(texts: list[str] | None) -> list[str] | None:
    # Asked first: after `-p scale smoke`, smoke would be taken for a lab.
    by_name(texts or [])
    return texts


Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        help="Set a parameter, which `labs parameters` lists; may be given several times.",
        autocompletion=_parameters_beginning,
        callback=_with_values,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the result, or an error, as JSON, and all other text to stderr.",
    ),
]


def _names_beginning(incomplete: str) -> list[str]:
    return [lab.name for lab in all_labs() if lab.name.startswith(incomplete)]


Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[LAB]...",
        help="Labs, such as 02 or 02_throughput; by default all.",
        autocompletion=_names_beginning,
    ),
]


def _print_version(asked: bool) -> None:
    if asked:
        from kit.version import kit_version

        typer.echo(kit_version())
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the kit's version and commit.",
        ),
    ] = False,
) -> None:
    pass


@app.command(rich_help_panel=AUTHORS)
def build(names: Names = None) -> None:
    """Generate notebooks, references and the README's table from labs/*.py."""
    from kit.authoring.build import build as build_lab
    from kit.authoring.diagrams import build_diagrams
    from kit.authoring.index import build_index
    from kit.authoring.pages.readme import build_readme

    written = [p for lab in _chosen(names) for p in (*build_lab(lab), *build_diagrams(lab))]
    written += build_index() + build_readme()
    for path in written:
        typer.echo(f"wrote {path.relative_to(REPOSITORY)}")
    if not written:
        typer.echo("Nothing to do: everything agrees with labs/*.py.")


@app.command(rich_help_panel=AUTHORS)
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name, such as 13_example.")
    ],
) -> None:
    """Make a new lab with one exercise, for its author to change."""
    from kit.authoring.new import new_lab

    lab = new_lab(name)
    build([lab.name])
    folder = lab.folder.relative_to(REPOSITORY)
    typer.echo(f"Edit labs/{lab.source.name} and {folder}; then: labs outputs {lab.number}")
    written = [
        f"labs/{lab.source.name}", folder, f"tests/answers/{folder.name}",
        *(f"{place}/{lab.name}.ipynb" for place in ("notebooks", "solutions")),
        f"docs/run_cards/{lab.name}.json",
    ]  # fmt: skip
    rest = "labs build; labs mutants"
    typer.echo(f"To remove it again: rm -rf {' '.join(map(str, written))}; {rest}")


@app.command(rich_help_panel=AUTHORS)
def outputs(
    names: Names = None,
    scale: Annotated[
        str, typer.Option(help="laptop, or gpu on a machine that has one.")
    ] = "laptop",
) -> None:
    """Execute the solutions and store their outputs."""
    from kit.authoring.outputs import store_outputs
    from kit.authoring.pages.readme import build_readme

    failed = []
    for lab in _chosen(names):
        try:
            store_outputs(lab, scale)
            typer.echo(
                f"{lab.name}: its outputs are stored in solutions/ and docs/run_cards/"
            )
        except LabError as error:  # the other labs are still executed
            failed.append(str(error))
    build_readme()
    if failed:
        raise LabError("\n".join(failed))


@app.command(rich_help_panel=OPERATORS)
def run(
    names: Names = None,
    parameter: Parameters = None,
    student: Annotated[
        bool,
        typer.Option(
            "--student",
            help="Run your notebooks in work/ instead, or the unsolved ones.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Execute the solved labs headless and write reports/index.html.

    For one lab of several, give its number before the name: -p 00.repeats=2.
    """
    labs = _chosen(names)
    parameters = for_each(parameter or [], labs)
    for lab, given in zip(labs, parameters, strict=True):
        if line := warning(lab, [given]):
            typer.echo(f"{lab.name}: {line}", err=as_json)
    from kit.headless.run import run as run_labs

    try:
        went_well = run_labs(labs, parameters, not student, as_json)
    except KeyboardInterrupt as stopped:
        if not str(stopped):
            typer.echo("labs: interrupted; no lab was running.", err=True)
            raise typer.Exit(130) from None
        given = texts_of(parameter or [], str(stopped).split())
        options = [f"-p {shlex.quote(one)}" for one in given]
        options += ["--student"] * student + ["--json"] * as_json
        again = environment.as_started(
            f"`{' '.join(['labs run', str(stopped), *options])}`"
        )
        typer.echo(
            f"labs: interrupted. {again} runs what is left, and resumes a sweep that a lab "
            "had begun.",
            err=True,
        )
        raise typer.Exit(130) from None
    if not went_well:
        raise typer.Exit(1)


@app.command("sweep", rich_help_panel=OPERATORS)
def sweep_lab(
    name: Annotated[str, typer.Argument(metavar="LAB", help="The lab, such as 03.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--parameter",
            metavar="NAME=VALUES",
            help="Values to combine, such as seed=0..4 or epochs=1,2 or "
            "batch_sizes=[16,64],[16,256].",
            autocompletion=_parameters_beginning,
            callback=_with_values,
        ),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler with TLS.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder for runs, table and figure, in place of reports/sweep-LAB."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a lab for every combination of values, and write a table and a figure.

    The same command continues a sweep that was interrupted.
    """
    from kit.headless.sweep import sweep as run_sweep

    if not parameter:
        raise LabError("give the values to combine, such as -p seed=0..4 -p epochs=1,2.")
    try:
        went_well = run_sweep(find_lab(name), parameter, scheduler, out, as_json)
    except KeyboardInterrupt:
        typer.echo(
            "labs: interrupted; the same command continues where it stopped.", err=True
        )
        raise typer.Exit(130) from None
    if not went_well:
        raise typer.Exit(1)


@app.command(rich_help_panel=OPERATORS)
def parameters(
    name: Annotated[
        str | None, typer.Argument(metavar="LAB", help="The lab, such as 03.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the parameters of a lab, with their values at each scale."""
    from kit.headless.lab_parameters import show_parameters

    if name is None:
        names = ", ".join(lab.name for lab in all_labs())
        raise LabError(f"of which lab? Name one, as in `labs parameters 02`: {names}.")
    show_parameters(find_lab(name), as_json)


@app.command(rich_help_panel=OPERATORS)
def launch(
    name: Annotated[str, typer.Argument(metavar="LAB", help="The lab: 09.")],
    parameter: Parameters = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Worker processes on this machine.")
    ] = 2,
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="A,B|FILE",
            help="Only print the command to start on each of these hosts; with a file of "
            "hosts, host a class ring for them.",
        ),
    ] = None,
    ring: Annotated[
        int | None,
        typer.Option(metavar="N", help="Host a class ring of N laptops; show a join code."),
    ] = None,
    join: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Join the class ring that shows this code."),
    ] = None,
    restart: Annotated[
        int,
        typer.Option(min=0, help="How often to restart all workers after one has died."),
    ] = 0,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="The folder for logs and checkpoints: a training that has begun there "
            "resumes. If lab 09 wrote its training there, that one runs."
        ),
    ] = None,
    engine: Annotated[
        Literal["tensorflow", "jax"], typer.Option(help="The backend of Keras.")
    ] = "tensorflow",
) -> None:
    """Train with several worker processes; under `srun` each task finds its rank.

    With --ring or --join, the laptops of a room all-reduce around one ring.
    """
    chosen = find_lab(name)
    is_file = hosts and "," not in hosts and Path(hosts).is_file()
    file = Path(hosts) if is_file else None
    if ring or join or file:
        _class_ring(chosen.number, ring, file, join)
        return
    from kit.headless.launch import start

    given = parsed(parameter or [], chosen)
    named = [host.strip() for host in hosts.split(",")] if hosts is not None else []
    if not all(named):
        raise LabError(f"--hosts takes names such as a,b, without an empty one: {hosts!r}.")
    try:
        start(chosen, given, workers, named, folder, restart, engine)
    except KeyboardInterrupt as stopped:
        words = f"labs: interrupted; all workers have ended. {stopped}".rstrip()
        typer.echo(environment.as_started(words), err=True)
        raise typer.Exit(130) from None


def _class_ring(number, size, hosts, code):
    if number != "09":
        raise LabError(f"the class ring belongs to lab 09: labs launch 09, not {number}.")
    from kit.class_ring import command

    try:
        command.join(code) if code else command.host_ring(size, hosts)
    except KeyboardInterrupt:
        left = "the ring continues without you" if code else "the ring has ended"
        typer.echo(f"labs: interrupted; {left}.", err=True)
        raise typer.Exit(130) from None


@app.command(rich_help_panel=OPERATORS)
def verify(names: Names = None) -> None:
    """Check with nbval that the solutions print what is stored."""
    from kit.authoring.verify import verify as verify_notebooks

    if not verify_notebooks([lab.solution for lab in _chosen(names)]):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(help="A folder with a notebook or a subfolder for each student."),
    ],
    lab: Annotated[
        str | None,
        typer.Option(
            metavar="LAB",
            help="A lab, such as 02 or 02_throughput, or all; by default those handed in.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for grades and feedback.")] = Path(
        "grades"
    ),
    seed: Annotated[
        str | None, typer.Option(help="The seed of the questions; by default a new secret.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Worker processes; by default one for each core."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler with TLS.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also execute each whole notebook.")
    ] = False,
    no_sandbox: Annotated[
        bool, typer.Option("--no-sandbox", help="Run students' code without a sandbox.")
    ] = False,
) -> None:
    """Grade a folder of submissions; docs/teaching/instructor.md explains how."""
    from kit.grading import grade as grader

    labs = None if lab is None else all_labs() if lab == "all" else [find_lab(lab)]
    try:
        results = grader.grade(
            submissions, labs, out, seed, jobs, scheduler, not no_sandbox, full
        )
    except KeyboardInterrupt:
        typer.echo(
            "labs: interrupted; the same command continues where it stopped.", err=True
        )
        raise typer.Exit(130) from None
    graded = sum(result["status"] == "graded" for result in results)
    typer.echo(f"Graded {graded} of {len(results)}: {out / 'overview.html'}")
    if no_sandbox:
        typer.echo("Isolation was off: a submission may have forged its score.")


Grades = Annotated[Path, typer.Option("--out", help="The folder of grades.")]


@app.command(rich_help_panel=INSTRUCTORS)
def release(
    folder: Annotated[
        Path, typer.Argument(help="A new folder, or an older hand-out to update.")
    ],
) -> None:
    """Write the hand-out and its zip: the course for students, without solutions."""
    from kit.authoring.release import release as write_hand_out

    written = write_hand_out(folder)
    for path in written.removed:
        typer.echo(f"removed {path}")
    news = f"{len(written.files)} files"
    if len(written.changed) < len(written.files) - 1:  # else it is a new folder
        news += f", {len(written.changed)} of them new or changed"
    typer.echo(
        f"{news}: {folder} and {written.archive.name} beside it. Its README.md says how to "
        "begin."
    )


@app.command(rich_help_panel=INSTRUCTORS)
def rehearse(
    folder: Annotated[Path, typer.Argument(help="A new folder for the two files.")],
    lab: Annotated[
        str,
        typer.Option(
            metavar="LAB",
            help="A lab, such as 02.",
            autocompletion=_names_beginning,
        ),
    ] = "01",
) -> None:
    """Write the files of a made-up class, to try the way from Moodle and back."""
    from kit.platforms.rehearsal import next_commands
    from kit.platforms.rehearsal import rehearse as write_class

    chosen = find_lab(lab)
    made = write_class(folder, chosen)
    typer.echo(f"Five made-up students: {made.archive} and {made.worksheet}. Now type")
    for command in next_commands(made, chosen):
        typer.echo(f"  {command}")


@app.command(rich_help_panel=INSTRUCTORS)
def collect(
    archive: Annotated[
        Path, typer.Argument(help="The zip that Moodle or Canvas gave you.")
    ],
    submissions: Annotated[Path, typer.Argument(help="The folder for the notebooks.")],
    table: Annotated[
        Path | None, typer.Option(help="Moodle's grading worksheet, or Canvas' gradebook.")
    ] = None,
    due: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help='The due date for all students, as in --due "2026-11-20 23:59".',
        ),
    ] = None,
    out: Grades = Path("grades"),
) -> None:
    """Unpack a platform's zip of submissions, and write roster.csv.

    If the folder has submissions already, they are updated: newer ones replace older ones.
    """
    from kit.platforms.exchange import collect as unpack

    left_out, changes = unpack(
        archive, submissions, out, table, _moment(due) if due else None
    )
    for line in left_out:
        typer.echo(f"left out: {line}")
    for line in changes:
        typer.echo(line)
    folders = filter(Path.is_dir, submissions.iterdir())
    handed_in = sum(any(path.iterdir()) for path in folders)
    typer.echo(
        f"Notebooks of {handed_in} student{'s' * (handed_in != 1)}: {submissions}. Who is "
        f"in the class, and when they submitted: {out / 'roster.csv'}"
    )


def _moment(text):
    for form in ("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"):
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form)
    raise LabError(
        f'--due takes a day and a time, such as --due "2026-11-20 23:59", not {text!r}.'
    )


@app.command(rich_help_panel=INSTRUCTORS)
def pool(
    folders: Annotated[
        list[Path], typer.Argument(help="What students handed in: their runs/, or files.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The folder to write; by default reports/pool.")
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Show whose run it is.")] = False,
) -> None:
    """Pool the run cards of a class: one page and one notebook."""
    from kit.pool.pool import pool as pool_cards

    pooled = pool_cards(folders, out or reports_folder() / "pool", names)
    for one in pooled.left_out:
        typer.echo(f"left out: {one.path}: {one.reason}")
    cards = f"{pooled.cards} run card{'s' * (pooled.cards != 1)}"
    people = f"{pooled.students} student{'s' * (pooled.students != 1)}"
    typer.echo(f"Pooled {cards} of {people}: {pooled.page} and {pooled.notebook}")


@app.command(rich_help_panel=INSTRUCTORS)
def mark(
    out: Grades = Path("grades"),
    port: Annotated[int, typer.Option(help="The port; by default any that is free.")] = 0,
    names: Annotated[
        bool, typer.Option("--names", help="Show whose answer it is.")
    ] = False,
) -> None:
    """Show the answers in words on a page, and save points and comments."""
    from kit.grading.classroom.class_files import read_overrides
    from kit.grading.classroom.feedback import all_points
    from kit.grading.classroom.marking import link as marking_link
    from kit.grading.classroom.marking.server import serve

    try:
        server, address = serve(out, lambda: read_overrides(out, all_points()), port, names)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise LabError(
            f"port {port} is in use: give another --port, or none, and a free one is taken."
        ) from error
    marking_link.write(out, address)
    typer.echo(f"Open {address} on this machine; Ctrl+C ends it.")
    try:
        with contextlib.suppress(KeyboardInterrupt), server:
            server.serve_forever()
    finally:
        marking_link.write(out)


@app.command(rich_help_panel=INSTRUCTORS)
def hand_back(
    table: Annotated[
        Path, typer.Argument(help="Moodle's grading worksheet, or Canvas' gradebook.")
    ],
    lab: Annotated[
        str | None,
        typer.Option(
            metavar="LAB", help="The lab to hand back, if there are grades for several."
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The heading of the assignment's column in Canvas.")
    ] = None,
    out: Grades = Path("grades"),
) -> None:
    """Write the platform's table with grades in it, and a zip of feedback pages."""
    from kit.platforms.exchange import hand_back as write_back

    chosen = find_lab(lab) if lab else None
    *files, missing, absent, undecided = write_back(out, table, chosen, column)
    for path in files:
        typer.echo(f"wrote {path}")
    for line in undecided + absent + missing:
        typer.echo(line)
    if missing:
        raise typer.Exit(1)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    rich_help_panel=STUDENTS,
)
def lab(context: typer.Context) -> None:
    """Open JupyterLab on the start page, and your notebooks in work/.

    Other options go to JupyterLab, such as --no-browser and --port 8890.
    """
    from helpers.notebook.end_message import feedback_address, why_no_address
    from kit.student.working_copy import make

    for line in make():
        typer.echo(line)
    if (address := feedback_address()) and (problem := why_no_address(address)):
        typer.echo(problem, err=True)
    # No news pop-up, and what kit/jupyter/jupyter_server.py adds.
    os.environ["JUPYTER_CONFIG_PATH"] = str(REPOSITORY / "kit" / "jupyter")
    os.chdir(REPOSITORY)
    # Server and kernel of this environment, whatever comes first on PATH or is installed
    # for the user: others have not got the kit.
    kernels = str(Path(sys.prefix, "share", "jupyter", "kernels"))
    arguments = [
        sys.executable, "-m", "kit.jupyter.jupyterlab",
        "--LabApp.default_url=/start",
        "--LabApp.expose_app_in_browser=True",  # for callbacks/live/accessible.js
        f"--ContentsManager.preferred_dir={WORK.name}",
        f"--KernelSpecManager.kernel_dirs={[kernels]}",
        *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
        *context.args,
    ]  # fmt: skip
    os.execv(sys.executable, arguments)


@app.command(rich_help_panel=STUDENTS)
def update(names: Names = None) -> None:
    """Bring new versions of the labs into your notebooks, and keep what you wrote."""
    from kit.student.update import update as update_notebooks

    line = ""
    for line in update_notebooks(_chosen(names)):
        typer.echo(line)
    if not line:
        typer.echo("Nothing to do: your notebooks are up to date.")


@app.command(rich_help_panel=STUDENTS)
def reset(
    name: Annotated[
        str, typer.Argument(metavar="EXERCISE", help="Such as 2.1, or a lab such as 02.")
    ],
) -> None:
    """Restore an exercise as it was handed out, and keep a copy of your answer."""
    from kit.student.update import reset as give_back

    typer.echo(give_back(name))


@app.command(rich_help_panel=STUDENTS)
def certificate() -> None:
    """Write reports/certificate.html, a page to print: what you have done and measured."""
    from kit.jupyter.certificate import write

    typer.echo(f"wrote {write()}")


@app.command(rich_help_panel=OPERATORS)
def doctor(as_json: AsJson = False) -> None:
    """Check the installation: what is there, what is missing, and what to do."""
    from kit.place.doctor import doctor as examine

    if not examine(as_json):
        raise typer.Exit(1)


@app.command(rich_help_panel=OPERATORS)
def bench(
    what: Annotated[
        str,
        typer.Argument(
            help="pipeline, training, accuracy, profile, dashboard, grading, checks or all."
        ),
    ] = "all",
    students: Annotated[int, typer.Option(min=1, help="Students in the class.")] = 100,
    nbgrader_students: Annotated[
        int | None,
        typer.Option(min=1, help="Students that nbgrader grades; by default all."),
    ] = None,
) -> None:
    """Repeat the measurements of docs/measurements.md, which takes hours.

    `all` is all but `profile`, which records the profiles of lab 08 again.
    `training` and `accuracy` resume where an interrupted run stopped.
    """
    known = (
        "pipeline", "training", "accuracy", "profile", "dashboard", "grading", "checks",
        "all",
    )  # fmt: skip
    if what not in known:
        raise LabError(f"bench measures one of {', '.join(known)}, not {what!r}.")
    try:
        _bench(what, students, nbgrader_students)
    except KeyboardInterrupt:
        resumes = what in ("training", "accuracy", "all")
        again = (
            "training and accuracy resume with the same command"
            if resumes
            else f"the same command measures {what} from the beginning"
        )
        typer.echo(f"labs: interrupted; {again}.", err=True)
        raise typer.Exit(130) from None


def _bench(what, students, nbgrader_students):
    from kit.bench import DOCS, UNFINISHED

    # Now, and not after hours. Recorded profiles go to lab 08.
    for folder in (find_lab("08").folder,) if what == "profile" else (DOCS, UNFINISHED):
        check_folder(folder, "results", "measure in a checkout of yours")
    if what in ("grading", "all"):  # first: before TensorFlow runs in this process
        from kit.bench.grading import bench as measure_grading

        measure_grading(students, nbgrader_students)
    if what in ("checks", "all"):  # likewise: its processes have TensorFlow of their own
        from kit.bench.checks import bench as measure_checks

        measure_checks()
    if what in ("pipeline", "training", "accuracy", "profile", "dashboard", "all"):
        from helpers.machine.quiet_tensorflow import silence_tensorflow

        silence_tensorflow()  # before the import of what imports it
    if what in ("dashboard", "all"):
        from kit.bench.dashboard import bench as measure_dashboard

        measure_dashboard()
    if what in ("pipeline", "all"):
        from kit.bench.pipeline import bench as measure

        measure()
    if what in ("training", "all"):
        from kit.bench.training import bench as measure_training

        measure_training()
    if what in ("accuracy", "all"):
        from kit.bench.accuracy import bench as measure_accuracy

        measure_accuracy()
    if what == "profile":  # not with all: it replaces what students are shown
        from kit.bench.profile import bench as record_profiles

        record_profiles()


@app.command(rich_help_panel=AUTHORS)
def new_version(
    version: Annotated[
        str, typer.Argument(metavar="VERSION", help="A version, such as 0.2.0.")
    ],
) -> None:
    """Write a version into pyproject.toml, and date its notes in CHANGELOG.md."""
    from kit.authoring.new_version import new_version as write_version

    for path in write_version(version):
        typer.echo(f"wrote {path.relative_to(REPOSITORY)}")


@app.command(rich_help_panel=AUTHORS)
def contact_sheet() -> None:
    """Take screenshots of every kind of page, at four widths, light and dark."""
    from kit.authoring.pages.contact_sheet import OUT
    from kit.authoring.pages.contact_sheet import contact_sheet as take_pictures

    problems = take_pictures()
    typer.echo(f"wrote {OUT.relative_to(REPOSITORY) / 'index.html'}")
    if problems:
        raise LabError("\n".join(problems))


@app.command(rich_help_panel=OPERATORS)
def plan(
    devices: Annotated[
        int | None, typer.Option(min=1, help="The number of devices; always needed.")
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            help="The link between machines, such as 25Gbit; needed without --model, as "
            "published with it."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Plan a published transformer instead, such as llama-3-70b (lab 11).",
            autocompletion=_models_beginning,
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="The kind of device, such as h100; by default as published.",
            autocompletion=_devices_beginning,
            rich_help_panel=WITH_MODEL,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory of a device, such as 80GB; by default its kind's.",
            rich_help_panel=WITH_MODEL,
        ),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            parser=_amount,
            metavar="N",
            help="Training tokens, such as 2e12; by default as published.",
            rich_help_panel=WITH_MODEL,
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="Batch size of one device; by default 64.",
            rich_help_panel=WITHOUT_MODEL,
        ),
    ] = None,
    parameters: Annotated[
        int | None,
        typer.Option(
            parser=_amount,
            metavar="N",
            help="Parameters of the network, such as 1e9; by default of the one measured.",
            rich_help_panel=WITHOUT_MODEL,
        ),
    ] = None,
    machine_devices: Annotated[
        int,
        typer.Option(min=1, max=1024, help="Devices of a machine, joined by a fast link."),
    ] = 8,
    price: Annotated[
        float, typer.Option(min=0, max=1e6, help="Dollars per hour of a device.")
    ] = 2.0,
    watts: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1e6,
            help="Power of a device, in watts; by default 700.",
            rich_help_panel=WITHOUT_MODEL,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Forecast speed, time to accuracy and cost on many devices, from your run cards.

    With --model, find the fastest way to train a published transformer that fits in memory.
    """
    if model is not None:
        from kit.headless import model_plan

        model_plan.training_named(model)
    asked_for = {"--devices": devices, "--link": link if model is None else model}
    if missing := [name for name, value in asked_for.items() if value is None]:
        raise LabError(
            f"give {' and '.join(missing)}, such as --devices 64 --link 25Gbit, or "
            "--devices 64 --model llama-3-70b."
        )
    assert devices is not None
    if model is not None:
        measured = {
            "--batch-size": batch_size, "--parameters": parameters, "--watts": watts,
        }  # fmt: skip
        if given := [name for name, value in measured.items() if value is not None]:
            raise LabError(
                f"--model takes no {' and no '.join(given)}; only plans from your run "
                "cards do."
            )
        asked = model_plan.plan_for(
            model, devices, link, device, memory, tokens, machine_devices, price
        )
        words = "\n".join(model_plan.lines(asked))
        typer.echo(plain_json.as_json(asked) if as_json else words)
        return
    assert link is not None
    if device or memory or tokens:
        raise LabError("--device, --memory and --tokens need --model.")
    from kit.headless.plan import lines, plan_for

    watts, batch_size = 700.0 if watts is None else watts, batch_size or 64
    others = {"machine_devices": machine_devices, "price": price, "watts": watts}
    planned = plan_for(devices, link, batch_size, parameters, **others)
    typer.echo(plain_json.as_json(planned) if as_json else "\n".join(lines(planned)))


@app.command(rich_help_panel=AUTHORS)
def mutants(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXERCISE]...",
            help="Such as 2.1, or 02 for a lab; by default those that changed.",
        ),
    ] = None,
) -> None:
    """Ask each check about all recorded answers, and about many small slips."""
    from helpers.machine.quiet_tensorflow import silence_tensorflow

    silence_tensorflow()  # references import it
    from kit.authoring.mutants import ask
    from kit.authoring.mutants.table import build_table, right_mutants, score
    from kit.authoring.recorded_answers import stored_mutants
    from kit.progress import Progress
    from kit.todo_cells import todo_cells

    of_labs = {lab.number: [e.number for e in todo_cells(lab)] for lab in all_labs()}
    known = [number for numbers in of_labs.values() for number in numbers]
    names = [number for name in names or () for number in of_labs.get(name, [name])]
    if unknown := set(names) - set(known):
        raise LabError(
            f"there is no exercise {min(unknown)}: give one of {', '.join(known)}, or a "
            "lab, such as 02."
        )
    changed = [
        n for n in known if stored_mutants(n).get("fingerprint") != ask.fingerprint(n)
    ]
    for number in names or changed:
        result = ask.ask_mutants(
            number, lambda found, n=number: Progress(found, what=n, unit="answer")
        )
        right = right_mutants(number)
        unexplained = [change for change in result["passed"] if change not in right]
        refused = [change for change in right if change not in result["passed"]]
        typer.echo(f"{number}: {100 * score(number):.0f}% of the wrong mutants are refused")
        for change in unexplained:
            typer.echo(f"  passed, and the file gives no reason: {change}")
        for change in refused:
            typer.echo(f"  listed as right, but refused: {change}")
    build_table()


@data_app.command()
def fetch(
    to: Annotated[
        Path | None,
        typer.Option(help="Also copy all sets there, for a machine without network."),
    ] = None,
) -> None:
    """Download all data sets that are missing into the user's cache."""
    from helpers.data.sets import DATA_SETS

    if to:
        check_folder(to, "data sets", "name another folder with --to")
    failed = False
    for data_set, load in DATA_SETS:
        try:
            data = load(offline_fallback=False)
        except LabError as error:  # the other sets may be had
            typer.echo(f"labs: {data_set.name}: {error}", err=True)
            failed = True
            continue
        typer.echo(f"{data_set.name} is complete: {data.source}")
        if to:
            typer.echo(f"  copied to {data_set.copy(Path(data.source), to)}")
    if failed:
        raise typer.Exit(1)


app.registered_commands.sort(key=lambda command: GROUPS.index(command.rich_help_panel))
add_examples(app)
add_examples(data_app, "data ")
add_examples(leaderboard_app, "leaderboard ")


def main() -> None:
    """Run the command; a user's mistake ends in one line."""
    if folder := environment.copied_from_here(sys.argv[0]):
        sys.exit(
            f"labs: the .venv of {folder} is a copy, which would run {REPOSITORY}: run "
            f"`make setup` in {folder}."
        )
    for name in ("LABS_RUNS_DIR", "LABS_REPORTS_DIR", "LABS_DATA_DIR"):
        if os.environ.get(name):  # relative to this folder, not to the kernel's
            os.environ[name] = str(Path(os.environ[name]).absolute())
    for line in environment.make_own():
        typer.echo(f"labs: {line}", err=True)
    sweep(REPOSITORY)
    for pattern in WRITTEN:
        for folder in REPOSITORY.glob(pattern):
            sweep(folder)
    try:
        app()
    except LabError as error:
        line = environment.as_started(str(error))
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("kit."):
            line = "this copy is for students and lacks that command."
        else:
            line = (
                f"the package {error.name} is missing. `make setup-grading` installs what "
                "grading and the leaderboard need, `make setup-dev` what authors need."
            )
    except OSError as error:
        advice = ": free some space there." if error.errno in FULL else ""
        file = error.filename or "a file"
        line = f"{file}: {error.strerror}{advice}"
    except SystemExit as end:
        if end.code == WRONG_USAGE and (name := _parameter_as_option(sys.argv[1:])):
            typer.echo(
                f"labs: {name} is a parameter of a lab: write -p {name}=VALUE in place of "
                f"--{name.replace('_', '-')} VALUE.", err=True,
            )  # fmt: skip
        raise
    else:
        return
    typer.echo(f"labs: {line}", err=True)
    if "--json" in sys.argv:
        with contextlib.suppress(OSError):  # the error may be that nobody reads this
            typer.echo(plain_json.as_json({"error": line}))
    sys.exit(1)


WRONG_USAGE = 2  # the exit code of a command that was given what it does not take


def _parameter_as_option(arguments):
    """The first of a lab's parameters that was given as an option of its own, or ""."""
    if arguments[:1] not in (["run"], ["launch"]):
        return ""
    known = {name for lab in all_labs() for name in declared(lab)[0]}
    command = typer.main.get_group(app).commands[arguments[0]]
    own = {option for one in command.params for option in one.opts}
    given = (one.partition("=")[0] for one in arguments if one.startswith("--"))
    names = (one[2:].replace("-", "_") for one in given if one not in own)
    return next((name for name in names if name in known), "")


def _chosen(names):
    return [find_lab(name) for name in names] if names else all_labs()


if __name__ == "__main__":
    main()
