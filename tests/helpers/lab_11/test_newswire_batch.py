"""The batches of lab 11 are pieces of newswires, with rare words replaced."""

from helpers.lab_11.memory.newswire_batch import draw

NEWSWIRES = [[1, 5, 900, 6], [1, 7, 8, 9, 10], [1, 11, 12]]


def test_each_sequence_is_a_piece_of_the_text_in_its_order():
    text = [number if number < 100 else 2 for one in NEWSWIRES for number in one]
    pieces = [text[begin : begin + 4] for begin in range(len(text) - 3)]
    batch = draw(NEWSWIRES, 200, 3, 100, 0)
    assert len(batch) == 200
    assert {tuple(one) for one in batch} == {tuple(one) for one in pieces}


def test_the_seed_decides_which_pieces_are_drawn():
    first, again, other = (draw(NEWSWIRES, 20, 3, 100, seed) for seed in (0, 0, 1))
    assert first == again != other
