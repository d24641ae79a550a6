"""One trial of a fault on a whole system, which must be whole again afterwards."""

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from lab.mariadb import MariaDB
from tests.examples import DEEP, PROFILE
from tests.support.waiting import eventually
from tests.workers.agent.faults.probing import (
    INTERVAL,
    inserts_of,
    is_whole,
    longest_gap,
    longest_gap_of_return,
    probed,
)
from workers.agent.runtime.config import SystemConfig

EVERY = PROFILE == DEEP
FAULTS = ("switch", "kill_writer", "kill_reader", "stop_writer", "freeze_writer", "freeze_reader")
CHOSEN = FAULTS if EVERY else FAULTS[:1]
TWICE = ("first", "second")
SHOWN = ("detect", "promote", "client_recovered", "outage", "rejoin", "rejoin_outage", "acknowledged_missing")


def tried(
    system: SystemConfig,
    servers: Iterable[MariaDB],
    fault: str,
    folder: Path,
    *,
    duration: float,
    hold: float = 6,
) -> None:
    """The probe's own figures against its raw log. `hold`: s for which a node stays frozen."""
    eventually(lambda: is_whole(system), what=f"{system.slug} is whole before {fault}")
    folder.mkdir()
    asked = {"fault": fault, "fault_at": 1, "rejoin_timeout": 120}
    if fault.startswith("freeze"):
        asked["hold"] = hold
    lines, figures, tables = probed(system, servers, asked, folder=folder, duration=duration)
    assert len(set(tables)) == 1, "all nodes hold the same rows"
    (struck,) = (line["from"] for line in lines if line.get("event") == "fault")
    length, _ = longest_gap(inserts_of(lines), since=struck)
    # A planned switch may interrupt nothing.
    assert "failover.outage" in figures or fault == "switch"
    assert figures.get("failover.outage", length) == pytest.approx(length, abs=INTERVAL)
    if any(line.get("event") == "rejoin" for line in lines):
        assert figures["failover.rejoin_outage"] == pytest.approx(longest_gap_of_return(lines), abs=0.001)
    eventually(lambda: is_whole(system), what=f"{system.slug} is whole after {fault}")
    if EVERY:
        cells = [f"{figures[key]:.2f}" if (key := f"failover.{name}") in figures else "–" for name in SHOWN]
        sys.stdout.write(f"| {system.slug} | {fault} | {' | '.join(cells)} | {length:.2f} |\n")
