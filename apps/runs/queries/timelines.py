"""Timelines of live and sealed runs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from apps.core.answers import Name, Seconds
from apps.runs import timeline
from apps.runs.models import Event, Run, RunNode
from apps.runs.quality.rules.noisy_neighbours import STEAL
from apps.runs.queries import nodes
from apps.runs.queries.series import load_series
from apps.runs.storage import codec
from apps.runs.timeline import Floats, RunEvent, TimelineEntry


@dataclass(frozen=True)
class Timeline:
    """`happenings`: in order of time, in lanes of apps.runs.timeline.LANES."""

    run_id: Annotated[int, Name("run")]
    is_live: Annotated[bool, Name("live"), "the run is not sealed: more data may arrive"]
    measured: Annotated[tuple[Seconds, Seconds] | None, "[from, to), s; null: not known yet"]
    whole: Annotated[tuple[Seconds, Seconds] | None, "from 0 to the last sample, s; null: none yet"]
    happenings: tuple[TimelineEntry, ...]
    problem: Annotated[str, "why stolen CPU time could not be determined; empty: it was"] = ""


def timelines(run_ids: Sequence[int]) -> dict[int, Timeline]:
    """Timelines of the existing runs. Nine queries; samples in the archive are fetched."""
    tails = nodes.tails(run_ids)
    events: dict[int, list[RunEvent]] = defaultdict(list)
    for event in Event.objects.filter(run_id__in=list(run_ids)).order_by("starts_at", "pk"):
        events[event.run_id].append(event)
    clocks: dict[int, dict[str, Floats]] = defaultdict(dict)
    rows = RunNode.objects.filter(run_id__in=list(run_ids)).order_by("run_id", "number")
    for run_id, name, clock in rows.values_list("run_id", "name", "clock"):
        if len(times := _times(clock)):
            clocks[run_id][name] = times
    for run_id, tail in tails.items():
        events[run_id] += tail.events
        clocks[run_id] |= {node.name: node.clock for node in tail.nodes if len(node.clock)}
    steal: dict[int, dict[str, tuple[Floats, Floats]]] = defaultdict(dict)
    problems: dict[int, str] = {}
    for series in load_series(run_ids=run_ids, metrics=[STEAL]):
        if series.problem:
            problems[series.run_id] = series.problem
        else:
            steal[series.run_id][series.node] = (series.at, series.values.astype("float64"))
    found = {}
    for run in Run.objects.filter(pk__in=list(run_ids)):
        own = clocks[run.pk]
        known = run.measured_from is not None and run.measured_to is not None
        measured = (float(run.measured_from or 0.0), float(run.measured_to or 0.0)) if known else None
        ends = [float(clock[-1]) for clock in own.values()] + ([measured[1]] if measured else [])
        until = max(ends, default=None)
        more = [gap for name, clock in own.items() for gap in timeline.gaps(name, clock)]
        more += timeline.stolen(steal[run.pk])
        found[run.pk] = Timeline(
            run_id=run.pk,
            is_live=run.state != Run.State.SEALED,
            measured=measured,
            whole=None if until is None else (0.0, until),
            happenings=tuple(timeline.in_order([*timeline.happenings(events[run.pk], measured, until), *more])),
            problem=problems.get(run.pk, ""),
        )
    return found


def _times(clock: bytes | memoryview) -> Floats:
    """Sample times; empty if unreadable, which is reported to readers of the node's series."""
    try:
        return codec.decode_floats(clock) if clock else np.zeros(0)
    except codec.BadBlock:
        return np.zeros(0)
