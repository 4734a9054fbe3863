"""Where the files of a data set are: find them, or download them into the user's cache."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import platformdirs

from helpers.errors import DataError

# Keras downloads them from there too: see the source of keras.datasets.
BASE_URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


class DataSet(NamedTuple):
    """The files of a data set, and where they may be.

    Attributes
    ----------
    name : str
        For messages: "Fashion-MNIST".
    folder : str
        What the set's folder in the cache is called: "fashion-mnist".
    registry : dict of str
        For each file its hash as published, in the form that pooch wants: a SHA-256,
        or "md5:" and an MD5.
    elsewhere : str
        For messages: how else to get the files.
    system_folder : Path, optional
        Where a package of the operating system puts them.
    """

    name: str
    folder: str
    registry: dict
    elsewhere: str
    system_folder: Path | None = None

    def cache_folder(self):
        """The folder in the user's cache that downloads go to."""
        return user_cache() / self.folder

    def find(self):
        """The first folder that holds all files, or None.

        The user's own folder comes first, then the cache, then the system's folder.

        Raises
        ------
        DataError
            If ``LABS_DATA_DIR`` is not a folder, or has only a part of the set.
        """
        own = own_folder()
        for folder in [own / self.folder, own] if own else []:
            missing = self._missing(folder)
            if 0 < len(missing) < len(self.registry):
                raise DataError(
                    f"LABS_DATA_DIR has a part of {self.name}: add {missing[0]}."
                )
            if not missing:
                return folder
        for folder in (self.cache_folder(), self.system_folder):
            if folder and not self._missing(folder):
                return folder
        return None

    def download(self):
        """Download the files into the user's cache, unless they are there already.

        A file gets its name only when it is whole and its hash is right. So an
        interrupted download leaves nothing that looks like the data.

        Returns
        -------
        Path
            The folder in the cache.

        Raises
        ------
        ConnectionError
            If the server cannot be reached.
        DataError
            If the cache cannot be written, or if a hash is wrong.
        """
        import pooch  # slow, and rarely needed
        import requests

        pooch.get_logger().setLevel("ERROR")
        folder = self.cache_folder()
        files = pooch.create(path=folder, base_url=BASE_URL, registry=self.registry)
        downloader = pooch.HTTPDownloader(progressbar=True, timeout=20)
        for name, published in self.registry.items():
            try:
                files.fetch(name, downloader=downloader)
            except ValueError as error:
                kind = "MD5" if published.startswith("md5:") else "SHA-256"
                raise DataError(
                    f"{name} was changed on its way here (its {kind} is wrong) and was "
                    "not kept. Try `labs data fetch` again, or on another network."
                ) from error
            # Before OSError, because these are OSErrors too.
            except requests.exceptions.RequestException as error:
                raise ConnectionError(
                    f"{name} could not be downloaded. {self.elsewhere}"
                ) from error
            except OSError as error:
                raise DataError(
                    f"cannot write the data cache {folder} ({error.strerror}). Free some "
                    "space there, or set LABS_DATA_DIR to a folder that has the files."
                ) from error
        return folder

    def find_or_download(self, offline_fallback):
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

    def is_own(self, folder):
        """Whether a folder that was found is the user's own.

        There any set of the right shapes and types is good. In the other places
        the files must be as published.
        """
        return folder not in (self.cache_folder(), self.system_folder)

    def has_published_hash(self, name, content):
        """Whether this is the content of the published file.

        Parameters
        ----------
        name : str
        content : bytes
        """
        kind, _, published = self.registry[name].rpartition(":")
        return hashlib.new(kind or "sha256", content).hexdigest() == published

    def remedy(self, path):
        """For messages: what to do about a file that cannot be used."""
        if path.parent == self.cache_folder():
            return f"Delete {path} and run `labs data fetch`."
        return f"Replace {path} by a whole copy."

    def _missing(self, folder):
        return [name for name in self.registry if not (folder / name).is_file()]


def user_cache():
    """The folder for everything that the labs keep in the user's cache."""
    return Path(platformdirs.user_cache_dir("scaling-labs"))


def own_folder():
    """The folder that ``LABS_DATA_DIR`` names, or None.

    Raises
    ------
    DataError
        If there is no such folder.
    """
    own = os.environ.get("LABS_DATA_DIR")
    if own and not Path(own).is_dir():
        raise DataError(f"LABS_DATA_DIR is {own}, and there is no such folder.")
    return Path(own) if own else None
