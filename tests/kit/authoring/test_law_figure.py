"""The README's figure says what the stored run and the references say."""

import math
import re

import pytest
from PIL import Image

from callbacks.live.style import DARK_STYLE, STYLE
from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.authoring.pages import law_figure


def test_the_stored_figure_is_the_one_that_would_be_drawn(tmp_path):
    page = REPOSITORY / "README.md"
    drawn = tmp_path / "law.png"
    assert law_figure.law_section(page, True, drawn) == law_figure.law_section(page, False)
    said = law_figure.law_section(page, False)
    assert 'src="docs/images/law.png"' in said
    assert 'srcset="docs/images/law-dark.png"' in said
    said = law_figure.law_section(REPOSITORY / "docs" / "index.md", False)
    assert 'src="images/law.png"' in said
    for new_path, path in (
        (drawn, law_figure.PATH),
        (law_figure.dark_picture(drawn), law_figure.dark_picture(law_figure.PATH)),
    ):
        with Image.open(new_path) as new, Image.open(path) as stored:
            assert new.text == stored.text
            assert new.size == stored.size


def test_the_figure_is_drawn_dark_on_light_and_light_on_dark():
    for path, paper in (
        (law_figure.PATH, STYLE.get("figure.facecolor", "#ffffff")),
        (law_figure.dark_picture(law_figure.PATH), DARK_STYLE["figure.facecolor"]),
    ):
        with Image.open(path) as image:
            assert (
                "#{:02x}{:02x}{:02x}".format(*image.convert("RGB").getpixel((0, 0)))
                == paper
            )


def test_a_lost_dark_picture_is_drawn_again(tmp_path):
    picture = tmp_path / "law.png"
    law_figure.law_section(REPOSITORY / "README.md", True, picture)
    law_figure.dark_picture(picture).unlink()
    law_figure.law_section(REPOSITORY / "README.md", True, picture)
    assert law_figure.dark_picture(picture).is_file()


def test_another_run_is_drawn_again_and_the_law_sees_only_half_of_it(tmp_path, monkeypatch):
    picture = tmp_path / "law.png"
    # A law of 10 ms and 1,000 images/s, but for the last size, which it never sees.
    points = {size: size / (0.01 + size / 1000) for size in (1, 2, 4, 8, 16, 32, 64, 128)}
    for factor, said_off in (
        (1, "off by about 0%"),
        (0.5, "off typically by 0%, and at worst by 100%"),
    ):
        changed = points | {128: points[128] * factor}
        monkeypatch.setattr(
            law_figure, "_stored_sweep", lambda changed=changed: (changed, "a toy")
        )
        said = law_figure.law_section(REPOSITORY / "README.md", True, picture)
        plain = re.sub(r"\s+", " ", said)
        assert "fitted to batches of 1 to 8 images" in plain
        assert said_off in plain
        with Image.open(picture) as image:
            assert image.text["Description"].splitlines()[0] in plain


def test_a_run_that_missed_its_target_is_not_published(monkeypatch):
    card = law_figure._stored_card("03")
    for run in card["measurements"]["best_batch_runs"].values():
        run["val_accuracy"][-1] = 0.0
    monkeypatch.setattr(law_figure, "_stored_card", lambda number: card)
    with pytest.raises(LabError, match="labs outputs 03"):
        law_figure._stored_race()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ({16: [8.0], 64: [4.0], 256: [5.0]}, "**Not here.** If they did, batches 4 times "
         "as large would need 0.25 of the time. In lab 03, the time to an accuracy of 0.8 "
         "fell to 0.50 of its value from 16 to 64 images, and rose to 1.25 times its value "
         "from 64 to 256."),
        ({16: [8.0], 32: [6.0], 128: [5.9]}, "**Not here.** In lab 03, the time to an "
         "accuracy of 0.8 fell to 0.75 of its value from 16 to 32 images, and hardly "
         "changed (0.98) from 32 to 128."),
        ({16: [8.0], 64: [2.0], 256: [1.0]}, "**Only sometimes.**"),
        ({16: [8.0], 32: [4.0], 64: [math.inf]}, "**Yes, here.** If they did, batches 2 "
         "times as large would need 0.50 of the time. In lab 03, the time to an accuracy "
         "of 0.8 fell to 0.50 of its value from 16 to 32 images."),
    ],
)  # fmt: skip
def test_the_opening_question_is_answered_by_the_race(seconds, said):
    race = law_figure._stored_race()._replace(seconds=seconds)
    assert said in law_figure._answer(race)


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.31, "31% more than"), (0.9, "10% less than")]
)
def test_a_time_is_compared_with_its_forecast(ratio, said):
    assert law_figure._more(ratio) == said


@pytest.mark.parametrize(
    ("runs", "of_control", "said"),
    [
        ([1.0, 1.2, 1.4], [1.5, 1.6], "was faster in every run"),
        ([1.0, 1.2, 1.4], [0.8, 0.9], "was slower in every run"),
        ([1.0, 1.2, 1.6], [1.5, 1.7], "but the runs overlap: a tie."),
        ([1.6, 1.7], [1.5, 1.6], "but the runs overlap: a tie."),
    ],
)
def test_a_difference_within_the_scatter_is_not_called_a_gain(runs, of_control, said):
    race = law_figure._stored_race()
    race = race._replace(best_seconds=runs, control_seconds=of_control)
    assert "(not drawn)" in law_figure._compared(race)
    assert said in law_figure._compared(race)
    assert "also won" in law_figure._compared(race._replace(control=race.best))


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ([-0.07, -0.068, -0.071], "were all too low, by about 7%."),
        ([0.01, 0.02, 0.1], "were all too high, typically by 2%, and at worst by 10%."),
        ([-0.01, 0.02, 0.1], "were off typically by 2%, and at worst by 10%."),
        ([-0.02, 0.021], "were off by about 2%."),
    ],
)
def test_forecasts_off_to_one_side_are_said_to_be(errors, said):
    assert said in law_figure._off(errors)
