"""Samples a server and its host beside a command that another program runs, as the client's `splashboard run` does.

Both sides write JSON, one message a line. The other program sends a ServerToSample, then a SamplingOrder at each step;
it gets ServerFacts, then SampledFiles for each run that ended. The end of its messages ends the sampling. Times are the
host's monotonic clock, in s, which all its processes share.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from workers.agent.measure import database
from workers.agent.measure.clock import RunClock
from workers.agent.measure.nodes import NodeSampling
from workers.agent.measure.recorder import BATCH_LIMIT
from workers.agent.runtime.config import NodeConfig, ServerAddress, SystemConfig
from workers.agent.samplers import SampleSource, SourceFailed
from workers.agent.samplers.host import HostCounters
from workers.agent.samplers.postgresql import PostgreSQLStatistics
from workers.agent.samplers.process import ProcessFamily
from workers.protocol import wire

KEPT = 3.0  # s of samples before a run began that may still belong to it
MYSQL, POSTGRESQL = "mysql", "postgresql"
M = TypeVar("M")


class ServerToSample(msgspec.Struct, kw_only=True):
    """`folder`: where the batches go. `kind`: MYSQL, also for MariaDB, or POSTGRESQL, which is found by `connection`,
    the arguments of psql. `parent`: process id of the other program, which is no neighbour of the run."""

    folder: str
    user: str
    kind: str = MYSQL
    connection: list[str] = []
    password: str = ""
    host: str = "127.0.0.1"
    port: int = 3306
    socket: str = ""
    parent: int = 0


class ServerFacts(msgspec.Struct, kw_only=True):
    """`problem`: why the server cannot be sampled; empty: it is. `local`: it is on this host. Of PostgreSQL the other
    program asks the rest itself."""

    problem: str = ""
    local: bool = False
    server_version: str = ""
    variables: dict[str, str] = {}
    defaults: dict[str, str] | None = None


class SamplingOrder(msgspec.Struct, kw_only=True):
    """`what`: "tool" (`pid` leads the session of the command), "begin" (of `run`, whose clock is 0 at `at`), "size" (of
    the tables of `schema`, now), "end" (of `run`, with the load of `tool` from `zero` of the tool's own clock to `at`,
    and with the size, if it is not known yet)."""

    what: str
    run: str = ""
    at: float = 0.0
    pid: int = 0
    tool: str = ""
    zero: float | None = None
    schema: str = ""


class SampledFiles(msgspec.Struct, kw_only=True):
    """`files`: batches in order; `data_bytes`: size of the schema's tables, None: not known."""

    run: str
    files: list[str]
    data_bytes: int | None = None


class BatchFiles:
    """Samples of the last seconds; those of a run, on its own clock, as batches in files. Any thread may add."""

    def __init__(self, folder: Path, clock: RunClock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._recent: deque[tuple[str, str, float, Mapping[str, wire.Number]]] = deque()
        self._lasting: list[wire.EventMessage] = []  # what is not observable is so in every run
        self._encoder: wire.BatchEncoder | None = None
        self._later = 0.0  # s from the zero of the common clock to that of the run
        self._files: list[str] = []

    def sample(self, *, node: str, role: str, t: float, values: Mapping[str, wire.Number]) -> None:
        with self._lock:
            self._recent.append((node, role, t, values))
            while self._recent[0][2] < t - KEPT:
                self._recent.popleft()
            self._add(node, role, t, values)

    def event(self, event: wire.EventMessage) -> None:
        with self._lock:
            if event.kind == "not_observable":
                self._lasting.append(event)
            if self._encoder is not None:
                self._encoder.add_event(self._moved(event))

    def begin(self, run: str, at: float) -> None:
        with self._lock:
            self._encoder, self._files = wire.BatchEncoder(run=run), []
            self._later = at - self._clock.zero
            for event in self._lasting:
                self._encoder.add_event(self._moved(event))
            for each in self._recent:
                self._add(*each)

    def end(self, load: wire.EventMessage | None) -> SampledFiles | None:
        """`load`: on the common clock. None: no run had begun. Raises OSError."""
        with self._lock:
            if self._encoder is None:
                return None
            if load is not None:
                self._encoder.add_event(self._moved(load))
            self._write()
            run, self._encoder = self._encoder.run, None
            return SampledFiles(run=run, files=self._files)

    def _add(self, node: str, role: str, t: float, values: Mapping[str, wire.Number]) -> None:
        if self._encoder is None or t < self._later:
            return
        self._encoder.add_sample(node=node, role=role, t=t - self._later, values=values)
        if self._encoder.size() >= BATCH_LIMIT:
            self._write()

    def _moved(self, event: wire.EventMessage) -> wire.EventMessage:
        start = max(0.0, event.starts_at - self._later)
        end = None if event.ends_at is None else round(max(start, event.ends_at - self._later), 6)
        return msgspec.structs.replace(event, starts_at=round(start, 6), ends_at=end)

    def _write(self) -> None:
        assert self._encoder is not None  # noqa: S101  checked by the callers
        if self._encoder.is_empty():
            return
        sequence, payload = self._encoder.flush()
        file = self._folder / f"{self._encoder.run}.{sequence:06}.gz"
        file.touch(mode=0o600)
        file.write_bytes(payload)
        self._files.append(str(file))


class BesideSampling:
    """Follows orders for one server."""

    def __init__(self, server: ServerToSample) -> None:
        address = ServerAddress(host=server.host, port=server.port, socket=server.socket)
        self._server = server
        self._postgresql = PostgreSQLStatistics(server.connection, server.password)
        self._system = _system(server, address)
        self._tool: int | None = None
        self._size: int | None = None
        self._clock = RunClock()
        self._batches = BatchFiles(Path(server.folder), self._clock)
        self._sampling = NodeSampling(
            self._system,
            clock=self._clock,
            recorder=self._batches,
            tool=lambda: self._tool,
            besides={server.parent},
            of_node=self._sources if server.kind == POSTGRESQL else None,
        )

    def facts(self) -> ServerFacts:
        """Raises DatabaseFailed, SourceFailed."""
        address = self._system.address
        if self._server.kind == POSTGRESQL:
            self._postgresql.read()
            return ServerFacts(local=address.is_local())
        return ServerFacts(
            local=address.is_local(),
            server_version=database.version(self._system),
            variables=database.variables(self._system, address),
            defaults=database.defaults(self._system, address),
        )

    def start(self) -> None:
        self._sampling.start()

    def stop(self) -> None:
        self._sampling.stop()

    def follow(self, order: SamplingOrder) -> SampledFiles | None:
        """What to answer. Raises OSError."""
        if order.what == "tool":
            self._tool = order.pid or None
        elif order.what == "begin":
            self._batches.begin(order.run, order.at)
            self._sampling.watch_neighbours()
            self._size = None
        elif order.what == "size":
            self._size = self._bytes(order.schema)
        elif order.what == "end":
            self._sampling.report_neighbours()
            found = self._batches.end(self._load(order))
            if found is not None:
                asked = order.schema and self._size is None
                found.data_bytes = self._bytes(order.schema) if asked else self._size
            return found
        return None

    def _sources(self, system: SystemConfig, number: int) -> list[SampleSource]:
        """PostgreSQL's. Its counters come first: they set the sample's time."""
        local: list[SampleSource] = [HostCounters(cpus=system.cpus), ProcessFamily(self._postgresql.server_pid)]
        return [self._postgresql, *(local if system.nodes[number].local else [])]

    def _bytes(self, schema: str) -> int | None:
        return database.data_bytes(self._system, schema) if self._server.kind == MYSQL else None

    def _load(self, order: SamplingOrder) -> wire.EventMessage | None:
        if order.zero is None:
            return None
        zero = self._clock.zero
        return wire.EventMessage(
            kind="load",
            label=order.tool,
            starts_at=order.zero - zero,
            ends_at=max(order.zero, order.at) - zero,
            node="client",
            detail={"is_zero": True},
        )


def _system(server: ServerToSample, address: ServerAddress) -> SystemConfig:
    node = NodeConfig(name="db1", role="writer", zone="", address=address, local=address.is_local())
    return SystemConfig(
        slug="server",
        name="server",
        platform="",
        hardware_class="",
        address=address,
        user=server.user,
        password=server.password,
        database="",
        nodes=(node,),
    )


def main(orders: IO[bytes] = sys.stdin.buffer, answers: IO[bytes] = sys.stdout.buffer) -> int:
    """Exit code: 1 when the server cannot be sampled."""

    def say(message: Any) -> None:
        answers.write(wire.to_json(message) + b"\n")
        answers.flush()

    server = wire.from_json(ServerToSample, orders.readline())
    sampling = BesideSampling(server)
    try:
        facts = sampling.facts()
    except (database.DatabaseFailed, SourceFailed) as problem:
        say(ServerFacts(problem=str(problem)))
        return 1
    sampling.start()
    try:
        say(facts)
        _follow(orders, sampling.follow, say)
    except BrokenPipeError:
        return 0  # the other program has ended
    finally:
        sampling.stop()
    return 0


def _follow(
    orders: IO[bytes], follow: Callable[[SamplingOrder], SampledFiles | None], say: Callable[[Any], None]
) -> None:
    for line in iter(orders.readline, b""):
        order = wire.from_json(SamplingOrder, line)
        try:
            found = follow(order)
        except OSError as error:
            found = SampledFiles(run=order.run, files=[])
            sys.stderr.write(f"the samples cannot be written: {error.strerror or error}\n")
        if order.what == "end":
            say(found or SampledFiles(run=order.run, files=[]))


if __name__ == "__main__":
    sys.exit(main())
