"""A picture says in words what it shows, and that its data are synthetic."""

import re

import pytest

from callbacks.live.picture import picture_html


@pytest.mark.parametrize(
    ("caption", "text"),
    [
        ("CPU · smoke scale", "Bars &lt;rise&gt;."),
        ("CPU · smoke scale · SYNTHETIC DATA", "SYNTHETIC DATA: Bars &lt;rise&gt;."),
    ],
)
def test_the_alternative_text_says_what_the_caption_in_the_picture_says(caption, text):
    shown = picture_html(b"PNG", "Bars <rise>.", caption)
    assert re.findall(r'^<img alt="([^"]*)" src="data:image/png;base64,', shown) == [text]
