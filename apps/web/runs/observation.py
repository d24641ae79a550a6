"""What of a run could not be observed, and what observing it took. Pure."""

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
    """Something that `nodes` could not show, and why."""

    what: str
    reason: str
    remedy: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Overhead:
    """Of one second, on average: `busy` in ms, summed over the nodes; `cpu` in % of one CPU; `statements` that the
    nodes executed for it. None: not measured."""

    busy: float
    nodes: int
    cpu: float | None
    statements: float | None


def hidden(events: Iterable[EventDetail]) -> list[UnobservedPart]:
    """In the order in which they were told, each once with its nodes."""
    nodes: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for event in events:
        if event.kind == NOT_OBSERVABLE:
            told = event.detail
            key = (str(told.get("what", event.label)), str(told.get("reason", "")), str(told.get("remedy", "")))
            nodes[key].append(event.node)
    return [UnobservedPart(*key, tuple(sorted(set(names)))) for key, names in nodes.items()]


def overhead(index: Sequence[SeriesInfo]) -> Overhead | None:
    """None: the run was not sampled by an agent that measures itself."""
    # A source that is asked less often has fewer values than its node has samples.
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
