"""Writes end while a disk is nearly full, and begin again when there is clearly more room."""

from pathlib import Path
from typing import Any

import pytest

from apps.core.server import space
from apps.core.server.space import SpaceGate

MB = 1024**2


@pytest.fixture
def free(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> dict[Path, int]:
    """Room of each folder, bytes; others are missing."""
    settings.VAR_DIR, settings.LEAST_FREE_BYTES = tmp_path / "var", 100 * MB
    settings.DISKS = [settings.VAR_DIR / "postgres", settings.VAR_DIR / "artifacts", tmp_path / "elsewhere"]
    room = {settings.DISKS[0]: 200 * MB, settings.DISKS[1]: 200 * MB}

    def free_bytes(folder: Path) -> int:
        if folder not in room:
            raise FileNotFoundError(folder)
        return room[folder]

    monkeypatch.setattr(space, "free_bytes", free_bytes)
    return room


def test_it_closes_below_the_limit_and_opens_clearly_above(free: dict[Path, int]) -> None:
    gate, (database, artifacts) = SpaceGate(), list(free)
    states = []
    for megabytes in (100, 99, 100, 124, 125, 100, 99):
        free[artifacts] = megabytes * MB
        states.append(gate.shortage() is None)
    assert states == [True, False, False, False, True, True, False]
    shortage = gate.shortage()
    assert shortage is not None
    assert (
        shortage.sentence().replace("\u00a0", " ")
        == "var/artifacts has 99.0 MiB free and needs 125 MiB: free some space there"
    )
    free[database] = 0
    shortage = gate.shortage()
    assert shortage is not None
    assert shortage.folder == "var/postgres"


def test_without_a_limit_only_a_full_disk_counts(free: dict[Path, int], settings: Any) -> None:
    settings.LEAST_FREE_BYTES = 0
    free.update(dict.fromkeys(free, 0))
    assert SpaceGate().shortage() is None


def test_a_write_that_failed_ends_the_others_for_a_while(free: dict[Path, int]) -> None:
    now = 1000.0
    gate = SpaceGate(clock=lambda: now)
    gate.note_failure()
    assert gate.shortage() == space.Shortage()
    now += space.FAILED_FOR
    assert gate.shortage() is None
