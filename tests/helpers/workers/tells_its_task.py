"""A worker that replies with the task that it got."""

import os
import sys
from pathlib import Path

from helpers.workers import own_task

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    asked, functions, addresses, rank = own_task.read(folder)
    files = sorted(path.name for path in folder.iterdir() if path.suffix == ".json")
    if asked["fails"] == rank:
        sys.exit("this worker fails")
    result = functions["add"](rank, asked["number"])
    told = [result, len(addresses), os.environ.get("OF_THIS_TEST"), "old.json" in files]
    own_task.reply(folder, rank, told)
