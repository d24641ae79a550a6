"""Timeline of a run, by lane: phases, faults, schema changes, states of nodes, bursts of errors, sampling gaps and
stolen CPU time. Pure.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from apps.core.answers import OneOf, Seconds, component
from apps.runs.quality.rules.noisy_neighbours import MOST_STOLEN
from apps.runs.samples.time_series import GAP_STEPS, SHORTEST_GAP

Floats = NDArray[np.float64]
Span = tuple[float, float]  # from, to: s on the run's clock

PHASES, FAULTS, SCHEMA, NODES, ERRORS, SEEN, OTHERS = (
    *("phases", "faults", "schema", "nodes", "errors"),
    *("observation", "others"),
)
# Lane -> title, in display order.
LANES = {
    PHASES: "Phases",
    FAULTS: "Faults and failover",
    SCHEMA: "Schema changes",
    NODES: "Nodes",
    ERRORS: "Errors",
    SEEN: "Observation",
    OTHERS: "Other events",
}
LANE_OF = (
    dict.fromkeys(("load", "phase"), PHASES)
    | dict.fromkeys(("fault", "outage", "detect", "promotion", "recovered", "baseline", "rejoin", "proxy"), FAULTS)
    | dict.fromkeys(("state_transfer", "rejoin_outage"), FAULTS)
    | {"ddl": SCHEMA}
    | dict.fromkeys(("node_state", "role", "topology", "journal"), NODES)
    | dict.fromkeys(("error", "warning", "refusal"), ERRORS)
    | dict.fromkeys(("sampler_error", "sampler", "neighbours", "gap", "steal"), SEEN)
)
# Events without a time in the run: facts that could not be observed, and checks after the run.
NO_MOMENT = ("not_observable", "check", "read_back", "stale_reads", "profile")
# Errors at most this far apart form one burst: load tools report them by the second.
BURST = 2.5  # s
# Spans of stolen time at most this far apart are merged.
LULL = 2.0  # s
# The clock of an event, in its detail, that RDS's journal tells of.
RDS_CLOCK = "that of RDS"


class RunEvent(Protocol):
    """An event, stored or as received; times are s on the run's clock."""

    @property
    def kind(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def starts_at(self) -> float: ...
    @property
    def ends_at(self) -> float | None: ...
    @property
    def node(self) -> str: ...
    @property
    def detail(self) -> Mapping[str, Any]: ...


@component("Happening")
@dataclass(frozen=True)
class TimelineEntry:
    """A timeline entry."""

    lane: Annotated[str, OneOf(LANES), "key of the lane"]
    kind: str
    label: Annotated[str, "the entry in words"]
    starts_at: Annotated[Seconds, "s on the run's clock"]
    ends_at: Annotated[Seconds | None, "null: a moment"] = None
    node: str = ""
    count: Annotated[int, "number of errors in a burst"] = 1


def happenings(events: Iterable[RunEvent], measured: Span | None, until: float | None) -> list[TimelineEntry]:
    """Timeline entries in order of time. `until`: end of the run's clock and of the phase after the measured one."""
    ordered = sorted((event for event in events if event.kind not in NO_MOMENT), key=lambda event: event.starts_at)
    found = [*_phases(measured, until), *_bursts(event for event in ordered if _lane(event) == ERRORS)]
    found += [
        TimelineEntry(
            lane=_lane(event),
            kind=event.kind,
            label=str(event.detail.get("text") or event.label),
            starts_at=event.starts_at,
            ends_at=event.ends_at,
            node=event.node,
        )
        for event in ordered
        if _lane(event) != ERRORS
    ]
    return in_order(found)


def in_order(found: Iterable[TimelineEntry]) -> list[TimelineEntry]:
    """Sorted by start, then longest first."""
    return sorted(found, key=lambda one: (one.starts_at, -(one.ends_at or one.starts_at)))


def _lane(event: RunEvent) -> str:
    return LANE_OF.get(event.kind, OTHERS)


def _phases(measured: Span | None, until: float | None) -> Iterator[TimelineEntry]:
    if measured is None:
        return
    start, end = measured
    if start > 0:
        yield TimelineEntry(PHASES, "warm-up", "warm-up", 0.0, start)
    yield TimelineEntry(PHASES, "measured", "measured phase", start, end)
    # The last sample is taken at the end of its second.
    if until is not None and until > end + 1:
        yield TimelineEntry(PHASES, "after", "after the measured phase", end, until)


def _bursts(errors: Iterable[RunEvent]) -> Iterator[TimelineEntry]:
    """Merges errors of one kind on one node, each at most BURST after the previous one."""
    burst: dict[tuple[str, str], list[RunEvent]] = {}
    for event in errors:
        held = burst.get((event.kind, event.node))
        if held and event.starts_at - held[-1].starts_at <= BURST:
            held.append(event)
            continue
        if held:
            yield _burst(held)
        burst[event.kind, event.node] = [event]
    for held in burst.values():
        yield _burst(held)


def _burst(events: Sequence[RunEvent]) -> TimelineEntry:
    counts: Counter[str] = Counter()
    for event in events:
        counts[_error_text(event)] += _times(event)
    total = counts.total()
    first, last = events[0], events[-1]
    ranked = counts.most_common()
    words = ranked[0][0] if len(ranked) == 1 else "; ".join(f"{count:,} × {text}" for text, count in ranked)
    if len(ranked) == 1 and total > 1:
        words = f"{total:,} × {words}"
    return TimelineEntry(
        lane=ERRORS,
        kind=first.kind,
        label=words,
        starts_at=first.starts_at,
        ends_at=last.starts_at if len(events) > 1 else first.ends_at,
        node=first.node,
        count=total,
    )


def _error_text(event: RunEvent) -> str:
    code, text = event.detail.get("code"), str(event.detail.get("text") or event.label)
    return f"error {code}: {text}" if isinstance(code, int) and code and str(code) not in text else text


def _times(event: RunEvent) -> int:
    count = event.detail.get("count")
    return count if isinstance(count, int) and count > 0 else 1


def stolen(nodes: Mapping[str, tuple[Floats, Floats]]) -> list[TimelineEntry]:
    """Spans in which more CPU time was stolen than the quality check allows; overlapping spans of several nodes, which
    may share a machine, are merged. `nodes`: times and values, % of the time since the previous sample; NaN: not
    observed."""
    spans = sorted(
        (start, end, value, node) for node, (at, values) in nodes.items() for start, end, value in _stolen(at, values)
    )
    found: list[tuple[float, float, float, set[str]]] = []
    for start, end, value, node in spans:
        if found and start - found[-1][1] <= LULL:
            since, until, highest, named = found[-1]
            found[-1] = (since, max(until, end), max(highest, value), named | {node})
        else:
            found.append((start, end, value, {node}))
    return [
        TimelineEntry(
            SEEN, "steal", f"up to {highest:.1f} % of the CPU time was stolen", start, end, ", ".join(sorted(named))
        )
        for start, end, highest, named in found
    ]


def _stolen(at: Floats, values: Floats) -> Iterator[tuple[float, float, float]]:
    since = np.concatenate((at[:1] - 1.0, at[:-1])) if len(at) else at
    for start, end, value in zip(since.tolist(), at.tolist(), values.tolist(), strict=True):
        if value > MOST_STOLEN:
            yield max(start, 0.0), end, value


def gaps(node: str, clock: Floats) -> list[TimelineEntry]:
    """Sampling gaps of a node, each between two of its samples."""
    steps = np.diff(clock)
    if not len(steps):
        return []
    limit = max(GAP_STEPS * float(np.median(steps)), SHORTEST_GAP)
    return [
        TimelineEntry(
            SEEN, "gap", f"not sampled for {steps[place]:.1f} s", float(clock[place]), float(clock[place + 1]), node
        )
        for place in np.flatnonzero(steps > limit)
    ]
