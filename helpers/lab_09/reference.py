"""The solutions in labs/09_many_machines.py, written by `labs build`: edit there."""

import math


# Solution 9.1: count the steps of an epoch, a smaller last batch included.
def steps_per_epoch(images, batch_size):
    """Steps of an epoch that trains on every image once."""
    return math.ceil(images / batch_size)




REFERENCES = {
    "9.1": steps_per_epoch,
}
