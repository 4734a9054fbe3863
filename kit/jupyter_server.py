"""What `labs lab` adds to Jupyter's server: the start page, and no dead widgets."""

from pathlib import Path

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado.web import authenticated

from helpers import start_page
from kit.stored_widgets import without_widgets

ADDRESS = "start"
PAGE = Path(__file__).with_name("start.html")


class StartPage(JupyterHandler):
    """The start page, made anew each time that somebody looks at it."""

    @authenticated
    def get(self):
        self.set_header("Cache-Control", "no-store")
        folder = url_path_join(self.base_url, "lab/tree/notebooks/")
        template = PAGE.read_text(encoding="utf-8")
        self.finish(template.replace("{{ page }}", start_page.page(folder)))


def _jupyter_server_extension_points():
    return [{"module": __name__}]


def _load_jupyter_server_extension(app):
    app.contents_manager.register_pre_save_hook(without_widgets)
    address = url_path_join(app.base_url, ADDRESS)
    app.web_app.add_handlers(".*$", [(address, StartPage)])
