"""A little SVG: boxes, arrows and words, light or dark as the reader's system."""

import re
from html import escape
from pathlib import Path

LETTER = 0.56  # the width of a letter, in font sizes: an estimate on the wide side
SIZE = 15
TOKENS = Path(__file__).parents[2] / "look" / "tokens.css"


class Drawing:
    """A picture of fixed size, on a sheet of its own, so that it is legible anywhere.

    Parameters
    ----------
    width, height : int
        In pixels, as the notebook shows it.
    alt : str
        What a reader who cannot see it should know.
    """

    def __init__(self, width: int, height: int, alt: str) -> None:
        self.width, self.height, self.alt = width, height, alt
        self.parts: list[str] = []
        self.texts: list[tuple[float, float, str]] = []  # left, right and text: for tests

    def box(
        self, x: float, y: float, width: float, height: float,
        text: str = "", kind: str = "blue", size: int = SIZE,
    ) -> None:  # fmt: skip
        """A rounded box with text in its middle; a newline begins another line."""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" '
            f'height="{height:g}" rx="6"/>'
        )
        if text:
            self.text(x + width / 2, y + height / 2, text, size=size)

    def text(
        self, x: float, y: float, text: str, anchor: str = "middle",
        kind: str = "ink", size: int = SIZE,
    ) -> None:  # fmt: skip
        """Words, centred on a height."""
        lines = text.split("\n")
        for i, line in enumerate(lines):
            at = y + size * (0.36 + 1.25 * (i - (len(lines) - 1) / 2))
            self.parts.append(
                f'<text class="{kind}" x="{x:g}" y="{at:.4g}" font-size="{size}" '
                f'text-anchor="{anchor}">{escape(line)}</text>'
            )
            long = LETTER * size * len(line)
            left = {"middle": x - long / 2, "start": x, "end": x - long}[anchor]
            self.texts.append((left, left + long, line))

    def line(self, *points: tuple[float, float], kind: str = "edge") -> None:
        """A line through points."""
        self._path(points, kind, "")

    def arrow(self, *points: tuple[float, float], kind: str = "edge") -> None:
        """A line through points, with a head at its end."""
        self._path(points, kind, f' marker-end="url(#{kind})"')

    def _path(self, points, kind, head):
        place = "L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(f'<path class="line {kind}-line" d="M{place}"{head}/>')

    def svg(self) -> str:
        """The picture as the text of an SVG file."""
        inside = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
            f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.alt)}">\n<title>{escape(self.alt)}</title>\n'
            f"<style>\n{_style()}</style>\n<defs>{_heads()}</defs>\n"
            f'<rect class="sheet" width="{self.width}" height="{self.height}" rx="10"/>\n'
            f"{inside}\n</svg>\n"
        )


KINDS = ("blue", "orange", "green", "violet")


def _style():
    pairs = dict(
        re.findall(r"--([\w-]+): light-dark\((#\w+, #\w+)\)", TOKENS.read_text("utf-8"))
    )

    def rules(theme):
        colour = {name: pair.split(", ")[theme] for name, pair in pairs.items()}
        yield f".sheet{{fill:{colour['paper']}}}"
        yield f".ink{{fill:{colour['ink']}}}.muted{{fill:{colour['ink-2']}}}"
        yield f".edge-line{{stroke:{colour['edge']}}}.edge-head{{fill:{colour['edge']}}}"
        yield f".plain{{fill:{colour['ground']};stroke:{colour['edge']}}}"
        for kind in KINDS:
            yield f".{kind}{{fill:{colour[kind + '-soft']};stroke:{colour[kind]}}}"
            yield f".{kind}-line{{stroke:{colour[kind]}}}"
            yield f".{kind}-head,.{kind}-ink{{fill:{colour[kind]}}}"

    light, dark = ("\n".join(rules(theme)) for theme in (0, 1))
    return (
        "text{font-family:system-ui,'Segoe UI',Roboto,sans-serif;stroke:none}\n"
        "rect{stroke-width:1.5}.line{fill:none;stroke-width:2;stroke-linejoin:round}\n"
        f"{light}\n@media (prefers-color-scheme: dark){{\n{dark}\n}}\n"
    )


def _heads():
    return "".join(
        f'<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto-start-reverse" markerUnits="userSpaceOnUse">'
        f'<path class="{kind}-head" d="M0 0L8 4L0 8z"/></marker>'
        for kind in ("edge", *KINDS)
    )
