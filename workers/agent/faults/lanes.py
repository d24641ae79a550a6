"""Open-loop lanes: operations start on a fixed schedule, independent of the outcome of earlier ones."""

import contextlib
import itertools
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.faults.system import NodeNames, TargetSystem, identity
from workers.agent.runtime.config import ServerAddress

SPARE = 4  # workers beyond those needed when every operation waits for its timeout
RETRY_PAUSE = 0.1  # s
NO_WORKER = (0, "no idle worker: all wait for an answer")


class LoadClock:
    """Seconds since the load began, i.e. since `begin` was called."""

    def __init__(self) -> None:
        self._zero = time.monotonic()

    def begin(self) -> None:
        self._zero = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self._zero

    def sleep_until(self, t: float) -> None:
        """Returns at once when `t` has passed."""
        time.sleep(max(0.0, t - self.now()))


@dataclass(frozen=True)
class Attempt:
    """One attempt of an operation. `due`: its scheduled time; `server`: the connected node.

    `error`: code and text of an unacknowledged attempt. `sent`: it may have reached the server.
    """

    sequence: int
    worker: int
    number: int  # of the attempt, from 1
    due: float
    start: float
    end: float
    server: str
    error: tuple[int, str] | None = None
    sent: bool = True
    answer: Mapping[str, int | bool] = field(default_factory=dict)


# A worker's operation on its connection; the mapping returned is stored in the attempt.
Act = Callable[["Connection[Cursor]", int, int], Mapping[str, int | bool]]


class Lane:
    """Calls `act(connection, sequence, worker)` at `rate` 1/s and `record` with every attempt, from any thread.

    Idle workers are taken last in, first out, so that a healthy system needs few connections.
    """

    def __init__(
        self,
        *,
        system: TargetSystem,
        address: ServerAddress,
        names: NodeNames,
        clock: LoadClock,
        rate: float,
        timeout: float,
        retries: int = 0,
        act: Act,
        record: Callable[[Attempt], None],
    ) -> None:
        self.clock = clock
        self.act = act
        self.record = record
        self.timeout = timeout
        self.retries = retries
        self.generation = 0  # of connections: after a failure all earlier connections are reopened
        self._system = system
        self._address = address
        self._names = names
        self._rate = rate
        self._most = math.ceil(rate * (timeout + RETRY_PAUSE) * (1 + retries)) + SPARE
        self._workers: list[_Worker] = []
        self._idle: deque[_Worker] = deque()
        self._thread = threading.Thread(target=self._schedule, name="lane", daemon=True)
        self._first = 0
        self._until = 0.0
        self._stopping = threading.Event()

    def warm(self) -> None:
        """Opens the first connection, the slowest, before the load. Raises pymysql.MySQLError or OSError."""
        worker = _Worker(self, 0)
        worker.connect()
        self._workers.append(worker)
        self._idle.append(worker)
        worker.start()

    def start(self, until: float = math.inf, *, since: float = 0.0) -> None:
        """Operations due from `since` to `until` on the lane's clock, s."""
        self._first, self._until = math.ceil(since * self._rate), until
        self._thread.start()

    def stop(self) -> None:
        """No further operation becomes due."""
        self._stopping.set()

    def finish(self) -> None:
        """Waits for operations in progress, as long as they may take."""
        self._thread.join()
        for worker in self._workers:
            worker.inbox.put(None)
        deadline = time.monotonic() + 2 * (self.timeout + RETRY_PAUSE) * (1 + self.retries) + 1
        for worker in self._workers:
            worker.join(max(0.0, deadline - time.monotonic()))

    def connect(self) -> tuple["Connection[Cursor]", str]:
        connection = self._system.connect(self._address, timeout=self.timeout)
        found = identity(connection)
        return connection, self._names.get(found, self._address) or ":".join(found)

    def is_back(self, worker: "_Worker") -> None:
        self._idle.append(worker)

    def _schedule(self) -> None:
        for sequence in itertools.count(self._first):
            due = sequence / self._rate
            if due >= self._until or self._stopping.wait(max(0.0, due - self.clock.now())):
                break
            worker = self._free()
            if worker is None:
                now = self.clock.now()
                self.record(Attempt(sequence, -1, 1, due, now, now, "", NO_WORKER, sent=False))
            else:
                worker.inbox.put((sequence, due))

    def _free(self) -> "_Worker | None":
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        if len(self._workers) >= self._most:
            return None
        worker = _Worker(self, len(self._workers))
        self._workers.append(worker)
        worker.start()
        return worker


class _Worker(threading.Thread):
    def __init__(self, lane: Lane, number: int) -> None:
        super().__init__(name=f"worker {number}", daemon=True)
        self.inbox: queue.SimpleQueue[tuple[int, float] | None] = queue.SimpleQueue()
        self._lane = lane
        self._number = number
        self._connection: Connection[Cursor] | None = None
        self._server = ""
        self._generation = -1

    def run(self) -> None:
        while (work := self.inbox.get()) is not None:
            sequence, due = work
            for number in range(1, self._lane.retries + 2):
                attempt = self._try(sequence, due, number)
                self._lane.record(attempt)
                if attempt.error is None:
                    break
                if number <= self._lane.retries:
                    time.sleep(RETRY_PAUSE)
            self._lane.is_back(self)
        self._close()

    def connect(self) -> "Connection[Cursor]":
        """Reconnects. Raises pymysql.MySQLError or OSError."""
        self._close()
        self._server = ""
        generation = self._lane.generation
        self._connection, self._server = self._lane.connect()
        self._generation = generation
        return self._connection

    def _try(self, sequence: int, due: float, number: int) -> Attempt:
        lane, clock = self._lane, self._lane.clock
        start, sent = clock.now(), False
        error: tuple[int, str] | None = None
        answer: Mapping[str, int | bool] = {}
        try:
            connection = self._connection
            if connection is None or self._generation != lane.generation:
                connection = self.connect()
            sent = True
            answer = lane.act(connection, sequence, self._number)
        except Exception as problem:  # of any kind: the write was not acknowledged
            error = _error(problem)
            if self._generation == lane.generation and self._connection is not None:
                lane.generation += 1
            self._close()
        return Attempt(sequence, self._number, number, due, start, clock.now(), self._server, error, sent, answer)

    def _close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(pymysql.MySQLError, OSError):
                self._connection.close()
        self._connection = None


def _error(problem: Exception) -> tuple[int, str]:
    code, *words = problem.args or (0,)
    if isinstance(code, int):
        return code, " ".join(map(str, words)) or type(problem).__name__
    return 0, f"{type(problem).__name__}: {problem}"
