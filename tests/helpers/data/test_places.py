"""Every data set: the right place first, and never a part of it or another file."""

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.data import places
from helpers.data.mnist import MNIST
from helpers.data.places import DataSet
from helpers.data.sets import DATA_SETS
from helpers.errors import DataError
from helpers.files import REPOSITORY
from tests.helpers.data import small_sets

SETS = {data_set.name: (data_set, load) for data_set, load in DATA_SETS}
SLOW_HEADERS = b"HTTP/1.0 200 OK\r\nX-Slow: "
SLOW_BODY = b"HTTP/1.0 200 OK\r\nContent-Length: 9999999\r\n\r\n" + bytes(2**15)


def each_set(test):
    """Ask about every data set, where no copy and no network is there."""
    sets = pytest.mark.parametrize(("data_set", "load"), SETS.values(), ids=SETS)
    return pytest.mark.usefixtures("nowhere")(sets(test))


def write_names(data_set, folder):
    """Files that are found, with nothing in them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in data_set.registry:
        (folder / name).touch()


def kept(data_set):
    """The files in the cache, with those that are half-written."""
    return {path.name for path in data_set.cache_folder().rglob("*")}


def test_each_set_has_a_name_and_a_folder_of_its_own():
    assert len(SETS) == len({data_set.folder for data_set, _ in DATA_SETS}) == 3


@each_set
def test_own_folder_comes_before_the_cache(data_set, load, own, monkeypatch):
    write_names(data_set, data_set.cache_folder())
    write_names(data_set, own)
    assert data_set.find() == own
    assert data_set.is_own(own)
    write_names(data_set, own / data_set.folder)
    assert data_set.find() == own / data_set.folder
    assert data_set.is_own(own / data_set.folder)
    monkeypatch.delenv("LABS_DATA_DIR")
    assert data_set.find() == data_set.cache_folder()
    assert not data_set.is_own(data_set.cache_folder())


@each_set
def test_a_copy_for_another_machine_is_found_there(data_set, load, own, monkeypatch):
    write_names(data_set, own)
    disk = own.parent / "disk"
    for beside in ((), data_set.beside):  # some copies do without
        names = {*data_set.registry, *beside}
        for name in names:
            (own / name).write_bytes(name.encode())
        monkeypatch.setenv("LABS_DATA_DIR", str(own))
        for _ in range(2):  # again changes nothing
            folder = data_set.copy(data_set.find(), disk)
            monkeypatch.setenv("LABS_DATA_DIR", str(disk))
            assert data_set.find() == folder
            for name in names:
                assert (folder / name).read_bytes() == name.encode()
        assert {path.name for path in disk.rglob("*.*")} == names


@each_set
def test_a_part_of_the_set_is_not_passed_over_in_the_own_folder(data_set, load, own):
    write_names(data_set, data_set.cache_folder())
    for folder in (own, own / data_set.folder):
        write_names(data_set, folder)
        for name in data_set.registry if len(data_set.registry) > 1 else ():
            (folder / name).unlink()
            says = f"LABS_DATA_DIR has only a part of {data_set.name}: add {name} to it."
            with pytest.raises(DataError) as error:
                load()
            assert str(error.value) == says
            (folder / name).touch()
    for name in data_set.registry:  # without any file, a folder is no part
        (own / name).unlink()
        (own / data_set.folder / name).unlink()
    assert data_set.find() == data_set.cache_folder()


@each_set
def test_an_own_folder_that_is_not_there_is_not_passed_over(
    data_set, load, own, monkeypatch
):
    write_names(data_set, data_set.cache_folder())
    monkeypatch.setenv("LABS_DATA_DIR", str(own / "typo"))
    with pytest.raises(DataError, match="no such folder"):
        load()


@each_set
def test_a_folder_that_holds_other_sets_only_is_passed_over(data_set, load, own):
    for other, _ in DATA_SETS:
        if other is not data_set:
            write_names(other, own)
    assert data_set.find() is None
    write_names(data_set, data_set.cache_folder())
    assert data_set.find() == data_set.cache_folder()


@each_set
def test_without_copy_and_network_a_line_says_what_to_do(data_set, load):
    first = next(iter(data_set.registry))
    with pytest.raises(DataError) as error:
        load(offline_fallback=False)
    assert str(error.value) == (
        f"{first} could not be downloaded (127.0.0.1: Connection refused). "
        f"{data_set.elsewhere}"
    )
    assert "LABS_DATA_DIR" in data_set.elsewhere
    assert not kept(data_set)


@each_set
def test_a_download_that_is_not_the_file_is_not_kept(data_set, load, server, monkeypatch):
    before = set()
    for name, published in list(data_set.registry.items()):
        (server / name).write_bytes(b"something else")
        kind = "MD5" if len(published) < 64 else "SHA-256"
        with pytest.raises(DataError, match=f"{name} is damaged .its {kind} is wrong"):
            load()
        assert kept(data_set) == before
        # Now it is the file, and the next one is wrong.
        small_sets.declare(data_set, name, b"something else", monkeypatch)
        before.add(name)


@each_set
def test_a_download_is_checked_and_kept(data_set, load, server, monkeypatch):
    small_sets.publish(data_set, server, monkeypatch)
    assert load().source == str(data_set.cache_folder())
    assert kept(data_set) == set(data_set.registry)
    for name in data_set.registry:
        content = (data_set.cache_folder() / name).read_bytes()
        assert content == (server / name).read_bytes()
    monkeypatch.setattr(places, "BASE_URL", "http://127.0.0.1:9/")
    assert load().source == str(data_set.cache_folder())


@each_set
@pytest.mark.parametrize("beginning", [SLOW_HEADERS, SLOW_BODY], ids=["headers", "body"])
def test_a_trickle_ends_like_an_unreachable_server(
    data_set, load, beginning, slow_server, monkeypatch
):
    slow_server(beginning)
    monkeypatch.setattr(places, "DOWNLOAD_SECONDS", 0.5)
    monkeypatch.setattr(places, "SILENCE_SECONDS", 200)
    first, start = next(iter(data_set.registry)), time.monotonic()
    with pytest.raises(DataError) as error:
        load(offline_fallback=False)
    assert time.monotonic() - start < places.SILENCE_SECONDS / 2
    assert str(error.value) == (
        f"the download of {first} was stopped, because it took longer than 0.5 seconds. "
        f"Try a faster network. {data_set.elsewhere}"
    )
    assert load().source == "synthetic"
    assert not kept(data_set)


def test_a_slow_download_within_the_limit_is_kept(slow_server, monkeypatch, capsys):
    content = b"begins at once" + b"x" * 20
    small_sets.declare(MNIST, "mnist.npz", content, monkeypatch)
    headers = f"HTTP/1.0 200 OK\r\nContent-Length: {len(content)}\r\n\r\n"
    slow_server(headers.encode() + content[:-20], 20)
    assert (MNIST.download() / "mnist.npz").read_bytes() == content
    assert kept(MNIST) == {"mnist.npz"}
    assert "mnist.npz: 100%" in capsys.readouterr().err  # the progress bar


def test_a_connection_that_breaks_leaves_nothing(slow_server):
    slow_server(SLOW_BODY, 3)
    with pytest.raises(ConnectionError, match=r"downloaded .the connection broke"):
        MNIST.download()
    assert not kept(MNIST)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (None, r"127\.0\.0\.1 answered 404 File not found"),
        ("http://no-such-host.invalid/", r"no-such-host\.invalid: .*[Nn]ame"),
    ],
    ids=["no such file", "no such host"],
)
def test_a_download_that_fails_gives_the_reason(address, reason, server, monkeypatch):
    if address:
        monkeypatch.setattr(places, "BASE_URL", address)
    with pytest.raises(ConnectionError, match=rf"downloaded \({reason}.*\)\. "):
        MNIST.download()


def test_an_endless_download_does_not_fill_the_memory(server, monkeypatch):
    (server / "mnist.npz").write_bytes(bytes(10**6))
    small_sets.declare(MNIST, "mnist.npz", bytes(10**6), monkeypatch)
    monkeypatch.setattr(places, "LARGEST_BYTES", 10**5)
    with pytest.raises(DataError, match="was not kept"):
        MNIST.download()
    assert not kept(MNIST)


DOWNLOADS = """
import signal, sys
from helpers.data import mnist, places
signal.signal(signal.SIGINT, signal.default_int_handler)
places.BASE_URL = sys.argv[1]
mnist.MNIST.download()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_download_leaves_nothing(how, slow_server, server, monkeypatch):
    on_the_way, fast = places.BASE_URL, server
    some_sent = slow_server(SLOW_BODY)
    command = [sys.executable, "-c", DOWNLOADS, places.BASE_URL]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True
    ) as process:
        assert some_sent.wait(120)
        process.send_signal(how)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == -how
    assert ("KeyboardInterrupt" in errors) == (how == signal.SIGINT)
    left = list(MNIST.cache_folder().iterdir())
    assert len(left) == (how == signal.SIGKILL), "pooch's temporary file"
    for path in left:
        os.utime(path, (0, 0))  # long ago
    assert MNIST.find() is None
    small_sets.publish(MNIST, fast, monkeypatch)
    monkeypatch.setattr(places, "BASE_URL", on_the_way)
    assert MNIST.find_or_download(False) == MNIST.cache_folder()
    assert kept(MNIST) == {"mnist.npz"}


def test_the_half_written_files_of_a_killed_process_are_removed(server, monkeypatch):
    small_sets.publish(MNIST, server, monkeypatch)
    half = MNIST.cache_folder() / "tmp1234"
    half.parent.mkdir(parents=True)
    half.write_bytes((server / "mnist.npz").read_bytes()[:-1])
    os.utime(half, (0, 0))  # long ago
    assert MNIST.find() is None
    MNIST.download()
    assert kept(MNIST) == {"mnist.npz"}


def put_folder(path):
    path.mkdir()


def put_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)  # in the current folder: the whole path is too long


def put_broken_link(path):
    path.symlink_to(path.with_name("deleted"))


def put_link_to_pipe(path):
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


NO_FILES = {
    put_folder: "a folder",
    put_socket: "a pipe, socket or device",
    os.mkfifo: "a pipe, socket or device",
    put_link_to_pipe: "a pipe, socket or device",
    put_broken_link: "a broken link",
}


@each_set
@pytest.mark.parametrize("put", NO_FILES, ids=lambda put: put.__name__)
@pytest.mark.parametrize("where", ["own", "own, set's folder", "cache"])
def test_an_entry_that_is_not_a_file_is_named(data_set, load, put, where, own, monkeypatch):
    folders = [own, own / data_set.folder, data_set.cache_folder()]
    folder = dict(zip(["own", "own, set's folder", "cache"], folders, strict=True))[where]
    for name in data_set.registry:
        write_names(data_set, folder)
        path = folder / name
        path.unlink()
        monkeypatch.chdir(folder)
        put(path)
        for fallback in (True, False):
            with pytest.raises(DataError) as error:
                load(offline_fallback=fallback)
            assert str(error.value) == (
                f"{name} is {NO_FILES[put]}, not a file. {data_set.remedy(path)}"
            )
        assert str(path) in data_set.remedy(path)
        for left in (path, folder / "pipe"):
            if os.path.lexists(left):
                left.rmdir() if left.is_dir() else left.unlink()


@each_set
def test_an_unwritable_cache_is_one_clear_line(data_set, load, server, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(DataError, match=r"cannot write .*LABS_DATA_DIR") as error:
        load()
    assert "\n" not in str(error.value)


def test_the_cache_comes_before_the_folder_of_the_system(tmp_path, monkeypatch):
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    published = hashlib.sha256(b"").hexdigest()
    system = tmp_path / "system"
    data_set = DataSet("Two", "two", {"a": published, "b": published}, "", system)
    assert data_set.find() is None
    write_names(data_set, system)
    data_set.cache_folder().mkdir(parents=True)
    (data_set.cache_folder() / "a").touch()  # a part, as after an interruption
    assert data_set.find() == data_set.find_or_download(False) == system
    assert not data_set.is_own(system)
    assert data_set.remedy(system / "a") == f"Replace {system / 'a'} with a complete copy."
    write_names(data_set, data_set.cache_folder())
    assert data_set.find() == data_set.cache_folder()
    cached = data_set.cache_folder() / "a"
    assert data_set.remedy(cached) == f"Delete {cached} and run `labs data fetch`."


def test_fetch_continues_after_a_set_that_fails(own):
    (own / "train-images-idx3-ubyte.gz").touch()
    small_sets.write_mnist(own)
    small_sets.write_reuters(own)
    labs = Path(sys.executable).with_name("labs")
    ended = subprocess.run(
        [labs, "data", "fetch"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    [line] = re.findall("^labs: .*", ended.stderr, re.MULTILINE)
    assert line.startswith("labs: Fashion-MNIST: LABS_DATA_DIR has only a part of")
    complete = [f"{name} is complete: {own}" for name in ("MNIST", "Reuters")]
    assert ended.stdout.splitlines() == complete
