"""One look: every page takes its colours from the tokens, and the tokens can be read."""

import re

import pytest

from callbacks.live import style
from helpers.files import REPOSITORY
from helpers.notebook import messages
from kit import look

TOKENS = (REPOSITORY / "kit/look/tokens.css").read_text(encoding="utf-8")
PAIRS = dict(re.findall(r"(--[\w-]+): light-dark\(([^)]+)\)", TOKENS))
PAGES = sorted([*REPOSITORY.glob("kit/**/*.j2"), *REPOSITORY.glob("kit/**/*.html")])
ON_WHITE = {"#fff", "#f5f8fb", "#16202c"}  # of code and figures, which are made for white


def luminance(colour):
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    "name", ["--ink", "--ink-2", "--blue", "--orange", "--green", "--red", "--violet"]
)
def test_text_has_enough_contrast_on_every_ground(name, theme):
    colours = {key: pair.split(", ")[theme] for key, pair in PAIRS.items()}
    soft = f"{name}-soft"
    for ground in ("--paper", "--ground", *([soft] if soft in colours else [])):
        assert contrast(colours[name], colours[ground]) >= 4.5, ground


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_names_tokens_and_no_colours(path):
    page = path.read_text(encoding="utf-8")
    known = set(re.findall(r"(--[\w-]+):", TOKENS))
    assert set(re.findall(r"var\((--[\w-]+)", page)) <= known
    # Code and figures have colours of their own, made for white.
    literal = set(re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s])", page)) - {
        "#f5f8fb",
        "#16202c",
    }
    assert not literal - {"#fff"}


def test_figures_and_messages_have_the_colours_of_light_pages():
    light = {pair.split(", ")[0] for pair in PAIRS.values()}
    assert set(style.COLOURS.values()) <= light
    dark = {pair.split(", ")[1] for pair in PAIRS.values()}
    assert set(style.DARK_COLOURS.values()) <= dark
    assert {style.DARK_INK, style.DARK_PAPER, style.DARK_GRID} <= dark
    assert style.COLOURS.keys() == style.DARK_COLOURS.keys()
    fallbacks = re.findall(r", (#\w+)\)", " ".join(messages.EDGES.values()))
    assert len(fallbacks) == len(messages.EDGES)
    assert set(fallbacks) <= light


def test_the_style_is_in_every_page(tmp_path):
    template = tmp_path / "page.html.j2"
    template.write_text("<style>{{ style }}</style>{{ mark }}{{ text }}")
    page = look.render(template, text="<b>")
    assert "--ink: light-dark(" in page
    assert "<svg" in page
    assert page.endswith("&lt;b&gt;")
