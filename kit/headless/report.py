"""Turn executed labs into HTML: a page for each, and one to show around."""

import copy
import re
import time
from collections.abc import Container, Sequence
from functools import partial
from pathlib import Path

import nbformat
from jinja2 import pass_context
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters.html import HtmlFormatter

from helpers.files import REPOSITORY, write_atomically
from helpers.machine import other_load
from helpers.run_card.documents import cards_of, own_rate
from helpers.run_card.predictions import is_entry
from helpers.run_card.units import in_heading, in_units, in_words
from helpers.texts import read_texts
from kit import look
from kit.headless.sweep_figure import SweepFigure
from kit.labs import Lab, title_and_question
from kit.look.formulas import formula_html
from kit.pictures import main_picture, pictures
from kit.version import kit_version

TEMPLATES = Path(__file__).parent
SHOWN = ("val_accuracy", "training_seconds")  # besides the rate, where a lab measures them
# A link to a file beside the lab, of which the report's folder has nothing.
LINK = re.compile(r'<a href="(?![a-z]+:|#)([^"#]+)(#[^"]*)?"[^>]*>(.*?)</a>', re.S)
INDEX = "index.html"
RUN = re.compile(r"\d{8}T\d{6}-\d+")  # the name of a run: when it began, and its process
MOST_RUNS = 20
HEADINGS = (
    "lab", "given", "device", "checks passed", "per second", "accuracy", "seconds",
)  # fmt: skip


def write_report(
    results: list[dict], reports: Path, name: str, left: Sequence[Lab] = ()
) -> Path:
    """Write a page for each lab of a run, and an index of them.

    Parameters
    ----------
    results : list of dict
        `lab`, `given` (the parameters of the command), `card`, `seconds` and `error`, as
        `kit.headless.run` makes them.
    reports : Path
        Gets ``index.html``.
    name : str
        The run's: this folder in `reports` has the executed notebooks, and gets the
        pages.
    left : sequence of kit.labs.Lab
        Of an interrupted run: those that did not end.

    Returns
    -------
    Path
        Of the index.
    """
    folder = reports / name
    executed = {lab.name for result in results if _executed(lab := result["lab"], folder)}
    labs = [_section(result, folder, executed) for result in results]
    words = {
        "labs": labs,
        "run": name,
        "failed": [lab for lab in labs if lab["error"]],
        "left": [lab.number for lab in left],
        "facts": facts([result["card"] for result in results]),
        "seconds": in_units("seconds", sum(result["seconds"] for result in results)),
        "version": kit_version(),
    }
    # One that stays, and the newest, which leads to all others.
    for index, pages, runs in (
        (folder / INDEX, "", ()),
        (reports / INDEX, f"{name}/", _earlier(reports, name)),
    ):
        index.parent.mkdir(parents=True, exist_ok=True)
        template = TEMPLATES / "report.html.j2"
        write_atomically(index, look.render(template, pages=pages, runs=runs, **words))
    return reports / INDEX


def _earlier(reports, name):
    """The other runs whose report is still there, the newest first."""
    folders = (path.parent.name for path in reports.glob(f"*/{INDEX}"))
    runs = {one for one in folders if RUN.fullmatch(one)} - {name}
    return sorted(runs, reverse=True)[:MOST_RUNS]


def shown(page: Path) -> Path:
    """A page's path for people: short inside this folder, else whole."""
    page = page.absolute()
    return page.relative_to(Path.cwd()) if page.is_relative_to(Path.cwd()) else page


def _executed(lab, folder):
    """Its executed notebook, or None where it did not begin."""
    path = folder / f"{lab.name}.ipynb"
    return path if path.exists() else None


def _section(result, folder, executed):
    """The report's part about one lab, whose own page is written."""
    lab, card = result["lab"], result["card"] or {}
    found, main = [], None
    if path := _executed(lab, folder):
        notebook = nbformat.read(path, as_version=4)
        found = pictures(notebook.cells)
        main = main_picture(notebook, read_texts(lab.number)["report_figure"])
        html = page(notebook, lab, card.get("parameters", {}), INDEX, executed)
        write_atomically(folder / f"{lab.name}.html", html)
    checks = card.get("checks", {}).values()
    return {
        "number": lab.number,
        "question": title_and_question(lab)[0].partition(": ")[2] or lab.name,
        "name": lab.name,
        "page": f"{lab.name}.html" if path else None,
        "error": result["error"],
        "seconds": in_units("seconds", result["seconds"]),
        "passed": sum(check["passed"] for check in checks),
        "of": len(checks),
        "measured": _measured(card),
        "predictions": _predictions(card),
        "are_examples": bool(card.get("solution")),
        "busy": other_load.report(card),
        "changes": _changes(card),
        "given": _given(result),
        "parameters": card.get("parameters", {}),
        "figure": main,
        "figures": [picture for picture in found if picture != main],
    }


def _given(result):
    """The parameters of the command, as they were written there."""
    return ", ".join(f"{key}={value}" for key, value in result["given"].items())


def _measured(card):
    """The few numbers of a lab that matter, in units that people use."""
    measured = card.get("measurements", {})
    rate = own_rate(card) if measured else ""
    synthetic = measured.get("data_source") == "synthetic"
    found = [
        f"{name.removeprefix('val_').replace('_seconds', '')} {in_units(name, value)}"
        for name in SHOWN
        if isinstance(value := measured.get(name), int | float)
    ]
    parts = [*([rate] if rate else []), *found]
    return [f"{part} (synthetic data)" if synthetic else part for part in parts]


def _predictions(card):
    """Each prediction beside what was measured, and how far off it was."""
    entries = card.get("predictions", {})
    return [
        {
            "name": name.replace("_", " "),
            "value": in_words(entry["value"]),
            "outcome": in_words(entry["outcome"]),
            "factor": _score(entry) + _busy_machine(entry),
        }
        for name, entry in entries.items()
        if is_entry(entry) and entry["value"] is not None and entry["outcome"] is not None
    ]


def _busy_machine(entry):
    return " (busy machine)" * ("other_load_percent" in entry)


def _score(entry):
    if (factor := entry.get("factor_off")) is not None:
        return "exactly" if factor == 1 else f"off by a factor of {factor:.3g}"
    if (right := entry.get("right")) is not None:
        if entry.get("of", 1) == 1:
            return "right" if right else "not right"
        return f"{right:g} of {entry['of']:g} right"
    difference = entry.get("difference")
    return f"off by {difference:.3g}" if difference is not None else ""


def _changes(card):
    """The differences from an earlier run that reached its end.

    It is the newest with the same parameters, or the newest of all if there is none.
    """
    if not card:
        return ""
    earlier = [
        other
        for other in cards_of(card["lab"])
        if other["finished"] and other["run"] != card["run"]
        and other["solution"] == card["solution"]
        and other["started_unix_seconds"] < card["started_unix_seconds"]
    ]  # fmt: skip
    if not earlier:
        return ""
    alike = [other for other in earlier if not _other_parameters(other, card)]
    last = (alike or earlier)[-1]
    other = _other_parameters(last, card)
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(last["started_unix_seconds"]))
    before, now = _first_rate(last), _first_rate(card)
    parts = [f"{before[0]} {now[1] / before[1] - 1:+.0%}"] if before and now else []
    parts += [f"{name} was {in_words(value)}" for name, value in other.items()]
    parts += _busy_runs({"the earlier run": last, "this run": card}) if parts else []
    return f"Since the run of {day}: {'; '.join(parts)}." if parts else ""


def _busy_runs(cards):
    """A line about each run whose speed was measured beside other programs."""
    return [
        f"other programs used up to {noted['percent']}% of the CPUs during {which}"
        for which, card in cards.items()
        if (noted := card.get("other_load"))
    ]


def _other_parameters(earlier, card):
    """What an earlier run had in place of some of this run's parameters, by name."""
    before = earlier["parameters"]
    return {
        name: before.get(name)
        for name, value in card["parameters"].items()
        if before.get(name) != value
    }


def _first_rate(card):
    for name, value in card["measurements"].items():
        if name.endswith("_per_second") and isinstance(value, int | float) and value:
            return in_heading(name), value
    return None


def facts(cards: Sequence[dict | None]) -> list[str]:
    """Facts about all runs: devices, scales, versions; each once.

    Parameters
    ----------
    cards : sequence of dict or None
        Run cards.

    Returns
    -------
    list of str
    """
    there = [card for card in cards if card and "environment" in card]
    devices = [card["environment"]["device"]["name"] for card in there]
    scales = [f"{card['parameters']['scale']} scale" for card in there]
    found = [" and ".join(dict.fromkeys(one)) for one in (devices, scales) if one]
    if there:
        versions = there[-1]["environment"]["versions"]
        known = {"keras": "Keras", "tensorflow": "TensorFlow", "numpy": "NumPy"}
        found.append(
            ", ".join(
                f"{known[name]} {versions[name]}" for name in known if name in versions
            )
        )
    return found


def write_table(
    path: Path,
    title: str,
    notes: Sequence[str],
    headings: Sequence[str],
    rows: list[dict],
    figure: SweepFigure | None,
) -> None:
    """Write a page with a figure over runs, and a table of them.

    Parameters
    ----------
    path : Path
    title : str
    notes : sequence of str
        What holds for all runs; a line each.
    headings : sequence of str
    rows : list of dict
        `name`, `cells` (under the headings after the first), `error`, and `page`, a link or
        None.
    figure : kit.headless.sweep_figure.SweepFigure or None
    """
    html = look.render(
        TEMPLATES / "table.html.j2",
        title=title, notes=notes, headings=headings, rows=rows, figure=figure,
        version=kit_version(),
    )  # fmt: skip
    write_atomically(path, html)


def summary(result: dict) -> list[str]:
    """The cells of one row, as in `HEADINGS`."""
    card, name, seconds = result["card"], result["lab"].name, f"{result['seconds']:.0f}"
    given = _given(result) or "-"
    if card is None:
        return [name, given, "-", "-", "-", "-", seconds]
    checks, measured = card["checks"], card["measurements"]
    device, scale = card["environment"]["device"], card["parameters"]["scale"]
    rates = ((name, rate) for name, rate in measured.items() if isinstance(rate, float))
    speed = next((pair for pair in rates if pair[0].endswith("_per_second")), None)
    accuracy = measured.get("val_accuracy")
    synthetic = " (synthetic)" if measured.get("data_source") == "synthetic" else ""
    return [
        name,
        given,
        f"{device['name']}, {scale} scale",
        f"{sum(check['passed'] for check in checks.values())} of {len(checks)}",
        in_units(*speed).removesuffix(" per second") if speed else "-",
        f"{accuracy:.3f}{synthetic}" if accuracy else "-",
        seconds,
    ]


def page(
    notebook: nbformat.NotebookNode,
    lab: Lab,
    parameters: dict,
    back: str = "",
    beside: Container[str] = (),
) -> str:
    """Turn an executed lab into an HTML page that needs nothing from the network.

    The page is ours: nbconvert's has texts with too little contrast, and loads scripts
    from the web. In place of a widget it shows the output that was stored with it.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
    lab : kit.labs.Lab
    parameters : dict
        All of the run, by name; shown above the cells.
    back : str
        The address of the report, for a link to it.
    beside : container of str
        The names of labs that have a page in the same folder.

    Returns
    -------
    str
    """
    exporter = HTMLExporter(
        template_name="basic",
        exclude_anchor_links=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        embed_images=True,
        display_data_priority=["text/html", "text/markdown", "image/png", "text/plain"],
    )
    exporter.register_filter("markdown2html", _markdown_as_html)
    # nbconvert embeds only files below this folder; diagrams are not below the notebook's.
    place = {"metadata": {"path": str(REPOSITORY)}}
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        cell.source = re.sub(r"(!\[[^\]]*\]\()\.\./", r"\1", cell.source)
    cells, _ = exporter.from_notebook_node(notebook, place)
    # Of Pygments' styles these two have enough contrast on their boxes.
    light, dark = (
        HtmlFormatter(style=style).get_style_defs(".highlight")
        for style in ("xcode", "github-dark")
    )
    colours = f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}"
    title = title_and_question(lab)[0]
    return look.render(
        TEMPLATES / "lab.html.j2",
        title=title,
        parameters=parameters,
        back=back,
        cells=LINK.sub(partial(_link, beside=beside), cells),
        colours=colours,
        version=kit_version(),
    )


def _link(found, beside):
    """A link between files: to another page of this run, else only its words."""
    address, anchor, words = found[1], found[2] or "", found[3]
    name = address.removesuffix(".ipynb")
    return f'<a href="{name}.html{anchor}">{words}</a>' if name in beside else words


class _FormulasDrawn(IPythonRenderer):
    """nbconvert's renderer of Markdown, which leaves formulas to a script from the web."""

    def inline_math(self, body):
        return formula_html(body, display=False)

    def block_math(self, body):
        return formula_html(body, display=True)


@pass_context
def _markdown_as_html(context, source):
    """What nbconvert's filter of this name does, with the options of `page`."""
    renderer = _FormulasDrawn(
        escape=False,
        embed_images=True,
        exclude_anchor_links=True,
        path=context.get("resources", {}).get("metadata", {}).get("path", ""),
    )
    return MarkdownWithMath(renderer=renderer).render(source)
