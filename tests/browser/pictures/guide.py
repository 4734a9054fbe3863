"""Take the pictures of docs/teaching/instructor.md again.

Run it as python -m tests.browser.pictures.guide.

They show a made-up class of six, which is collected, graded and marked by the commands of
the guide. The answers are graded for real, so the command needs a sandbox and a minute.
"""

import csv
import io
import re
import tempfile
import threading
import zipfile
from datetime import datetime
from pathlib import Path

import nbformat
from PIL import Image

from kit.grading.classroom.class_files import read_overrides
from kit.grading.classroom.feedback import all_points
from kit.grading.classroom.marking.server import serve
from kit.grading.grade import grade
from kit.labs import find_lab
from kit.platforms import exchange
from tests.browser import student
from tests.browser.pictures.readme import FOLDER

LAB = find_lab("02")
COLOURS = 128
DUE = datetime(2026, 11, 20, 23, 59)
ON_TIME, LATE = "Friday, 20 November 2026, 9:05 AM", "Sunday, 22 November 2026, 8:00 AM"
HEAD = [
    "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
    "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
    "Feedback comments",
]  # fmt: skip
GOOD = (
    "Every step has a fixed cost, which a larger batch shares among more images. From "
    "256 images on the arithmetic takes nearly all of the time, so the rate levels off."
)
SHORT = "It levels off because the computer is at its limit."
# Name, when the submission came, what is changed in the solution, and the words.
CLASS = {
    "Ada Lovelace": (ON_TIME, {}, GOOD),
    "Ben Okafor": (ON_TIME, {r"on_epoch_end\(": "on_train_end("}, SHORT),
    "Chiara Rossi": (LATE, {}, "At large batches the fixed cost no longer matters."),
    "Dewi Lestari": (ON_TIME, {r"except MemoryError": "except ValueError"}, SHORT),
    "Emil Berg": ("-", None, ""),
    "Fatima Haddad": (ON_TIME, {r"(?s)^.*$": "# TODO 2.{}: later"}, ""),
}


def notebook(changes: dict[str, str], words: str) -> str:
    """The solution as a student's own work, with changes in the answers."""
    made = nbformat.read(LAB.solution, as_version=4)
    for cell in made.cells:
        if cell.id == f"{int(LAB.number)}-figure":
            cell.source += f"\n\n{words}"
        if found := re.match(r"# Solution \d+\.(\d+)", cell.source):
            for old, new in changes.items():
                cell.source = re.sub(old, new.replace("{}", found[1]), cell.source)
            cell.source = cell.source.replace("# Solution", "# TODO")
    return nbformat.writes(made)


def write_class(folder: Path) -> tuple[Path, Path]:
    """The zip of submissions and the grading worksheet, as Moodle gives them."""
    archive, worksheet = folder / "class.zip", folder / "worksheet.csv"
    with (
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made,
        open(worksheet, "w", encoding="utf-8", newline="") as file,
    ):
        table = csv.writer(file)
        table.writerow(HEAD)
        for number, (name, (came, changes, words)) in enumerate(CLASS.items(), 101):
            if changes is not None:
                path = f"{name}_{number}_assignsubmission_file/{LAB.notebook.name}"
                made.writestr(path, notebook(changes, words))
            state = "No submission" if changes is None else "Submitted for grading"
            table.writerow([
                f"Participant {number}", name, f"s{number}@example.org", state, "",
                "100.00", "Yes", came, "-", "",
            ])  # fmt: skip
    return archive, worksheet


def take(folder: Path) -> None:
    """The class's table, the page of `labs mark`, and a student's page."""
    archive, worksheet = write_class(folder)
    submissions, out = folder / "week2", folder / "grades"
    exchange.collect(archive, submissions, out, worksheet, DUE)
    (out / "rules.toml").write_text("percent_per_day = 10\n", encoding="utf-8")
    grade(submissions, [LAB], out)
    (out / "overrides.csv").write_text(
        "student,exercise,points,comment\nBen Okafor_102,2.figure,1,Which limit is it?\n"
        "Ada Lovelace_101,2.figure,2,Well explained.\n",
        encoding="utf-8",
    )
    (out / "rubric.csv").write_text(
        "exercise,points,comment\n2.figure,1,Names the fixed cost\n"
        "2.figure,1,Says where the rate levels off\n",
        encoding="utf-8",
    )
    grade(submissions, [LAB], out)
    server, address = serve(out, lambda: read_overrides(out, all_points()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    [page_of_ben] = out.glob(f"feedback/Ben*/{LAB.name}.html")
    with server, student.chromium() as browser:
        page = browser.new_page(viewport={"width": 1240, "height": 900})
        page.goto((out / "overview.html").as_uri())
        save("guide-table.png", page.locator(".students").screenshot())
        page = browser.new_page(viewport={"width": 760, "height": 900})
        page.goto(page_of_ben.as_uri())
        save("guide-feedback.png", page.screenshot())
        page.goto(address)
        page.locator("h3").first.evaluate("heading => heading.scrollIntoView()")
        page.wait_for_load_state("networkidle")  # the figure is loaded when it is in view
        save("guide-mark.png", page.screenshot())
        server.shutdown()


def save(name: str, picture: bytes) -> None:
    """Keep a picture with few colours, which is a third as large."""
    few = Image.open(io.BytesIO(picture)).quantize(COLOURS)
    few.save(FOLDER / name, optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        take(Path(temporary))
