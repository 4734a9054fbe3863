"""Every data set: the right place first, and never a part of it or another file."""

import hashlib

import pytest

from helpers.data import places
from helpers.data.places import DataSet
from helpers.data.sets import DATA_SETS
from helpers.errors import DataError
from tests.helpers.data import small_sets

SETS = {data_set.name: (data_set, load) for data_set, load in DATA_SETS}


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
def test_a_part_of_the_set_is_not_passed_over_in_the_own_folder(data_set, load, own):
    write_names(data_set, data_set.cache_folder())
    for folder in (own, own / data_set.folder):
        write_names(data_set, folder)
        for name in data_set.registry if len(data_set.registry) > 1 else ():
            (folder / name).unlink()
            says = f"LABS_DATA_DIR has a part of {data_set.name}: add {name}."
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
    assert str(error.value) == f"{first} could not be downloaded. {data_set.elsewhere}"
    assert "LABS_DATA_DIR" in data_set.elsewhere
    assert not kept(data_set)


@each_set
def test_a_download_that_is_not_the_file_is_not_kept(data_set, load, server, monkeypatch):
    before = set()
    for name, published in list(data_set.registry.items()):
        (server / name).write_bytes(b"something else")
        kind = "MD5" if len(published) < 64 else "SHA-256"
        with pytest.raises(DataError, match=f"{name} was changed .*its {kind} is wrong"):
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
    assert data_set.remedy(system / "a") == f"Replace {system / 'a'} by a whole copy."
    write_names(data_set, data_set.cache_folder())
    assert data_set.find() == data_set.cache_folder()
    cached = data_set.cache_folder() / "a"
    assert data_set.remedy(cached) == f"Delete {cached} and run `labs data fetch`."
