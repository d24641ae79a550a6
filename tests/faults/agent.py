"""Run as a program: an agent whose jobs measure nothing and report seeded samples; all else of it is the real one.

Files in var/ say what it lives with: `agent-url` where it finds the server, `agent-free` how many bytes its disk has
free, `agent-protocol` the version of the protocol that it states; empty: none, as agents before there were any. No run
gets further than half while the file `hold` is there.
"""

import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from tests.paths import RECORDINGS
from workers.agent import cli
from workers.agent.measure.clock import RunClock
from workers.agent.measure.job import JobExecution
from workers.agent.measure.recorder import Recorder
from workers.agent.runtime import config, spool
from workers.agent.runtime.config import Config, SystemConfig
from workers.agent.runtime.stop import Stopped, failed
from workers.protocol import versions, wire

METRIC, NODE = "mysql.status.Threads_running", "db1"
SAMPLES, A_BATCH = 120, 2
FILES, BYTES = 3, 2**15  # of random content
PAUSE = 0.05  # s between batches
OUTPUT = (RECORDINGS / "sysbench_single" / "oltp_read_write_t4_p95_hist.txt").read_bytes()
VAR = Path(os.environ["SPLASHBOARD_VAR"])
HOLD = VAR / "hold"
FLUSHED = VAR / "flushed"  # by run: samples that are in the spool


def samples(uid: str) -> list[tuple[float, int]]:
    """What the agent reports of a run: t and value."""
    chance = random.Random(uid)
    return [(float(t), chance.randrange(1000)) for t in range(SAMPLES)]


def artifacts(uid: str) -> dict[str, bytes]:
    """By name, what the agent sends of a run that succeeds."""
    files = {f"file-{number}.bin": random.Random(f"{uid} {number}").randbytes(BYTES) for number in range(FILES)}
    return {"sysbench.txt": OUTPUT, **files}


def _write_whole(file: Path, text: str) -> None:
    """The agent may be killed between opening a file and writing it."""
    half = file.with_suffix(".half")
    half.write_text(text)
    half.replace(file)


class SeededJob(JobExecution):
    def _run_on(self, system: SystemConfig) -> None:  # noqa: ARG002  there is no such server
        for planned in self.message.runs:
            self._report(planned)

    def _report(self, planned: wire.PlannedRun) -> None:
        clock = RunClock()
        recorder = Recorder(
            spool=self._spool,
            journal=self._journal,
            entry=self.entry,
            run=planned.uid,
            clock=clock,
            minimum_free=self._config.minimum_free,
            flush_interval=self._config.flush_interval,
        )
        node = wire.RunNodeMessage(name=NODE, role="writer")
        message = wire.RunMessage(
            job=self.message.id,
            attempt=self.message.attempt,
            load_level=planned.load_level,
            started_at=clock.started_at.isoformat(),
            warmup=0,
            duration=SAMPLES,
            nodes=[node],
        )
        recorder.open(message, artifact="", output=self._work / "none")
        try:
            for number, (t, value) in enumerate(samples(planned.uid), start=1):
                self.switch.check()
                recorder.sample(node=NODE, role="writer", t=t, values={METRIC: value})
                if number % A_BATCH == 0:
                    recorder.flush()
                    if recorder.problem:
                        raise Stopped(failed(recorder.problem))
                    _write_whole(FLUSHED / planned.uid, str(number))
                    time.sleep(PAUSE)
                while number == SAMPLES // 2 and HOLD.exists():
                    self.switch.check()
                    time.sleep(PAUSE)
        except Stopped as stopped:
            recorder.end(outcome=stopped.stop.run, reason=stopped.stop.reason, measured_from=None, measured_to=None)
            raise
        for name, content in artifacts(planned.uid).items():
            recorder.artifact(name, content)
        recorder.end(outcome="succeeded", reason="", measured_from=0, measured_to=SAMPLES)


def _hurried(file: Path) -> Config:
    return replace(config.load(file), poll_interval=0.2, url=(VAR / "agent-url").read_text())


def _free_bytes(_: spool.Spool) -> int:
    file = VAR / "agent-free"
    return int(file.read_text()) if file.exists() else 2**40


if __name__ == "__main__":
    FLUSHED.mkdir(exist_ok=True)
    protocol = VAR / "agent-protocol"
    if protocol.exists():
        stated = {versions.HEADER: text} if (text := protocol.read_text()) else {}
        patch.object(versions, "stated", lambda: stated).start()
    for place, instead in (
        ("workers.agent.runtime.loop.JobExecution", SeededJob),
        ("workers.agent.measure.database.version", lambda _system: "10.11.19-MariaDB"),
        ("workers.agent.runtime.spool.Spool.free_bytes", _free_bytes),
        ("workers.agent.cli.load", _hurried),
    ):
        patch(place, instead).start()
    sys.exit(cli.main())
