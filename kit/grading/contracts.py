"""What travels between the parts of grading: plain data, with these names."""

from typing import NotRequired, TypedDict


class Task(TypedDict):
    """All that a worker needs to grade a submission."""

    student: str
    file_name: str
    lab: str
    status: str  # "graded", "unreadable", "missing" or "not graded"
    problem: str  # why there is nothing to grade
    code: list[tuple[str, str]]  # the cells: the exercise's number, or "", and the source
    problems: dict[str, str]  # by an exercise's number: why it cannot be asked
    text: str  # the whole notebook, if it is to be executed
    exercises: list[tuple]  # `kit.todo_cells.TodoCell`s
    setup: str
    references: list[str]
    visible: list[str]  # the files of the kit that its processes may read
    modules: list[str]  # imported before a box is closed
    limits: tuple  # `kit.grading.box.sandbox.Limits`
    seed: str
    boxed: bool
    full: bool
    hide: list[str]
    key: str  # a hash of all that the result depends on


class Job(TypedDict):
    """What the process for one exercise needs."""

    lab: str
    exercise: str
    name: str  # the answer's
    code: list[tuple[str, str]]
    setup: str
    references: list[str]
    modules: list[str]
    visible: list[str]


class Reply(TypedDict, total=False):
    """What a process says of one question: an observation's own parts, or an error.

    The parts of an observation are those that the exercise's probe gives.
    """

    nonce: str
    waits: list[list[float]]  # when each wait began and ended, in seconds
    changed: str  # which argument the answer changed
    error: str
    mistake: str  # with `error`: "raised", "endless" or "no_json"
    line: int  # with `error`: of the student's cell


class Judged(TypedDict):
    """What was found out about one exercise."""

    passed: bool
    reason: str  # what was seen, in one line; empty if it passed
    mistake: str  # its key
    requirement: str  # the sentence that was broken, if it is known
    question: dict | None  # the last one
    observation: Reply | None
    borrowed: list[str]  # references that the submission used


class ExerciseResult(Judged):
    """What a result says of one exercise."""

    points: int
    of: int
    code: str
    reaction: str  # a question to the student about the mistake


class Result(TypedDict):
    """What is stored of a submission, and shown in `grades.json`."""

    student: str
    file_name: str
    lab: str
    status: str
    problem: str
    exercises: dict[str, ExerciseResult]
    total: int
    of: int
    isolated: bool
    key: str
    seconds: float
    full_run: NotRequired[str]  # how executing the whole notebook ended
    notebook: NotRequired[str | None]  # executed; stored apart
    about: NotRequired[dict]  # what decides nothing
