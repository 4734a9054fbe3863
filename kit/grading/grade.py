"""Grade a folder of submissions: hand them to workers, keep each result, write it up.

It stores each result at once, with a key of all that the result depends on. So an
interrupted run continues, and no submission is graded twice.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY, write_atomically
from helpers.plain_json import as_json, storable, write_json
from kit.grading.box import sandbox
from kit.grading.box.allowlist import visible_files
from kit.grading.cache_key import fingerprint
from kit.grading.classroom import feedback
from kit.grading.classroom.class_files import Person, for_students, read_roster
from kit.grading.classroom.given_for import read_given
from kit.grading.classroom.left_out import read_collected, read_left_out
from kit.grading.contracts import Contents, Result, Settings, Task
from kit.grading.examine import QUESTIONS
from kit.grading.figure import figure_of, write_figures
from kit.grading.one_submission import asked_of, grade_one, result_of, starved
from kit.grading.submissions import (
    CPU_SECONDS,
    NOTHING_HANDED_IN,
    Submission,
    UnreadableError,
    about,
    classes_in,
    code_of,
    file_name,
    find,
    is_none,
    notebook_of,
    read,
    shown_name,
    text_of,
)
from kit.labs import Lab, all_labs, find_lab
from kit.parallel import exercise_pool, workers
from kit.progress import Progress
from kit.todo_cells import (
    modules,
    own_cells,
    reference_names,
    setup,
    todo_cells,
    written,
)

NOT_GRADED = "not graded"
NOTHING: Contents = {
    "code": [], "problems": {}, "text": "", "about": {}, "figure": b"", "problem": "",
}  # fmt: skip
DEFAULT_LIMITS = sandbox.Limits()

ROSTER = "roster.csv"
WORTH_A_WORD_SECONDS = 5  # more than most answers take


def grade(
    folder: Path,
    labs: list[Lab] | None,
    out: Path,
    seed: str | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    boxed: bool = True,
    full: bool = False,
    limits: sandbox.Limits = DEFAULT_LIMITS,
) -> list[Result]:
    """Grade every submission in a folder.

    Parameters
    ----------
    folder, out : Path
    labs : list of kit.labs.Lab, optional
        Default those that somebody has handed in.
    seed : str, optional
        The questions are drawn from it; default the one in the out folder.
    jobs : int, optional
        Worker processes on this machine; default one per core.
    scheduler : str, optional
        Address of a running Dask scheduler with TLS, which then does the work.
    boxed : bool
        False: without isolation.
    full : bool
        Also execute each whole notebook and keep it.
    limits : kit.grading.box.sandbox.Limits

    Returns
    -------
    list of dict
        A result for each student and lab, as in `grades.json`.

    Raises
    ------
    LabError
        If grading cannot begin: one line.
    """
    if not folder.is_dir():
        raise LabError(
            f"{folder} is not a folder: give the folder that has the submissions."
        )
    if boxed and not scheduler and not (out / "results").is_dir():
        _require_a_sandbox()  # before anything is written: all of them have to run
    if scheduler:
        workers.tls(scheduler)
    if all((folder / name).is_dir() for name in ("notebooks", "helpers", "kit")):
        raise LabError(
            f"{folder} is a copy of the course: give the folder that has the submissions."
        )
    if out.resolve() == folder.resolve():
        raise LabError("--out must not be the folder of submissions.")
    _refuse_a_folder_of_classes(folder)
    given = read_given(out)  # before overrides.csv, which `labs mark` writes after it
    class_files, left_out = feedback.read_files(out), read_left_out(out)
    submissions, unassigned = find(folder, labs or all_labs())
    if labs is None:
        there = {one.lab for one in submissions if one.path or not is_none(one)}
        labs = [lab for lab in all_labs() if lab in there] or all_labs()
        submissions = [one for one in submissions if one.lab in labs]
        if there:
            print(f"Labs that students have handed in: {', '.join(o.name for o in labs)}")
    _refuse_another_lab(submissions, folder, labs)
    for lab in labs:
        files = left_out.get(lab.name, {}).get("", [])
        unassigned += [(file, reason) for file, reason in files]
    if line := _another_roster(out, {one.student for one in submissions}):
        print(line)
    class_files = for_students(class_files, {one.student for one in submissions})
    submissions += absent(submissions, labs, class_files.roster)
    _refuse_a_part_of_the_class(submissions, folder, out)
    if not submissions:
        raise LabError(
            f"{folder} holds no notebooks with the name of a lab, such as "
            f"ada_{labs[0].name}.ipynb: see docs/teaching/instructor.md."
        )
    out.mkdir(parents=True, exist_ok=True)
    with _only_one_run(out):
        seed = _seed(out, seed)
        hide = [str(path.resolve()) for path in (folder, out)]
        common: Settings = {
            "limits": tuple(limits), "seed": seed, "boxed": boxed, "full": full,
            "hide": hide,
            "modules": sorted({name for lab in labs for name in modules(lab)}),
        }  # fmt: skip
        results, tasks, abouts, figures = {}, [], {}, {}
        contents = _read_all(submissions, full, jobs)
        for submission, content in zip(submissions, contents, strict=True):
            task = _task(submission, content, common)
            stored = out / "results" / file_name(task["student"]) / f"{task['lab']}.json"
            files = left_out.get(task["lab"], {}).get(task["student"], [])
            abouts[stored] = content["about"] | {"left_out": files}
            if content["figure"]:
                figures[content["about"]["figure"]["file"]] = content["figure"]
            results[stored] = known = _stored(stored, task["key"])
            if known is None:
                tasks.append((task, stored))
        write_figures(out, figures)
        done = len(results) - len(tasks)
        if done:
            print(f"{done} of {len(results)} were graded before")
        to_run = [task for task in tasks if not task[0]["problem"]]
        if to_run and boxed and not scheduler:
            _require_a_sandbox(to_run)
        try:
            for stored, result in _work(tasks, jobs, scheduler):
                _keep_full_run(out, result)
                # The next run tries again what could not be judged.
                if result["status"] != NOT_GRADED and not starved(result):
                    # In one line: written five times as fast, and read by programs.
                    write_json(stored, result, indent=None)
                results[stored] = result
        finally:
            graded = [
                result | {"about": abouts[stored]}
                for stored, result in results.items()
                if result
            ]
            to_look_at = feedback.write(graded, labs, unassigned, out, class_files, given)
        for line in to_look_at:
            print(line)
    return graded


def _require_a_sandbox(tasks: Sequence[tuple[Task, Path]] = ()) -> None:
    """Stop where submissions have to run and no box would hold them.

    With each task is the file of its result, which an earlier run may have left.
    """
    if not (problem := sandbox.problem()):
        return
    which = ""
    if tasks:
        have = "submission has" if len(tasks) == 1 else "submissions have"
        more = "" if len(tasks) == 1 else f" and {len(tasks) - 1} more"
        first = f"{tasks[0][0]['student']} {tasks[0][0]['lab'][:2]}"
        which = f" {len(tasks)} {have} to run: {first}{more}."
        if older := sum(stored.exists() for _, stored in tasks):
            has = "result is" if older == 1 else "results are"
            which += (
                f" {older} earlier {has} out of date, because the submission, the kit, "
                "Python or a package has changed."
            )
    raise LabError(
        f"no sandbox here: {problem}. Grade on another machine, or use --no-sandbox if you "
        f"trust every submission; the report will say that isolation was off.{which}"
    )


def absent(
    submissions: Iterable[Submission], labs: list[Lab], roster: Iterable[Person]
) -> list[Submission]:
    """A Submission without a file for everybody in the roster who handed in nothing."""
    there = {submission.student for submission in submissions}
    absent = sorted({person.student for person in roster} - there)
    problem = NOTHING_HANDED_IN
    return [Submission(student, lab, None, problem) for student in absent for lab in labs]


def _another_roster(out, students):
    """A line if this folder of grades has no roster, and one beside or in it is theirs."""
    if (out / ROSTER).exists():
        return ""
    for path in sorted([*out.glob(f"*/{ROSTER}"), *out.parent.glob(f"*/{ROSTER}")]):
        theirs = set()
        with contextlib.suppress(LabError):  # it is no file of this command
            theirs = {person.student for person in read_roster(path.parent, find_lab)}
        if students & theirs:
            return (
                f"{out} has no {ROSTER}, but {path.parent} has one with these students: if "
                f"they are that class, use --out {path.parent}."
            )
    return ""


def _refuse_a_folder_of_classes(folder):
    """Else each class would be one student, who has handed in many notebooks."""
    if classes := classes_in(folder):
        meant = " or ".join(str(folder / name) for name in classes[:3])
        are = (
            "a folder of submissions"
            if len(classes) == 1
            else "folders of submissions, not of students"
        )
        raise LabError(f"{folder} holds {are}: did you mean {meant}?")


def _refuse_another_lab(submissions, folder, labs):
    """Nobody has zero points because the wrong lab was asked for."""
    if any(one.path or not is_none(one) for one in submissions):
        return
    others = [lab for lab in all_labs() if lab not in labs]
    there = (
        {one.lab.number for one in find(folder, others)[0] if one.path} if others else {}
    )
    if there:
        asked, found = (
            f"lab{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
            for numbers in ([lab.number for lab in labs], sorted(there))
        )
        raise LabError(
            f"{folder} has no notebook of {asked}, but of {found}: ask for that."
        )


def _refuse_a_part_of_the_class(submissions, folder, out):
    """Students who handed in before do not become missing because a folder lacks them."""
    collected = read_collected(out)
    gone = [
        one
        for one in submissions
        if one.problem == NOTHING_HANDED_IN
        and not (folder / one.student).is_dir()
        and (one.student in collected.get(one.lab.name, {}) or _was_graded(out, one))
    ]
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        raise LabError(
            f"{gone[0].student}{more} handed in before, but {folder} has no folder of "
            "theirs: collect the new zip into that of the whole class, and grade that one."
        )


def _was_graded(out, submission):
    path = out / "results" / file_name(submission.student) / f"{submission.lab.name}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))["status"] != "missing"
    except (OSError, ValueError, KeyError):
        return False


def _read_all(
    submissions: list[Submission], full: bool, jobs: int | None
) -> list[Contents]:
    """The contents of each submission: see `contents_of`.

    Each is read in a process of its own, so that no file can keep the others waiting.
    """
    for lab in {submission.lab for submission in submissions}:
        for generated in (todo_cells, own_cells, written):
            generated(lab)  # here, once, and not in each process below
    reading = {
        one: functools.partial(contents_of, one.path, one.lab, full)
        for one in submissions
        if one.path
    }
    done = exercise_pool.run_each(
        list(reading.values()), CPU_SECONDS, jobs or os.cpu_count() or 1
    )
    found = dict(zip(reading, done, strict=True))
    return [_contents(one.path, found.get(one)) for one in submissions]


def _contents(path: Path | None, read: Contents | Exception | None) -> Contents:
    """The text that a process has read, or the reason why it has not."""
    if isinstance(read, dict):
        return read
    if path is None:
        return NOTHING
    why = read or f"reading it took more than {CPU_SECONDS} seconds of processor time"
    problem = f"{why}: clear its outputs, save, and hand it in again"
    return NOTHING | {"problem": f"{shown_name(path.name)}: {problem}"}


def contents_of(path: Path, lab: Lab, full: bool) -> Contents:
    """Read one notebook.

    Returns
    -------
    dict
        `code` and `problems`, as `code_of` gives them; `text`, the whole notebook, if it
        is to be executed; `about`, which decides nothing; `figure`, the picture that goes
        with the answer in words; `problem`: why there is nothing.
    """
    file = {}
    try:
        content = read(path)
        file["sha256"] = hashlib.sha256(content).hexdigest()
        file["file_date"] = _modified(path)
        notebook = notebook_of(content)
    except UnreadableError as error:
        problem = f"{shown_name(path.name)}: {error}"
        return NOTHING | {"about": file, "problem": problem}
    code, problems = code_of(notebook, lab)
    has_exercise = any(number for number, _ in code)
    said, figure = figure_of(notebook.cells, lab)
    if figure:
        said["file"] = hashlib.sha256(figure).hexdigest()[:32]
    return {
        "code": code,
        "problems": problems,
        "text": text_of(content) if full and has_exercise else "",
        "about": file | about(notebook, lab) | {"figure": said},
        "figure": figure,
        "problem": "",
    }


def _task(submission: Submission, contents: Contents, common: Settings) -> Task:
    """All that a worker needs for a submission, as plain data."""
    student, lab, path, problem = submission
    problem = problem or contents["problem"]
    task: Task = {
        **common,
        "student": student,
        "file_name": file_name(student),
        "lab": lab.name,
        "status": "graded" if not problem else "unreadable" if path else "missing",
        "problem": problem,
        "code": contents["code"],
        "problems": contents["problems"],
        "text": contents["text"],
        "exercises": [tuple(cell) for cell in todo_cells(lab)],
        "setup": setup(lab),
        "references": reference_names(lab),
        "visible": [str(REPOSITORY / path) for path in visible_files(lab)],
        "key": "",
    }
    task["key"] = _key(task, lab)
    return task


def _modified(path):
    """A file's date, or nothing where no calendar has it."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(path.lstat().st_mtime))
    except (OSError, OverflowError, ValueError):
        return ""


def _key(task: Task, lab: Lab) -> str:
    """A hash of all that a result depends on; equal for a result that can be used again."""
    # Other labs' modules are imported as well, and decide nothing; and where the files are.
    left_out = {"modules", "visible", "hide", "key"}
    apart = {name: value for name, value in task.items() if name not in left_out}
    decides = [fingerprint(lab), QUESTIONS, apart]
    return hashlib.sha256(as_json(decides, sort_keys=True).encode()).hexdigest()


def _work(
    tasks: list[tuple[Task, Path]], jobs: int | None, scheduler: str | None
) -> Iterator[tuple[Path, Result]]:
    """Have workers do the tasks; yield the path for each result, and the result.

    What the machine was too busy to judge waits until all else is done.
    """
    plain, waiting = [task for task, _ in tasks], []
    with Progress(what="grading", total=len(tasks), unit="submission") as bar:
        if scheduler:
            done = workers.on_a_cluster(grade_one, plain, scheduler)
        else:
            done = workers.on_this_machine(
                grade_one, plain, jobs or os.cpu_count() or 1,
                watch=lambda running: bar.wait_for(slowest(plain, running)),
            )  # fmt: skip
        for index, result in done:
            task, stored = tasks[index]
            if isinstance(result, Exception):  # the others are still graded
                result = _not_graded(task, result)
            if starved(result):
                waiting.append((task, stored, result))
            else:
                bar.update()
                yield stored, result
        if waiting:
            number = sum(len(starved(result)) for _, _, result in waiting)
            print(
                f"this machine was too busy for {number} "
                f"exercise{'s' * (number != 1)}: asking again"
            )
        for task, stored, result in waiting:
            bar.update()
            yield stored, _asked_alone(task, result, scheduler)


def slowest(tasks: list[Task], running: dict[tuple[int, int], float]) -> str:
    """The answer that has run for longest, in words; empty before it is worth a word.

    Parameters
    ----------
    tasks : list of dict
    running : dict of (index, place) to float
        See `kit.parallel.workers.on_this_machine`.

    Returns
    -------
    str
    """
    if not running:
        return ""
    (index, place), began = min(running.items(), key=lambda one: one[1])
    seconds = time.monotonic() - began
    number = asked_of(tasks[index])[place]
    named = f"{tasks[index]['student'][:30]} {number}: {seconds:.0f} s"
    return named if seconds >= WORTH_A_WORD_SECONDS else ""


def _asked_alone(task: Task, result: Result, scheduler: str | None) -> Result:
    """The result, with new verdicts on what the machine was too busy to judge."""
    again = [
        task | {"exercises": [one for one in task["exercises"] if one[0] == number]}
        for number in starved(result)
    ]
    again = [one | {"text": ""} for one in again]  # the whole notebook has been executed
    if scheduler:
        pairs = [next(workers.on_a_cluster(grade_one, [one], scheduler)) for one in again]
    else:
        pairs = workers.on_this_machine(grade_one, again, 1, at_once=1)
    for _, new in pairs:
        if not isinstance(new, Exception):  # else it stays open
            result["exercises"] |= new["exercises"]
    result["total"] = sum(one["points"] for one in result["exercises"].values())
    return result


def _not_graded(task: Task, error: Exception) -> Result:
    """A result that says what went wrong with grading, not with the submission."""
    problem = f"grading failed ({type(error).__name__}: {str(error)[:100]}); try again"
    changes = {"status": NOT_GRADED, "problem": problem, "code": [], "text": ""}
    return result_of({**task, **changes}, {})


def _keep_full_run(out: Path, result: Result) -> None:
    """Store an executed notebook without reading it: it comes from a box."""
    notebook = result.pop("notebook", None)
    if notebook:
        name = f"{result['lab']}.ipynb"
        write_atomically(out / "executed" / result["file_name"] / name, notebook)


def _stored(path: Path, key: str) -> Result | None:
    try:
        result = storable(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    return result if isinstance(result, dict) and result.get("key") == key else None


def _seed(out, given):
    """The secret that questions are drawn from: given, or the out folder's own."""
    path = out / "seed.txt"
    if given is None and path.exists():
        return path.read_text(encoding="utf-8").strip()
    seed = given or secrets.token_hex(16)
    write_atomically(path, seed + "\n")
    path.chmod(0o600)
    return seed


@contextlib.contextmanager
def _only_one_run(out):
    with open(out / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LabError(f"another run is grading into {out}: wait for it.") from error
        yield
