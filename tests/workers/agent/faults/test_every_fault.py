"""Every fault on every topology twice in a row: each trial finds the system whole and leaves it so.

The whole table takes twenty minutes and is asked for by HYPOTHESIS_PROFILE=deep and `-rP`, which shows its lines; what
it found stands in docs/why/lab.md. Usually one planned switch on each topology is tried, in seconds.
"""

import sys
from pathlib import Path

import pytest

from lab.galera import Galera
from lab.mha import MHA
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
from tests.workers.agents import ConfigFile
from workers.agent.runtime import config as configuration
from workers.agent.runtime.config import SystemConfig

EVERY = PROFILE == DEEP
FAULTS = ("switch", "kill_writer", "kill_reader", "stop_writer", "freeze_writer", "freeze_reader")
UNPLANNED = 45  # s of load for MHA's manager to conclude and promote


@pytest.mark.galera
@pytest.mark.parametrize("fault", FAULTS if EVERY else FAULTS[:1])
def test_galera_is_whole_after_each_of_two_trials(
    fault: str, galera: Galera, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    system = configuration.load(config.file).systems["galera"]
    for trial in ("first", "second"):
        tried(system, list(galera.servers.values()), fault, tmp_path / trial, duration=20 if EVERY else 5)


@pytest.mark.mha
@pytest.mark.parametrize("fault", FAULTS if EVERY else FAULTS[:1])
def test_mha_is_whole_after_each_of_two_trials(
    fault: str, mha: MHA, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    system = configuration.load(config.file).systems["mha"]
    for trial in ("first", "second"):
        duration = UNPLANNED if fault.endswith("_writer") else 20 if EVERY else 5
        tried(system, list(mha.servers.values()), fault, tmp_path / trial, duration=duration)
        eventually(mha.manager.is_watching, what="the manager watches again")


def tried(system: SystemConfig, servers: list[object], fault: str, folder: Path, *, duration: float) -> None:
    """One trial; the probe's own figures against its raw log."""
    eventually(lambda: is_whole(system), what=f"{system.slug} is whole before {fault}")
    folder.mkdir()
    asked = {"fault": fault, "fault_at": 1, "rejoin_timeout": 120}
    if fault.startswith("freeze"):
        asked["hold"] = 30 if system.slug == "mha" and fault == "freeze_writer" else 6
    lines, figures, tables = probed(system, servers, asked, folder=folder, duration=duration)  # type: ignore[arg-type]
    assert len(set(tables)) == 1, "all nodes hold the same rows"
    length, _ = longest_gap(inserts_of(lines))
    assert figures.get("failover.outage", length) == pytest.approx(length, abs=INTERVAL)
    if any(line.get("event") == "rejoin" for line in lines) and not fault.startswith("freeze"):
        assert figures["failover.rejoin_outage"] == pytest.approx(longest_gap_of_return(lines), abs=0.001)
    eventually(lambda: is_whole(system), what=f"{system.slug} is whole after {fault}")
    if EVERY:
        shown = ("detect", "promote", "client_recovered", "outage", "rejoin", "rejoin_outage", "acknowledged_missing")
        cells = [f"{figures[key]:.2f}" if (key := f"failover.{name}") in figures else "–" for name in shown]
        sys.stdout.write(f"| {system.slug} | {fault} | {' | '.join(cells)} | {length:.2f} |\n")
