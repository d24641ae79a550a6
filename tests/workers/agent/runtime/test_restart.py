"""A restart counts once the server has been seen to start anew. Real servers: tests/workers/agent/test_restart.py."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from workers.agent.measure import database
from workers.agent.runtime import config as configuration
from workers.agent.runtime import restart
from workers.agent.runtime.config import SystemConfig
from workers.agent.runtime.stop import CANCELLED, Stopped, StopSwitch

FILE = """
[server]
url = "http://127.0.0.1:1"
token_file = "token"
[[systems]]
slug = "a"
platform = "mariadb"
hardware_class = "box"
port = 1
user = "x"
[systems.controls]
"""


def a_system(folder: Path, command: str) -> SystemConfig:
    (folder / "token").write_text("x")
    file = folder / "agent.toml"
    file.write_text(f"{FILE}restart = {command}\n")
    return configuration.load(file).systems["a"]


def answering(monkeypatch: pytest.MonkeyPatch, uptimes: Sequence[int | None]) -> None:
    """In turn; the last for good. None: no answer."""
    left = list(uptimes)

    def status(system: SystemConfig) -> dict[str, int]:
        uptime = left.pop(0) if len(left) > 1 else left[0]
        if uptime is None:
            raise database.DatabaseFailed("connection refused")
        return {"Uptime": uptime}

    monkeypatch.setattr(database, "status", status)
    monkeypatch.setattr(restart, "PAUSE", 0.001)


def test_a_command_that_returns_at_once_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, [5000, None, None, 1])
    assert restart.start_anew(a_system(tmp_path, '["true"]'), StopSwitch()) < 60


@pytest.mark.parametrize(
    ("limit", "uptime", "reason"),
    [("BEGINS_WITHIN", 5000, "has run for 5000 s: it was not started anew"), ("TIMEOUT", None, "connection refused")],
)
def test_a_server_that_does_not_start_anew_fails_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, uptime: int | None, reason: str
) -> None:
    answering(monkeypatch, [uptime])
    monkeypatch.setattr(restart, "_run", lambda *_: None)
    monkeypatch.setattr(restart, limit, 0.01)
    with pytest.raises(Stopped, match=reason) as stopped:
        restart.start_anew(a_system(tmp_path, '["true"]'), StopSwitch())
    assert stopped.value.stop.job == "failed"


def test_a_cancelled_job_leaves_no_half_of_a_restart(tmp_path: Path) -> None:
    switch = StopSwitch()
    switch.ask(CANCELLED)
    with pytest.raises(Stopped, match="cancelled"):
        restart.start_anew(a_system(tmp_path, f'["sh", "-c", "sleep 0.3; touch {tmp_path}/up"]'), switch)
    assert (tmp_path / "up").exists()
