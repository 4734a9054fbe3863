"""Verdicts on the messages of workers that form a ring: labs 09 and 11.

The exercise's words need the sentences `sent_to`, `long_message`, `sent`, `value_bytes`,
`value_type` and `too_few_values`, and the mistakes that are named here.
"""

from collections import Counter
from collections.abc import Sequence

from helpers.verdict import Wrong, wrong

FLOAT32_BYTES = 4


def wrong_messages(
    where: object, workers: int, values: int, messages: Sequence
) -> Wrong | None:
    """The first rule of a ring that the messages break.

    Parameters
    ----------
    where : phrase
        The case, for the sentence.
    workers, values : int
        How many workers there are, and how many values the array of each has.
    messages : list
        Each with its sender, its receiver, its values, its bytes and its dtype.
    """
    due, longest = 2 * (workers - 1), -(-values // workers)
    if found := outside_of_ring(workers, messages):
        sender, receiver = found
        return wrong("ring", "sent_to", where=where, sender=sender, receiver=receiver)
    most = max((size for _, _, size, *_ in messages), default=0)
    if most > longest:
        mistake = "whole" if most == values > workers else "even"
        return wrong(mistake, "long_message", where=where, values=most)
    by_sender = Counter(sender for sender, *_ in messages)
    for rank in range(workers):
        if by_sender[rank] != due:
            sent = by_sender[rank]
            return wrong("messages", "sent", where=where, worker=rank, sent=sent, due=due)
    if verdict := wrong_bytes(where, messages):
        return verdict
    sent = sum(size for _, _, size, *_ in messages)
    if sent < due * values:
        return wrong("form", "too_few_values", where=where, values=sent)
    return None


def outside_of_ring(workers: int, messages: Sequence) -> tuple[int, int] | None:
    """Sender and receiver of the first message to another worker than the next one."""
    for sender, receiver, *_ in messages:
        if receiver != (sender + 1) % workers:
            return sender, receiver
    return None


def wrong_bytes(where: object, messages: Sequence, below: bool = False) -> Wrong | None:
    """Values that are wider than float32, or narrower; `below`: only narrower ones."""
    for sender, _, size, bytes_, dtype in messages:
        each = bytes_ // max(size, 1)
        if size and (each < FLOAT32_BYTES if below else each != FLOAT32_BYTES):
            return wrong("bytes", "value_bytes", where=where, worker=sender, bytes=each)
        if size and dtype != "float32" and not below:
            return wrong("bytes", "value_type", where=where, worker=sender, dtype=dtype)
    return None
