"""Watches that poll nodes and proxy many times a second, read the manager's output, and record changes."""

import contextlib
import subprocess
import threading
from collections.abc import Callable

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.faults.lanes import LoadClock
from workers.agent.faults.phases import Sign, State
from workers.agent.faults.system import TargetSystem
from workers.agent.measure import group
from workers.agent.measure.wholeness import is_galera
from workers.agent.runtime.config import ServerAddress
from workers.agent.samplers import SourceFailed
from workers.agent.samplers.haproxy import HAProxySource
from workers.agent.samplers.replication import is_read_only

NODE_INTERVAL = 0.04  # s: less than a probe interval
NODE_TIMEOUT = 0.5  # s
PROXY_INTERVAL = 0.1  # s
# In display order.
VIEW = (
    "wsrep_cluster_size",
    "wsrep_cluster_status",
    "wsrep_local_state_comment",
    "wsrep_ready",
    "wsrep_evs_state",
)
ASK_VIEW = f"SHOW STATUS WHERE Variable_name IN ({', '.join(repr(name) for name in VIEW)})"
SERVING = {
    "wsrep_cluster_status": "Primary",
    "wsrep_local_state_comment": "Synced",
    "wsrep_ready": "ON",
    # A node that waits for silent nodes reports GATHER and commits nothing.
    "wsrep_evs_state": "OPERATIONAL",
}

Seen = tuple[bool, bool, str, bool]  # answers, writable, cluster's view, in sync with that


class NodeWatch:
    """Polls a node; `on_change` is called on the watching thread, first with the initial state."""

    def __init__(self, system: TargetSystem, node: str, clock: LoadClock, on_change: Callable[[State], None]) -> None:
        self._system = system
        self._node = node
        self._clock = clock
        self._on_change = on_change
        self._stopping = threading.Event()
        self._connection: Connection[Cursor] | None = None
        self._galera = self._group = False
        self._thread = threading.Thread(target=self._work, name=f"watch {node}", daemon=True)

    def warm(self) -> None:
        """Opens the connection before the load."""
        self._look()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(4 * NODE_TIMEOUT)

    def _work(self) -> None:
        known: Seen | None = None
        before = self._clock.now()
        while not self._stopping.is_set():
            asked = self._clock.now()
            seen = self._look()
            if seen != known:
                answers, writable, cluster, in_sync = seen
                self._on_change(State(self._clock.now(), before, self._node, answers, writable, cluster, in_sync))
                known = seen
            before = asked
            self._stopping.wait(NODE_INTERVAL)
        if self._connection is not None:
            with contextlib.suppress(pymysql.MySQLError, OSError):
                self._connection.close()

    def _look(self) -> Seen:
        try:
            if self._connection is None:
                self._connection = self._system.connect(self._system.nodes[self._node], timeout=NODE_TIMEOUT)
                with self._connection.cursor() as cursor:
                    self._galera = is_galera(cursor)
                    self._group = not self._galera and group.look(cursor) is not None
            with self._connection.cursor() as cursor:
                return look(cursor, galera=self._galera, in_group=self._group)
        except (pymysql.MySQLError, OSError):
            if self._connection is not None:
                with contextlib.suppress(pymysql.MySQLError, OSError):
                    self._connection.close()
            self._connection = None
            return False, False, "", False


def look(cursor: Cursor, *, galera: bool, in_group: bool = False) -> Seen:
    """Raises pymysql.MySQLError or OSError."""
    if in_group:
        cursor.execute(group.MEMBERS)
        found = group.view(cursor.fetchall())
        return (True, found.takes_writes, found.words(), found.serves) if found else (True, False, "", False)
    if not galera:
        # An Aurora reader sets innodb_read_only. Not combined in SQL, where the text ON counts as 0.
        cursor.execute("SELECT @@global.read_only, @@global.innodb_read_only")
        return True, not any(map(is_read_only, cursor.fetchone() or (1,))), "", False
    cursor.execute(ASK_VIEW)
    view = {str(name): str(value) for name, value in cursor.fetchall()}
    serving = all(view.get(name, value) == value for name, value in SERVING.items())
    return True, serving, " ".join(view[name] for name in VIEW if name in view), serving


class ManagerWatch:
    """Reports every line printed by the system's `watch` control."""

    def __init__(self, argv: tuple[str, ...], clock: LoadClock, on_line: Callable[[Sign], None]) -> None:
        """Raises OSError."""
        self._clock = clock
        self._on_line = on_line
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._thread = threading.Thread(target=self._work, name="watch manager", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        self._process.kill()
        if self._thread.is_alive():
            self._thread.join(2)

    def _work(self) -> None:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101  (opened as a pipe above)
        with stream:
            for line in stream:
                if line.strip():
                    self._on_line(Sign(self._clock.now(), line.strip()[:300]))


class ProxyWatch:
    """Reports every state change of HAProxy's servers."""

    def __init__(self, address: ServerAddress, clock: LoadClock, on_change: Callable[[Sign], None]) -> None:
        self._source = HAProxySource(address)
        self._clock = clock
        self._on_change = on_change
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="watch proxy", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(2)

    def _work(self) -> None:
        known: dict[str, str] = {}
        while not self._stopping.wait(PROXY_INTERVAL):
            try:
                states = dict(self._source.read().states)
            except SourceFailed:
                continue
            for server, state in states.items():
                if known and known.get(server) != state:
                    self._on_change(Sign(self._clock.now(), f"HAProxy: {server} is {state}"))
            known = states
