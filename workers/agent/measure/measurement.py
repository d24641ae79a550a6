"""One run: opened, sampled, put under load, ended; its end is always reported to the server."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workers.agent.measure import database, digests, facts, ramp
from workers.agent.measure.clock import Bearing, RunClock
from workers.agent.measure.nodes import NodeSampling
from workers.agent.measure.recorder import LABEL_LIMIT, Recorder
from workers.agent.runtime import messages
from workers.agent.runtime.config import SystemConfig
from workers.agent.runtime.journal import Journal, JournalEntry, started_process
from workers.agent.runtime.stop import Stop, Stopped, StopSwitch, failed
from workers.agent.samplers import HiddenFromSampler, prometheus
from workers.agent.tools import Finished, Invocation, Tool, ToolMissing
from workers.agent.tools.process import ToolProcess, tail
from workers.protocol import tool_clock, wire

log = logging.getLogger("splashboard.agent.job")
MARGIN = 1.0  # s of sampling before the load starts and after it ends
LATE = 1.0  # s by which a line may be read late; sysbench rounds its seconds


class ToolLoad:
    """A run's tool on the run's clock: when its own clock and its load began and ended.

    A tool that states its second 0 is believed; that of another is when its earliest lines say it was, since an agent
    without a processor reads lines late.
    """

    def __init__(self, tool: Tool, invocation: Invocation, clock: RunClock) -> None:
        self.tool = tool
        self.invocation = invocation
        self.clock = clock
        self.zero: float | None = None  # start of the tool's own clock
        self.end: float | None = None
        self._is_stated = False
        self._read: list[tuple[float, float]] = []  # when a line was read, what it states

    def saw(self, line: bytes) -> float:
        """The time at which the line arrived; the first line that `starts_clock` sets `zero`."""
        t, text = self.clock.now(), line.decode(errors="replace")
        if self.zero is None and self.tool.starts_clock(line):
            stated = tool_clock.stated(text)
            self._is_stated = stated is not None
            self.zero = t if stated is None else stated - self.clock.zero
        second = tool_clock.second_of(text)
        if second is not None:
            self._read.append((t, second))
        return t

    def ended(self) -> None:
        """Sets `end` to now; `zero` is then final."""
        self.end = self.clock.now()
        earliest = tool_clock.origin(self._read)
        if self.zero is not None and earliest is not None and not self._is_stated:
            self.zero = min(self.zero, earliest)

    def late(self) -> wire.EventMessage | None:
        """The period in which lines were read late; None: none was."""
        zero = self.zero or 0.0
        late = [(t, t - second - zero) for t, second in self._read if t - second - zero > LATE]
        if self.zero is None or not late:
            return None
        label = f"output of {self.tool.name} was read up to {max(by for _, by in late):.1f} s late"
        start = max(late[0][0] - late[0][1], 0.0)
        return wire.EventMessage(
            kind="sampler_error",
            label=f"{label}: the agent got no processor",
            starts_at=round(start, 6),
            ends_at=round(late[-1][0], 6),
            node="client",
        )

    def begins_at(self) -> float | None:
        """Start of the measured phase; None: not known yet."""
        return None if self.zero is None else self.zero + self.invocation.warmup

    def measured(self) -> tuple[float | None, float | None]:
        """The measured phase; None when the tool ended before it, shorter than planned when it ended within it.

        Also None when the tool's output defines it.
        """
        if self.zero is None or self.end is None or self.invocation.open_ended:
            return None, None
        start = self.zero + self.invocation.warmup
        end = min(start + self.invocation.measured, self.end)
        return (round(start, 6), round(end, 6)) if end > start else (None, None)

    def event(self) -> wire.EventMessage | None:
        """The period under load; None without load."""
        if self.zero is None or self.end is None:
            return None
        start, end = round(self.zero, 6), round(self.end, 6)
        return wire.EventMessage(
            kind="load",
            label=self.tool.name,
            starts_at=start,
            ends_at=end,
            node="client",
            detail={"is_zero": True},  # of the tool's clock
        )


class RunMeasurement:
    """`perform()` is called once, on the main thread."""

    def __init__(
        self,
        *,
        system: SystemConfig,
        schema: str,
        parameters: Mapping[str, Any],
        load: ToolLoad,
        recorder: Recorder,
        output: Path,
        switch: StopSwitch,
        entry: JournalEntry,
        journal: Journal,
    ) -> None:
        self._system = system
        self._schema = schema
        self._parameters = parameters
        self._load = load
        self._recorder = recorder
        self._output = output
        self._switch = switch
        self._entry = entry
        self._journal = journal
        self._tool: int | None = None  # process id while it runs
        self._ended_at = ""  # once nothing is sampled any more

    def perform(self) -> ramp.LevelOutcome:
        """Performs an opened run; returns the outcome, which decides about the next load level.

        Raises Stopped when the run did not succeed, OSError when the disk fails.
        """
        sampling = NodeSampling(self._system, clock=self._load.clock, recorder=self._recorder, tool=lambda: self._tool)
        sampling.start()
        statements = digests.DigestReader(self._system, now=self._load.clock.now, begins_at=self._load.begins_at)
        statements.start()
        stop: Stop | None = None
        try:
            self._sample_on(sampling, since=0.0)
            before = self._status()
            stop = self._put_under_load()
            statements.finish()
            if stop is None:
                stop = self._verify(before, self._status())
            self._sample_on(sampling, since=self._load.end or 0.0)
        except Stopped as stopped:
            stop = stopped.stop
        except ToolMissing as problem:
            stop = failed(str(problem))
        finally:
            executed = statements.finish()
            self._report_hidden(statements)
            sampling.stop()
            self._ended_at = self._load.clock.iso_now()
        return self._end(stop, executed, self._monitored() if stop is None else None)

    def _monitored(self) -> prometheus.MonitoredSeries | None:
        """The series of the system's Prometheus; None: it has none. Waits for its last scrape."""
        clock, load = self._load.clock, self._load
        began = clock.started_at.timestamp()
        begin, end = (began + (load.zero or 0.0), began + (load.end or clock.now()))

        def goes_on() -> bool:
            self._recorder.tick()
            return not (self._switch.asked or self._recorder.problem)

        found = prometheus.read(self._system, begin=begin, end=end, goes_on=goes_on)
        if found is not None and found.hidden is not None:
            for node in found.nodes:
                self._hide(node, found.hidden)
        return found

    def _sample_on(self, sampling: NodeSampling, *, since: float) -> None:
        """Samples for MARGIN, longer on a busy host: counts need a sample on each side of the load."""
        until = self._load.clock.now() + MARGIN
        self._switch.wait_until(
            lambda: self._load.clock.now() >= until and sampling.has_sampled_since(since), meanwhile=self._keep_up
        )

    def _keep_up(self) -> None:
        """Raises Stopped when the spool's disk is full, or the output larger than the server takes."""
        self._recorder.tick()
        if self._recorder.problem:
            raise Stopped(failed(self._recorder.problem))
        size = self._output.stat().st_size if self._output.exists() else 0
        if refusal := messages.refusal(self._load.tool.artifact, size):
            raise Stopped(failed(refusal, is_permanent=True))

    def _put_under_load(self) -> Stop | None:
        """The reason when the tool failed, else None. Raises Stopped when the job is to stop, ToolMissing."""

        def on_line(line: bytes) -> None:
            t = self._load.saw(line)
            self._recorder.output(t=t, line=line.decode(errors="replace").rstrip("\r\n"))

        invocation, tool = self._load.invocation, self._load.tool
        process = ToolProcess(invocation, output=self._output, on_line=on_line)
        try:
            self._tool = process.pid
            self._entry.process = started_process(process.pid)
            self._journal.write(self._entry)
            self._switch.wait_until(lambda: process.poll() is not None or process.is_overdue(), meanwhile=self._keep_up)
            code = process.poll()
            if code is None:
                return failed(f"{tool.name} had not ended after {invocation.timeout:.0f} s: are its threads blocked?")
            reason = tool.failure(code, tail(self._output)) or process.write_error
            return failed(reason) if reason else None
        finally:
            if process.poll() is None:
                process.stop()
            self._load.ended()
            self._tool = self._entry.process = None

    def _status(self) -> dict[str, int]:
        """Empty when the server does not answer: a run that killed it continues without its status."""
        try:
            return database.status(self._system)
        except database.DatabaseFailed as problem:
            log.warning("%s", problem)
            return {}

    def _verify(self, before: Mapping[str, int], after: Mapping[str, int]) -> Stop | None:
        """Not None: a check failed."""
        finished = Finished(
            system=self._system,
            schema=self._schema,
            parameters=self._parameters,
            output=self._output,
            before=before,
            after=after,
        )
        try:
            checks = self._load.tool.verify(finished)
        except database.DatabaseFailed as problem:
            return failed(f"the run could not be verified: {problem}")
        t = round(self._load.clock.now(), 6)
        for check in checks:
            detail = {"check": check.name, "held": check.held, "text": check.label}
            self._recorder.event(
                wire.EventMessage(
                    kind="check", label=check.label[:LABEL_LIMIT], starts_at=t, node="client", detail=detail
                )
            )
        broken = [check.label for check in checks if not check.held]
        return failed(f"verification: {'; '.join(broken)}") if broken else None

    def _end(
        self, stop: Stop | None, executed: bytes, monitored: prometheus.MonitoredSeries | None
    ) -> ramp.LevelOutcome:
        """`executed`: the artifact with the statements of the measured phase."""
        for event in (self._load.event(), self._load.late(), self._refusal(stop)):
            if event:
                self._recorder.event(event)
        self._recorder.flush()
        if stop is None and self._recorder.problem:
            stop = failed(self._recorder.problem)
        extras = self._load.tool.extras(self._output)
        refused = self._keep_files(extras, executed, monitored)
        if stop is None and refused:
            stop = failed("; ".join(refused), is_permanent=True)
        level = ramp.read_outcome(tail(self._output)) if stop is None else ramp.LevelOutcome(None)
        measured_from, measured_to = self._load.measured()
        self._recorder.end(
            outcome=stop.run if stop else "succeeded",
            reason=stop.reason if stop else "",
            measured_from=measured_from,
            measured_to=measured_to,
            ended_at=self._ended_at,
        )
        for file in (self._output, *extras):
            file.unlink(missing_ok=True)
        if stop:
            raise Stopped(stop)
        return level

    def _keep_files(
        self, extras: Sequence[Path], executed: bytes, monitored: prometheus.MonitoredSeries | None
    ) -> list[str]:
        """Why some were not kept. Raises OSError."""
        refused = []
        if self._output.exists():
            refused.append(self._recorder.artifact(self._load.tool.artifact, self._output))
        refused += [self._recorder.artifact(extra.name, extra) for extra in extras]
        if executed:
            refused.append(self._recorder.artifact(digests.ARTIFACT, executed))
        if monitored and monitored.content:
            refused.append(self._recorder.artifact(prometheus.ARTIFACT, monitored.content, prometheus.MEDIA_TYPE))
        return list(filter(None, refused))

    def _report_hidden(self, statements: digests.DigestReader) -> None:
        for node, hidden in statements.hidden().items():
            self._hide(node, hidden)

    def _hide(self, node: str, hidden: HiddenFromSampler) -> None:
        detail = {"what": hidden.what, "reason": hidden.reason, "remedy": hidden.remedy}
        t, label = round(self._load.clock.now(), 6), str(hidden)[:LABEL_LIMIT]
        event = wire.EventMessage(kind="not_observable", label=label, starts_at=t, node=node, detail=detail)
        self._recorder.event(event)

    def _refusal(self, stop: Stop | None) -> wire.EventMessage | None:
        """The event for refused connections; None when none was refused."""
        words = ramp.refusal(stop.reason) if stop and stop.run == "failed" else ""
        if not words or self._load.end is None:
            return None
        return wire.EventMessage(
            kind="refusal", label=f"connections refused: {words}", starts_at=round(self._load.end, 6), node="client"
        )


def run_message(
    *,
    job: wire.JobMessage,
    planned: wire.PlannedRun,
    system: SystemConfig,
    schema: str,
    load: ToolLoad,
    tool_version: str,
    bearing: Bearing | None,
    restarted: float | None,
) -> wire.RunMessage:
    """The run as reported to the server at its start; `schema` is empty when the tool has no tables; `restarted`: s
    that it took to start the system anew for the job.

    Raises database.DatabaseFailed.
    """
    return wire.RunMessage(
        job=job.id,
        attempt=job.attempt,
        load_level=planned.load_level,
        started_at=load.clock.started_at.isoformat(),
        warmup=load.invocation.warmup,
        duration=load.invocation.measured,
        server_version=database.version(system),
        tool_version=tool_version,
        command=" ".join(load.invocation.argv),
        host=facts.host() | facts.clock(load.clock, bearing) | {"canary": facts.canary()},
        nodes=[
            wire.RunNodeMessage(
                name=node.name,
                role=node.role,
                variables=database.variables(system, node.address),
                defaults=database.defaults(system, node.address),
            )
            for node in system.nodes
        ],
        data_bytes=database.data_bytes(system, schema) if schema else None,
        restart_seconds=restarted,
    )
