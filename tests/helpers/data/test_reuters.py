"""Reuters: never a damaged file, nothing that runs, and Keras' own numbering."""

import inspect
import json
import pickle
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from helpers.data.reuters import (
    REUTERS,
    START,
    TOPICS_FILE,
    VOCABULARY,
    decode,
    reuters,
    synthetic_ranks,
)
from helpers.errors import DataError
from helpers.lab_04.newswires import load_newswires
from helpers.notebook import session
from tests.helpers.data.small_sets import WORDS, write_reuters

pytestmark = pytest.mark.usefixtures("nowhere")


@pytest.fixture
def own(own):
    """A small set of the right types in the user's own folder."""
    write_reuters(own)
    return own


def loaded_by_keras(path, monkeypatch, vocabulary):
    module = keras.datasets.reuters.load_data.__globals__
    monkeypatch.setitem(module, "get_file", lambda **options: str(path))
    return keras.datasets.reuters.load_data(num_words=vocabulary)


@pytest.mark.parametrize("vocabulary", [500, 30_982])
def test_order_split_and_numbers_are_those_of_keras(monkeypatch, tmp_path, vocabulary):
    write_reuters(tmp_path / "own", *synthetic_ranks(400))
    monkeypatch.setenv("LABS_DATA_DIR", str(tmp_path / "own"))
    data = reuters(vocabulary)
    train, valid = loaded_by_keras(
        tmp_path / "own" / "reuters.npz", monkeypatch, vocabulary
    )
    for (x, y), (our_x, our_y) in (
        (train, (data.x_train, data.y_train)),
        (valid, (data.x_valid, data.y_valid)),
    ):
        assert [list(newswire) for newswire in x] == our_x
        assert y.tolist() == our_y.tolist()


def test_the_real_set_is_whole(monkeypatch, shared_data):
    monkeypatch.setenv("LABS_DATA_DIR", str(shared_data))
    data = reuters()
    assert data.source == str(shared_data)
    assert (len(data.x_train), len(data.x_valid)) == (8203, 2051)
    assert max(map(max, data.x_train + data.x_valid)) == VOCABULARY - 1
    assert data.topics == tuple(json.loads((shared_data / TOPICS_FILE).read_text()))
    first = decode(data.x_train[0], data.word_index).split()
    assert len(first) == len(data.x_train[0]) - 1  # all but the mark of the start
    assert set(first) <= set(data.word_index)


def test_any_set_of_the_right_types_will_do_in_the_own_folder_only(own, monkeypatch):
    data = reuters()
    assert data.source == str(own)
    assert (len(data.x_train), len(data.x_valid)) == (4, 1)
    assert data.y_train.dtype == np.int64
    assert all(newswire[0] == START for newswire in data.x_train)
    monkeypatch.delenv("LABS_DATA_DIR")
    write_reuters(REUTERS.cache_folder())
    with pytest.raises(DataError, match=r"not as published.*labs data fetch"):
        reuters()


def test_rare_words_become_unknown_and_a_text_can_be_read(own):
    data = reuters(vocabulary=6)
    texts = [decode(newswire, data.word_index) for newswire in data.x_train + data.x_valid]
    assert sorted(texts) == ["? wheat", "the", "the ?", "the wheat ?", "wheat wheat wheat"]
    assert decode([0, 0, *data.x_train[0]], WORDS) == decode(data.x_train[0], WORDS)


def test_topics_are_the_copys_own_else_those_of_keras(own):
    assert reuters().topics[3] == "earn"
    names = [f"topic {number}" for number in range(46)]
    (own / TOPICS_FILE).write_text(json.dumps(names))
    assert reuters().topics == tuple(names)
    for wrong in ("[]", "{}", "46", "no json"):
        (own / TOPICS_FILE).write_text(wrong)
        with pytest.raises(DataError, match=f"{TOPICS_FILE} is not a list of 46 names"):
            reuters()


def test_a_broken_link_to_the_topics_does_not_give_those_of_keras(own):
    (own / TOPICS_FILE).symlink_to(own / "deleted")
    with pytest.raises(DataError) as error:
        reuters()
    assert str(error.value) == (
        f"{TOPICS_FILE} is a broken link, not a file. "
        f"Replace {own / TOPICS_FILE} with a complete copy."
    )


class Harmful:
    def __reduce__(self):
        return print, ("this ran",)


def damage(name, folder):
    """Spoil one file in the way that is named; return its name."""
    npz, words = (folder / file for file in REUTERS.registry)
    y = np.arange(3)
    if name == "truncated":
        npz.write_bytes(npz.read_bytes()[:-40])
    elif name == "empty":
        npz.write_bytes(b"")
    elif name == "tampered":
        content = bytearray(npz.read_bytes())
        content[60:64] = b"\xff" * 4
        npz.write_bytes(content)
    elif name == "no x":
        np.savez(npz, y=y)
    elif name == "x of numbers":
        np.savez(npz, x=np.arange(3), y=y)
    elif name == "x of texts":
        np.savez(npz, x=np.array([["a"], ["b", "c"], ["d"]], object), y=y)
    elif name == "y too long":
        write_reuters(folder, labels=range(9))
    elif name == "y too large":
        write_reuters(folder, labels=[46] * 5)
    elif name == "y all the same":
        write_reuters(folder, labels=[0] * 5)
    elif name == "y no whole numbers":
        x = np.empty(3, object)
        x[:] = [[1], [2], [3]]
        np.savez(npz, x=x, y=np.ones(3))
    elif name == "word numbers too large":
        write_reuters(folder, ranks=[(1, 2), (VOCABULARY,), (10**12,)])
    elif name == "harmful":
        x = np.empty(3, object)
        x[:] = [[1], [2], Harmful()]
        np.savez(npz, x=x, y=y)
    elif name == "words cut short":
        words.write_text('{"the": 1, "wh')
        return words.name
    elif name == "words a list":
        words.write_text('["the"]')
        return words.name
    elif name == "no words":
        words.write_text("{}")
        return words.name
    return npz.name


@pytest.mark.parametrize(
    "how",
    [
        "truncated", "empty", "tampered", "no x", "x of numbers", "x of texts",
        "y too long", "y too large", "y all the same", "y no whole numbers", "harmful",
        "word numbers too large",
        "words cut short", "words a list", "no words",
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_in_a_line_with_a_remedy(own, how, capsys):
    name = damage(how, own)
    with pytest.raises(DataError) as error:
        reuters()
    assert name in str(error.value)
    assert "Replace" in str(error.value)
    assert "\n" not in str(error.value)
    assert "this ran" not in capsys.readouterr().out


@pytest.mark.parametrize("where", ["own", "cache"])
def test_a_folder_in_place_of_a_file_is_no_reason_for_a_synthetic_set(own, where):
    folder = own if where == "own" else REUTERS.cache_folder()
    write_reuters(folder)
    (folder / "reuters.npz").unlink()
    (folder / "reuters.npz").mkdir()
    if where == "cache":
        for path in own.iterdir():
            path.unlink()
    with pytest.raises(DataError, match=r"reuters\.npz is a folder, not a file\. "):
        reuters()


def test_far_fewer_newswires_than_the_lab_wants_are_refused(own, monkeypatch):
    monkeypatch.setattr(session, "note_data_source", lambda *arguments: None)
    lab = SimpleNamespace(vocabulary=2000, train_newswires=6, valid_newswires=2)
    assert len(load_newswires(lab).x_train) == 4
    lab.train_newswires = 9
    with pytest.raises(DataError, match=r"has 4 newswires .* but 9 and 2 are needed"):
        load_newswires(lab)


def test_the_pickle_of_the_test_would_have_run(capsys):
    pickle.loads(pickle.dumps(Harmful()))
    assert "this ran" in capsys.readouterr().out


def test_without_copy_and_network_the_set_is_synthetic_and_says_so():
    data = reuters()
    assert data.source == "synthetic"
    assert (len(data.x_train), len(data.x_valid)) == (8982, 2246)
    assert set(data.y_train) == set(range(46))
    assert max(map(max, data.x_train)) == VOCABULARY - 1
    assert "word" in decode(data.x_train[0], data.word_index)
    assert not list(REUTERS.cache_folder().parent.rglob("*.npz"))


def test_the_hashes_are_those_that_keras_publishes():
    source = inspect.getsource(inspect.getmodule(keras.datasets.reuters.load_data))
    for published in REUTERS.registry.values():
        assert published.rpartition(":")[2] in source
