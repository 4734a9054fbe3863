"""Additions to Jupyter's server: the start page, and no dead widgets.

`labs lab` loads it, and so does any server of the kit's environment (kit/place/setup.sh).
"""

import os
from pathlib import Path

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado.web import HTTPError, authenticated

from helpers.files import REPOSITORY
from helpers.notebook import session
from helpers.notebook.notebooks import note_rename, students_folder
from kit import look
from kit.jupyter import certificate, start_page
from kit.jupyter.stored_widgets import without_widgets

ADDRESS = "start"
FILE_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"
PAGE = Path(__file__).with_name("start.html")


class StartPage(JupyterHandler):
    """The start page, made again each time that somebody looks at it."""

    @authenticated
    def get(self) -> None:
        self.set_header("Cache-Control", "no-store")
        folder = self._opened(students_folder())
        if not folder:
            raise HTTPError(
                404, f"The labs are not in {self._root}: start JupyterLab with `make lab`."
            )
        docs = REPOSITORY / "docs"
        docs = self._opened(docs) if docs.is_dir() else ""
        self.finish(look.render(PAGE, page=start_page.page(folder), docs=docs))

    @property
    def _root(self):
        assert self.serverapp
        return Path(self.serverapp.root_dir).resolve()

    def _opened(self, folder):
        """The address at which JupyterLab opens the files of a folder, or nothing."""
        for path in (folder, folder.resolve()):  # work/ may be a link
            if path.is_relative_to(self._root):
                below = path.relative_to(self._root).as_posix()
                return url_path_join(self.base_url, "lab/tree", below, "/")
        return ""


class Certificate(JupyterHandler):
    """The student's progress by now, to print."""

    @authenticated
    def get(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.finish(certificate.page())


def _jupyter_server_extension_points():
    return [{"module": __name__}]


def _load_jupyter_server_extension(app):
    app.contents_manager.register_pre_save_hook(without_widgets)
    app.event_logger.add_listener(schema_id=FILE_EVENTS, listener=_follow_renames(app))
    address = url_path_join(app.base_url, ADDRESS)
    os.environ[session.SERVED] = address  # of its kernels
    pages = [(address, StartPage), (f"{address}/certificate", Certificate)]
    app.web_app.add_handlers(".*$", pages)


def _follow_renames(app):
    """A kernel knows only the name that its notebook had when it was started."""

    async def listen(logger, schema_id, data):
        if data["action"] == "rename":
            root = Path(app.root_dir)
            note_rename(root / data["source_path"], root / data["path"])

    return listen
