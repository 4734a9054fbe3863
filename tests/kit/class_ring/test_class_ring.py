"""The class ring: laptops join by a code, links are measured, and one is pulled out."""

import io
import json
import queue
import re
import socket
import threading
import time
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from rich.console import Console

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.run_card.documents import cards_of, open_card
from kit.class_ring import (
    LINK_PORTS,
    PORT,
    command,
    frames,
    host,
    links,
    member,
    shown_name,
)
from kit.class_ring.link_law import Link
from kit.pool.pool import pool
from tests.room import LABS, Room, wait_for, why_no_namespaces

# One ring for all of them: in several workers each would start its own.
pytestmark = pytest.mark.xdist_group("class ring")

MEGABITS = 20
GARBAGE = r"""
import contextlib, socket, struct, sys
for sent in (b"\x80\x04\x95pickle" * 9, struct.pack("<4sI", b"SLJ1", 2**32 - 1)):
    address = sys.argv[1], int(sys.argv[2])
    # Who is refused with bytes unread gets a reset.
    with contextlib.suppress(OSError), socket.create_connection(address) as it:
        it.sendall(sent)
        while it.recv(4096):
            pass
"""


class Played:
    """What each program has printed, and the run card."""


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Three laptops, one with a slow link, one that dawdles; then two of them are gone."""
    if why := why_no_namespaces():
        pytest.skip(why)
    with pytest.MonkeyPatch.context() as patch, Room(4) as room:
        patch.setenv("LABS_RUNS_DIR", str(tmp_path_factory.mktemp("runs")))
        room.throttle(2, MEGABITS)
        started, code = room.host("--ring", 3)
        address, port = code.partition("@")[2].split(":")
        stranger = room.start(
            4, LABS, "launch", "09", "--join", f"AAAA-AAAA@{address}:{port}"
        )
        garbage = room.start(
            4, LABS.replace("labs", "python"), "-c", GARBAGE, address, port
        )
        # The slow one first: when the third is gone, its link stays as it is.
        laptops = [room.join(2, code)]
        wait_for(started, "has joined")
        laptops.append(room.join(1, code))
        for process in (stranger, garbage):
            process.wait(60)
        wait_for(started, "has joined.*has joined")
        time.sleep(2)  # the third is slow, and the others wait for it
        early = started.said.read_text()
        laptops.append(room.join(3, code))
        wait_for(started, "Round 3:")
        room.pull_out(3)
        wait_for(started, "around 2 laptops")
        laptops[1].kill()
        started.wait(60)
        laptops[0].wait(60)
        played = Played()
        played.early, played.host = early, started.said.read_text()
        played.stranger, played.laptop = (
            stranger.said.read_text(),
            laptops[0].said.read_text(),
        )
        [played.card] = cards_of(command.LAB)
        yield played


def test_a_wrong_code_is_refused_on_both_sides(played):
    assert "Refused 10.77.0.5: the join code is wrong." in played.host
    assert played.stranger.rstrip().endswith(
        "labs: the join code is wrong: compare it with the one that the host shows."
    )
    assert played.host.count("has joined") == 3


def test_garbage_and_an_oversized_header_are_refused(played):
    assert played.host.count("Refused 10.77.0.5: a message of at most 512 bytes") == 2


def test_the_ring_waits_for_a_slow_laptop(played):
    assert "Mbit/s" not in played.early
    assert "Round 1: 4 kB around 3 laptops" in played.host


def test_the_pooled_page_recovers_the_slow_link(played, tmp_path):
    given = tmp_path / "ring.json"
    given.write_text(json.dumps(played.card))
    pooled = pool([given], tmp_path / "out")
    [ring] = json.loads((tmp_path / "out" / "pool.json").read_text())["rings"]
    rates = [link["measured"]["megabits_per_second"] for link in ring["links"]]
    slow = min(rates)
    assert slow == pytest.approx(MEGABITS, rel=0.2)
    assert sorted(rates)[1] > 5 * MEGABITS
    assert f"<td>{slow:.3g}</td>" in pooled.page.read_text()


def test_the_slow_link_limits_the_forecast_and_the_ring(played):
    """4 MB around three laptops take 2.1 s at 20 Mbit/s, and no less."""
    [large] = [one for one in played.card["measurements"]["rounds"] if one["bytes"] == 4e6][
        :1
    ]
    assert large["forecast_seconds"] == pytest.approx(4 * 4e6 / 3 / 2.5e6, rel=0.2)
    # Other work makes a round slower, and nothing makes it faster.
    assert large["seconds"] > 0.8 * large["forecast_seconds"]


def test_the_ring_says_who_is_missing_and_closes_the_gap(played):
    missing = [one["name"] for one in played.card["measurements"]["missing"]]
    assert len(missing) == 2
    assert re.search(rf"{missing[0]} is missing in round \d+\.", played.host)
    assert "around 2 laptops" in played.host.partition("is missing")[2]
    assert "the ring closes the gap" in played.laptop


@pytest.mark.parametrize(
    "order", [{"do": "measure"}, {"do": "answer"}, {"do": "reduce", "values": 9, "own": 1}]
)
def test_an_order_after_the_links_were_closed_is_answered_as_failed(order):
    """Another thread closes them when a laptop is missing, at any moment."""
    ours, orders, said = links.Links(b"key", b"salt"), queue.Queue(), []
    ours._rank, ours._workers = 0, 2
    for one in (order | {"number": 1}, {"do": "end", "text": "It ends."}):
        orders.put(one)
    member._serve(orders, ours, said.append, said.append)
    failed = {"failed": "the links of this ring have been closed", "number": 1}
    assert said == [failed, "It ends."]


def test_the_ring_ends_with_one_line_when_one_laptop_is_left(played):
    assert "laptops in" not in played.host.rpartition("is missing")[2]
    assert "1 laptop is left. Kept in" in played.host.splitlines()[-1]
    said = played.host + played.laptop
    assert "Traceback" not in said, said
    assert played.laptop.rstrip().endswith("1 laptop is left.")
    assert played.card["finished"]


def test_predictions_are_locked_before_the_first_link_is_measured(played):
    entries = played.card["predictions"].values()
    assert [entry["value"]["megabits_per_second"] for entry in entries] == [100] * 3
    locked = [entry["locked_unix_seconds"] for entry in entries]
    assert max(locked) - min(locked) < 0.5  # not one after the other, with the outcomes
    assert all(entry["unix_seconds"] <= entry["locked_unix_seconds"] for entry in entries)
    assert all(entry["outcome"] for entry in entries)


# On one machine, in threads.


@pytest.fixture
def room():
    """A host that waits at any free port, its record, and the lines that it shows."""
    made = host.Room({}, port=0)
    card = open_card(command.LAB, {"session": "1"}, {"device": {"name": "test"}})
    lines = []
    with host.Record(card, Console(quiet=True), made.joining) as record:
        record.show = lines.append
        made.open(lines.append)
        yield made, record, lines
        made.end("the end")


def joined(room, replies=("1", "100")):
    """A laptop in a thread, and the lines that it shows."""
    lines, replies = [], iter(replies)
    text = room.joining.split()[-1]
    thread = threading.Thread(
        target=member.join, args=(text, lambda question: next(replies), lines.append)
    )
    thread.start()
    return thread, lines


def test_a_ring_of_three_threads_is_summed_right_to_its_end(room):
    made, record, _ = room
    laptops = [
        joined(made, replies) for replies in (["1", "100"], ["", "fast"], ["-1", "0"])
    ]
    ended = host.run_ring(made, record, 3, rounds=3, pause=0)
    assert ended == "All 3 rounds are done, with 3 laptops at the end."
    made.end(ended)
    for thread, shown in laptops:
        thread.join(10)
        assert shown[-1] == ended
    [card] = cards_of(command.LAB)
    assert [one["bytes"] for one in card["measurements"]["rounds"]] == [4e3, 4e5, 4e6]
    guesses = [entry["value"] for entry in card["predictions"].values()]
    guesses.remove({"latency_milliseconds": 1, "megabits_per_second": 100})
    assert guesses == [None, None]  # what is skipped or impossible is no prediction


def test_a_wrong_sum_is_named(room, monkeypatch):
    made, record, _ = room
    right = links.Links.all_reduce
    monkeypatch.setattr(links.Links, "all_reduce", lambda self, a: right(self, a) + 1)
    laptops = [joined(made)[0] for _ in range(2)]
    with pytest.raises(LabError, match="has another sum than 3"):
        host.run_ring(made, record, 2, rounds=1, pause=0)
    made.end("")
    for thread in laptops:
        thread.join(10)


def test_a_laptop_that_comes_too_late_is_told(room):
    made, _, lines = room
    made.close()
    thread, shown = joined(made)
    thread.join(20)
    assert shown[-1] == "The ring has started without you."
    until = time.monotonic() + 20
    while "the ring has started" not in lines[-1]:  # the host says so a moment later
        assert time.monotonic() < until, lines
        time.sleep(0.01)


@pytest.mark.parametrize(
    "hello",
    [
        {},
        {"port": True, "guess": {}},
        {"port": 2**16, "guess": {}},
        {"port": 5, "guess": 1},
    ],
)
def test_a_newcomer_that_says_something_else_is_refused(hello):
    with pytest.raises(frames.FrameError):
        host._hello(hello)


def test_a_name_is_shown_on_one_line_without_controls():
    assert shown_name("\x1b[31mred\n\ud800") == "[31mred"
    assert shown_name("x" * 999) == "x" * 24
    assert shown_name({"\n": 1}) == "{'\\n': 1}"
    assert shown_name("\n") == "laptop"


def test_only_hosts_of_the_file_may_join(tmp_path):
    file = tmp_path / "room.txt"
    file.write_text("# the front row\n127.0.0.1\n192.0.2.7  # window\n")
    allowed = host.hosts_in(file)
    assert list(allowed) == ["127.0.0.1", "192.0.2.7"]
    lines = queue.Queue()
    other = host.Room({"192.0.2.7": "window", "192.0.2.8": "door"}, port=0)
    other.open(lines.put)
    with socket.create_connection(("127.0.0.1", other.address[1])) as stranger:
        assert stranger.recv(100) == b""
    assert "not in the file of hosts" in lines.get(timeout=10)
    other.end("")


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "has 0 hosts"), ("127.0.0.1", "has 1 hosts"), ("a b\n", "no host")],
)
def test_a_file_without_hosts_is_named(tmp_path, text, why):
    file = tmp_path / "room.txt"
    file.write_text(text)
    with pytest.raises(LabError, match=why):
        host.hosts_in(file)


def test_the_table_on_a_terminal_has_what_was_predicted_measured_and_missing():
    card = open_card(command.LAB, {"session": "1"}, {"device": {"name": "test"}})
    screen = Console(force_terminal=True, width=110, file=io.StringIO())
    with host.Record(card, screen, "Join with: a code") as record:
        record.joined("ada[red]", {"latency_milliseconds": 1, "megabits_per_second": 50})
        record.joined("bob", {})
        record.lock()
        record.link("ada[red]", "bob", [(64, 0.004)], Link(0.002, 2.5e6))
        record.round(1, 2, 4_000_000, 1.2, 1.3)
        record.missing("bob", "in round 2")
    last = screen.file.getvalue().rpartition("Join with: a code")[2]
    rows = [re.split(r"\s*│\s*", line)[1:-1] for line in last.splitlines() if "│" in line]
    assert rows == [
        ["ada[red]", "bob", "1 ms", "2 ms", "50", "20"],
        ["bob", "missing", "-", "", "-", ""],
        ["1", "4 MB", "2", "1.2 s", "1.3 s"],
    ]


def test_laptops_listen_where_a_firewall_lets_them():
    several = [links.Links(b"key", b"salt") for _ in range(2)]
    ports = [one.port for one in several]
    assert set(ports) <= set(LINK_PORTS)
    assert len(set(ports)) == 2
    page = (REPOSITORY / "docs" / "teaching" / "class-ring.md").read_text(encoding="utf-8")
    said = [
        int(port) for port in re.findall(r"\b29\d{3}\b", page.partition("firewalls")[2])
    ]
    assert said == [PORT, LINK_PORTS[0], LINK_PORTS[-1]]


class Named(NamedTuple):
    """As much of a member as `form` needs."""

    name: str
    address: tuple = ()


def test_a_link_that_cannot_be_made_is_named_with_the_order_of_the_laptops():
    def ask(orders):
        raise LabError("vm #2: the laptop before did not connect.")

    members = [Named(f"vm #{n}") for n in (3, 1, 2)]
    with pytest.raises(LabError) as error:
        host.form(SimpleNamespace(members=members, ask=ask), 1)
    assert str(error.value).endswith("The ring is vm #3 → vm #1 → vm #2 → vm #3.")
