"""Decodes uploaded batches (format: workers/protocol/wire.py) into columns, for live view and sealing.

Calling `take` from time to time, which returns the samples since the last call, bounds the memory of long runs.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
import numpy as np

from apps.core import limits
from apps.core.text import counted
from apps.runs.samples import columns
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.stretches import BadSample, OpenStretch, Stretches, stretch_of
from apps.runs.storage.codec import Number
from workers.protocol import wire
from workers.protocol.secrets import text_without_secrets, value_without_secrets
from workers.protocol.wire import BadBatch


class _Sample(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """`first`: all values, or, with `deltas`, the indices of the series they apply to."""

    node: str
    t: float
    first: list[Number]
    deltas: list[Number] | None = None
    places: list[Number] = []
    values: list[Number] = []


class _Other(msgspec.Struct):
    """Any other line: layout, event or output."""

    node: str | None = None
    role: str = ""
    layout: str | None = None
    names: list[str] | None = None
    event: wire.EventMessage | None = None
    output: str | None = None
    t: float | None = None


@dataclass
class _Node:
    role: str
    names: list[str] = field(default_factory=list)
    open_stretch: OpenStretch | None = None
    times: list[float] = field(default_factory=list)
    last_time: float = -math.inf
    stretches: Stretches = field(default_factory=Stretches)
    is_new: bool = True


@dataclass(frozen=True)
class Decoded:
    """The decoded content of a run's batches."""

    nodes: list[SampledNode]
    events: list[wire.EventMessage]
    output: list[tuple[float, str]]


def decode(payloads: Iterable[bytes]) -> Decoded:
    """Decodes all batches at once, in order of their sequence. Raises BadBatch."""
    decoder = Decoder()
    for payload in payloads:
        decoder.feed(payload)
    return decoder.so_far()


class Decoder:
    """Reads the batches of one run in order of their sequence. Not usable after a BadBatch.

    `left_out`: events beyond the limit.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._events: list[wire.EventMessage] = []
        self._kinds: Counter[str] = Counter()
        self._full_at = 0.0  # of the first event that was left out
        self.output: list[tuple[float, str]] = []
        self._nodes: dict[str, _Node] = {}
        self._layouts: dict[str, list[str]] = {}
        self._sample = msgspec.json.Decoder(_Sample)
        self._other = msgspec.json.Decoder(_Other)

    def feed(self, payload: bytes) -> None:
        """Reads one batch. Raises BadBatch, which names the line and the reason."""
        most = min(limits.BATCH_TEXT, max(limits.BATCH_TEXT_ALWAYS, limits.BATCH_RATIO * len(payload)))
        lines = wire.read_lines(payload, limit=most, members=limits.BATCH_MEMBERS)
        for number, line in enumerate(lines[1:], start=2):
            try:
                if line.startswith(b"["):
                    self._read_sample(self._sample.decode(line), number)
                else:
                    self._read_other(self._other.decode(line), line)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise error if isinstance(error, BadBatch) else BadBatch(f"line {number}: {error}") from error
        for name, node in self._nodes.items():
            _close(name, node)

    @property
    def last_time(self) -> float:
        """Of the last sample, s on the run's clock; 0: none yet."""
        return max((node.last_time for node in self._nodes.values() if node.last_time > -math.inf), default=0.0)

    @property
    def weight(self) -> int:
        """Number of values held: samples x changing series, of all nodes."""
        return sum(node.stretches.weight() for node in self._nodes.values())

    @property
    def events(self) -> list[wire.EventMessage]:
        """With a remark on those left out."""
        if not self.left_out:
            return [*self._events]
        were = f"{counted(self.left_out, 'event')} {'was' if self.left_out == 1 else 'were'} left out"
        label = f"{were}: a run keeps {limits.EVENTS:,}, and a few more of rare kinds"
        detail = {"left_out": self.left_out}
        remark = wire.EventMessage(kind="sampler_error", label=label, starts_at=self._full_at, detail=detail)
        return [*self._events, remark]

    def so_far(self) -> Decoded:
        """All that was read since the last `take`. Raises BadBatch for values that no series can hold."""
        return Decoded([_taken(name, node) for name, node in self._nodes.items()], self.events, [*self.output])

    def take(self) -> list[SampledNode]:
        """Nodes with samples since the last call, in order of first appearance. Raises BadBatch for values that no
        series can hold."""
        found = []
        for name, node in self._nodes.items():
            if node.times or node.is_new:
                found.append(_taken(name, node))
                node.times, node.stretches, node.is_new = [], Stretches(), False
        return found

    def _read_sample(self, sample: _Sample, number: int) -> None:
        node = self._nodes.get(sample.node)
        if node is None:
            raise ValueError(f"node {sample.node!r:.100} has no layout yet")
        if not node.last_time < sample.t < math.inf:
            raise ValueError(f"node {sample.node}: the times of its samples do not rise")
        if sample.deltas is None:
            if len(sample.first) != len(node.names):
                raise ValueError(f"{len(sample.first)} values for the {len(node.names)} names of node {sample.node}")
            _close(sample.node, node)
            node.open_stretch = OpenStretch(first=sample.first, lines=[number])
        else:
            _change(sample, node, number)
        node.times.append(sample.t)
        node.last_time = sample.t

    def _read_other(self, other: _Other, line: bytes) -> None:
        if other.layout is not None and other.node is not None:
            self._read_layout(other.node, other.role, other.layout, other.names)
        elif other.event is not None:
            self._read_event(other.event)
        elif other.output is not None and other.t is not None:
            self.output.append((other.t, other.output))
        else:
            raise ValueError(f"unknown line {line[:80]!r}")

    def _read_event(self, event: wire.EventMessage) -> None:
        """Leaves it out beyond the limit: a flood of one kind costs neither samples nor the few of another."""
        if limits.is_nested_too_deep(event.detail):
            raise ValueError(
                f"the detail of event {event.label[:80]!r} is nested deeper than {limits.JSON_DEPTH} levels"
            )
        room = limits.EVENTS - len(self._events)
        if room > 0 or (room > -limits.RARE_EVENTS and self._kinds[event.kind] < limits.FEW_EVENTS):
            label, detail = text_without_secrets(event.label), value_without_secrets(event.detail)
            self._events.append(msgspec.structs.replace(event, label=label, detail=detail))
            self._kinds[event.kind] += 1
            return
        self._full_at = self._full_at if self.left_out else event.starts_at
        self.left_out += 1

    def _read_layout(self, name: str, role: str, layout: str, names: list[str] | None) -> None:
        columns.check_node(name, role)
        if name not in self._nodes and len(self._nodes) >= limits.NODES:
            raise ValueError(f"a run has at most {limits.NODES} nodes")
        if names is not None and len(names) > limits.NAMES:
            raise ValueError(f"layout {layout:.40} has {len(names):,} names; a node has at most {limits.NAMES:,}")
        if names is not None and layout not in self._layouts and len(set(names)) != len(names):
            raise ValueError(f"layout {layout} names a series twice")
        known = self._layouts.get(layout) if names is None else self._layouts.setdefault(layout, names)
        if known is None:
            raise ValueError(f"layout {layout!r:.40} was never named")
        node = self._nodes.setdefault(name, _Node(role=role))
        if known[: len(node.names)] != node.names:
            raise ValueError(f"layout {layout} drops names of node {name}")
        if known != node.names:
            _close(name, node)
            node.names = known
            if sum(len(each.names) for each in self._nodes.values()) > limits.SERIES:
                raise ValueError(f"a run has at most {limits.SERIES:,} series")


def _change(sample: _Sample, node: _Node, number: int) -> None:
    open_stretch, deltas = node.open_stretch, sample.deltas
    if open_stretch is None or deltas is None:
        raise ValueError(f"the first sample of node {sample.node} in a batch must be a full one")
    if len(sample.first) != len(deltas) or len(sample.places) != len(sample.values):
        raise ValueError(f"node {sample.node}: as many series must be named as there are changes")
    open_stretch.lines.append(number)
    open_stretch.delta_counts.append(len(deltas))
    open_stretch.delta_places += sample.first
    open_stretch.deltas += deltas
    open_stretch.value_counts.append(len(sample.values))
    open_stretch.value_places += sample.places
    open_stretch.values += sample.values


def _close(name: str, node: _Node) -> None:
    """Ends the current stretch."""
    if node.open_stretch is None:
        return
    try:
        node.stretches.add(stretch_of(node.open_stretch))
    except (BadSample, OverflowError) as error:
        row = error.row if isinstance(error, BadSample) else None
        line = node.open_stretch.lines[row or 0]
        raise BadBatch(f"line {line}: node {name}: {error}") from error
    node.open_stretch = None


def _taken(name: str, node: _Node) -> SampledNode:
    changing, constants, one_by_one = node.stretches.columns()
    names = node.names
    clock = np.array(node.times, dtype=np.float64)
    found = columns.split(name, node.role, clock, {names[place]: samples for place, samples in one_by_one.items()})
    return SampledNode(
        name=name,
        role=node.role,
        clock=clock,
        changing={**{names[place]: column for place, column in changing.items()}, **found.changing},
        constants={**{names[place]: columns.exact_in_json(v) for place, v in constants.items()}, **found.constants},
    )
