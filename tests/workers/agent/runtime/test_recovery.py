import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.waiting import LIMIT
from workers.agent.measure.database import Workspace
from workers.agent.runtime import messages, recovery
from workers.agent.runtime.journal import Journal, JournalEntry, OpenRun, StartedProcess, started_process
from workers.agent.runtime.spool import Spool, SpoolMessage
from workers.protocol import wire

WORKSPACE = Workspace(schema="sb", tables=("sbtest1",), created=True)


class Died:
    """The spool of an agent that died in the middle of a job."""

    def __init__(self, directory: Path) -> None:
        self.spool = Spool(directory)
        self.journal = Journal(directory)
        self.work = directory / "work"
        self.work.mkdir()
        self.run = OpenRun(uid="r1", artifact="sysbench.txt", output=str(self.work / "r1.output"))
        self.entry = JournalEntry(job=7, attempt=2, system="single", workspace=WORKSPACE, run=self.run)
        (self.work / "r1.output").write_bytes(b"half an output")
        (self.work / "sysbench.secrets").write_text("mysql-password=x")

    def recover(self) -> None:
        recovery.recover(self.spool, self.journal, self.work)

    def spooled(self) -> list[SpoolMessage]:
        return [self.spool.read(entry) for entry in list(self.spool._entries)]


@pytest.fixture
def died(tmp_path: Path) -> Iterator[Died]:
    subject = Died(tmp_path)
    with closing(subject.spool):
        yield subject


def test_the_half_run_is_ended_with_all_its_batches_and_its_output(died: Died) -> None:
    died.run.batches = 3
    died.journal.write(died.entry)
    died.recover()
    artifact, end, job = died.spooled()
    assert (artifact.kind, artifact.body) == ("artifact", b"half an output")
    message = wire.from_json(wire.RunEndMessage, end.body)
    assert (message.outcome, message.reason, message.batches) == ("failed", "the agent stopped without notice", 3)
    assert message.artifacts == [
        wire.ArtifactMessage(name="sysbench.txt", sha256=wire.checksum(b"half an output"), size=14)
    ]
    assert job.path == "agent/jobs/7/end"
    assert wire.from_json(wire.JobEndMessage, job.body).attempt == 2
    assert {m.group for m in (artifact, end, job)} == {"job-7-2"}


def test_an_output_that_the_server_would_not_take_is_not_announced(died: Died, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_BYTES", 10)
    died.journal.write(died.entry)
    died.recover()
    end, _ = died.spooled()
    assert wire.from_json(wire.RunEndMessage, end.body).artifacts == []


def test_no_file_leaves_the_machine_with_a_password(died: Died) -> None:
    died.journal.write(died.entry)
    (died.work / "r1.output").write_bytes(b"+ sysbench --mysql-password=hunter2 run\n12.5")
    died.recover()
    artifact, end, _ = died.spooled()
    assert artifact.body == b"+ sysbench --mysql-password=* run\n12.5"
    assert wire.from_json(wire.RunEndMessage, end.body).artifacts[0].sha256 == wire.checksum(artifact.body)


def test_a_batch_that_the_journal_had_not_counted_yet_is_counted(died: Died) -> None:
    died.run.batches = 1
    died.journal.write(died.entry)
    died.spool.put(messages.batch(died.entry, died.run, 1, b"payload"))
    died.recover()
    end = next(message for message in died.spooled() if message.kind == "run-end")
    assert wire.from_json(wire.RunEndMessage, end.body).batches == 2


def test_tables_are_noted_to_be_dropped_and_secrets_are_removed(died: Died) -> None:
    died.journal.write(died.entry)
    died.recover()
    (leftover,) = died.journal.leftovers()
    assert (leftover.system, leftover.workspace) == ("single", WORKSPACE)
    assert list(died.work.iterdir()) == []


def test_recovering_twice_tells_it_once(died: Died) -> None:
    died.journal.write(died.entry)
    died.recover()
    count = len(died.spooled())
    died.recover()
    assert len(died.spooled()) == count


def test_a_load_tool_that_outlived_the_agent_is_ended(died: Died) -> None:
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    died.entry.process = started_process(child.pid)
    died.journal.write(died.entry)
    died.recover()
    assert child.wait(timeout=LIMIT) < 0


def test_servers_that_the_job_had_changed_are_put_right_by_its_program_while_its_files_are_there(died: Died) -> None:
    died.entry.restore = ("sh", "-c", "cp $0/sysbench.secrets $0/../restored", str(died.work))
    died.journal.write(died.entry)
    died.recover()
    assert (died.work.parent / "restored").read_text() == "mysql-password=x"
    assert [message.kind for message in died.spooled()] == ["artifact", "run-end", "job-end"]


def test_servers_that_cannot_be_put_right_are_reported_and_stop_nothing(
    died: Died, caplog: pytest.LogCaptureFixture
) -> None:
    died.entry.restore = ("sh", "-c", "echo FATAL: db1 is frozen; exit 1")
    died.journal.write(died.entry)
    died.recover()
    assert "servers may be left as the job changed them: FATAL: db1 is frozen" in caplog.text
    assert [message.kind for message in died.spooled()] == ["artifact", "run-end", "job-end"]


def test_a_process_that_has_only_the_same_number_is_left_alone(died: Died) -> None:
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        died.entry.process = StartedProcess(pid=child.pid, started="1@100")
        died.journal.write(died.entry)
        died.recover()
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("content", [b'{"job": "seven"}', b'{"system": "\xf3"}', b"\0" * 512])
def test_a_damaged_journal_is_kept_for_a_person_and_stops_nothing(died: Died, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "journal.json").write_bytes(content)
    died.recover()
    assert died.spooled() == []
    assert (tmp_path / "journal.damaged").read_bytes() == content


def test_a_job_that_is_no_longer_ours_is_not_reported(died: Died) -> None:
    died.journal.write(died.entry)
    assert recovery.finish(died.spool, died.journal, died.entry, outcome="", reason="lease lost") is None
    assert [message.kind for message in died.spooled()] == ["artifact", "run-end"]
    assert died.journal.read() is None
