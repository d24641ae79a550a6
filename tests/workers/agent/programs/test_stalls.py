"""Stalls over real seconds: a million rows altered under 120 transactions/s on MariaDB, at second 8."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from apps.runs.tool_output.parsers import sysbench
from tests.paths import RECORDINGS
from workers.agent.programs import schema_changes, stalls
from workers.agent.programs.bystanders import OtherWriters
from workers.agent.programs.load import Load
from workers.agent.programs.order import Order
from workers.agent.programs.schema_changes import Done
from workers.agent.programs.stalls import LoadInterval, Stall
from workers.protocol.workloads.schema_changes import SETTLE

DDL_RECORDINGS = RECORDINGS / "ddl"
START = 8.0
# By the statements' own clock.
TOOK = {"copy": 6.30, "inplace_rebuild": 4.15, "instant": 0.06}


def seconds(recording: str) -> list[LoadInterval]:
    parsed = sysbench.parse((DDL_RECORDINGS / f"{recording}.sysbench.txt").read_bytes())
    return [LoadInterval(float(each.second), 1.0, each.values["throughput"] or 0.0) for each in parsed.intervals]


def stall_of(recording: str, *, share: float = 50) -> Stall:
    found = seconds(recording)
    base = stalls.baseline(found, since=0, until=START)
    assert base is not None
    assert base == pytest.approx(122, abs=10)
    until = START + TOOK[recording] + SETTLE
    return stalls.stall(found, base=base, spans=[(START, until)], share=share)


def test_a_copy_stops_everything_for_as_long_as_it_takes() -> None:
    assert stall_of("copy") == Stall(length=6.0, depth=100.0)


def test_an_alter_in_place_lets_through_what_it_can() -> None:
    found = stall_of("inplace_rebuild")
    assert found.length == pytest.approx(1.0, abs=1.0)
    assert found.depth == pytest.approx(89, abs=3)


def test_an_instant_alter_is_lost_in_the_load_s_own_unsteadiness() -> None:
    found = seconds("instant")
    base = stalls.baseline(found, since=0, until=START)
    assert base is not None
    before = stalls.stall(found, base=base, spans=[(0, START)], share=50)
    after = stall_of("instant")
    assert after.length == before.length == 0
    assert after.depth < before.depth + 10


def test_the_catch_up_after_a_stall_is_none() -> None:
    found = [LoadInterval(float(t), 1.0, rate) for t, rate in enumerate([100, 100, 100, 0, 200, 100], start=1)]
    assert stalls.stall(found, base=100, spans=[(3.0, 6.0)], share=50) == Stall(1.0, 100.0)


def test_a_second_that_two_statements_share_is_stalled_once(capsys: pytest.CaptureFixture[str]) -> None:
    rates = [100, 100, 100, 0, 0, 0, 100]
    load = SimpleNamespace(
        intervals=[LoadInterval(float(t), 1.0, rate) for t, rate in enumerate(rates, start=1)],
        now=lambda: 7.0,
        transaction_ends=list,
    )
    others = SimpleNamespace(ends=list, failed=lambda **_: 0)
    order = Order(Path(), {"stall_share": 50, "algorithm": "copy", "lock": "default"}, 1, 100, 0, 7)
    done = [Done("ALTER", 3.0, 4.4), Done("ALTER", 4.6, 6.0)]
    schema_changes._report(order, cast(Load, load), done, cast(OtherWriters, others), {"values": {}}, outlived=False)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    each = [line["detail"]["stall_length"] for line in lines if line.get("event") == "ddl"]
    (total,) = (line["values"] for line in lines if line["kind"] == "total")
    assert each == [2.0, 2.0]
    assert (total["ddl.stall.length"], total["ddl.stall.depth"]) == (3.0, 100.0)


def test_two_seconds_are_too_few_for_a_baseline() -> None:
    found = [LoadInterval(float(t), 1.0, 100) for t in range(1, 6)]
    assert stalls.baseline(found, since=0, until=2.9) is None
    assert stalls.baseline(found, since=0, until=3.0) == 100
    # The second in which the warm-up ends is no whole one.
    assert stalls.baseline(found, since=1.5, until=4.0) is None


def test_a_load_that_comes_at_random_is_not_blamed_for_chance() -> None:
    found = [LoadInterval(float(t), 1.0, rate) for t, rate in enumerate([44, 34, 33, 34], start=1)]
    assert stalls.is_served(found, rate=40, since=0, until=4)
    # As far below a higher rate, or for longer, it is no chance.
    behind = [LoadInterval(float(t), 1.0, 320) for t in range(1, 5)]
    assert not stalls.is_served(behind, rate=400, since=0, until=4)
    assert not stalls.is_served([], rate=40, since=0, until=4)


@pytest.mark.parametrize(
    ("ends", "gap"),
    [
        ([1.0, 1.1, 1.2, 3.0, 3.1], 1.8),
        ([1.0, 1.1], 2.9),  # still open
        ([], 3.0),
    ],
)
def test_the_longest_gap_counts_also_while_it_is_open(ends: list[float], gap: float) -> None:
    assert stalls.longest_gap(ends, since=1.0, until=4.0) == pytest.approx(gap)


def test_a_stop_shorter_than_a_second_shows_as_a_gap() -> None:
    """In whole seconds the catch-up hides it."""
    ends = [*(t / 100 for t in range(420)), *(5 + t / 100 for t in range(200))]
    assert stalls.longest_gap(ends, since=4.0, until=6.0) == pytest.approx(0.81, abs=0.02)
