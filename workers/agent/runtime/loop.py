"""The agent's main loop: recover, send a hello, claim a job, run it, upload all of it, claim the next."""

import logging
import random
import threading
import time
from typing import Any

from workers.agent.measure import database
from workers.agent.measure.clock import ServerClock
from workers.agent.measure.job import JobExecution, clean_leftovers
from workers.agent.measure.sampler_role import Sampler
from workers.agent.runtime import config as configuration
from workers.agent.runtime import recovery
from workers.agent.runtime.client import LeaseGone, Rejected, ServerClient, Unreachable
from workers.agent.runtime.config import Config
from workers.agent.runtime.greeter import Greeter
from workers.agent.runtime.journal import Journal
from workers.agent.runtime.lease import LeaseKeeper
from workers.agent.runtime.spool import Spool, SpoolEntry
from workers.agent.runtime.stop import AGENT_STOPPED, CANCELLED, Stop, failed, lease_lost
from workers.agent.runtime.toml_table import ConfigError
from workers.agent.runtime.uploader import Uploader
from workers.protocol import wire

log = logging.getLogger("splashboard.agent")
LONGEST_PAUSE = 10.0  # s between claims while the server is unreachable
LEFTOVER_INTERVAL = 60.0  # s
DISK_PAUSE = 1.0  # s between attempts to write a job's end to a full disk
HELLO_TIMEOUT = 10.0  # s to report an unreachable system to the server before the failed job
FAREWELL = 3.0  # s for the spool to drain when the agent stops; the rest is sent at the next start


class AgentLoop:
    """`run()` blocks the main thread until `stop()` is called, for example by a signal handler."""

    def __init__(self, config: Config) -> None:
        """Raises SpoolInUse, OSError."""
        self._config = config
        self._config_error = ""
        self._work = config.spool / "work"
        self._spool = Spool(config.spool)
        self._work.mkdir(exist_ok=True, mode=0o700)
        self._journal = Journal(config.spool)
        self._client = ServerClient(url=config.url, token=config.token)
        self._uploader = Uploader(spool=self._spool, client=self._client, on_refused=self._refused)
        self._server = ServerClock(self._client)
        self._sampler = Sampler(
            client=self._client, spool=self._spool, config=lambda: self._config, server=self._server
        )
        self._greeter = Greeter(
            client=self._client,
            server=self._server,
            config=lambda: self._config,
            health=self._health,
            busy_with=lambda: self._job.message.system if self._job else "",
        )
        self._job: JobExecution | None = None
        self._stopping = threading.Event()
        self._leftovers_due = 0.0
        self._complaint = ""

    def stop(self) -> None:
        self._stopping.set()
        if self._job:
            self._job.switch.ask(AGENT_STOPPED)

    def run(self) -> None:
        """Raises OSError when the spool cannot be written at the start."""
        recovery.recover(self._spool, self._journal, self._work)
        self._uploader.start()
        self._greeter.start()
        self._sampler.start()
        log.info("agent %s works for %s, spool %s", self._config.name, self._config.url, self._config.spool)
        try:
            while not self._stopping.is_set():
                self._reload()
                self._drop_leftovers()
                message = self._claim()
                if message:
                    self._do(message)
        finally:
            self._greeter.stop()
            self._sampler.stop()
            self._uploader.stop(timeout=FAREWELL)
            self._client.close()
            self._spool.close()

    # ------------------------------------------------------------ idle

    def _reload(self) -> None:
        if not configuration.has_changed(self._config):
            return
        try:
            changed = configuration.load(self._config.file)
        except ConfigError as error:
            if str(error) != self._config_error:
                log.error("%s; the agent continues with the previous configuration", error)
            self._config_error = str(error)
            return
        if changed.spool != self._config.spool:
            log.warning("agent.spool takes effect at the next start")
        if (changed.url, changed.token) != (self._config.url, self._config.token):
            self._client.use(url=changed.url, token=changed.token)
        log.info("configuration read: %d systems", len(changed.systems))
        self._config, self._config_error = changed, ""
        self._leftovers_due = 0
        self._greeter.hurry()

    def _drop_leftovers(self) -> None:
        if time.monotonic() < self._leftovers_due:
            return
        self._leftovers_due = time.monotonic() + LEFTOVER_INTERVAL
        for slug in {leftover.system for leftover in self._journal.leftovers()}:
            system = self._config.systems.get(slug)
            try:
                if system:
                    clean_leftovers(system, self._journal)
            except database.DatabaseFailed as problem:
                log.warning("%s; will try again", problem)

    def _claim(self) -> wire.JobMessage | None:
        """A job, or None after a pause."""
        pause = self._config.poll_interval
        complaint = ""
        free = self._spool.free_bytes()
        if free < self._config.minimum_free:
            complaint = f"no job is claimed: only {free} bytes are free in {self._config.spool}; free space there"
        else:
            try:
                job = self._client.claim()
                if job:
                    return job
            except (Unreachable, Rejected, LeaseGone) as problem:
                complaint, pause = f"no job could be claimed: {problem}", min(LONGEST_PAUSE, 2 * pause)
        if complaint and not self._complaint:
            log.warning("%s", complaint)
        self._complaint = complaint
        self._stopping.wait(pause * random.uniform(0.8, 1.2))  # noqa: S311  (spreads agents, guards nothing)
        return None

    # ------------------------------------------------------------ at work

    def _do(self, message: wire.JobMessage) -> None:
        log.info("job %s: %s on %s, attempt %s", message.id, message.workload, message.system, message.attempt)
        job = JobExecution(
            message=message,
            config=self._config,
            spool=self._spool,
            journal=self._journal,
            work=self._work,
            server=self._server,
        )
        lease = LeaseKeeper(
            client=self._client,
            job=message,
            progress=lambda: job.progress,
            on_cancel=lambda: job.switch.ask(CANCELLED),
            on_lost=lambda words: job.switch.ask(lease_lost(words)),
        )
        self._job = job
        if self._stopping.is_set():
            job.switch.ask(AGENT_STOPPED)
        lease.start()
        try:
            stop = job.run()
            log.info("job %s: %s", message.id, stop.reason if stop else "succeeded")
            if stop and stop.job == "failed" and stop is not AGENT_STOPPED and not self._stopping.is_set():
                # An unreachable database would use up the attempts of all jobs: report it to the server first.
                self._greeter.ask_again(message.system, timeout=HELLO_TIMEOUT)
            job.progress = "uploading"
            number = self._finish(job, stop)
            # The lease is kept until the server has the end, so that it does not reassign the job.
            while number is not None and self._spool.holds(number) and not self._stopping.is_set():
                if job.switch.asked and not job.switch.asked.job:
                    break  # the lease is lost: the end will be refused
                self._spool.wait(0.2)
        finally:
            lease.stop()
            self._job = None

    def _finish(self, job: JobExecution, stop: Stop | None) -> int | None:
        ended = stop or Stop("succeeded", "succeeded", "")
        while True:
            try:
                return recovery.finish(
                    self._spool,
                    self._journal,
                    job.entry,
                    outcome=ended.job,
                    reason=ended.reason,
                    skipped=job.skipped,
                    is_permanent=ended.is_permanent,
                )
            except OSError as error:
                log.error("the end of job %s cannot be written: %s; trying again", job.message.id, error)
                if self._stopping.wait(DISK_PAUSE):
                    return None  # the journal has it; the agent's next start ends the job

    def _refused(self, entry: SpoolEntry, reason: str) -> None:
        job = self._job
        if job and entry.kind == "run" and job.entry.run and job.entry.run.uid == entry.run:
            job.switch.ask(failed(f"the server refused the run: {reason}"))

    def _health(self) -> dict[str, Any]:
        job = self._job
        state = {"job": job.message.id, "progress": job.progress} if job else {"job": None, "progress": "idle"}
        return {**self._spool.health(), **state, "config_error": self._config_error}
