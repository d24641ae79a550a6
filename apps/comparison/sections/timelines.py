"""Measured phases and events of compared runs, each on its run's clock, for their timelines."""

from collections import defaultdict
from dataclasses import dataclass

from apps.comparison.sections.section import Section
from apps.comparison.values import ComparedRun, Comparison, Level
from apps.runs.models import Event, Run

# Timelines drawn per side, those of the newest runs: the browser fetches each.
SECONDS_RUNS = 20


@dataclass(frozen=True)
class ClockEvent:
    """`starts_at`, `ends_at`: s on the run's clock; `ends_at` None: a moment."""

    kind: str
    label: str
    node: str
    starts_at: float
    ends_at: float | None


@dataclass(frozen=True)
class RunTimeline:
    """`measured_from`, `measured_to`: s on the run's clock; None: unknown."""

    run: int
    measured_from: float | None
    measured_to: float | None
    events: tuple[ClockEvent, ...]


def newest(comparison: Comparison, level: Level | None) -> list[ComparedRun]:
    """The newest SECONDS_RUNS runs of each side at this level, grouped by side."""
    runs = [run for run in comparison.counted if level is not None and run.level == level.id]
    return [
        run for side in comparison.sides for run in [each for each in runs if each.side == side.slug][-SECONDS_RUNS:]
    ]


def clocks(comparison: Comparison, level: Level | None) -> tuple[RunTimeline, ...]:
    """For the runs of `newest`; two queries."""
    ids = [run.id for run in newest(comparison, level)]
    events: dict[int, list[ClockEvent]] = defaultdict(list)
    for event in Event.objects.filter(run_id__in=ids).order_by("starts_at", "pk"):
        events[event.run_id].append(ClockEvent(event.kind, event.label, event.node, event.starts_at, event.ends_at))
    runs = Run.objects.only("measured_from", "measured_to").in_bulk(ids)
    return tuple(RunTimeline(pk, run.measured_from, run.measured_to, tuple(events[pk])) for pk, run in runs.items())


SECTION = Section("clocks", tuple[RunTimeline, ...], clocks, by_level=True)
