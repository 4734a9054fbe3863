"""Formulas as MathML, which browsers draw by themselves, without a script from the web."""

from latex2mathml.converter import convert

KEYBOARD = 'tabindex="0" role="group" aria-label="formula"'


def formula_html(formula: str, display: bool) -> str:
    """A formula for a page that needs nothing from the network.

    Parameters
    ----------
    formula : str
        LaTeX, without the dollar signs.
    display : bool
        Whether it has a line of its own, which scrolls by keyboard, too, if it is long.

    Returns
    -------
    str
    """
    if not display:
        return convert(formula, display="inline")
    # No div: that would end the paragraph that a formula stands in.
    return f'<span class="formula" {KEYBOARD}>{convert(formula, display="block")}</span>'
