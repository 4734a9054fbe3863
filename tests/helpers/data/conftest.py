"""Where a test of the data sets finds them: nowhere, or on a server of its own."""

import contextlib
import socketserver
import threading

import pytest

from helpers.data import places


@pytest.fixture
def nowhere(monkeypatch):
    """No copy on this machine and no network, unless a test says so."""
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    monkeypatch.setattr(places.DataSet, "system_folder", None)
    monkeypatch.setattr(places, "BASE_URL", "http://127.0.0.1:9/")


@pytest.fixture
def own(nowhere, monkeypatch, tmp_path):
    """The user's own folder, still empty."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("LABS_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def server(nowhere, monkeypatch, file_server):
    """The folder of a server on this machine, in place of the one on the web."""
    folder, address = file_server
    monkeypatch.setattr(places, "BASE_URL", address)
    return folder


@pytest.fixture
def slow_server(nowhere, monkeypatch):
    """A server on this machine that sends a beginning at once, then a byte now and then.

    Returns
    -------
    function
        Takes the beginning and how many bytes follow; returns an event that is set when
        some of these are sent.
    """
    closing, running = threading.Event(), []

    def start(beginning, following=10**6):
        some_sent = threading.Event()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with contextlib.suppress(OSError):  # the other side may go at any time
                    self.request.recv(2**16)
                    self.request.sendall(beginning)
                    for number in range(following):
                        if closing.wait(0.05):
                            break
                        self.request.sendall(b"x")
                        if number == 10:
                            some_sent.set()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        server = Server(("127.0.0.1", 0), Handler)
        running.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        monkeypatch.setattr(places, "BASE_URL", address)
        return some_sent

    yield start
    closing.set()
    for server in running:
        server.shutdown()
        server.server_close()
