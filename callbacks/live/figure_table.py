"""The data of a figure as HTML tables, for readers who cannot see it or want numbers."""

import html
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.category import StrCategoryFormatter
from matplotlib.collections import PathCollection
from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 50


def figure_table(figure: "Figure", when: str = "") -> str:
    """Make tables of what a figure draws: a table for each of its axes.

    The tables hold lines, bars, points and error bars. Their labels head the columns,
    including labels that begin with "_", which no legend shows. Images, contours and
    filled areas have no rows.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    when : str
        Follows in the line that opens them, such as ", at the start".

    Returns
    -------
    str
        A closed ``<details class="figure-data">``; empty if there is no data.
    """
    tables = "".join(_axes_tables(axes) for axes in figure.axes if not axes.images)
    if not tables:
        return ""
    heading = f"<summary>The data as a table{html.escape(when)}</summary>"
    return f'<details class="figure-data">{heading}{tables}</details>'


def _axes_tables(axes):
    sideways = any(getattr(c, "orientation", "") == "horizontal" for c in axes.containers)
    along, across = (axes.yaxis, axes.xaxis) if sideways else (axes.xaxis, axes.yaxis)
    place, value = (axis.get_label_text() for axis in (along, across))
    place, value = place or "place", value or "value"
    title = axes.get_title(loc="left") or axes.get_title()
    name = title or f"{value} by {place}"
    shared, tables = {}, []
    for label, keys, values in _series(axes, sideways):
        keys, column = [_tick_or_number(along, key) for key in keys], label or value
        order = [where for where, _ in keys]
        if order == sorted(order):
            for key, text in zip(keys, values, strict=True):
                shared.setdefault(key, {}).setdefault(column, []).append(text)
        else:  # a path or a cloud: in the order of drawing
            rows = [[key, text] for (_, key), text in zip(keys, values, strict=True)]
            heads = [place, column]
            tables.append(_table(name, heads, rows))
    if shared:
        columns = list(dict.fromkeys(c for row in shared.values() for c in row))
        # Several dots at one place share one cell.
        rows = [
            [key, *("; ".join(row.get(c, ())) for c in columns)]
            for (_, key), row in sorted(shared.items())
        ]
        heads = [place, *columns]
        tables.insert(0, _table(name, heads, rows))
    if marks := list(_marks(axes)):
        tables.append(f"<p>{html.escape('; '.join(marks))}</p>")
    return "".join(tables)


def _series(axes, sideways):
    """Each thing drawn: its label, its places along the axis, its values as text."""
    of_error_bars = set()
    for container in axes.containers:
        if hasattr(container, "datavalues"):  # bars
            middles = [
                bar.get_y() + bar.get_height() / 2
                if sideways
                else bar.get_x() + bar.get_width() / 2
                for bar in container
            ]
            yield _label(container), middles, list(map(_number, container.datavalues))
        elif getattr(container, "has_yerr", False):
            line, caps, bars = container
            of_error_bars |= {line, *caps}
            ends = bars[-1].get_segments()
            middles = line.get_ydata() if line else [None] * len(ends)
            texts = [
                (f"{_number(middle)} " if middle is not None else "")
                + f"({_number(low)} to {_number(high)})"
                for middle, ((_, low), (_, high)) in zip(middles, ends, strict=True)
            ]
            yield _label(container), [end[0][0] for end in ends], texts
    for line in axes.lines:
        if (
            line not in of_error_bars
            and all(_in_data(line, axes))
            and len(line.get_xdata())
        ):
            points = np.transpose([line.get_xdata(orig=False), line.get_ydata(orig=False)])
            yield _label(line), *_split(points, sideways)
    for points in axes.collections:
        if isinstance(points, PathCollection) and len(points.get_offsets()):
            yield _label(points), *_split(points.get_offsets(), sideways)


def _split(points, sideways):
    keys, values = np.ma.filled(points, np.nan).T[:: -1 if sideways else 1]
    return list(keys), list(map(_number, values))


def _marks(axes):
    """Labelled lines and bands across the axes, in words."""
    bars = {bar for container in axes.containers for bar in container}
    for artist in (*axes.lines, *axes.patches):
        in_x, in_y = _in_data(artist, axes)
        if artist in bars or in_x == in_y or not (label := _label(artist)):
            continue
        axis = axes.xaxis if in_x else axes.yaxis
        if hasattr(artist, "get_xdata"):
            ends = (artist.get_xdata() if in_x else artist.get_ydata())[:1]
        elif in_x:
            ends = artist.get_x(), artist.get_x() + artist.get_width()
        else:
            ends = artist.get_y(), artist.get_y() + artist.get_height()
        texts = dict.fromkeys(_tick_or_number(axis, end)[1] for end in ends)
        yield f"{label}: {axis.get_label_text()} {' to '.join(texts)}"


def _in_data(artist, axes):
    """Whether an artist's x and y are data, not fractions of the axes."""
    return artist.get_transform().contains_branch_seperately(axes.transData)


def _label(artist):
    label = str(artist.get_label())
    # Matplotlib gives such names to artists without a label.
    return "" if label.startswith(("_child", "_container")) else label.removeprefix("_")


def _tick_or_number(axis, place):
    """A place as a number to sort by, and its name: the tick's, if ticks are names."""
    formatter = axis.get_major_formatter()
    if isinstance(formatter, FuncFormatter | StrCategoryFormatter):
        ticks = axis.get_majorticklocs()
        names = formatter.format_ticks(ticks)
        if any(
            name.replace(",", "") != _number(t)
            for t, name in zip(ticks, names, strict=True)
        ):
            nearest = int(np.argmin(np.abs(ticks - place)))
            return float(ticks[nearest]), names[nearest]
    return float(place), _number(place)


def _number(value):
    """Four digits or more; whole numbers in full, up to where all floats are whole."""
    value = float(value)
    if not np.isfinite(value):
        return "none"
    whole = (abs(value) < 2**53 and value.is_integer()) or 1000 <= abs(value) < 1e7
    return f"{value:.0f}" if whole else f"{value:.4g}"


def _table(name, heads, rows):
    table_rows = rows
    if len(rows) > MOST_ROWS:
        places = np.linspace(0, len(rows) - 1, MOST_ROWS).round().astype(int)
        table_rows = [rows[place] for place in places]
        name = f"{name} ({MOST_ROWS} of {len(rows):,} rows, evenly spaced)"
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>'
        + "".join(f"<td>{html.escape(text)}</td>" for text in others)
        + "</tr>"
        for first, *others in table_rows
    )
    return (
        f"<table><caption>{html.escape(name)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
