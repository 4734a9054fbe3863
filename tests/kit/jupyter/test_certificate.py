"""The certificate says what was done, and no more than that."""

import os
import re
import subprocess
import sys
import time

from helpers.files import REPOSITORY
from helpers.run_card.documents import open_card
from kit.jupyter import certificate, start_page
from kit.labs import all_labs, find_lab


def text_of(page):
    body = page.partition("<body>")[2]
    return " ".join(re.sub("<[^>]+>", " ", body).split())


def work():
    environment = {"device": {"name": "a processor"}}
    card = open_card(find_lab("02").name, {"scale": "laptop"}, environment)
    card.check("2.1", True)
    card.check("2.2", False, "it is not")
    card.answer(1, 3, True)
    card.predict("share_of_peak", 0.5)
    card.outcome("share_of_peak", 0.25)
    card.measure("images_per_second", 812.35)
    open_card(find_lab("03").name, {}, {})  # was opened, and nothing done in it


def test_it_has_what_was_done_when_and_what_was_measured():
    work()
    said = text_of(certificate.page())
    assert "2 of " in said
    assert f"0 of {len(all_labs())} labs complete" in said
    assert "1 of 3 exercises quiz: 1 of 5, 1 right at once 1 of 5 made, off by a" in said
    assert "812 images per second a processor, laptop scale" in said
    assert time.strftime("%Y-%m-%d") in said
    assert "Nobody has verified who did the work" in said
    assert "with hints" not in said
    assert "03:" not in said


def test_it_says_what_helped_and_what_disturbed():
    work()
    card = open_card(find_lab("02").name, {"scale": "laptop"}, {})
    card.hint("2.1", 1)
    card.hint("2.3", 3)
    card.measure("images_per_second", 700.5)
    card.note_other_load(45, 1.5, None)
    said = text_of(certificate.page())
    assert "with hints; our solution could be opened for 2.3" in said
    assert "laptop scale, while other programs used up to 45% of the CPUs" in said


def test_without_any_work_it_says_so_and_nothing_links_to_it():
    assert "Nothing is done yet" in text_of(certificate.page())
    assert "certificate" not in start_page.page()
    work()
    assert '<a href="start/certificate">' in start_page.page()


def test_the_command_writes_it(tmp_path):
    work()
    ended = subprocess.run(
        [sys.executable, "-m", "kit.cli", "certificate"],
        cwd=REPOSITORY, env=os.environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    path = tmp_path / "reports" / "certificate.html"
    assert str(path) in ended.stdout
    assert "812 images per second" in text_of(path.read_text())
