"""Answers to lab 99 that must fail, each with its hint, and unusual ones that must pass."""


def leaves_the_rest_out(images, batch_size):
    return images // batch_size


def always_one_more(images, batch_size):
    return images // batch_size + 1


def counts_images(images, batch_size):
    return images


def divides(images, batch_size):
    return images / batch_size


def takes_one_number(images):
    return images


def counts_by_hand(images, batch_size):
    return sum(1 for _ in range(0, images, batch_size))


WRONG = {
    "99.1": [
        ("dropped", leaves_the_rest_out),
        ("too_many", always_one_more),
        ("other", counts_images),
        ("other", divides),
        ("raised", takes_one_number),
    ],
}
UNUSUAL = {"99.1": [counts_by_hand, lambda images, batch_size: -(-images // batch_size)]}
