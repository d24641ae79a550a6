"""Reporting of one run to the server: opened, filled batch by batch, ended. Everything goes through the spool."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import structs

from workers.agent.measure.clock import RunClock
from workers.agent.runtime import messages
from workers.agent.runtime.journal import Journal, JournalEntry, OpenRun
from workers.agent.runtime.spool import Spool
from workers.protocol import wire
from workers.protocol.secrets import text_without_secrets, value_without_secrets, without_secrets_in

log = logging.getLogger("splashboard.agent.recorder")
BATCH_LIMIT = 4 * 1024 * 1024  # bytes before compression
LABEL_LIMIT = 200  # characters of an event's label
LINE_LIMIT = 4096  # characters of an output line in the live view; the artifact has all of it
MEBIBYTE = 1024 * 1024


class SampleSink(Protocol):
    """Where samplers put what they see."""

    def sample(self, *, node: str, role: str, t: float, values: Mapping[str, wire.Number]) -> None: ...

    def event(self, event: wire.EventMessage) -> None: ...


class SampleRecorder(ABC):
    """Batches of samples and events on their way to the spool. Any thread may add; one thread ticks and flushes.

    `problem`: why the run cannot continue, or empty.
    """

    def __init__(self, *, spool: Spool, run: str, minimum_free: int, flush_interval: float) -> None:
        self._spool = spool
        self._minimum_free = minimum_free
        self._flush_interval = flush_interval
        self._encoder = wire.BatchEncoder(run=run)
        self._encoding = threading.Lock()
        self._unwritten: list[tuple[int, bytes]] = []
        self._flushed_at = time.monotonic()
        self.problem = ""

    @abstractmethod
    def write_batch(self, sequence: int, payload: bytes) -> None:
        """Stores the batch in the spool. Raises OSError."""

    def sample(self, *, node: str, role: str, t: float, values: Mapping[str, wire.Number]) -> None:
        with self._encoding:
            self._encoder.add_sample(node=node, role=role, t=t, values=values)

    def event(self, event: wire.EventMessage) -> None:
        label, detail = text_without_secrets(event.label), value_without_secrets(event.detail)
        with self._encoding:
            self._encoder.add_event(structs.replace(event, label=label, detail=detail))

    def output(self, *, t: float, line: str) -> None:
        with self._encoding:
            if self._encoder.size() < BATCH_LIMIT:  # else: a flood; the artifact has all of it
                self._encoder.add_output(t=t, line=_shown(line))

    def tick(self) -> None:
        """Flushes when due. Called several times a second."""
        with self._encoding:
            size = self._encoder.size()
        if size >= BATCH_LIMIT // 2 or time.monotonic() - self._flushed_at >= self._flush_interval:
            self.flush()

    def flush(self) -> None:
        """Writes collected data to the spool. A full or broken disk sets `problem`; nothing is dropped."""
        self._flushed_at = time.monotonic()
        with self._encoding:
            if not self._encoder.is_empty():
                self._unwritten.append(self._encoder.flush())
        try:
            free = self._spool.free_bytes()
            while self._unwritten:
                self.write_batch(*self._unwritten[0])
                del self._unwritten[0]
        except OSError as error:
            self._set_problem(f"the agent cannot write to its spool {self._spool.directory}: {error.strerror or error}")
            return
        if free < self._minimum_free:
            self._set_problem(
                f"only {free // MEBIBYTE} MB are free in the agent's spool {self._spool.directory}, the minimum is "
                f"{self._minimum_free // MEBIBYTE} MB; free space there or lower agent.minimum_free_mb"
            )

    def _set_problem(self, problem: str) -> None:
        if not self.problem:
            log.error("%s", problem)
            self.problem = problem


class Recorder(SampleRecorder):
    """Recorder of the run that this agent drives."""

    def __init__(
        self,
        *,
        spool: Spool,
        journal: Journal,
        entry: JournalEntry,
        run: str,
        clock: RunClock,
        minimum_free: int,
        flush_interval: float,
    ) -> None:
        super().__init__(spool=spool, run=run, minimum_free=minimum_free, flush_interval=flush_interval)
        self._clock = clock
        self._journal = journal
        self._entry = entry
        self._run = OpenRun(uid=run)

    def open(self, message: wire.RunMessage, *, artifact: str, output: Path) -> None:
        """Raises OSError when the spool cannot be written; then the run has not begun."""
        self._run.artifact, self._run.output = artifact, str(output)
        self._entry.run = self._run
        self._spool.put(messages.open_run(self._entry, self._run, message), before_visible=self._note)

    def artifact(self, name: str, content: bytes | Path, media_type: str = messages.TEXT) -> str:
        """Why the run fails: the file is too large for the server, and left out; empty: it is not. Raises OSError."""
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        if refusal := messages.refusal(name, size):
            return refusal
        content = content.read_bytes() if isinstance(content, Path) else content
        messages.put_artifact(
            self._spool, self._journal, self._entry, self._run, name=name, content=content, media_type=media_type
        )
        return ""

    def end(
        self,
        *,
        outcome: str,
        reason: str,
        measured_from: float | None,
        measured_to: float | None,
        ended_at: str = "",
    ) -> None:
        """`ended_at`: ISO 8601; empty: now. Raises OSError when the spool still cannot be written; the agent's next
        start then ends the run."""
        self.flush()
        if self._unwritten:
            raise OSError(self.problem)
        message = wire.RunEndMessage(
            outcome=outcome,
            reason=reason,
            ended_at=ended_at or self._clock.iso_now(),
            measured_from=measured_from,
            measured_to=measured_to,
            batches=self._encoder.sequence,
        )
        messages.put_run_end(self._spool, self._journal, self._entry, self._run, message)

    def write_batch(self, sequence: int, payload: bytes) -> None:
        def note() -> None:
            self._run.batches = sequence + 1
            self._note()

        self._spool.put(messages.batch(self._entry, self._run, sequence, payload), before_visible=note)

    def _note(self) -> None:
        self._journal.write(self._entry)


def _shown(line: str) -> str:
    return without_secrets_in(line[:LINE_LIMIT].encode(errors="replace")).decode(errors="replace")
