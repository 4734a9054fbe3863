"""Reuters: newswires and their topics, checked before they are used."""

import json
import pickle
import zipfile
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from helpers.data.places import DataSet
from helpers.errors import DataError

# Next to the data, if a copy orders its topics differently from Keras.
TOPICS_FILE = "reuters_topics.json"
REUTERS = DataSet(
    name="Reuters",
    folder="reuters",
    # The hashes that Keras publishes in its own source. For the word index that is an
    # MD5: it finds accidents, but no attack. The index is text and is never executed.
    registry={
        "reuters.npz": "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
        "reuters_word_index.json": "md5:4d44cc38712099c9e383dc6e5f11a921",
    },
    elsewhere="Put reuters.npz and reuters_word_index.json into LABS_DATA_DIR.",
    beside=(TOPICS_FILE,),
)

TOPICS = 46
VOCABULARY = 30_982  # words, and three numbers that are not words
PADDING, START, UNKNOWN, INDEX_FROM = 0, 1, 2, 3
LAST_RANK = VOCABULARY - 1 - INDEX_FROM  # of the rarest word
SHUFFLE_SEED = 113  # Keras' own, so that everybody has the same validation set


class Newswires(NamedTuple):
    """Labelled newswires: lists of word numbers, and integer topics (n,)."""

    x_train: list
    y_train: np.ndarray
    x_valid: list
    y_valid: np.ndarray
    word_index: dict
    topics: tuple
    source: str


def reuters(vocabulary: int = VOCABULARY, offline_fallback: bool = True) -> Newswires:
    """Load the Reuters newswires, four fifths for training, one for validation.

    Looks in ``LABS_DATA_DIR`` and the user's cache, then downloads. Without a copy
    and without a network a small synthetic set is used instead.

    Parameters
    ----------
    vocabulary : int
        Word numbers are below this; a rarer word becomes 2, "unknown".
    offline_fallback : bool
        False: raise, and use no synthetic set.

    Returns
    -------
    Newswires
        Order, split and numbering are those of ``keras.datasets.reuters``: 1
        starts a newswire, and a word's number is its rank plus 3. `source` is the
        folder, or "synthetic".

    Raises
    ------
    DataError
        If an existing file is damaged, or the cache cannot be written.

    References
    ----------
    Lewis, "Reuters-21578 text categorization test collection", 1997.
    """
    folder = REUTERS.find_or_download(offline_fallback)
    if folder is None:
        ranks, labels = synthetic_ranks()
        word_index = {f"word{rank}": rank for rank in range(1, VOCABULARY - INDEX_FROM)}
        return _arranged(ranks, labels, vocabulary, word_index, _topics(), "synthetic")
    for name in REUTERS.registry:
        _check_hash(folder / name)
    ranks, labels = _read_arrays(folder / "reuters.npz")
    word_index = _read_word_index(folder / "reuters_word_index.json")
    topics = _topics(folder / TOPICS_FILE)
    return _arranged(ranks, labels, vocabulary, word_index, topics, str(folder))


def decode(newswire: Iterable[int], word_index: dict[str, int]) -> str:
    """The words of a newswire; `?` for an unknown one, nothing for padding."""
    words = {rank + INDEX_FROM: word for word, rank in word_index.items()}
    return " ".join(words.get(number, "?") for number in newswire if number > START)


def synthetic_ranks(n: int = 11_228, seed: int = 0) -> tuple[list[list[int]], np.ndarray]:
    """Texts of 46 topics, as many and as long as Reuters': word ranks and labels.

    Words are drawn by Zipf's law; one in five is specific to the topic.
    """
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, TOPICS + 1)
    labels = rng.choice(TOPICS, n, p=share / share.sum())
    lengths = rng.integers(20, 300, n)
    topic = np.repeat(labels, lengths)
    common = np.minimum(rng.zipf(1.3, topic.size), LAST_RANK)
    own = 1000 + 10 * topic + rng.integers(0, 10, topic.size)
    ranks = np.where(rng.random(topic.size) < 0.2, own, common)
    parts = np.split(ranks, np.cumsum(lengths)[:-1])
    return [part.tolist() for part in parts], labels


def _arranged(ranks, labels, vocabulary, word_index, topics, source):
    """Shuffle, number and split as Keras does it."""
    order = np.arange(len(ranks))
    np.random.RandomState(SHUFFLE_SEED).shuffle(order)
    x = [
        [START]
        + [
            rank + INDEX_FROM if rank + INDEX_FROM < vocabulary else UNKNOWN
            for rank in ranks[i]
        ]
        for i in order
    ]
    y, cut = np.asarray(labels, "int64")[order], int(len(x) * 0.8)
    return Newswires(x[:cut], y[:cut], x[cut:], y[cut:], word_index, topics, source)


def _topics(path=None):
    """The topics' names in the order of the labels: the copy's own, else Keras'."""
    if path is None or not REUTERS.has(path):
        import keras

        return tuple(keras.datasets.reuters.get_label_names())
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
        right = len(names) == TOPICS and all(isinstance(name, str) for name in names)
    except (OSError, ValueError, TypeError):
        right = False
    if not right or not isinstance(names, list):
        raise DataError(
            f"{path.name} is not a list of {TOPICS} names. "
            f"Replace {path} with a complete copy."
        )
    return tuple(names)


def _check_hash(path):
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from error
    if not (REUTERS.is_own(path.parent) or REUTERS.has_published_hash(path.name, content)):
        raise DataError(f"{path.name} is not as published. {REUTERS.remedy(path)}")


def _read_word_index(path):
    try:
        word_index = json.loads(path.read_text(encoding="utf-8"))
        ranks = word_index.values()
        right = word_index and all(isinstance(rank, int) for rank in ranks)
    except (OSError, ValueError, AttributeError):
        right = False
    if not right:
        raise DataError(
            f"{path.name} does not hold words and their ranks. {REUTERS.remedy(path)}"
        )
    return word_index


def _read_arrays(path):
    """Word ranks, a list for each newswire, and the labels."""
    try:
        with zipfile.ZipFile(path) as archive:
            with archive.open("y.npy") as file:
                y = np.lib.format.read_array(file, allow_pickle=False)
            with archive.open("x.npy") as file:
                x = _read_lists(file)
        ranks = [list(map(int, newswire)) for newswire in x]
    # Which error a damaged archive or pickle raises is not documented.
    except Exception as error:
        raise DataError(
            f"{path.name} is damaged or cut short. {REUTERS.remedy(path)}"
        ) from error
    right = (
        y.ndim == 1
        and y.dtype.kind in "iu"
        and len(ranks) == len(y) >= 2
        and 0 <= y.min() <= y.max() < TOPICS
        and all(newswire and min(newswire) >= 0 for newswire in ranks)
        and max(map(max, ranks)) <= LAST_RANK
    )
    if not right:
        raise DataError(
            f"{path.name} does not hold x, lists of word ranks to {LAST_RANK:,}, and y, as "
            f"many topics from 0 to {TOPICS - 1}. {REUTERS.remedy(path)}"
        )
    if y.min() == y.max():
        raise DataError(
            f"{path.name} has the same topic, {y[0]}, for every newswire. "
            f"{REUTERS.remedy(path)}"
        )
    return ranks, y


class _ListsOnly(pickle.Unpickler):
    """NumPy stores lists of unequal lengths as a pickle, which could run any code."""

    def find_class(self, module, name):
        if (module.partition(".")[0], name) in (
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
            ("numpy", "_reconstruct"),
        ):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a list of numbers")


def _read_lists(file):
    version = np.lib.format.read_magic(file)
    # Only the header's length differs between the versions.
    if version == (1, 0):
        np.lib.format.read_array_header_1_0(file)
    else:
        np.lib.format.read_array_header_2_0(file)
    return _ListsOnly(file).load()
