"""What stored runs say in README.md and docs: tables, and the figure of the law."""

import json
from pathlib import Path

from helpers.files import REPOSITORY
from kit.authoring.build import write_text
from kit.authoring.pages.law_figure import law_section
from kit.authoring.pages.results import faster_section, prediction_section
from kit.authoring.pages.teaching import teaching_tables
from kit.labs import Lab, all_labs, title_and_question
from kit.leaderboard.section import board_section
from kit.working_time import ASSUMPTIONS, in_hours, working_minutes

DOCS = REPOSITORY / "docs"
PAGES = (
    REPOSITORY / "README.md",
    *(DOCS / f"{name}.md" for name in ("index", "measurements", "leaderboard")),
    DOCS / "teaching" / "teach.md",
)
BENCH = DOCS / "bench"


def build_readme(write: bool = True) -> list[Path]:
    """Write each between its two marks; `write` as in `kit.authoring.build.build`."""
    tables = {"training": _training(), "accuracy": _accuracy()}
    minutes = {lab: minutes_of(lab) for lab in all_labs()}
    tables |= {"labs": _table(minutes), "board": board_section(DOCS / "leaderboard")}
    tables |= teaching_tables(minutes)
    tables |= {"faster": faster_section(), "prediction": prediction_section()}
    written = []
    for page in PAGES:
        tables["law"] = law_section(page, write)
        new = text = page.read_text(encoding="utf-8")
        for name, table in tables.items():
            begin, end = (
                f"<!-- {name}: written by `labs build` -->\n",
                f"<!-- {name}: end -->",
            )
            before, _, rest = new.partition(begin)
            if rest:
                new = f"{before}{begin}{table}{end}{rest.partition(end)[2]}"
        if new != text and write_text(page, new, write):
            written.append(page)
    return written


def _table(people):
    runs = {lab: _stored_run(lab) for lab in people}
    rows = "".join(
        _row(lab, in_hours(people[lab]), run.get("minutes", "?"))
        for lab, run in runs.items()
    )
    devices = {}
    for lab, run in runs.items():
        if run:
            by_name = devices.setdefault(run["scale"], {})
            by_name.setdefault(run["device"], []).append(lab.number)
    where = (
        f"at {scale} scale on {', and on '.join(map(_on, sorted(by_name.items())))}"
        for scale, by_name in sorted(devices.items())
    )
    return (
        "| lab | the question | your time, about | minutes to run |\n|---|---|---|---|\n"
        f"{rows}\n*Minutes to run*: the stored solution, {'; or '.join(where)}. "
        f"{_all_time(people)}\n\n"
        "<details><summary>How is your time estimated?</summary>\n\n"
        f"It counts {ASSUMPTIONS}.\n\n</details>\n"
    )


def _on(found):
    device, numbers = found
    return f"{device} (labs {', '.join(numbers)})"


def minutes_of(lab: Lab) -> int:
    """The minutes that a person needs for a lab, its run included."""
    notebook = json.loads(lab.notebook.read_text(encoding="utf-8"))
    return working_minutes(lab.number, notebook, _stored_run(lab).get("minutes", 0))


def _all_time(people):
    return (
        f"*Your time* adds up to about {sum(people.values()) / 60:.0f} hours, which is an "
        "estimate, because no class has been timed."
    )


def _question(lab):
    return title_and_question(lab)[0].partition(": ")[2]


def _row(lab, person, minutes):
    links = f"[{lab.name}](notebooks/{lab.notebook.name})"
    links += f" ([solved](solutions/{lab.solution.name}))"
    return f"| {links} | {_question(lab)} | {person} | {minutes} |\n"


def _stored_run(lab):
    """Device, minutes and scale of the stored outputs; empty for a lab that has none."""
    try:
        solution = json.loads(lab.solution.read_text(encoding="utf-8"))
        return solution["metadata"]["labs"]
    except (OSError, KeyError):
        return {}


def _training(folder=BENCH):
    """A row for each network of `labs bench training`: ratios by CPU time."""
    if not (path := folder / "training.json").is_file():
        return "Not measured yet: `labs bench training`, then `labs build`.\n"
    result = json.loads(path.read_text(encoding="utf-8"))
    names = [name for name in result["rows"][0]["variants"] if name != "original"]
    titles = [name.replace("mixed_", "").replace("limit ", "limit, ") for name in names]
    rows = ""
    for row in result["rows"]:
        found = row["variants"]
        ratios = " | ".join(f"{found[name]['cpu_ratio']:.2f}" for name in names)
        original = f"{found['original']['images_per_cpu_second']:,.0f}"
        rows += f"| {row['network']} | {original} | {ratios} |\n"
    loads = [row["load_average"] for row in result["rows"]]
    return (
        f"| network | original, images per CPU second | {' | '.join(titles)} |\n"
        f"|{'---|' * (len(names) + 2)}\n{rows}\n"
        f"Medians of {result['turns']}. {_machine(result, loads)}\n"
    )


def _accuracy(folder=BENCH):
    """Rows for each target of `labs bench accuracy`, and the accuracies at the end."""
    if not (path := folder / "accuracy.json").is_file():
        return "Not measured yet: `labs bench accuracy`, then `labs build`.\n"
    result = json.loads(path.read_text(encoding="utf-8"))
    seeds, rows = result["sizes"]["seeds"], ""
    for target, by_kind in result["targets"].items():
        for kind, found in by_kind.items():
            seconds, reached = found["cpu_seconds"], found["seeds_that_reached_it"]
            cells = [
                f"{_number(seconds[recipe], '.0f')} ({reached[recipe]} of {seeds} seeds)"
                for recipe in ("original", "fast")
            ]
            epochs = kind.split()[1]  # of "fast, 2 epochs"
            ratio = _number(found["cpu_ratio"], ".1f")
            rows += f"| {target} | {epochs} | {' | '.join(cells)} | {ratio} |\n"
    accuracies = "; ".join(
        f"{recipe.replace(' 1 epochs', ' 1 epoch')} "
        f"{sum(found) / len(found):.4f} ({min(found):.4f} to {max(found):.4f})"
        for recipe, found in result["test_accuracy"].items()
    )
    loads = [run["load_average"] for run in result["runs"].values()]
    return (
        "| test accuracy | epochs of the fast recipe | original, CPU seconds "
        "| fast, CPU seconds | ratio |\n"
        f"|---|---|---|---|---|\n{rows}\n"
        f"{_network(result['sizes'])} Test accuracy at the end, mean and range: "
        f"{accuracies}. "
        f"{_machine(result, loads)}\n"
    )


def _network(sizes):
    name = f"WRN-{sizes['depth']}-{sizes['width']}"
    return f"{name} on {sizes['train_images']:,} images."


def _number(value, form):
    """A target that no seed reached has no time."""
    return "–" if value is None else format(value, form)


def _machine(result, loads):
    features = ", ".join(result["cpu_features"])
    versions = "TensorFlow {tensorflow}, Keras {keras}".format(**result["versions"])
    load = f"load average {min(loads):.0f} to {max(loads):.0f}"
    return f"{result['device']['name']} with {features}; {versions}; {load}."
