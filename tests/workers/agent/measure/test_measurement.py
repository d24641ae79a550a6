"""One run of a real program beside a real server: what becomes of its files."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from apps.core import limits
from lab.mariadb import MariaDB
from tests.workers.agent.programs.started import system_of
from workers.agent.measure.clock import RunClock
from workers.agent.measure.measurement import RunMeasurement, ToolLoad
from workers.agent.measure.recorder import Recorder
from workers.agent.runtime import messages
from workers.agent.runtime.journal import Journal, JournalEntry
from workers.agent.runtime.spool import Spool
from workers.agent.runtime.stop import Stop, Stopped, StopSwitch
from workers.agent.tools import Invocation
from workers.agent.tools.machine import Cpu
from workers.protocol import wire

MESSAGE = wire.RunMessage(
    job=1, attempt=1, load_level=wire.LoadLevelMessage(threads=1), started_at="", warmup=0, duration=1
)
Measured = Callable[[str], tuple[Stop | None, list[str], wire.RunEndMessage]]


@pytest.fixture
def measured(mariadb: MariaDB, tmp_path: Path) -> Measured:
    """Measures a shell command; returns why it stopped, the kinds of the messages spooled, and the run's end."""

    def measure(command: str) -> tuple[Stop | None, list[str], wire.RunEndMessage]:
        entry, journal, output = JournalEntry(job=1, attempt=1, system="single"), Journal(tmp_path), tmp_path / "out"
        load = ToolLoad(Cpu(), Invocation(("sh", "-c", command), timeout=60), RunClock())
        with closing(Spool(tmp_path)) as spool:
            recorder = Recorder(
                spool=spool, journal=journal, entry=entry, run="r1", clock=load.clock, minimum_free=0, flush_interval=1
            )
            recorder.open(MESSAGE, artifact="cpu.txt", output=output)
            run = RunMeasurement(
                system=system_of(mariadb, "sb"),
                schema="",
                parameters={},
                load=load,
                recorder=recorder,
                output=output,
                switch=StopSwitch(),
                entry=entry,
                journal=journal,
            )
            stop = None
            try:
                run.perform()
            except Stopped as stopped:
                stop = stopped.stop
            sent = [spool.read(each) for each in list(spool._entries)]
        return stop, [each.kind for each in sent], wire.from_json(wire.RunEndMessage, sent[-1].body)

    return measure


@pytest.mark.mariadb
@pytest.mark.parametrize("after", ["", "; sleep 600"], ids=["at its end", "under way"])
def test_a_run_whose_output_the_server_would_not_take_fails_with_the_reason(
    after: str, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "MOST_BYTES", 1000)
    stop, kinds, end = measured(f"printf '%1000d\\n' 0{after}")
    assert stop is not None
    assert stop.reason.endswith(
        "has 1,001 bytes, and the server takes at most 1,000: give a shorter duration or a lower rate"
    )
    assert (stop.job, stop.is_permanent) == ("failed", True)
    assert (end.outcome, end.reason, end.artifacts) == ("failed", stop.reason, [])
    assert "artifact" not in kinds


def test_agent_and_server_agree_how_large_a_file_may_be() -> None:
    assert messages.MOST_BYTES == limits.ARTIFACT
