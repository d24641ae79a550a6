"""Reports the agent to the server at the start and every minute: identity, reachable systems and health."""

import logging
import threading
from collections.abc import Callable
from typing import Any

from workers.agent import __version__
from workers.agent.measure import database
from workers.agent.measure.clock import ServerClock
from workers.agent.measure.wholeness import require_whole
from workers.agent.runtime.client import LeaseGone, Rejected, ServerClient, Unreachable
from workers.agent.runtime.config import PROXY, Config, SystemConfig
from workers.agent.runtime.restart import can_restart
from workers.agent.tools import ToolMissing
from workers.agent.tools.registry import TOOLS
from workers.protocol import wire

log = logging.getLogger("splashboard.agent.hello")
INTERVAL = 60.0  # s
FIRST_PAUSE = 2.0  # s between attempts until the server has answered
AWAITING = 15.0  # s between hellos while a system is unreachable: it gets no jobs until a hello reports it again


class Greeter:
    """One thread. `busy_with()`: the system being measured, which is not queried meanwhile."""

    def __init__(
        self,
        *,
        client: ServerClient,
        server: ServerClock,
        config: Callable[[], Config],
        health: Callable[[], dict[str, Any]],
        busy_with: Callable[[], str],
    ) -> None:
        self._client = client
        self._server = server
        self._config = config
        self._health = health
        self._busy_with = busy_with
        self._versions: dict[str, str] = {}
        self._warned: set[str] = set()
        self._wake = threading.Event()
        self._news = threading.Condition()
        self._asked = self._answered = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="hello", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def hurry(self) -> None:
        """Sends a hello now: the configuration has changed."""
        self._wake.set()

    def ask_again(self, slug: str, *, timeout: float) -> None:
        """Sends a hello now, with a new check of the system `slug` even while it is measured.

        Returns when the server has it, or after `timeout` seconds; the hello is then sent later.
        """
        with self._news:
            self._asked += 1
            asked = self._asked
            self._versions.pop(slug, None)
            self._wake.set()
            self._news.wait_for(lambda: self._answered >= asked or self._stopping, timeout=timeout)

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()
        with self._news:
            self._news.notify_all()

    def _work(self) -> None:
        while not self._stopping:
            self._wake.clear()
            with self._news:
                asked = self._asked
            try:
                pause = self._send_hello()
                if pause != FIRST_PAUSE:
                    with self._news:
                        self._answered = asked
                        self._news.notify_all()
            except Exception:  # without hellos an agent gets no jobs
                log.exception("the hello failed")
                pause = FIRST_PAUSE
            self._wake.wait(pause)

    def _send_hello(self) -> float:
        """Returns the seconds until the next hello."""
        config = self._config()
        unreachable: dict[str, str] = {}
        systems = []
        for system in config.systems.values():
            try:
                systems.append(describe(system, self._version(system)))
            except database.DatabaseFailed as problem:
                unreachable[system.slug] = str(problem)
        message = wire.HelloMessage(
            version=__version__,
            labels=[*config.labels, *(f"system:{system.slug}" for system in systems)],
            systems=systems,
            hardware=list(config.hardware),
            health={
                **self._health(),
                "name": config.name,
                "unreachable": unreachable,
                "tools": _tools(),
                "restarts": [system.slug for system in config.systems.values() if can_restart(system)],
            },
        )
        try:
            answer = self._client.hello(message)
        except (Unreachable, Rejected, LeaseGone) as problem:
            self._warn_once({f"the server did not accept the hello: {problem}"})
            return FIRST_PAUSE
        self._server.measure()
        self._warn_once({*answer.warnings, *unreachable.values()})
        return AWAITING if unreachable else INTERVAL

    def _version(self, system: SystemConfig) -> str:
        """Raises database.DatabaseFailed."""
        if system.slug != self._busy_with() or system.slug not in self._versions:
            self._versions.pop(system.slug, None)
            version = database.version(system)
            require_whole(system)
            self._versions[system.slug] = version
        return self._versions[system.slug]

    def _warn_once(self, sentences: set[str]) -> None:
        """Logs each sentence when it becomes true, not every minute."""
        for sentence in sorted(sentences - self._warned):
            log.warning("%s", sentence)
        self._warned = sentences


def describe(system: SystemConfig, version: str) -> wire.SystemMessage:
    nodes = [wire.NodeMessage(name=node.name, role=node.role, zone=node.zone) for node in system.nodes]
    if system.proxy:
        nodes.append(wire.NodeMessage(name=system.proxy.name, role=PROXY, zone=system.proxy.zone))
    return wire.SystemMessage(
        slug=system.slug,
        name=system.name,
        platform=system.platform,
        version=version,
        hardware_class=system.hardware_class,
        endpoint=str(system.address),
        settings=system.settings,
        nodes=nodes,
        aws=system.aws,
    )


def _tools() -> dict[str, str]:
    found = {}
    for name, tool in TOOLS.items():
        try:
            found[name] = tool.version()
        except ToolMissing as problem:
            found[name] = str(problem)
    return found
