"""The newswires of lab 04, cut to the lab's size."""

from types import SimpleNamespace

from helpers.data.reuters import Newswires, reuters
from helpers.errors import DataError
from helpers.notebook import session


def load_newswires(lab: SimpleNamespace) -> Newswires:
    """Reuters newswires, with a banner where they are synthetic.

    Parameters
    ----------
    lab : SimpleNamespace
        What `session.start` gave.

    Returns
    -------
    helpers.data.reuters.Newswires
        At most the first `lab.train_newswires` and `lab.valid_newswires`; word
        numbers are below `lab.vocabulary`.

    Raises
    ------
    DataError
        If there are fewer than half of these: no copy of Reuters is that small.
    """
    data = reuters(lab.vocabulary)
    session.note_data_source("Reuters", data.source, "Random words")
    n, m = lab.train_newswires, lab.valid_newswires
    if 2 * len(data.x_train) < n or 2 * len(data.x_valid) < m:
        raise DataError(
            f"Reuters in {data.source} has {len(data.x_train):,} newswires to train on and "
            f"{len(data.x_valid):,} to validate, but {n:,} and {m:,} are needed: use a "
            "complete copy, or give fewer train_newswires and valid_newswires."
        )
    data = data._replace(
        x_train=data.x_train[:n], y_train=data.y_train[:n],
        x_valid=data.x_valid[:m], y_valid=data.y_valid[:m],
    )  # fmt: skip
    print(f"{len(data.x_train):,} newswires to train on, {len(data.x_valid):,} to validate")
    return data
