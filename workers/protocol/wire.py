"""The protocol between agent and server: JSON messages and the compressed batches of samples.

Shared by both sides, hence independent of Django and of the agent's runtime.
A batch is gzip of JSON lines. Its first line is `{"run": uid, "sequence": n}`; the others, in time order:

- `{"node", "role", "layout", "names"?}`  the series in the node's samples; `names` only for a layout new in the run
- `[node, t, [value, ...]]`               a full sample in the layout's order; the first of each node in each batch
- `[node, t, [index, ...], [delta, ...]]` only changes since the node's previous sample; a null delta: no longer
                                          observed; after a null, the delta is the value itself
- `[node, t, [index, ...], [delta, ...], [index, ...], [value, ...]]` the same, plus values where no delta is exact
- `{"event": {...}}`                      an event (EventMessage)
- `{"output": text, "t": t}`              a line printed by the load tool, for the live view

`t`: s since the run opened. Integers of 64 bits stay integers; floats that are not finite count as not observed.
"""

import gzip
import hashlib
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec

T = TypeVar("T")
GZIP = zlib.MAX_WBITS | 16
Number = int | float | None

# ---------------------------------------------------------------- JSON messages


class NodeMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A node of a system, from an agent's configuration."""

    name: str
    role: str = "writer"
    zone: str = ""
    hardware_class: str = ""  # empty: that of the system


class AwsMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A system's identity at AWS: an Aurora cluster, or else an RDS instance. The server queries AWS about it."""

    region: str
    cluster: str = ""
    instance: str = ""


class SystemMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A system reachable by an agent. Never holds a user name or a password."""

    slug: str
    name: str
    platform: str
    version: str  # from SELECT VERSION()
    hardware_class: str
    endpoint: str = ""
    settings: dict[str, str] = {}
    nodes: list[NodeMessage] = []
    aws: AwsMessage | None = None


class HardwareMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A machine described by the agent because the catalog may lack it."""

    slug: str
    name: str
    vcpu: int
    memory_bytes: int
    storage: str = ""


class HelloMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Agent to server at start and every minute: identity, reachable systems and health."""

    version: str
    labels: list[str] = []
    systems: list[SystemMessage] = []
    hardware: list[HardwareMessage] = []
    health: dict[str, Any] = {}


class HelloAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`warnings`: sentences for the agent's log, for example about a system that differs from the catalog's."""

    agent: str
    warnings: list[str] = []


class LoadLevelMessage(msgspec.Struct, frozen=True, kw_only=True):
    threads: int
    rate: float | None = None  # 1/s; None: unlimited


class PlannedRun(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    load_level: LoadLevelMessage


class RampMessage(msgspec.Struct, frozen=True, kw_only=True):
    """The job's runs are load levels that end, successfully, where the system refuses connections. `least_gain`: or
    where more threads gain less than this share of throughput; None: no such limit."""

    least_gain: float | None = None


class JobMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Server to agent: the claimed job. `runs` in the order of measurement.

    `ladder`: the ramp; None: every run must succeed. `restart`: first start the server anew, by its own command.
    """

    id: int
    attempt: int
    system: str  # slug, as in the agent's configuration
    tool: str
    workload: str
    parameters: dict[str, Any]
    repetition: int
    warmup: float  # s
    duration: float  # s
    lease_seconds: float
    runs: list[PlannedRun]
    ladder: RampMessage | None = None
    restart: bool = False


class RenewMessage(msgspec.Struct, frozen=True, kw_only=True):
    attempt: int
    progress: str = ""


class RenewAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`cancel`: stop, clean up, and end the job as cancelled."""

    cancel: bool
    lease_seconds: float


class RunNodeMessage(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    role: str = ""
    variables: dict[str, str] | None = None  # SHOW GLOBAL VARIABLES, without secrets; None: not a database server
    defaults: dict[str, str] | None = None  # values if never set; None: the server does not report them


class RunMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Opens a run: PUT to its own address, so that a resend changes nothing."""

    job: int
    attempt: int
    load_level: LoadLevelMessage
    started_at: str  # ISO 8601, UTC: the wall clock at t = 0
    warmup: float
    duration: float
    server_version: str = ""
    tool_version: str = ""
    command: str = ""
    host: dict[str, Any] = {}
    nodes: list[RunNodeMessage] = []
    data_bytes: int | None = None  # size of the workload's tables with their indexes; None: not queried
    # How long the attempt took to start the server anew; None: it did not.
    restart_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None


class ClockMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Server to agent: the server's clock."""

    now: float  # s since the epoch


class SamplingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Agent to server: the nodes it samples, by system, in runs driven by other agents."""

    systems: dict[str, list[Annotated[str, msgspec.Meta(min_length=1, max_length=80)]]]


class SampledRun(msgspec.Struct, frozen=True, kw_only=True):
    """An open run to sample into stream number `stream`. `began`: part of the stream has already arrived."""

    run: str
    system: str
    stream: int
    zero: float  # zero of the run's clock, in s since the epoch on the server's clock
    uncertainty: float | None = None  # s, of `zero`; None: unknown to the driving agent
    began: bool = False


class SamplingAnswer(msgspec.Struct, frozen=True, kw_only=True):
    runs: list[SampledRun]


class StreamEndMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Ends a stream with its number of batches."""

    batches: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class EventMessage(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    label: str
    starts_at: float  # s on the run's clock
    ends_at: float | None = None
    node: str = ""
    detail: dict[str, Any] = {}


class ArtifactMessage(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    sha256: str
    size: int


class RunEndMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Ends a run. The server seals it when all `batches` and `artifacts` have arrived."""

    outcome: str  # succeeded, failed, cancelled
    reason: str = ""
    ended_at: str
    measured_from: float | None = None  # s on the run's clock
    measured_to: float | None = None
    batches: int
    artifacts: list[ArtifactMessage] = []


class SkippedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A planned run that can no longer succeed, and why."""

    uid: UUID
    reason: str


class FailoverMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Requests a failover at AWS from the server. `target`: the reader to become the writer; empty: AWS chooses."""

    target: str = ""


class FailoverAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """AWS has accepted the failover. `asked_at` and `answered_at` by the server's clock."""

    place: str
    asked_at: str
    answered_at: str
    writer: str  # until the failover
    target: str
    status: str  # in AWS's terms


class JobEndMessage(msgspec.Struct, frozen=True, kw_only=True):
    """`skipped`: where the ramp ended, the runs above it and the one with refused connections. `is_permanent`: further
    attempts would fail alike."""

    attempt: int
    outcome: str  # succeeded, failed, cancelled
    reason: str = ""
    skipped: list[SkippedRun] = []
    is_permanent: bool = False


def from_json(kind: type[T], body: bytes) -> T:
    """Raises msgspec.ValidationError, which names the field, or msgspec.DecodeError when `body` is not JSON."""
    return msgspec.json.decode(body, type=kind)


def to_json(message: Any) -> bytes:
    return msgspec.json.encode(message)


# ---------------------------------------------------------------- batches


def checksum(payload: bytes) -> str:
    """SHA-256, 64 hexadecimal digits."""
    return hashlib.sha256(payload).hexdigest()


def layout_hash(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


@dataclass
class _NodeState:
    role: str
    names: list[str]
    values: list[Number]
    sent_in_batch: bool = False


@dataclass
class BatchEncoder:
    """Encodes the samples of one run as numbered batches; keeps layouts and each node's last sample."""

    run: str
    sequence: int = 0
    _lines: list[bytes] = field(default_factory=list)
    _size: int = 0
    _nodes: dict[str, _NodeState] = field(default_factory=dict)
    _layouts: set[str] = field(default_factory=set)

    def add_sample(self, *, node: str, role: str, t: float, values: Mapping[str, Number]) -> None:
        """`values`: metric key -> value; None or a missing key: not observed at `t`."""
        t = round(t, 6)
        state = self._nodes.get(node)
        if state is None or not values.keys() <= set(state.names):
            known = state.names if state else []
            names = known + sorted(values.keys() - set(known))
            state = self._nodes[node] = _NodeState(role=role, names=names, values=[None] * len(names))
        row = [_representable(values.get(name)) for name in state.names]
        if not state.sent_in_batch:
            layout = layout_hash(state.names)
            head: dict[str, Any] = {"node": node, "role": role, "layout": layout}
            if layout not in self._layouts:
                head["names"] = state.names
                self._layouts.add(layout)
            self._put(head)
            self._put([node, t, row])
            state.sent_in_batch = True
        else:
            self._put(_changes(node, t, state.values, row))
        state.values = row

    def add_event(self, event: EventMessage) -> None:
        self._put({"event": event})

    def add_output(self, *, t: float, line: str) -> None:
        self._put({"output": line, "t": round(t, 6)})

    def is_empty(self) -> bool:
        return not self._lines

    def size(self) -> int:
        """Size of the next batch so far, bytes before compression."""
        return self._size

    def flush(self) -> tuple[int, bytes]:
        """Sequence number (from 0) and payload of the current batch; begins the next."""
        sequence, self.sequence = self.sequence, self.sequence + 1
        head = to_json({"run": self.run, "sequence": sequence})
        payload = gzip.compress(b"\n".join([head, *self._lines]), compresslevel=6, mtime=0)
        self._lines, self._size = [], 0
        for state in self._nodes.values():
            state.sent_in_batch = False
        return sequence, payload

    def _put(self, line: Any) -> None:
        self._lines.append(encoded := to_json(line))
        self._size += len(encoded) + 1


def _fits(value: int | float) -> bool:
    return isinstance(value, float) or -(2**63) <= value < 2**63


def _representable(value: Number) -> Number:
    try:
        number = value if value is None or _fits(value) else float(value)
    except OverflowError:  # hundreds of digits: nothing counts to that
        return None
    return None if isinstance(number, float) and not math.isfinite(number) else number


def _changes(node: str, t: float, before: Sequence[Number], now: Sequence[Number]) -> list[Any]:
    """A delta where it is exact, as for integers; else the value."""
    index, delta, outright, values = [], [], [], []
    for place, (old, new) in enumerate(zip(before, now, strict=True)):
        if old == new:
            continue
        if isinstance(old, int) and isinstance(new, int) and _fits(new - old):
            index.append(place)
            delta.append(new - old)
        else:
            outright.append(place)
            values.append(new)
    return [node, t, index, delta, outright, values] if outright else [node, t, index, delta]


class BadBatch(ValueError):
    """An unreadable batch; the text contains the line and the reason."""


def read_lines(payload: bytes, *, limit: int = 64 * 1024 * 1024, members: int = 16) -> list[bytes]:
    """Lines of a batch of at most `members` gzip members, which unpack to at most `limit` bytes. Raises BadBatch."""
    text, rest = b"", payload
    try:
        for _ in range(members):
            member = zlib.decompressobj(wbits=GZIP)
            text += member.decompress(rest, limit + 1 - len(text))
            if len(text) > limit:
                raise BadBatch(f"the batch unpacks to more than {limit} bytes")
            if not member.eof:
                raise BadBatch("the batch is not gzip: its end is missing")
            if not (rest := member.unused_data):
                return text.split(b"\n")
    except zlib.error as error:
        raise BadBatch(f"the batch is not gzip: {error}") from error
    raise BadBatch(f"the batch has more than {members} gzip members")
