"""Find the bug: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.scripts import hunt
from helpers.lab_09.ex5_find_the_bug import script


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """The line, its repair and the cost in each case; the batches of all workers."""

    def run(repaired, i):
        sizes, (workers, epochs) = question["sizes"][i], question["cases"][i]

        def batches(rank, seed):
            shape = sizes["images"], epochs, sizes["batch_size"]
            made = repaired(rank, workers, *shape, seed)
            return [
                [int(epoch), [int(n) for n in chosen], [bool(f) for f in flip]]
                for epoch, chosen, flip in made
            ]

        seed = sizes["seed"]
        return {
            "workers": [batches(rank, seed) for rank in range(workers)],
            "other_seed": [n for _, chosen, _ in batches(0, seed + 1) for n in chosen],
        }

    return hunt(answer, question["cases"], script.batches_of, run)
