"""Columns of samples from a run's batches and its tool's output, for live view and sealing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import period_of
from apps.runs.ingest.clean_text import has_nul
from apps.runs.storage import codec
from apps.runs.storage.codec import Column, Number
from workers.protocol import tool_clock, wire
from workers.protocol.wire import BadBatch

CLIENT = "client"
NAME_LIMIT, ROLE_LIMIT, KIND_LIMIT, LABEL_LIMIT = 80, 16, 40, 200


@dataclass(frozen=True)
class SampledNode:
    """A node's series on its clock, s on the run's clock. `constants`: series that never changed; None: never observed.

    `damaged`: series whose stored samples cannot be read -> reason.
    """

    name: str
    role: str
    clock: NDArray[np.float64]
    changing: Mapping[str, Column] = field(default_factory=dict)
    constants: Mapping[str, Number] = field(default_factory=dict)
    damaged: Mapping[str, str] = field(default_factory=dict)

    def column(self, key: str) -> Column | None:
        """The samples of a changing or constant series; None: the node has no such series."""
        if key in self.changing:
            return self.changing[key]
        if key not in self.constants:
            return None
        return constant_column(self.constants[key], len(self.clock))


def covers_interval(key: str) -> bool:
    """Whether values cover an interval rather than an instant: the time since the previous sample, for series printed
    by a load tool, or CloudWatch's period."""
    return key.startswith(f"{CLIENT}.") or period_of(key) is not None


def constant_column(value: Number, length: int) -> Column:
    if value is None:
        return Column(values=np.zeros(length, np.float64), observed=np.zeros(length, np.bool_))
    whole = isinstance(value, int) and -(2**63) <= value < 2**64
    values = np.full(length, value, (np.int64 if value < 2**63 else np.uint64) if whole else np.float64)
    return Column(values=values, observed=np.ones(length, np.bool_))


def check_node(name: str, role: str) -> None:
    """Raises ValueError for a name or role that the warehouse cannot hold."""
    for field_name, text, limit in (("name", name, NAME_LIMIT), ("role", role, ROLE_LIMIT)):
        if len(text) > limit or "\0" in text:
            raise ValueError(f"node {name!r:.100}: {field_name} must be a text of at most {limit} characters")


def split(name: str, role: str, clock: NDArray[np.float64], columns: Mapping[str, Sequence[Number]]) -> SampledNode:
    """Separates changing from constant series. Raises BadBatch for values that no series can hold."""
    changing: dict[str, Column] = {}
    constants: dict[str, Number] = {}
    for key, samples in columns.items():
        first = samples[0]
        try:
            if samples.count(first) == len(samples):
                codec.column([first])
                constants[key] = exact_in_json(first)
            else:
                changing[key] = codec.column(samples)
        except codec.NotANumber as error:
            raise BadBatch(f"node {name}, {key}: {error}") from error
    return SampledNode(name=name, role=role, clock=clock, changing=changing, constants=constants)


def exact_in_json(value: Number) -> Number:
    """Large floats as integers: JSON would shorten their digits, which PostgreSQL reads as a different integer."""
    return int(value) if isinstance(value, float) and abs(value) >= 2**53 else value


def client_of(intervals: Mapping[float, Mapping[str, Number]], *, offset: float) -> SampledNode | None:
    """The load generator's series from its output; `offset`: its second 0 on the run's clock. None: no intervals were
    printed."""
    if not intervals:
        return None
    seconds = sorted(intervals)
    keys = dict.fromkeys(key for second in seconds for key in intervals[second])
    columns = {key: tuple(intervals[second].get(key) for second in seconds) for key in keys}
    clock = np.array(seconds, dtype=np.float64) + offset
    return split(CLIENT, CLIENT, clock, columns)


def joined(nodes: Iterable[SampledNode]) -> list[SampledNode]:
    """One node per name: merges the agent's samples of the load generator with the generator's own output."""
    by_name: dict[str, SampledNode] = {}
    for node in nodes:
        known = by_name.get(node.name)
        by_name[node.name] = node if known is None else _joined(known, node)
    return list(by_name.values())


def _joined(ours: SampledNode, theirs: SampledNode) -> SampledNode:
    clock = np.union1d(ours.clock, theirs.clock)
    changing: dict[str, Column] = {}
    for node in (theirs, ours):
        places = np.searchsorted(clock, node.clock)
        for key in (*node.changing, *node.constants):
            column = node.column(key)
            if column is None or not len(clock):
                continue
            values = np.zeros(len(clock), dtype=column.values.dtype)
            observed = np.zeros(len(clock), dtype=np.bool_)
            values[places], observed[places] = column.values, column.observed
            changing[key] = Column(values=values, observed=observed)
    return SampledNode(name=ours.name, role=ours.role or theirs.role, clock=clock, changing=changing)


def offset_of(output: Sequence[tuple[float, str]]) -> float | None:
    """The load tool's second 0 on the run's clock, s, from its lines. None: unknown.

    For a report without intervals: the time of its first begin line.
    """
    found = tool_clock.origin([(t, second) for t, text in output if (second := tool_clock.second_of(text)) is not None])
    return next((t for t, text in output if tool_clock.BEGIN_LINE.match(text)), None) if found is None else found


def events_of(events: Iterable[wire.EventMessage]) -> list[wire.EventMessage]:
    """Events without duplicates. Raises BadBatch for one that the warehouse cannot store."""
    found: dict[tuple[str, float, str, str], wire.EventMessage] = {}
    for event in events:
        problem = _event_problem(event)
        if problem:
            raise BadBatch(f"event {event.label[:80]!r}: {problem}")
        found.setdefault((event.kind, event.starts_at, event.label, event.node), event)
    return list(found.values())


def _event_problem(event: wire.EventMessage) -> str:
    for name, limit in (("kind", KIND_LIMIT), ("label", LABEL_LIMIT), ("node", NAME_LIMIT)):
        if len(getattr(event, name)) > limit:
            return f"{name} has over {limit} characters"
    if not np.isfinite([event.starts_at, event.ends_at or 0.0]).all():
        return "its time is not finite"
    if event.ends_at is not None and event.ends_at < event.starts_at:
        return "it ends before it starts"
    if has_nul([event.kind, event.label, event.node, event.detail]):
        return "it holds a NUL character"
    return ""
