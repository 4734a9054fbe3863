"""The board in one SQLite file: entries, the log of every seed, and the board's secret.

Each change is one transaction, so that a killed writer leaves nothing half done, and two
writers wait for each other.
"""

import contextlib
import json
import os
import secrets
import sqlite3
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.plain_json import as_json
from helpers.speed_record.splits import code_hash

VERSION = 1
BUSY_SECONDS = 60  # that a writer waits for another one
TABLES = """
create table entry (
    number integer primary key,
    hash text not null,
    settings text not null,  -- JSON: target, seeds, images, warm
    code text not null,
    about text not null,  -- JSON: what the submission says of itself
    machine text not null,  -- JSON
    added text not null,
    state text not null,  -- judging, record, entry, refused or trial
    reason text not null,
    result text not null,  -- JSON
    unique (hash, settings)
);
create table run (
    entry integer not null references entry (number),
    kind text not null,  -- judged, held out, public, own or holder
    place integer not null,
    log text not null,  -- JSON
    primary key (entry, kind, place)
);
create table verification (
    number integer primary key,
    added text not null,
    result text not null  -- JSON
);
create table meta (name text primary key, value text not null);
"""


def board_file() -> Path:
    """Where the board is: ``LABS_BOARD``, else ``leaderboard.sqlite`` of the repository."""
    return Path(os.environ.get("LABS_BOARD") or REPOSITORY / "leaderboard.sqlite")


class Store:
    """An open board.

    Parameters
    ----------
    path : Path
        The file, which is made if there is none. Only its owner may read it, because it
        holds the secret.
    secret : bytes, optional
        That of another board, for a new one that judges a part of its entries.
    """

    def __init__(self, path: Path, secret: bytes | None = None) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        # Transactions are begun by hand: see `_writing`.
        self._file = sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None)
        try:
            self._prepare(secret or secrets.token_bytes(32))
        except sqlite3.DatabaseError as error:
            self._file.close()
            raise LabError(
                f"{self.path} is not a leaderboard ({error}): name another file in "
                "LABS_BOARD."
            ) from error

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _prepare(self, secret):
        self._file.execute("pragma synchronous = full")
        with self._writing():
            [(version,)] = self._file.execute("pragma user_version")
            if version == 0:
                for statement in TABLES.split(";\n"):
                    self._file.execute(statement)
                self._file.execute("insert into meta values ('secret', ?)", [secret.hex()])
                self._file.execute(f"pragma user_version = {VERSION}")
            elif version != VERSION:
                raise sqlite3.DatabaseError(f"its version is {version}, not {VERSION}")

    @contextlib.contextmanager
    def _writing(self) -> Generator[None]:
        self._file.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._file.execute("rollback")
            raise
        self._file.execute("commit")

    @property
    def secret(self) -> bytes:
        """By which splits and seeds are drawn; no page shows it."""
        [(value,)] = self._file.execute("select value from meta where name = 'secret'")
        return bytes.fromhex(value)

    def begin(self, code: str, settings: dict, about: dict, machine: dict) -> int:
        """The number of a submission's entry, which is made unless there is one.

        Parameters
        ----------
        code : str
            The whole file.
        settings : dict
            The same code with other settings is another entry.
        about, machine : dict
        """
        key = [code_hash(code), as_json(settings, sort_keys=True)]
        with self._writing():
            self._file.execute(
                "insert or ignore into entry (hash, settings, code, about, machine, added,"
                " state, reason, result) values (?, ?, ?, ?, ?, ?, 'judging', '', '{}')",
                [*key, code, as_json(about), as_json(machine), _now()],
            )
        [(number,)] = self._file.execute(
            "select number from entry where hash = ? and settings = ?", key
        )
        return number

    def log(self, entry: int, kind: str, place: int, log: dict) -> None:
        """Keep the log of one run; one that is there is not replaced."""
        with self._writing():
            self._file.execute(
                "insert or ignore into run values (?, ?, ?, ?)",
                [entry, kind, place, as_json(log)],
            )

    def decide(self, entry: int, state: str, reason: str, result: dict) -> None:
        """Keep the verdict on an entry."""
        with self._writing():
            self._file.execute(
                "update entry set state = ?, reason = ?, result = ? where number = ?",
                [state, reason, as_json(result), entry],
            )

    def forget(self, entry: int) -> None:
        """Delete an entry's runs and its verdict; its seeds will be the same."""
        with self._writing():
            self._file.execute("delete from run where entry = ?", [entry])
            self._file.execute(
                "update entry set state = 'judging', reason = '', result = '{}'"
                " where number = ?",
                [entry],
            )

    def forget_pairs(self, entry: int) -> None:
        """Delete an entry's runs beside a holder; the others stay."""
        with self._writing():
            self._file.execute(
                "delete from run where entry = ? and kind in ('own', 'holder')", [entry]
            )

    def verified(self, result: dict) -> None:
        """Keep the result of judging again."""
        with self._writing():
            self._file.execute(
                "insert into verification (added, result) values (?, ?)",
                [_now(), as_json(result)],
            )

    def entries(self) -> list[dict[str, Any]]:
        """All entries in the order of their numbers, each with its `runs`."""
        rows = self._rows("select * from entry order by number")
        return [row | {"runs": self.runs(row["number"])} for row in rows]

    def entry(self, number: int) -> dict[str, Any]:
        """One entry with its `runs`."""
        [row] = self._rows("select * from entry where number = ?", [number])
        return row | {"runs": self.runs(number)}

    def runs(self, entry: int) -> list[dict[str, Any]]:
        """The logs of an entry's runs, each with its `kind` and `place`."""
        return self._rows(
            "select kind, place, log from run where entry = ? order by kind, place", [entry]
        )

    def verifications(self) -> list[dict[str, Any]]:
        """What judging again has found, the last one first."""
        return self._rows("select added, result from verification order by number desc")

    def _rows(self, query, values=()):
        found = self._file.execute(query, values)
        names = [column[0] for column in found.description]
        return [
            {
                name: json.loads(value)
                if name in ("settings", "about", "machine", "result", "log")
                else value
                for name, value in zip(names, row, strict=True)
            }
            for row in found
        ]


def _now():
    return datetime.now(UTC).isoformat(timespec="seconds")
