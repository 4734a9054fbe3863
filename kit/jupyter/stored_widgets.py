"""A stored notebook has no widgets, but what is kept of them: it can be opened anywhere.

A widget lives in the kernel. In a notebook that is opened again, JupyterLab would show
"Error displaying widget" in its place.
"""

import re

VIEW = "application/vnd.jupyter.widget-view+json"
# Of callbacks/live/picture.py, which would load Keras.
LIVE = re.compile(r'<(style|script) class="labs-live">.*?</\1>', re.DOTALL)
HIDDEN, SHOWN = '<div class="labs-kept" hidden>', '<div class="labs-kept">'
GONE = "(A live widget: run this cell again to use it.)"


def without_widgets(model: dict, **_) -> None:
    """Jupyter's hook before a file is stored; the page in the browser stays as it is.

    Parameters
    ----------
    model : dict
        Of the file; this changes it.
    """
    if model["type"] != "notebook" or not model.get("content"):
        return
    for cell in model["content"]["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                replacement for o in cell["outputs"] if (replacement := _replacement(o))
            ]


def _replacement(output):
    data = dict(output.get("data", {}))
    if VIEW in data:
        del data[VIEW]
        if data.keys() <= {"text/plain"}:
            if not data.get("text/plain"):
                return None  # the kit's own: what is kept follows
            data["text/plain"] = GONE
    page = "".join(data.get("text/html", ""))
    if LIVE.search(page):
        data["text/html"] = LIVE.sub("", page).replace(HIDDEN, SHOWN)
    return output | {"data": data} if "data" in output else output
