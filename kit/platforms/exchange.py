"""From a platform's zip of submissions to folders, and from grades back to the platform."""

import contextlib
import csv
import html
import io
import re
import tempfile
import zipfile
from collections import Counter
from datetime import datetime
from pathlib import Path

from helpers.errors import LabError
from helpers.files import TEMPORARY, cut_to_bytes, write_atomically
from helpers.plain_json import write_json
from kit.grading.classroom import class_files
from kit.grading.classroom.csv_text import CsvFormat, read_csv_text
from kit.grading.classroom.feedback import feedback_path, points
from kit.grading.classroom.grades import read_grades
from kit.grading.classroom.left_out import COLLECTED, LeftOut, read_collected, remember
from kit.grading.classroom.marks import NO_DATE, lines_of_outdated
from kit.grading.submissions import NOTHING_HANDED_IN, UNSAFE, find
from kit.labs import Lab, all_labs, find_lab
from kit.platforms import canvas, moodle, update
from kit.platforms.archive import NOT_UNPACKED, notebooks
from kit.platforms.decimals import decimals_of

LONGEST_NAME = 60  # characters of a student's name
MOST_NAMES = 5  # in a line
MOST_BYTES = 150  # of a name in the folder of submissions; most file systems take 255


def collect(
    archive: Path,
    submissions: Path,
    out: Path,
    table: Path | None = None,
    due: datetime | None = None,
) -> tuple[list[str], list[str]]:
    """Unpack a zip of submissions into a folder for each student, and write the roster.

    A folder that has notebooks of an earlier zip is updated; see `kit.platforms.update`.

    Parameters
    ----------
    archive, submissions, out : Path
        What the platform gave; the folder of notebooks; the folder of grades.
    table : Path, optional
        Moodle's grading worksheet or Canvas' gradebook: who is in the class.
    due : datetime, optional
        For everybody whom `roster.csv` does not give a date already. A longer extension
        that Moodle's worksheet grants replaces it.

    Returns
    -------
    tuple
        What was left out, and what was replaced or kept, in words.

    Raises
    ------
    LabError
    """
    # Before anything is written: a mistake here must leave no half-filled folder.
    known = class_files.read_roster(out, find_lab)
    people = read_table(table)[0] if table else []
    collected, seen = read_collected(out), update.read_seen(out)
    before = {lab: set(students) for lab, students in collected.items()}
    earlier = set().union(*before.values())
    known = class_files.with_folders(known, earlier)
    names = _names(known)
    was_there = submissions.exists() and any(
        path.name != update.PUT for path in submissions.iterdir()
    )
    if was_there:
        _refuse_a_strange_folder(submissions, out, earlier)
    came = {number: _moment(submitted) for number, _, _, submitted, _ in _people(people)}
    with _beside(submissions) as folder:
        owners, uploads, left_out, stamps = _unpack(archive, folder, names, came)
        if not owners:
            raise LabError(f"{archive} has no file named as Moodle or Canvas do.")
        if table:
            files = [owner.upload for owner in owners.values()]
            _refuse_another_platform(table, people, files, archive)
        if table and any(map(canvas.hides_names, owners.values())):
            raise LabError(
                f"{archive} hides the names, so {table} does not say whose files they are: "
                "collect it without --table, and enter the grades by hand."
            )
        by_lab, labs, of_others = _by_lab(folder, owners, uploads)
        left_out += of_others
        plan = update.planned(folder, submissions, stamps, seen, labs)
        # What is known of a newer notebook stays with it.
        kept = plan.kept
        for (student, lab), upload in by_lab.items():
            uploaded = collected.setdefault(lab, {})
            if student not in kept or student not in uploaded:
                uploaded[student] = upload
        write_json(out / COLLECTED, collected)
        left_out = [one for one in left_out if one.student not in kept]
        remember(out, left_out, ["", *(one for one in owners if one not in kept)], labs)
        # An older zip that goes into another folder by mistake has nothing that is new.
        unseen = {who for who, one in stamps if one not in seen.get(who, {})}
        changed = plan.changed if was_there else unseen
        excused = _excused(people, labs)
        lab = labs[0] if len(labs) == 1 else ""
        is_second = bool(before and lab and lab not in before)
        unread = _write_roster(
            out / "roster.csv", known, owners, people, due, changed, excused, lab, is_second
        )
        changes = update.in_words(plan, submissions)
        changes += _without_a_row(owners, people, table)
        of_lab = [p for p in known if p.lab == lab or not (p.lab or is_second)]
        changes += _dates_that_stay(of_lab, due, out / "roster.csv")
        if not was_there:
            lab_before = {s for lab in labs for s in before.get(lab, ())}
            changes += _of_another_folder(
                earlier - owners.keys(), lab_before & owners.keys(), submissions, out
            )
        if was_there and plan.added:
            changes.append(f"added: {_in_short(plan.added)}")
        submissions.mkdir(parents=True, exist_ok=True)
        update.carry_out(plan, folder, submissions)
    # Last: after an interruption above, the same command must not take them for known.
    update.write_seen(out, seen, stamps)
    return [_line(one) for one in left_out] + unread, changes


def _refuse_a_strange_folder(folder, out, students):
    """A folder that is not empty must have somebody of whom a zip was collected."""
    if students.isdisjoint(path.name for path in folder.iterdir()):
        raise LabError(
            f"{folder} is not empty, and {out} knows of no zip that was collected into it: "
            "give a new folder, or with --out the folder of grades of its first zip."
        )


def _moment(submitted):
    date = moodle.date_of(submitted)
    return date.isoformat(" ") if date else ""


def _refuse_another_platform(path, table, uploads, source):
    """A table that numbers people otherwise than the files do: grades would be mixed up."""
    platforms = {True: "Moodle's grading worksheet", False: "Canvas' gradebook"}
    is_moodle = moodle.is_table(table[0])
    if uploads and all(upload.endswith("/") != is_moodle for upload in uploads):
        raise LabError(
            f"{path} is {platforms[is_moodle]}, but the files in {source} are named as "
            f"{'Canvas' if is_moodle else 'Moodle'} does: give {platforms[not is_moodle]}."
        )


def _line(one):
    is_packed = one.reason.endswith(NOT_UNPACKED)
    advice = ": put the notebook that counts into that folder yourself" if is_packed else ""
    return ": ".join(filter(None, [one.student, one.file, one.reason])) + advice


@contextlib.contextmanager
def _beside(folder):
    """A new folder in the same file system, from which notebooks are moved at the end."""
    place = folder if folder.exists() else folder.absolute().parent
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=place, prefix=".collect-", suffix=TEMPORARY
    ) as temporary:
        filled = Path(temporary, "submissions")
        filled.mkdir()
        yield filled


def _unpack(archive, submissions, names, came):
    """Write a zip's notebooks.

    Returns owners, uploads by path, what was left out, and stamps; see `update.planned`.
    """
    owners, uploads, left_out, stamps = {}, {}, [], {}
    for parts, content, problem, date in notebooks(archive):
        found = moodle.owner(parts) or canvas.owner(parts)
        if found is None:
            left_out.append(LeftOut("", _plain(parts[-1]), "its name says no student"))
            continue
        owner, name = found
        student = names.get(owner.id) or _student(owner.name, owner.id)
        if owner.name == canvas.TEST_STUDENTS_FILES:
            left_out.append(LeftOut("", _plain(parts[-1]), "of Canvas' test student"))
            continue
        if student not in owners or not owners[student].upload:
            owners[student] = owner
        folder = submissions / student
        folder.mkdir(exist_ok=True)
        stamp = update.Stamp(date, came.get(owner.id, ""), owner.number)
        if content is None:
            stamps[student, _plain(name)] = stamp
            left_out.append(LeftOut(student, _plain(name), problem))
        else:
            path = update.free(folder, _plain(name))
            write_atomically(path, content)
            uploads[path] = owner.upload
            stamps[student, update.digest_of(content)] = stamp
    return owners, uploads, left_out, stamps


def _by_lab(folder, owners, uploads):
    """How the name of each student's page begins, by student and lab; and the zip's labs.

    Also who handed in a notebook of another lab only.

    In Canvas it has the number of one file, which differs from lab to lab. A student
    without a notebook has other files for the lab that most of the class handed in.
    """
    found, _ = find(folder, all_labs())
    own = {(one.student, one.lab.name): uploads[one.path] for one in found if one.path}
    most = Counter(lab for _, lab in own).most_common(1)
    labs = [lab for lab, _ in most] or [lab.name for lab in all_labs()]
    there = {who for who, lab in own if lab in labs}
    of_others = [
        LeftOut(one.student, one.path.name, f"a notebook of {one.lab.name}, not {labs[0]}")
        for one in found
        if one.path and one.student not in there
    ]
    others = {
        (who, lab): owner.upload
        for who, owner in owners.items()
        for lab in labs
        if owner.upload  # else no page can go back
    }
    return others | own, labs, of_others


def _of_another_folder(absent, again, submissions, out):
    """A line on the students of earlier zips, if a zip goes into a new folder."""
    if absent:
        what = f"without {_in_short(absent)}, who are in {out} already"
    elif again:
        what = (
            f"although {out} knows this lab of {_in_short(again)}: what you have changed "
            "or deleted in the other folder is not here"
        )
    else:
        return []
    return [
        f"{submissions} is a new folder, {what}. If it is the same class, collect the zip "
        "into its folder instead"
    ]


def _dates_that_stay(known, due, path):
    """A line, if `--due` looks like a correction of the dates that a roster has.

    A later date of a few students is an extension.
    """
    dates = [person.due.replace(tzinfo=None) for person in known if person.due]
    new = due.replace(tzinfo=None) if due else None
    if new is None or not dates or (new in dates and min(dates) == new):
        return []
    other = sum(date != new for date in dates)
    have = "student has" if other == 1 else "students have"
    return [
        f"--due is only for students without a date in {path}: {other} {have} another one "
        "there already, which stays. If it is wrong, change it there"
    ]


def _without_a_row(owners, people, table):
    """A line on the students of a zip whom the platform's table lacks."""
    listed = {number for number, *_ in _people(people)}
    lacking = [student for student, one in owners.items() if one.id not in listed]
    if not people or not lacking:
        return []
    return [
        f"{table} has no row for {_in_short(lacking)}, so no grade can go back to them: "
        "download the zip and the table again, for all students of the course"
    ]


def _names(known):
    """The roster's name of each student, by number, where it can name a folder."""
    return {
        p.id: p.student
        for p in known
        if p.id and _plain(p.student).lstrip(".") == p.student
    }


def _student(name, number):
    """The name of a student's folder: readable, and nobody else's."""
    plain = cut_to_bytes(_plain(name)[:LONGEST_NAME], MOST_BYTES).lstrip(".")
    return f"{plain or 'student'}_{number}"


def _plain(name):
    """A name without what no file name should have; its end says which lab it is."""
    plain = re.sub(r"[/\\\ud800-\udfff]", "", UNSAFE.sub("", name))
    return cut_to_bytes(plain[-100:], MOST_BYTES, keep_end=True) or "file"


def _excused(table, labs):
    """The labs of a zip from which Canvas' gradebook excuses each student, by number."""
    found = {}
    for lab in map(find_lab, labs if table and canvas.is_table(table[0]) else ()):
        with contextlib.suppress(LabError):  # no column, or several, may be meant
            for number in canvas.decided(table, lab):
                found.setdefault(number, []).append(lab.number)
    return found


def _write_roster(path, known, owners, table, due, changed, excused, lab, is_second):
    """Add who is new, when they submitted and who has an extension; change nothing else.

    Those who are not `changed` keep the later date of submission, because the table may
    be an older one.

    Returns the dates that could not be read, in words.
    """
    rows, names = {(p.student, p.lab): p._asdict() for p in known}, _names(known)
    people = {
        owner.id: (student, owner.name, "", "", "", owner)
        for student, owner in owners.items()
    }
    unread, without = [], {}
    for number, name, email, submitted, extension in _people(table):
        student, owner = names.get(number) or _student(name, number), None
        if number in people:
            student, owner = people[number][0], people[number][-1]
        people[number] = student, name, email, submitted, extension, owner
    for number, (student, name, email, submitted, extension, owner) in people.items():
        # Canvas says who was late, not when anybody submitted.
        is_canvas = owner and not owner.upload.endswith("/")
        applies = None if is_canvas and not owner.is_late else due
        new = class_files.Person(student, name, number, email)._asdict()
        row = rows.setdefault((student, ""), new)
        if is_second and (student, lab) not in rows:
            # The dates that are there belong to the lab that was collected first.
            rows[student, lab] = {**row, "lab": lab, "due": None, "submitted": None}
        row = rows.get((student, lab), row)
        # A row with a time zone in one date needs it in both.
        zone = next((date.tzinfo for date in (row["due"], row["submitted"]) if date), None)
        row["due"] = row["due"] or (applies and applies.replace(tzinfo=zone))
        own = {*row["excused"].split(), *excused.get(number, ())}
        row["excused"] = " ".join(sorted(own))
        if until := moodle.date_of(extension):
            row["due"] = _later(row["due"], until.replace(tzinfo=zone))
        elif extension:
            words = (
                f"an extension until {extension[:60]!r}, which is not a known date format"
            )
            unread.append(f"{student}: {words}: write it into {path}")
        if date := moodle.date_of(submitted):
            date = date.replace(tzinfo=zone)
            may_be_older = student not in changed
            row["submitted"] = _later(row["submitted"], date) if may_be_older else date
        elif submitted:
            without[student] = submitted
    table = [
        [
            value.isoformat(" ", "minutes") if isinstance(value, datetime) else value or ""
            for value in (row[name] for name in class_files.ROSTER)
        ]
        for row in rows.values()
    ]
    write_atomically(path, class_files.as_csv(class_files.ROSTER, sorted(table)))
    if without:
        unread.append(
            f"{path} does not get the date of submission of {_in_short(without)}, because "
            f"{min(without.values())[:60]!r} is not a known date format: write it there as "
            f"{class_files.DATE}, because without it no lateness is counted"
        )
    return unread


def _later(due, until):
    return max(due, until) if due else until


def _people(table):
    if not table:
        return ()
    return (moodle if moodle.is_table(table[0]) else canvas).people(table)


def read_table(path: Path) -> tuple[list[list[str]], CsvFormat]:
    """Read a grading worksheet of Moodle or a gradebook of Canvas.

    Parameters
    ----------
    path : Path

    Returns
    -------
    tuple
        The rows, and how the file is written.

    Raises
    ------
    LabError
        If it is neither.
    """
    text, form = read_csv_text(path)
    try:
        lines = csv.reader(io.StringIO(text), delimiter=form.delimiter)
        table = [row for row in lines if row]
    except csv.Error as error:
        raise LabError(f"{path}: {error}.") from error
    if not table or not (moodle.is_table(table[0]) or canvas.is_table(table[0])):
        raise LabError(
            f"{path} is neither Moodle's grading worksheet (in English or German) nor "
            "Canvas' gradebook: download it again, and change nothing in its first row."
        )
    return table, form


def hand_back(
    out: Path, table_path: Path, lab: Lab | None = None, column: str | None = None
) -> tuple[Path, Path, list[str], list[str], list[str]]:
    """Write what goes back to the platform: its table with grades, and a zip of pages.

    Parameters
    ----------
    out, table_path : Path
        The folder of grades; Moodle's grading worksheet or Canvas' gradebook.
    lab : kit.labs.Lab, optional
        Which lab, if there are grades for several.
    column : str, optional
        The heading of Canvas' assignment.

    Returns
    -------
    tuple
        The two files; a line for each grade and page that is not in them; one for each
        student of Canvas who handed in nothing, so that no page can go back; and what is
        still to decide about grades, in words.

    Raises
    ------
    LabError
    """
    document = read_grades(out)
    _refuse_old_grades(out, document.get("decisions", {}))
    labs = sorted({result["lab"] for result in document["results"]})
    if lab is None and len(labs) != 1:
        raise LabError(f"{out} has grades for {', '.join(labs)}: say which with --lab.")
    lab = lab or find_lab(labs[0])
    results = [result for result in document["results"] if result["lab"] == lab.name]
    if not results:
        raise LabError(f"{out} has no grades for {lab.name}, but for {', '.join(labs)}.")
    if not any(result["person"] for result in results):
        raise LabError(
            f"{out} has no roster.csv with these students, so nothing says whose row of "
            f"{table_path} is whose: give the folder that `labs collect` wrote with --out."
        )
    _refuse_a_part_of_the_grades(out, results)
    table, form = read_table(table_path)
    by_id = {(r["person"] or {}).get("id"): r for r in results}
    grades = {
        number: (_fraction(result), _sentence(result))
        for number, result in by_id.items()
        if number
    }
    listed = {number for number, *_ in _people(table)}
    is_moodle = moodle.is_table(table[0])
    # If Canvas hides the names, pages can go back although nobody is in its table.
    if is_moodle and by_id.keys().isdisjoint(listed):
        raise LabError(
            f"{table_path} has no student of {out}: is it the table of another class? "
            "Nothing was written."
        )
    collected = [*read_collected(out).get(lab.name, {}).values()]
    _refuse_another_platform(table_path, table, collected, "the zip that was collected")
    decimals = decimals_of((moodle if is_moodle else canvas).numbers(table), form.delimiter)
    made = moodle.filled(table, grades, decimals) if is_moodle else (
        canvas.filled(table, grades, decimals, lab, column)
    )  # fmt: skip
    folder = out / "hand-back"
    grades_path = folder / f"{cut_to_bytes(table_path.stem, MOST_BYTES)}-graded.csv"
    head, *rows = made
    made_text = class_files.as_csv(head, rows, form.delimiter)
    write_atomically(grades_path, form.encoded(made_text))
    pages, without = _pages(out, results, is_moodle)
    write_atomically(folder / "feedback.zip", pages)
    excused = set() if is_moodle else canvas.decided(table, lab, column)
    asked = [
        r
        for r in results
        if not r.get("excused") and (r["person"] or {}).get("id") not in excused
    ]
    without = [r for r in without if r in asked]
    missing = [
        f"{r['student']} is not in {table_path}: enter their grade by hand"
        for r in results
        if (r["person"] or {}).get("id") not in listed
    ]
    standing = moodle.left_standing(table, grades, decimals) if is_moodle else {}
    missing += [
        f"{by_id[number]['student']} has {grade} in {table_path} and no grade now, but "
        "Moodle keeps the old one: clear it there by hand"
        for number, grade in standing.items()
    ]
    missing += [
        f"{r['student']} has handed in and is excused in {out / 'roster.csv'}, but not in "
        f"{table_path}: clear `excused` there and grade again, or excuse them in Canvas"
        for r in results
        if not is_moodle
        and r.get("excused")
        and r["status"] != "missing"
        and (r["person"] or {}).get("id") in listed - excused
    ]
    missing += [
        f"{r['student']}: no zip that was collected has their {lab.name}, so feedback.zip "
        f"lacks their page: send {out / feedback_path(r)} by hand"
        for r in without
        if r["problem"] != NOTHING_HANDED_IN
    ]
    absent = [
        f"{r['student']} has handed in nothing, and Canvas takes no page for them"
        for r in without
        if r["problem"] == NOTHING_HANDED_IN
    ]
    undecided = _undecided(asked, out)
    return grades_path, folder / "feedback.zip", sorted(missing), sorted(absent), undecided


def _undecided(results, out):
    """Which grades are open, and which would be lower if a date were known."""
    is_open = [r["student"] for r in results if r["total"] is None]
    no_date = [r["student"] for r in results if NO_DATE in r["needs"]]
    of = len(results)
    lines = []
    if is_open:
        lines += [
            f"{len(is_open)} of {of} grades {'is' if len(is_open) == 1 else 'are'} open: "
            f"{_in_short(is_open)} ({out / 'overview.html'} says why)"
        ]
    unread = sum(
        bool(text["text"]) and text["points"] is None
        for result in results
        for text in result["texts"]
        if text["number"] not in result.get("outdated", ())
    )
    if unread:
        are = "answer in words is" if unread == 1 else "answers in words are"
        lines += [f"{unread} {are} unread: `labs mark --out {out}` shows them"]
    lines += lines_of_outdated(results)
    if no_date:
        lines += [
            f"{len(no_date)} of {of} came without a date, so lateness costs nothing there: "
            f"{_in_short(no_date)} (write it into {out / 'roster.csv'}, and grade again)"
        ]
    return lines


def _in_short(students):
    """Some names, and how many others."""
    more = [f"{len(students) - MOST_NAMES} more"] if len(students) > MOST_NAMES else []
    return ", ".join(sorted(students)[:MOST_NAMES] + more)


def _refuse_old_grades(out, decisions):
    """What was decided after the last grading is not in the grades."""
    now = class_files.digests_of(out)
    for name in {**now, **decisions}:
        if now.get(name) != decisions.get(name):
            raise LabError(
                f"{out / name} has changed since the grades were made, so they lack what "
                "it says: give the same `labs grade` command once more. It grades nothing "
                "twice."
            )


def _refuse_a_part_of_the_grades(out, results):
    """An interrupted run has written the grades of those whom it came to."""
    there = {result["student"] for result in results}
    roster = class_files.with_folders(class_files.read_roster(out, find_lab), there)
    lacking = {person.student for person in roster} - there
    lacking -= {name for name in lacking if name.strip() in there}
    if lacking:
        raise LabError(
            f"{out} has no grades of {_in_short(lacking)}, because grading was "
            "interrupted: give the same `labs grade` command once more."
        )


def _fraction(result):
    return None if result["total"] is None else result["total"] / result["of"]


def _sentence(result):
    """A line for the platform, which shows it as HTML."""
    page = f"Your feedback is the attached page {result['lab']}.html."
    if result.get("excused"):
        return f"You are excused from this lab. {page}"
    if result["total"] is None:
        graded = result["status"] == "graded"
        state = "Not everything is marked" if graded else "Nothing is graded"
        if graded and result.get("open"):
            so_far, rest = points(result["so_far"]), ", ".join(result["open"])
            verb = "is" if len(result["open"]) == 1 else "are"
            state = f"{so_far} points so far: {rest} {verb} not marked"
        return f"{state} yet. {page}"
    late = (
        f" It was submitted {result['late']['words']}." if result["late"]["words"] else ""
    )
    return html.escape(
        f"{points(result['total'])} of {points(result['of'])} points.{late} {page}"
    )


def _pages(out, results, is_moodle):
    """A zip of pages, named so that the platform finds their owners; and who has none."""
    collected, content, without = read_collected(out), io.BytesIO(), []
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for result in results:
            upload = collected.get(result["lab"], {}).get(result["student"])
            if upload is None and is_moodle and re.search(r"_\d+$", result["student"]):
                upload = moodle.upload_of(result["student"])
            page = out / feedback_path(result)
            if upload is None or not page.is_file():
                without.append(result)
                continue
            archive.writestr(f"{upload}{page.name}", page.read_bytes())
    return content.getvalue(), without
