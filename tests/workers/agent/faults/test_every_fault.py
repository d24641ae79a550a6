"""Every fault on every topology twice in a row: each trial finds the system whole and leaves it so.

The whole table, with that of test_on_group.py, takes forty minutes and is asked for by HYPOTHESIS_PROFILE=deep and
`-rP`, which shows its lines; what it found stands in docs/why/lab.md. Usually one planned switch is tried, in seconds.
"""

from pathlib import Path

import pytest

from lab.galera import Galera
from lab.mha import MHA
from tests.support.waiting import eventually
from tests.workers.agent.faults.trials import CHOSEN, EVERY, FAULTS, TWICE, tried
from tests.workers.agents import ConfigFile
from workers.agent.runtime import config as configuration

UNPLANNED = 45  # s of load for MHA's manager to conclude and promote


@pytest.mark.galera
@pytest.mark.parametrize("fault", CHOSEN)
def test_galera_is_whole_after_each_of_two_trials(
    fault: str, galera: Galera, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    system = configuration.load(config.file).systems["galera"]
    for trial in TWICE:
        tried(system, galera.servers.values(), fault, tmp_path / trial, duration=20 if EVERY else 5)


@pytest.mark.mha
@pytest.mark.parametrize(
    ("name", "fault"), [("mha", fault) for fault in CHOSEN] + [("semisync", fault) for fault in FAULTS if EVERY]
)
def test_mha_is_whole_after_each_of_two_trials(
    name: str, fault: str, lab_directory: Path, config: ConfigFile, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    mha: MHA = request.getfixturevalue(name)
    config.include(lab_directory)
    system = configuration.load(config.file).systems[mha.slug]
    for trial in TWICE:
        duration = UNPLANNED if fault.endswith("_writer") else 20 if EVERY else 5
        hold = 30 if fault == "freeze_writer" else 6
        tried(system, mha.servers.values(), fault, tmp_path / trial, duration=duration, hold=hold)
        eventually(mha.manager.is_watching, what="the manager watches again")
