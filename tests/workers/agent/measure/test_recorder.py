import gzip
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from apps.runs.samples.batches import decode
from workers.agent.measure.clock import RunClock
from workers.agent.measure.recorder import BATCH_LIMIT, Recorder
from workers.agent.runtime.journal import Journal, JournalEntry
from workers.agent.runtime.spool import Spool
from workers.protocol import wire

MESSAGE = wire.RunMessage(
    job=1, attempt=1, load_level=wire.LoadLevelMessage(threads=1), started_at="", warmup=0, duration=1
)


class Recorded:
    def __init__(self, directory: Path, *, minimum_free: int = 0, flush_interval: float = 60) -> None:
        self.spool = Spool(directory)
        self.journal = Journal(directory)
        self.clock = RunClock()
        self.recorder = Recorder(
            spool=self.spool,
            journal=self.journal,
            entry=JournalEntry(job=1, attempt=1, system="single"),
            run="r1",
            clock=self.clock,
            minimum_free=minimum_free,
            flush_interval=flush_interval,
        )
        self.recorder.open(MESSAGE, artifact="sysbench.txt", output=directory / "output")

    def spooled(self) -> list[tuple[str, bytes]]:
        """Kind and body of what waits, in order."""
        found = []
        for file in sorted(self.spool.queue.iterdir()):
            message = self.spool.read(next(entry for entry in self.spool._entries if entry.file == file))
            found.append((message.kind, message.body))
        return found


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Recorded]:
    subject = Recorded(tmp_path)
    with closing(subject.spool):
        yield subject


def sample(recorder: Recorder, t: float, value: int = 1) -> None:
    recorder.sample(node="db1", role="writer", t=t, values={"a": value})


def times(batches: list[bytes]) -> list[float]:
    (node,) = decode(batches).nodes
    return list(node.clock)


def test_a_run_is_opened_filled_and_ended_in_this_order(recorded: Recorded, tmp_path: Path) -> None:
    sample(recorded.recorder, 1)
    recorded.recorder.flush()
    sample(recorded.recorder, 2)
    (tmp_path / "output").write_bytes(b"\xff raw")
    recorded.recorder.artifact("sysbench.txt", tmp_path / "output")
    recorded.recorder.end(outcome="succeeded", reason="", measured_from=1.0, measured_to=2.0)
    spooled = recorded.spooled()
    assert [kind for kind, _ in spooled] == ["run", "batch", "artifact", "batch", "run-end"]
    end = wire.from_json(wire.RunEndMessage, spooled[-1][1])
    assert (end.batches, end.artifacts[0].sha256) == (2, wire.checksum(b"\xff raw"))
    assert times([body for kind, body in spooled if kind == "batch"]) == [1.0, 2.0]


def test_the_journal_always_knows_how_much_was_sent(recorded: Recorded) -> None:
    def known() -> int | None:
        entry = recorded.journal.read()
        return entry.run.batches if entry and entry.run else None

    assert known() == 0
    sample(recorded.recorder, 1)
    recorded.recorder.flush()
    assert known() == 1
    recorded.recorder.end(outcome="succeeded", reason="", measured_from=None, measured_to=None)
    assert known() is None


def test_events_and_the_reason_are_sent_without_secrets(recorded: Recorded) -> None:
    detail = {"command": "mysql://root:hunter2@db1/x", "token": "hunter2"}
    recorded.recorder.event(wire.EventMessage(kind="k", label="--password=hunter2", starts_at=1, detail=detail))
    recorded.recorder.end(outcome="failed", reason="--password=hunter2", measured_from=None, measured_to=None)
    (_, batch), (_, end) = recorded.spooled()[1:]
    assert b"--password=*" in gzip.decompress(batch)
    assert wire.from_json(wire.RunEndMessage, end).reason == "--password=*"
    assert b"hunter2" not in gzip.decompress(batch) + end


def test_nothing_to_say_makes_no_batch(recorded: Recorded) -> None:
    recorded.recorder.flush()
    assert [kind for kind, _ in recorded.spooled()] == ["run"]


def test_batches_are_flushed_when_it_is_time_or_when_they_grow(tmp_path: Path) -> None:
    slow, quick = Recorded(tmp_path / "slow"), Recorded(tmp_path / "quick", flush_interval=0)
    with closing(slow.spool), closing(quick.spool):
        for subject in (slow, quick):
            sample(subject.recorder, 1)
            subject.recorder.tick()
        assert [len(subject.spooled()) for subject in (slow, quick)] == [1, 2]
        while slow.recorder._encoder.size() < BATCH_LIMIT // 2:
            slow.recorder.output(t=1, line="x" * 4000)
        slow.recorder.tick()
        assert len(slow.spooled()) == 2


def test_a_flood_of_output_cannot_make_a_batch_too_large(recorded: Recorded) -> None:
    for _ in range(BATCH_LIMIT // 1000):
        recorded.recorder.output(t=1, line="y" * 100_000)
    assert recorded.recorder._encoder.size() < BATCH_LIMIT + 5000
    sample(recorded.recorder, 2)
    recorded.recorder.flush()
    assert times([recorded.spooled()[1][1]]) == [2.0]


def test_too_little_free_disk_is_a_problem_with_its_remedy_and_nothing_is_dropped(tmp_path: Path) -> None:
    subject = Recorded(tmp_path, minimum_free=2**60)
    with closing(subject.spool):
        sample(subject.recorder, 1)
        subject.recorder.flush()
        assert "free space there or lower agent.minimum_free_mb" in subject.recorder.problem
        assert [kind for kind, _ in subject.spooled()] == ["run", "batch"]


def test_a_disk_that_fails_keeps_the_batch_until_it_can_be_written(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    sample(recorded.recorder, 1)
    with monkeypatch.context() as patch:
        patch.setattr(recorded.spool, "put", full)
        recorded.recorder.flush()
        assert "cannot write to its spool" in recorded.recorder.problem
        sample(recorded.recorder, 2)
        with pytest.raises(OSError, match="cannot write to its spool"):
            recorded.recorder.end(outcome="failed", reason="full", measured_from=None, measured_to=None)
    recorded.recorder.end(outcome="failed", reason="full", measured_from=None, measured_to=None)
    spooled = recorded.spooled()
    assert [kind for kind, _ in spooled] == ["run", "batch", "batch", "run-end"]
    assert times([spooled[1][1], spooled[2][1]]) == [1.0, 2.0]


def test_a_run_lasts_as_long_as_it_did_when_the_clock_is_set(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_at = recorded.clock.started_at
    monkeypatch.setattr("time.time", lambda: started_at.timestamp() + 3 * 3600)
    recorded.recorder.end(outcome="succeeded", reason="", measured_from=None, measured_to=None)
    end = wire.from_json(wire.RunEndMessage, dict(recorded.spooled())["run-end"])
    assert started_at <= datetime.fromisoformat(end.ended_at) <= started_at + timedelta(seconds=recorded.clock.now())
