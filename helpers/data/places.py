"""Where the files of a data set are: find them, or download them into the user's cache."""

import hashlib
import os
import queue
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import platformdirs

from helpers.errors import DataError
from helpers.files import write_atomically

# Keras downloads them from there too: see the source of keras.datasets.
BASE_URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"

# A server that sends nothing for this long counts as unreachable.
SILENCE_SECONDS = 20
# A server that sends a byte now and then is never silent. So each file has a limit in
# total as well. The largest file, 26 MB, needs 45 kB/s to arrive in this time.
DOWNLOAD_SECONDS = 600
# No file of the labs comes near this. It keeps an endless answer out of the memory.
LARGEST_BYTES = 200 * 2**20
WRITING_SECONDS = 60  # no file takes longer, once it is downloaded


class DataSet(NamedTuple):
    """The files of a data set, and where they may be.

    Attributes
    ----------
    name : str
        For messages: "Fashion-MNIST".
    folder : str
        What the set's folder in the cache is called: "fashion-mnist".
    registry : dict of str
        For each file its hash as published: a SHA-256, or "md5:" and an MD5.
    elsewhere : str
        For messages: how else to get the files.
    system_folder : Path, optional
        Where a package of the operating system puts them.
    beside : tuple of str
        Files that some copies have, and others do without.
    """

    name: str
    folder: str
    registry: dict
    elsewhere: str
    system_folder: Path | None = None
    beside: tuple[str, ...] = ()

    def cache_folder(self) -> Path:
        """The folder in the user's cache that downloads go to."""
        return user_cache() / self.folder

    def find(self) -> Path | None:
        """The first folder that holds all files, or None.

        The user's own folder comes first, then the cache, then the system's folder.

        Raises
        ------
        DataError
            If ``LABS_DATA_DIR`` is not a folder, or has only a part of the set, or
            if something other than a file has the name of a data file.
        """
        own = own_folder()
        for folder in [own / self.folder, own] if own else []:
            missing = self._missing(folder)
            if 0 < len(missing) < len(self.registry):
                raise DataError(
                    f"LABS_DATA_DIR has only a part of {self.name}: add {missing[0]} to it."
                )
            if not missing:
                return folder
        for folder in (self.cache_folder(), self.system_folder):
            if folder and not self._missing(folder):
                return folder
        return None

    def download(self) -> Path:
        """Download the files into the user's cache, unless they are there already.

        A file gets its name only when it is whole and its hash is right. So an
        interrupted download leaves nothing that could be taken for the data.

        Returns
        -------
        Path
            The folder in the cache.

        Raises
        ------
        ConnectionError
            If the server cannot be reached, or a file takes longer than
            `DOWNLOAD_SECONDS`.
        DataError
            If the cache cannot be written, or if a hash is wrong.
        """
        import pooch  # slow, and rarely needed

        pooch.get_logger().setLevel("ERROR")
        folder = self.cache_folder()
        files = pooch.create(path=folder, base_url=BASE_URL, registry=self.registry)
        for name in self.registry:
            try:
                # Fails if nothing can be written: now, not after a long download.
                folder.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=folder).close()
                _sweep(folder)
                files.fetch(name, downloader=_receive)
            except ValueError as error:
                kind = "MD5" if self.registry[name].startswith("md5:") else "SHA-256"
                raise DataError(
                    f"the download of {name} is damaged (its {kind} is wrong) and was not "
                    "kept. Try `labs data fetch` again, or use another network."
                ) from error
            # These two before OSError, because they are of its kind.
            except TimeoutError as error:
                raise ConnectionError(
                    f"the download of {name} was stopped, because it took longer than "
                    f"{DOWNLOAD_SECONDS} seconds. Try a faster network. {self.elsewhere}"
                ) from error
            except ConnectionError as error:
                raise ConnectionError(
                    f"{name} could not be downloaded ({_reason(error)}). {self.elsewhere}"
                ) from error
            except OSError as error:
                raise DataError(
                    f"cannot write the data cache {folder} ({error.strerror}). Free some "
                    "space there, or set LABS_DATA_DIR to a folder that has the files."
                ) from error
        return folder

    def find_or_download(self, offline_fallback: bool) -> Path | None:
        """The folder that holds all files, after a download if there is none.

        Parameters
        ----------
        offline_fallback : bool
            What to do without a copy and without a network. True: return None, and
            the caller uses a synthetic set. False: raise.

        Returns
        -------
        Path or None

        Raises
        ------
        DataError
            As `find` and `download`.
        """
        if folder := self.find():
            return folder
        try:
            return self.download()
        except ConnectionError as error:
            if offline_fallback:
                return None
            raise DataError(str(error)) from error

    def copy(self, found: Path, to: Path) -> Path:
        """Copy the files to where a `LABS_DATA_DIR` of another machine has them.

        Parameters
        ----------
        found : Path
            The folder that holds them, as from `find`.
        to : Path
            Gets a folder for the set.

        Returns
        -------
        Path
            That folder.
        """
        folder = to / self.folder
        there = {path.name for path in found.iterdir()}
        for name in sorted({*self.registry, *self.beside} & there):
            if not (folder / name).exists() or not (folder / name).samefile(found / name):
                write_atomically(folder / name, (found / name).read_bytes())
        return folder

    def is_own(self, folder: Path) -> bool:
        """Whether a folder that was found is the user's own.

        There any set of the right shapes and types is good, unless its values show
        that it is no data. In the other places the files must be as published.
        """
        return folder not in (self.cache_folder(), self.system_folder)

    def has_published_hash(self, name: str, content: bytes) -> bool:
        """Whether this is the content of the published file.

        Parameters
        ----------
        name : str
        content : bytes
        """
        kind, _, published = self.registry[name].rpartition(":")
        return hashlib.new(kind or "sha256", content).hexdigest() == published

    def remedy(self, path: Path) -> str:
        """For messages: what to do about a file that cannot be used."""
        if path.parent == self.cache_folder():
            return f"Delete {path} and run `labs data fetch`."
        return f"Replace {path} with a complete copy."

    def has(self, path: Path) -> bool:
        """Whether a file of the set is there.

        Parameters
        ----------
        path : Path

        Returns
        -------
        bool
            True only for a file, or for a link to one.

        Raises
        ------
        DataError
            If something else has this name: a folder, a broken link, a pipe. Then
            the set is not missing, it needs repair; and to read a pipe could take
            forever.
        """
        try:
            if path.is_file():
                return True
        except OSError as error:  # a folder above it is closed
            raise DataError(f"{path} cannot be read ({error.strerror}).") from error
        if not os.path.lexists(path):
            return False
        if path.is_dir():
            what = "a folder"
        else:
            what = "a pipe, socket or device" if path.exists() else "a broken link"
        raise DataError(f"{path.name} is {what}, not a file. {self.remedy(path)}")

    def _missing(self, folder):
        return [name for name in self.registry if not self.has(folder / name)]


def _reason(error):
    """Why a download failed, in a few words, from the errors that led to this one."""
    import requests

    host, reason = urlsplit(BASE_URL).hostname, "the connection broke"
    while error := error.__cause__ or error.__context__:
        if isinstance(error, requests.HTTPError) and error.response is not None:
            answer = error.response
            return f"{host} answered {answer.status_code} {answer.reason}".strip()
        if isinstance(error, requests.Timeout | TimeoutError):
            return f"{host} has not answered for {SILENCE_SECONDS} seconds"
        if isinstance(error, OSError) and error.strerror:
            reason = f"{host}: {error.strerror}"  # the innermost is the system's own
    return reason


def _sweep(folder):
    """Delete what a killed process has left of a file that pooch was writing."""
    for path in folder.glob("tmp*"):
        if time.time() - path.stat().st_mtime > WRITING_SECONDS:
            path.unlink(missing_ok=True)


def _receive(url, output, _):
    """Download a file for pooch, under a progress bar and a limit in total.

    Parameters
    ----------
    url : str
    output : str
        The file that pooch checks, and then gives its name.

    Raises
    ------
    TimeoutError
        If it is not whole after `DOWNLOAD_SECONDS`.
    ConnectionError
        If anything else goes wrong on the way.
    """
    import requests  # slow, and rarely needed
    from tqdm.auto import tqdm

    parts, over = queue.SimpleQueue(), threading.Event()
    ends = time.monotonic() + DOWNLOAD_SECONDS

    def send_parts():
        """Put the size into the queue, then the parts and an empty one, or an error."""
        try:
            with requests.get(url, stream=True, timeout=SILENCE_SECONDS) as got:
                got.raise_for_status()
                parts.put(int(got.headers.get("content-length", 0)))
                received = 0
                for part in got.iter_content(2**14):
                    received += len(part)
                    # A file that is cut off here has another hash.
                    if over.is_set() or received > LARGEST_BYTES:
                        break
                    parts.put(part)
            parts.put(b"")
        except Exception as error:
            parts.put(error)

    def next_part():
        try:
            part = parts.get(timeout=max(0, ends - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(part, Exception):
            raise ConnectionError from part
        return part

    # requests has a limit for each read only, and a trickle can also hold up the
    # headers. So a thread waits for the server, and this one looks at the clock. A
    # thread that is still waiting then ends with its connection, or with the process.
    threading.Thread(target=send_parts, daemon=True).start()
    content = bytearray()
    try:
        size = next_part()
        name = url.rpartition("/")[2]
        with tqdm(total=size or None, desc=name, unit="B", unit_scale=True) as bar:
            while part := next_part():
                content += part
                bar.update(len(part))
    finally:
        over.set()
    Path(output).write_bytes(content)


def user_cache() -> Path:
    """The folder for everything that the labs keep in the user's cache."""
    return Path(platformdirs.user_cache_dir("scaling-labs"))


def own_folder() -> Path | None:
    """The folder that ``LABS_DATA_DIR`` names, or None.

    Raises
    ------
    DataError
        If there is no such folder.
    """
    own = os.environ.get("LABS_DATA_DIR")
    if own and not Path(own).is_dir():
        raise DataError(
            f"LABS_DATA_DIR is {own}, but there is no such folder: create it, or unset "
            "the variable."
        )
    return Path(own) if own else None
