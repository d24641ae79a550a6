"""One job from start to end: prepare, ramp through the load levels, clean up."""

import logging
import os
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

from workers.agent.measure import database
from workers.agent.measure.clock import RunClock, ServerClock
from workers.agent.measure.measurement import RunMeasurement, ToolLoad, run_message
from workers.agent.measure.ramp import LevelOutcome, Ramp
from workers.agent.measure.recorder import Recorder
from workers.agent.runtime.config import Config, SystemConfig
from workers.agent.runtime.journal import Journal, JournalEntry, Leftover, started_process
from workers.agent.runtime.restart import start_anew
from workers.agent.runtime.spool import Spool
from workers.agent.runtime.stop import AGENT_STOPPED, Stop, Stopped, StopSwitch, failed
from workers.agent.tools import InvalidToolParameters, Invocation, Target, Tool, ToolMissing
from workers.agent.tools.process import ToolProcess, tail
from workers.agent.tools.registry import UnknownTool, tool_named
from workers.protocol import wire
from workers.protocol.workloads import declaration

log = logging.getLogger("splashboard.agent.job")
CLEAN_UP_TIMEOUT = 20.0  # s of retries; then the tables are left for a later attempt
CLEAN_UP_PAUSE = 1.0  # s between retries


class JobExecution:
    """`run()` runs on the main thread, `switch.ask()` on any. `progress` is shown to users."""

    def __init__(
        self,
        *,
        message: wire.JobMessage,
        config: Config,
        spool: Spool,
        journal: Journal,
        work: Path,
        server: ServerClock,
    ) -> None:
        self.message = message
        self.progress = "starting"
        self.skipped: list[wire.SkippedRun] = []
        self.switch = StopSwitch()
        self.entry = JournalEntry(job=message.id, attempt=message.attempt, system=message.system)
        self._config = config
        self._spool = spool
        self._journal = journal
        self._work = work
        self._server = server
        self._restarted: float | None = None

    def run(self) -> Stop | None:
        """None: succeeded. Afterwards the database is as before, or the journal has a leftover."""
        stop: Stop | None = None
        try:
            self._journal.write(self.entry)
            self._run_on(self._system())
        except Stopped as stopped:
            denied = stopped.stop.job == "failed" and database.DENIAL.search(stopped.stop.reason) is not None
            stop = replace(stopped.stop, is_permanent=True) if denied else stopped.stop
        except database.AccessDenied as problem:
            stop = failed(str(problem), is_permanent=True)
        except (
            UnknownTool,
            InvalidToolParameters,
            declaration.InvalidParameters,
            ToolMissing,
            database.DatabaseFailed,
            database.SchemaOccupied,
            database.WrongData,
        ) as problem:
            stop = failed(str(problem))
        except OSError as problem:
            log.exception("job %s", self.message.id)
            stop = failed(f"the agent cannot work with its files: {problem}")
        except Exception as error:  # a bug ends this job, not the agent
            log.exception("job %s", self.message.id)
            stop = failed(f"the agent failed, see its log: {type(error).__name__}: {error}")
        asked = self.switch.asked
        return asked if asked and not asked.job else stop

    def _system(self) -> SystemConfig:
        """Raises Stopped."""
        try:
            return self._config.systems[self.message.system]
        except KeyError as error:
            raise Stopped(failed(f"the agent's configuration has no system {self.message.system!r}")) from error

    def _run_on(self, system: SystemConfig) -> None:
        tool = tool_named(self.message.tool)
        data = tool.data_set(self.message.parameters)
        tool_version = tool.version()
        if self.message.restart:
            self._step("restart")
            self._restarted = start_anew(system, self.switch)
        clean_leftovers(system, self._journal)
        # A tool without tables measures only the machine and leaves the database as it is.
        owner = f"job {self.message.id}, attempt {self.message.attempt}, agent {self._config.name},"
        workspace = database.plan_workspace(system, data.tables, owner=owner) if data.tables else None
        schema = workspace.schema if workspace else ""
        secrets = self._work / f"{tool.name}.secrets"
        target = Target(address=system.address, user=system.user, schema=schema, secrets=secrets)
        self.entry.workspace = workspace
        self._journal.write(self.entry)
        try:
            _write_private(secrets, tool.secrets(system, schema))
            restore = tool.restore(target)
            self.entry.restore = restore.argv if restore else ()  # in the journal from the first process on
            self._step("prepare")
            if workspace:
                database.create_schema(system, workspace)
            self._prepare(tool, tool.prepare(target, self.message.parameters))
            if workspace:
                database.check_rows(system, workspace, data.counted())
            ramp = Ramp(self.message)
            for number, planned in enumerate(self.message.runs, start=1):
                self._step(f"{_words(planned.load_level)} ({number} of {len(self.message.runs)})")
                if data.is_emptied and number > 1:
                    database.empty_tables(system, schema, data.tables)
                try:
                    ramp.measured(planned, self._measure(system, tool, target, planned, tool_version))
                except Stopped as stopped:
                    ramp.stopped(planned, stopped)
                if ramp.skipped:
                    log.info("job %s: ramp ended: %s", self.message.id, ramp.skipped[0].reason)
                    self.skipped = ramp.skipped
                    break
        finally:
            self.progress = "clean-up"
            self._restore(tool, target)
            self._clean_up(system, tool, target, workspace)
            secrets.unlink(missing_ok=True)

    def _step(self, progress: str) -> None:
        self.switch.check()
        self.progress = progress
        log.info("job %s: %s", self.message.id, progress)

    def _measure(
        self, system: SystemConfig, tool: Tool, target: Target, planned: wire.PlannedRun, tool_version: str
    ) -> LevelOutcome:
        invocation = tool.run(
            target,
            self.message.parameters,
            load_level=planned.load_level,
            warmup=self.message.warmup,
            duration=self.message.duration,
        )
        output = self._work / f"{planned.uid}.output"
        output.unlink(missing_ok=True)
        load = ToolLoad(tool, invocation, RunClock())
        message = run_message(
            job=self.message,
            planned=planned,
            system=system,
            schema=target.schema,
            load=load,
            tool_version=tool_version,
            bearing=self._server.last,
            restarted=self._restarted,
        )
        recorder = Recorder(
            spool=self._spool,
            journal=self._journal,
            entry=self.entry,
            run=planned.uid,
            clock=load.clock,
            minimum_free=self._config.minimum_free,
            flush_interval=self._config.flush_interval,
        )
        recorder.open(message, artifact=tool.artifact, output=output)
        return RunMeasurement(
            system=system,
            schema=target.schema,
            parameters=self.message.parameters,
            load=load,
            recorder=recorder,
            output=output,
            switch=self.switch,
            entry=self.entry,
            journal=self._journal,
        ).perform()

    def _prepare(self, tool: Tool, invocation: Invocation) -> None:
        """Raises Stopped when it fails or the job is to stop."""
        output = _fresh(self._work / f"{tool.name}.prepare.output")
        process = ToolProcess(invocation, output=output)
        try:
            self.entry.process = started_process(process.pid)
            self._journal.write(self.entry)
            self.switch.wait_until(lambda: process.poll() is not None or process.is_overdue())
            code = process.poll()
            if code is None:
                raise Stopped(failed(f"prepare had not ended after {invocation.timeout:.0f} s"))
            reason = tool.failure(code, tail(output))
            if reason:
                raise Stopped(failed(f"prepare: {reason}"))
        finally:
            if process.poll() is None:
                process.stop()
            self.entry.process = None
            output.unlink(missing_ok=True)

    def _restore(self, tool: Tool, target: Target) -> None:
        """Before anything asks the database, which a fault may have left without an answer."""
        invocation = tool.restore(target)
        if invocation:
            self._run_step(tool, "restore", invocation)
        self.entry.restore = ()

    def _clean_up(self, system: SystemConfig, tool: Tool, target: Target, workspace: database.Workspace | None) -> None:
        """Drops the job's tables; on failure, journals them for a later attempt."""
        if workspace is None:
            self._run_step(tool, "clean-up", tool.clean_up(target, self.message.parameters))
            return
        deadline = time.monotonic() + CLEAN_UP_TIMEOUT
        while True:
            try:
                self._drop(system, tool, target, workspace)
                break
            except database.Unmarked as problem:
                log.warning("job %s: %s", self.message.id, problem)
                self._journal.add_leftover(Leftover(system=system.slug, workspace=workspace))
                break
            except database.DatabaseFailed as problem:
                if time.monotonic() > deadline or self.switch.asked is AGENT_STOPPED:
                    log.error("job %s: %s; will try again later", self.message.id, problem)
                    self._journal.add_leftover(Leftover(system=system.slug, workspace=workspace))
                    break
            time.sleep(CLEAN_UP_PAUSE)
        self.entry.workspace = None
        self._journal.write(self.entry)

    def _drop(self, system: SystemConfig, tool: Tool, target: Target, workspace: database.Workspace) -> None:
        """Runs the tool's own clean-up, then drops what remains of the job. Raises DatabaseFailed, Unmarked."""
        if database.is_marked(system, workspace):
            self._run_step(tool, "clean-up", tool.clean_up(target, self.message.parameters))
        foreign = database.remove_workspace(system, workspace)
        if foreign:
            log.warning("schema %s is kept: it holds tables of others: %s", workspace.schema, ", ".join(foreign))

    def _run_step(self, tool: Tool, step: str, invocation: Invocation) -> None:
        """To its end; a failure is logged."""
        output = _fresh(self._work / f"{tool.name}.{step}.output")
        try:
            process = ToolProcess(invocation, output=output)
        except ToolMissing as problem:
            log.warning("%s: %s", step, problem)
        else:
            while process.poll() is None and not process.is_overdue():
                time.sleep(0.02)
            code = process.stop()
            if code != 0:
                log.warning("%s: %s", step, tool.failure(code, tail(output)))
            output.unlink(missing_ok=True)


def clean_leftovers(system: SystemConfig, journal: Journal) -> None:
    """Drops tables left by earlier jobs, and keeps those that may be somebody else's. Raises DatabaseFailed."""
    for leftover in journal.leftovers():
        if leftover.system != system.slug:
            continue
        try:
            database.remove_workspace(system, leftover.workspace)
        except database.Unmarked as problem:
            _warn(str(problem))
            continue
        journal.remove_leftover(leftover)
        log.info("dropped leftovers of an earlier job in schema %s of %s", leftover.workspace.schema, system.slug)


@cache
def _warn(problem: str) -> None:
    """Once, though it is tried again every minute."""
    log.warning("%s", problem)


def _words(load_level: wire.LoadLevelMessage) -> str:
    threads = f"{load_level.threads} thread{'s' if load_level.threads != 1 else ''}"
    return threads if load_level.rate is None else f"{threads}, {load_level.rate:g}/s"


def _fresh(file: Path) -> Path:
    file.unlink(missing_ok=True)
    return file


def _write_private(file: Path, text: str) -> None:
    descriptor = os.open(_fresh(file), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
