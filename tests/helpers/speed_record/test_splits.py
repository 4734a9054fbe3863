"""The secret splits: deterministic, whole, and without near-duplicates across."""

import numpy as np
import pytest

from helpers.data.images import Images
from helpers.speed_record import splits


@pytest.fixture(scope="module")
def pooled():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (600, 28, 28, 1), dtype="uint8")
    near = np.clip(x[:100].astype(int) + rng.integers(-9, 10, x[:100].shape), 0, 255)
    x = np.concatenate([x, near.astype("uint8"), x[50:100]])
    y = rng.integers(0, 10, len(x), dtype="uint8")
    return splits.pool(Images(x[:700], y[:700], x[700:], y[700:], "drawn"))


def test_near_duplicates_are_found_pixel_by_pixel(pooled):
    flat = pooled.x.reshape(len(pooled.x), -1).astype(float)
    squares = (flat**2).sum(1)
    apart = squares[:, None] + squares - 2 * flat @ flat.T  # exact: all are whole numbers
    likely = np.argwhere(np.triu(apart <= splits.NEAR**2, 1))
    likely = {tuple(pair) for pair in likely.tolist()}
    found = {tuple(sorted(pair)) for pair in splits.near_pairs(pooled.x).tolist()}
    assert found == likely
    assert len(found) == 200  # 50 pairs, and 50 groups of three, which have three each
    assert pooled.groups.max() + 1 == 600


def test_no_group_is_on_both_sides(pooled):
    whole = pooled._replace(y=np.arange(len(pooled.x)))  # to see where an image goes
    data = splits.split(whole, b"secret", train=650, test=100)
    assert len(data.x_test) == 100
    assert len(data.x_train) == 650
    groups = [set(pooled.groups[side].tolist()) for side in (data.y_train, data.y_test)]
    assert not groups[0] & groups[1]
    np.testing.assert_array_equal(data.x_test, pooled.x[data.y_test])


def test_the_same_secret_gives_the_same_split_and_no_other_does(pooled):
    one, again, other = (
        splits.split(pooled, secret, 500, 100) for secret in (b"a", b"a", b"b")
    )
    np.testing.assert_array_equal(one.y_test, again.y_test)
    assert (one.x_test != other.x_test).any()


def test_the_held_out_workload_changes_every_class_and_every_pixel(pooled):
    data = splits.split(pooled, b"a", 500, 100)
    other = splits.held_out(data, b"a")
    np.testing.assert_array_equal(other.x_train, 255 - data.x_train)
    assert (other.y_train != data.y_train).all()
    assert len(set(zip(data.y_train.tolist(), other.y_train.tolist(), strict=True))) == 10
    assert len(set(other.y_test.tolist())) == len(set(data.y_test.tolist()))


def test_seeds_depend_on_the_submission_and_on_the_secret():
    code = splits.code_hash("def train(): ...")
    seeds = {
        splits.seed_of(secret, code, number)
        for secret in (b"a", b"b")
        for number in range(10)
    }
    assert len(seeds) == 20
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert splits.seed_of(b"a", code, 1) == splits.seed_of(b"a", code, 1)
