"""A garland for the message at the end of a lab that is done."""

# Colours of light pages: they are decoration, and can be seen on dark ones, too.
COLOURS = "#0b5cad", "#b34a09", "#0a7a5a", "#7a3e9d"
FLAGS, STEP, HEIGHT = 24, 20, 34


def garland() -> str:
    """A row of small flags on a line, as SVG; a screen reader passes over it."""
    width = FLAGS * STEP
    parts = [
        f'<path d="M0 4 Q{width / 2:g} 24 {width} 4" fill="none" stroke="#6b7a89"></path>'
    ]
    for place in range(FLAGS):
        left = place * STEP + 3
        along = (left + 7) / width
        top = 4 + 40 * along * (1 - along)  # where the line is
        colour = COLOURS[place % len(COLOURS)]
        flag = f"M{left} {top:.1f} h14 l-7 15 z"
        parts.append(f'<path d="{flag}" fill="{colour}"></path>')
    return (
        f'<svg aria-hidden="true" viewBox="0 0 {width} {HEIGHT}" width="{width}" '
        f'style="max-width: 100%; display: block">{"".join(parts)}</svg>'
    )
