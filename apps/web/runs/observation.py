"""Unobservable parts of a run, and the overhead of observation. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apps.runs.api import EventDetail, SeriesInfo


NOT_OBSERVABLE = "not_observable"
SAMPLING = "agent.sampling."
CPU, STATEMENTS = "agent.cpu.seconds", "agent.statements"


@dataclass(frozen=True)
class UnobservedPart:
    """Something that could not be observed on `nodes`, and why."""

    what: str
    reason: str
    remedy: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Overhead:
    """Average overhead per second: `busy` in ms, summed over nodes; `cpu` in % of one CPU; `statements` executed by
    nodes.

    None: not measured.
    """

    busy: float
    nodes: int
    cpu: float | None
    statements: float | None


def hidden(events: Iterable[EventDetail]) -> list[UnobservedPart]:
    """Distinct parts in order of events, each with its nodes."""
    nodes: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for event in events:
        if event.kind == NOT_OBSERVABLE:
            found = event.detail
            key = (str(found.get("what", event.label)), str(found.get("reason", "")), str(found.get("remedy", "")))
            nodes[key].append(event.node)
    return [UnobservedPart(*key, tuple(sorted(set(names)))) for key, names in nodes.items()]


def overhead(index: Sequence[SeriesInfo]) -> Overhead | None:
    """None: the run was not sampled by an agent that measures itself."""
    # A source with a longer interval has fewer values than its node has samples.
    samples: dict[str, int] = defaultdict(int)
    spent: dict[str, float] = defaultdict(float)
    for info in index:
        if info.metric.startswith(SAMPLING):
            samples[info.node] = max(samples[info.node], info.statistics.count)
            spent[info.node] += (info.statistics.mean or 0.0) * info.statistics.count
    if not any(samples.values()):
        return None
    busy = sum(spent[node] / count for node, count in samples.items() if count)
    cpu = _summed(index, CPU)
    return Overhead(1000 * busy, len(samples), None if cpu is None else 100 * cpu, _summed(index, STATEMENTS))


def _summed(index: Sequence[SeriesInfo], metric: str) -> float | None:
    """The metric's means, summed over the nodes."""
    means = [info.statistics.mean for info in index if info.metric == metric and info.statistics.mean is not None]
    return sum(means) if means else None
