"""Exercise 11.3 in a grader's box: one worker, to which the grader is the network."""

from collections.abc import Callable

from helpers.checks.probing.copies import by_copies
from helpers.lab_11.ex3_sharded_step.probe import Worker
from helpers.workers.array_message import unpacked
from helpers.workers.boxed_worker import Stopped, cases_of, channels


@by_copies
def probe(copy: Callable, question: dict, wait: Callable) -> dict:
    """Be the worker of a rank in one step after the other, until there is no other."""
    rank, teams, reports = question["rank"], {}, []
    for case in cases_of(wait):
        workers = case["workers"]
        if workers not in teams:
            teams[workers] = Worker(copy(), rank)
        given = case["training"], case["rate"], unpacked(case["weights"])
        ring = workers, *channels(rank, workers, wait)
        try:
            reports.append(teams[workers].step(*given, unpacked(case["gradient"]), *ring))
        except Stopped:
            reports.append({})
    changed = next((one.changed for one in teams.values() if one.changed), "")
    stay = all(one.results_stay() for one in teams.values())
    return {"reports": reports, "changed": changed, "results_stay": stay}
