"""axe-core: can a page be read without sight, without colour, without a mouse?"""

from axe_playwright_python.sync_playwright import Axe

GRAVE = ("serious", "critical")
# No preload: of a file's style sheets it may not, and would complain in the console. Of
# what passes the first element is enough to know.
OPTIONS = {"preload": False, "resultTypes": ["violations"]}
FADED_IN = """() => Promise.allSettled(document.getAnimations()
    .filter(one => one.effect.getComputedTiming().endTime < Infinity)
    .map(one => one.finished))"""

# A listing has thousands of words. Without those that look alike, axe-core needs about half
# the time.
LISTINGS = """() => {
    const seen = new Set()
    document.querySelectorAll('.highlight span:not(:has(*))').forEach(word => {
        const {color} = getComputedStyle(word)
        const behind = getComputedStyle(word.closest('.highlight')).backgroundColor
        const kind = `${word.className} ${color} on ${behind}`
        if (seen.has(kind)) word.replaceWith(word.textContent)
        seen.add(kind)
    })
}"""


def violations(page, within=None):
    """Find what axe-core calls serious or critical, with everything unfolded.

    Parameters
    ----------
    page : playwright.sync_api.Page
    within : list of str, optional
        Selectors; default the whole page.

    Returns
    -------
    list of str
        A rule and the first element that breaks it.
    """
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    # What the site unfolds fades in: until then its contrast is too low.
    page.evaluate(FADED_IN)
    page.evaluate(LISTINGS)
    context = {"include": [[selector] for selector in within]} if within else None
    found = Axe().run(page, context, OPTIONS).response["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html']}"
        for rule in found
        if rule["impact"] in GRAVE
    ]
