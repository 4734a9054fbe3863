"""Recorded answers to 99.1: wrong ones, and right ones in different styles."""

import itertools
import math

import numpy as np


def gives_nothing(images, batch_size):
    return 0


def leaves_the_rest_out(images, batch_size):
    return images // batch_size


def always_one_more(images, batch_size):
    return images // batch_size + 1


def counts_images(images, batch_size):
    return images


def takes_one_number(images):
    return images


def counts_by_hand(images, batch_size):
    return sum(1 for _ in range(0, images, batch_size))


def with_while(images, batch_size):
    steps = 0
    while images > 0:
        images -= batch_size
        steps += 1
    return steps


def with_if(images, batch_size):
    steps, rest = divmod(images, batch_size)
    return steps + 1 if rest else steps


def with_batches(images, batch_size):
    places = iter(range(images))
    return len(list(iter(lambda: list(itertools.islice(places, batch_size)), [])))


WRONG = [
    ("full", "start", gives_nothing),
    ("full", "other", counts_images),
    ("full", "raised", takes_one_number),
    ("rest", "dropped", leaves_the_rest_out),
    ("rest", "too_many", always_one_more),
]
RIGHT = [
    counts_by_hand,
    with_while,
    with_if,
    with_batches,
    lambda images, batch_size: -(-images // batch_size),
    lambda images, batch_size: (images + batch_size - 1) // batch_size,
    lambda images, batch_size: int(np.ceil(images / batch_size)),
    lambda images, batch_size: images // batch_size + (images % batch_size > 0),
    lambda images, batch_size: len(range(0, images, batch_size)),
    lambda images, batch_size: math.ceil(images / batch_size),
]
