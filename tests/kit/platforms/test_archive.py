"""A zip that strangers have filled: nothing leaves its place, nothing is too large."""

import csv
import stat
import subprocess
import sys
import zipfile

import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.platforms import archive
from kit.platforms.exchange import collect
from kit.platforms.moodle import owner


def zipped(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name)
            if content == "link":
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    return path


def test_files_that_are_not_notebooks_of_usual_size_are_left_out_and_named(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(archive, "MOST_MIB_OF_A_FILE", 1)
    path = zipped(
        tmp_path / "x.zip",
        {
            "A_1_assignsubmission_file/a.ipynb": "{}",
            "A_1_assignsubmission_file/large.ipynb": "0" * 2**21,
            "A_1_assignsubmission_file/link.ipynb": "link",
            "A_1_assignsubmission_file/x.pdf": "%PDF",
            "A_1_assignsubmission_file/all.ZIP": "PK",
            "A_1_assignsubmission_file/.hidden.ipynb": "{}",
            "__MACOSX/A_1_assignsubmission_file/a.ipynb": "{}",
        },
    )
    found = {parts[-1]: problem for parts, _, problem, _ in archive.notebooks(path)}
    assert found == {
        "a.ipynb": "", "large.ipynb": "2 MB, more than 1: clear its outputs",
        "link.ipynb": "a symbolic link",
        "x.pdf": "not a notebook",
        "all.ZIP": "an archive that cannot be read, not unpacked",
    }  # fmt: skip
    monkeypatch.setattr(archive, "MOST_MIB", 0)
    with pytest.raises(LabError, match="more than 0 MB"):
        list(archive.notebooks(path))
    monkeypatch.setattr(archive, "MOST_FILES", 5)
    with pytest.raises(LabError, match="more than 5 files"):
        list(archive.notebooks(path))


def test_the_only_notebook_in_a_students_own_zip_is_taken_and_any_other_zip_is_named(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(archive, "MOST_MIB_OF_A_FILE", 1)
    monkeypatch.setattr(archive, "MOST_FILES_OF_A_STUDENT", 4)
    name, rubbish = "02_throughput.ipynb", "__MACOSX/mine/._02_throughput.ipynb"
    inside = {
        "good": {f"../../mine/{name}": "{}", rubbish: "", "notes.txt": "x"},
        "two": {name: "{}", "other.ipynb": "{}"},
        "none": {"notes.txt": "x"},
        "large": {name: "0" * 2**21},
        "link": {name: "link"},
        "many": dict.fromkeys("abcde", ""),
        "nested": {"more.zip": "PK"},
    }
    own = {
        f"A_1_assignsubmission_file/{one}.zip": zipped(tmp_path / one, files).read_bytes()
        for one, files in inside.items()
    }
    own["ada_2_77_work.zip"] = own["A_1_assignsubmission_file/good.zip"]
    path = zipped(tmp_path / "x.zip", own)
    found = {parts[-1]: one for parts, *one, _ in archive.notebooks(path)}
    without, own_archive = "an archive without a notebook", "(in the student's own archive)"
    assert {file: problem for file, (_, problem) in found.items()} == {
        f"good_{name}": "", f"ada_2_77_work_{name}": "",
        "two.zip": "an archive with 2 notebooks, not unpacked",
        "none.zip": without, "nested.zip": without,
        "many.zip": "an archive with more than 4 files, not unpacked",
        f"large_{name}": f"2 MB, more than 1: clear its outputs {own_archive}",
        f"link_{name}": f"a symbolic link {own_archive}",
    }  # fmt: skip
    assert found[f"good_{name}"][0] == b"{}"
    collect(path, tmp_path / "in", tmp_path / "grades")
    assert {str(one.relative_to(tmp_path / "in")) for one in tmp_path.rglob("in/*/*")} == {
        f"A_1/good_{name}", f"ada_2/work_{name}",
    }  # fmt: skip


def test_a_damaged_archive_is_reported_in_one_line(tmp_path):
    broken = tmp_path / "x.zip"
    broken.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(LabError, match="not a zip archive"):
        list(archive.notebooks(broken))
    with pytest.raises(LabError, match="not a zip archive"):
        list(archive.notebooks(tmp_path / "none.zip"))


def test_no_name_leads_out_of_the_folder(tmp_path):
    names = [
        "../../up_1_assignsubmission_file/a.ipynb",
        "/root_2_assignsubmission_file/a.ipynb",
        "..\\win_3_assignsubmission_file\\a.ipynb",
        "...._4_assignsubmission_file/..ipynb",
        "nul\x01l_5_assignsubmission_file/b\x02.ipynb",
        f"{'long' * 100}_6_assignsubmission_file/{'long' * 100}.ipynb",
    ]
    path = zipped(tmp_path / "x.zip", dict.fromkeys(names, "{}"))
    inside = tmp_path / "deep" / "in"
    collect(path, inside, tmp_path / "deep" / "grades")
    assert {p.name for p in tmp_path.iterdir()} == {"x.zip", "deep"}
    assert {p.name for p in (tmp_path / "deep").iterdir()} == {"in", "grades"}
    assert len(list(inside.iterdir())) >= 5
    assert all(p.resolve().is_relative_to(inside) for p in inside.rglob("*"))


def collect_by_command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "kit.cli", "collect", *map(str, arguments)],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_names_of_many_bytes_are_collected_and_keep_who_and_which_lab(tmp_path):
    student, lab = "学" * 80, "02_throughput.ipynb"
    names = [
        f"{student}_1_assignsubmission_file/{'名' * 90}_{lab}",
        f"{student}_1_assignsubmission_file/{'名' * 91}_{lab}",
        f"{'🎓' * 80}_2_assignsubmission_file/{'🎓' * 80}_{lab}",
        f"Ada_3_assignsubmission_file/{'a' * 250}.ipynb",
    ]
    path = zipped(tmp_path / "x.zip", dict.fromkeys(names, "{}"))
    table = tmp_path / f"{'科' * 83}.csv"
    with open(table, "w", encoding="utf-8", newline="") as file:
        head = ["Identifier", "Full name", "Grade", "Last modified (grade)"]
        csv.writer(file).writerows([head, ["Participant 1", student, "", ""]])
    inside = tmp_path / "in"
    ended = collect_by_command(path, inside, "--table", table, "--out", tmp_path / "grades")
    assert ended.returncode == 0, ended.stderr
    found = sorted(inside.rglob("*.ipynb"))
    assert len(found) == len(names)
    assert sum(one.name.endswith(lab) or " (1)" in one.name for one in found) == 3
    assert sorted(one.name[-2:] for one in inside.glob("[!.]*")) == ["_1", "_2", "_3"]
    assert not list(tmp_path.glob(".*"))


def test_a_failed_collect_leaves_no_folder_that_blocks_the_next_try(tmp_path):
    path = zipped(tmp_path / "x.zip", {"Ada_3_assignsubmission_file/a.ipynb": "{}"})
    (tmp_path / "grades").write_text("a file where a folder has to be")
    inside = tmp_path / "in"
    inside.mkdir()
    ended = collect_by_command(path, inside, "--out", tmp_path / "grades")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert list(inside.iterdir()) == []
    ended = collect_by_command(path, inside, "--out", tmp_path / "others")
    assert ended.returncode == 0, ended.stderr
    assert (inside / "Ada_3" / "a.ipynb").read_text() == "{}"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("path", "name", "file"),
    [
        ("Ada B_12_assignsubmission_file/x.ipynb", "Ada B", "x.ipynb"),
        ("Ada B_12_assignsubmission_file_/x.ipynb", "Ada B", "x.ipynb"),
        ("Ada B_12_assignsubmission_file_my_x.ipynb", "Ada B", "my_x.ipynb"),
        ("group/Ada B_12_assignsubmission_file/sub/x.ipynb", "Ada B", "x.ipynb"),
        ("Participant_12_assignsubmission_file/x.ipynb", "Participant", "x.ipynb"),
    ],
)
def test_every_form_of_moodles_names_is_read(path, name, file):
    found, rest = owner(path.split("/"))
    assert (found.name, found.id, rest) == (name, "12", file)
