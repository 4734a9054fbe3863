"""Messages between the parts of grading: plain data, with these names."""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict


class Contents(TypedDict):
    """The contents of a submission."""

    code: list[tuple[str, str]]  # these three as in `Task`
    problems: dict[str, str]
    text: str
    about: dict  # what decides nothing
    figure: bytes  # a PNG of what `about` says of it; stored apart
    problem: str  # why there is nothing


class Settings(TypedDict):
    """Settings that all submissions of a run share."""

    limits: tuple  # `kit.grading.box.sandbox.Limits`
    seed: str
    boxed: bool
    full: bool
    hide: list[str]
    modules: list[str]  # imported before a box is closed


class Task(Settings):
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
    setup: Sequence[str]  # statements
    references: list[str]
    visible: list[str]  # the files of the kit that its processes may read
    key: str  # a hash of all that the result depends on


class Job(TypedDict):
    """The input of the process for one exercise."""

    lab: str
    exercise: str
    name: str  # the answer's
    code: list[tuple[str, str]]
    setup: Sequence[str]
    references: list[str]
    modules: list[str]
    visible: list[str]


class Reply(TypedDict, total=False):
    """A process's reply to one question: an observation's own parts, or an error.

    The parts of an observation are those that the exercise's probe gives.
    """

    nonce: str
    waits: list[list[float]]  # when each wait began and ended, in seconds
    changed: str  # which argument the answer changed
    error: str
    mistake: str  # with `error`: "raised", "endless" or "no_json"
    line: int  # with `error`: of the student's cell


class Judged(TypedDict):
    """The findings about one exercise."""

    passed: bool
    reason: str  # what was seen, in one line; empty if it passed
    mistake: str  # its key
    requirement: str  # the sentence that was broken, if it is known
    question: dict | None  # the last one
    observation: Reply | None
    borrowed: list[str]  # references that the submission used
    changed_check: NotRequired[list[str]]  # what of the check it replaced


class ExerciseResult(Judged):
    """One exercise in a result."""

    points: int
    of: int
    code: str
    reaction: str  # a question to the student about the mistake


class _OfASubmission(TypedDict):
    student: str
    file_name: str
    lab: str
    status: str
    problem: str
    of: int
    isolated: bool
    key: str
    seconds: float
    full_run: NotRequired[str]  # how executing the whole notebook ended
    notebook: NotRequired[str | None]  # executed; stored apart
    about: NotRequired[dict]  # what decides nothing


class Result(_OfASubmission):
    """The stored result of a submission."""

    exercises: dict[str, ExerciseResult]
    total: int


class MarkedExercise(Judged):
    """An exercise with what a person has decided about it."""

    judged: float | None  # the grader's points; None where it has nothing to judge
    points: float | None
    of: int
    comment: str
    overridden: bool
    code: str
    reaction: str


class MarkedText(TypedDict):
    """An answer in words with what a person has decided about it."""

    number: str
    question: str
    of: int
    text: str
    points: float | None
    comment: str
    counted: bool  # whether the totals of the class have its points


class Lateness(TypedDict):
    """How late a submission came, and what that costs."""

    days: int
    percent: float  # of the points reached
    words: str


class Marked(_OfASubmission):
    """A result with what a person has decided, and what they still must: `grades.json`."""

    exercises: dict[str, MarkedExercise]
    texts: list[MarkedText]
    person: Any  # `kit.grading.classroom.class_files.Person`, or None
    late: Lateness
    penalty: float | None
    total: float | None  # None while it is open
    so_far: float  # the points of all that is not open
    open: list[str]  # the exercises and texts that are
    excused: bool  # the lab does not count for this student
    instead_of: float | None  # the total that a person replaced as a whole
    is_given: bool  # whether a person has replaced it
    comment: str  # on the whole lab
    needs: list[str]  # why it is open
    outdated: list[str]  # the exercises, texts or lab that changed after a person decided
