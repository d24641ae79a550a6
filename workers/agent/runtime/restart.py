"""Starts a system's servers anew between sessions, by the command that this agent's configuration names."""

import logging
import subprocess
import tempfile
import time

from workers.agent.measure import database
from workers.agent.measure.wholeness import require_whole
from workers.agent.runtime.config import SystemConfig
from workers.agent.runtime.stop import AGENT_STOPPED, Stopped, StopSwitch, failed

log = logging.getLogger("splashboard.agent.job")
TIMEOUT = 1800.0  # s for the command, and again until the system answers: large buffer pools end and load slowly
PAUSE = 0.5  # s between attempts to reach the system
# Cancelled, the job waits as long for the command: half of a restart leaves no server.
ENDS_WITHIN = 60.0  # s
# A command may return at once, as that of a cloud does, and the server goes on for a while.
BEGINS_WITHIN = 120.0  # s
ROUNDING = 2.0  # s, of the server's Uptime


class NotAnew(Exception):
    """The server answers, and has run since before the command."""


def can_restart(system: SystemConfig) -> bool:
    return bool(_command(system))


def start_anew(system: SystemConfig, switch: StopSwitch) -> float:
    """The seconds until all of the system answered again. Raises Stopped."""
    command = _command(system)
    if not command:
        raise Stopped(
            failed(f"system {system.slug} is to be started anew: add `restart` to [systems.controls] of the agent")
        )
    began = time.monotonic()
    _run(command, switch)
    ended = time.monotonic()
    while problem := _why_not_anew(system, began):
        limit = TIMEOUT if isinstance(problem, database.DatabaseFailed) else BEGINS_WITHIN
        if time.monotonic() > ended + limit:
            raise Stopped(failed(f"restart: {limit:.0f} s after the end of {command[0]}, {problem}"))
        pause = time.monotonic() + PAUSE
        switch.wait_until(lambda until=pause: time.monotonic() > until)  # type: ignore[misc]
    took = time.monotonic() - began
    log.info("system %s was started anew within %.1f s", system.slug, took)
    return took


def _why_not_anew(system: SystemConfig, began: float) -> Exception | None:
    """None: all of the system answers, and the server behind its endpoint has started since `began`."""
    try:
        uptime = database.status(system).get("Uptime", 0)
        require_whole(system)
    except database.DatabaseFailed as problem:
        return problem
    if uptime <= time.monotonic() - began + ROUNDING:
        return None
    return NotAnew(f"the server of {system.slug} has run for {uptime} s: it was not started anew")


def _command(system: SystemConfig) -> tuple[str, ...]:
    return system.controls.get("", {}).get("restart", ())


def _run(command: tuple[str, ...], switch: StopSwitch) -> None:
    """Raises Stopped. A command still running then goes on to its end: it may just have stopped the server."""
    # A file and not a pipe: a server started by the command may keep the pipe open.
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise Stopped(failed(f"restart: {command[0]} cannot be started: {error.strerror}")) from error
        deadline = time.monotonic() + TIMEOUT
        try:
            switch.wait_until(lambda: process.poll() is not None or time.monotonic() > deadline)
        except Stopped:
            _await_end(process, switch)
            raise
        if process.poll() is None:
            raise Stopped(failed(f"restart: {command[0]} had not ended after {TIMEOUT:.0f} s"))
        output.seek(0)
        lines = output.read().strip().splitlines()
    if process.returncode:
        reason = lines[-1] if lines else f"exit code {process.returncode}"
        raise Stopped(failed(f"restart: {command[0]} failed: {reason}"))


def _await_end(process: "subprocess.Popen[bytes]", switch: StopSwitch) -> None:
    limit = time.monotonic() + ENDS_WITHIN
    while process.poll() is None and time.monotonic() < limit and switch.asked is not AGENT_STOPPED:
        time.sleep(0.1)
