"""What happens to the other tests if a worker of pytest-xdist dies.

TensorFlow sometimes ends its process without any reason that a test could help: it frees
an iterator after other tests were interrupted in its C++ code.
"""

from xdist.scheduler.loadgroup import LoadGroupScheduling


class Scheduling(LoadGroupScheduling):
    """Gives out again only what a dead worker has left to do.

    pytest-xdist 3.8 also gives out its groups that are done. Nothing of them is reported,
    so the workers wait for more, and the run never ends. And if two workers die at about
    the same time, a new one gets tests before it has read any: a KeyError (its issue 1362).
    """

    def __init__(self, config, log=None):
        super().__init__(config, log)
        self.crashed = set()

    def remove_node(self, node):
        work = self.assigned_work.pop(node)
        left = [(unit, test) for unit in work.values() for test in unit if not unit[test]]
        if not left:
            return None
        unit, crashed = left[0]
        if crashed in self.crashed:  # once more is enough
            unit[crashed] = True
        self.crashed.add(crashed)
        open_units = {scope: u for scope, u in work.items() if not all(u.values())}
        self.workqueue.update(open_units)
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node):
        if node in self.registered_collections:  # a new worker comes here when it is ready
            super()._reschedule(node)


class Crashes:
    """A test in which a worker died is run again, once."""

    def __init__(self):
        self.crashed = set()

    def pytest_xdist_make_scheduler(self, config, log):
        return Scheduling(config, log) if config.getoption("dist") == "loadgroup" else None

    def pytest_handlecrashitem(self, crashitem, report, sched):
        if crashitem not in self.crashed:
            self.crashed.add(crashitem)
            report.outcome = "skipped"
            reason = f"Skipped: {report.longrepr}; it is run again"
            report.longrepr = (report.nodeid.split("::")[0], 0, reason)
