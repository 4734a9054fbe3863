"""Find the bug: the questions, and the verdict on what the probe saw."""

from itertools import combinations
from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.checks.judging.scripts import judge_hunt
from helpers.verdict import Wrong


def make_clusters(rng: Random) -> dict:
    """One worker, two, and more, each for some epochs."""
    cases = [
        [1, rng.randint(2, 3)],
        [2, rng.randint(2, 4)],
        [rng.randint(3, 5), 1],
        [rng.randint(6, 9), rng.randint(2, 3)],
    ]
    rng.shuffle(cases)
    return {"cases": cases}


def unseen(case: list[int], mistake: str) -> list[float]:
    """The share of images that nobody sees, if one makes this mistake."""
    workers, epochs = case
    missed = (1 - 1 / workers) ** workers  # in one epoch
    return [
        {
            "limit": 0.36787944117144233**epochs,
            "one_epoch": missed,
            "one_worker": 1 - 1 / workers,
            "seen": 1 - missed**epochs,
            "every_epoch": 1 - (1 - missed) ** epochs,
            "added": missed * epochs,
            "rank_0": (1 - 1 / workers) ** epochs,
            "percent": 100 * missed**epochs,
        }.get(mistake, missed**epochs)
    ]


UNSEEN = Formula(
    unseen,
    (
        "limit", "one_epoch", "one_worker", "seen", "every_epoch", "added", "rank_0",
        "percent",
    ),
    absolute=1e-9,
    arguments=(0, 1),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Clusters for which every usual mistake shows, each with sizes of its own."""
    question = UNSEEN.draw(rng, make_clusters)
    return question | {"sizes": [_sizes(rng, workers) for workers, _ in question["cases"]]}


def _sizes(rng, workers):
    return {
        "images": workers * rng.randint(24, 30) + rng.randint(0, workers - 1),
        "batch_size": rng.randint(5, 9),
        "seed": rng.randint(1, 1000),
    }


def judge(question: dict, observation: dict) -> Wrong | None:
    """Every image once an epoch, in new orders, with flips that differ; then the cost."""

    def unrepaired(case, result, i):
        (workers, epochs), sizes = case, question["sizes"][i]
        seen, per_worker = {}, []
        for rank, batches in enumerate(result["workers"]):
            flips = []
            for epoch, chosen, flip in batches:
                seen.setdefault(epoch, {}).setdefault(rank, []).extend(chosen)
                flips += flip
                if len(chosen) > sizes["batch_size"] or len(flip) != len(chosen):
                    return True
            per_worker.append(flips)
        return (
            sorted(seen) != [*range(epochs)]
            or not all(_each_once(seen[epoch], sizes["images"]) for epoch in seen)
            or any(seen[a][0] == seen[b][0] for a, b in combinations(seen, 2))
            or _alike_orders(result["other_seed"], result["workers"][0])
            or _alike_flips(per_worker)
            or max(len(rows) for rows in seen[0].values()) > -(-sizes["images"] // workers)
        )

    return judge_hunt(question, observation, unrepaired, UNSEEN)


def _each_once(by_rank, images):
    return sorted(n for rows in by_rank.values() for n in rows) == [*range(images)]


def _alike_orders(other, batches):
    """Whether another seed gives the same images in the same order, or not as many."""
    own = [n for _, chosen, _ in batches for n in chosen]
    return own == other or len(own) != len(other)


def _alike_flips(per_worker):
    """Whether two workers flip alike, or one flips all or nothing."""
    pairs = combinations(per_worker, 2)
    return any(one[:20] == other[:20] for one, other in pairs) or any(
        len(set(flips)) < 2 for flips in per_worker
    )
