"""Series of runs that are watched: followed when runs come or go, what changed along them becomes findings.

The detection is that of `follow`; here its places in a series become runs, which stay what they are when runs are added
before them.
"""

import hashlib
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.catalog.models import Metric, Release
from apps.regressions import thresholds
from apps.regressions.detection import change_points, detectable
from apps.regressions.detection.change_points import ChangeLimits
from apps.regressions.detection.follow import RULES, Followed, follow
from apps.regressions.detection.noise import Floats
from apps.regressions.findings import reconcile
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Change, Finding, History
from apps.regressions.trends import series as trends_series
from apps.regressions.trends.series import SeriesRun
from apps.runs.models import Run

RELATED = ("platform", "hardware_class", "workload", "metric")


@dataclass(frozen=True)
class TrendSeries:
    """A history as it is now: `values` (runs,) of its `points`, and the `limits` that count for it."""

    history: History
    points: Sequence[SeriesRun]
    values: Floats
    resets: Sequence[int]
    limits: ChangeLimits


def follow_run(run_id: int) -> list[Finding]:
    """Looks again at the history that a run belongs to, whether it counts now or was left out; the findings that
    something happened to. May run twice, and on two workers at once, with one effect. Made-up runs are watched where
    they are asked for, by calling this, and nobody measured others."""
    run = Run.objects.select_related("system__release", "workload__primary_metric").filter(pk=run_id).first()
    if run is None or run.workload.primary_metric.direction == Metric.Direction.NEUTRAL:
        return []
    key: dict[str, Any] = {
        "platform_id": run.system.release.platform_id,
        "hardware_class_id": run.system.hardware_class_id,
        "settings_hash": run.system.settings_hash,
        "workload_id": run.workload_id,
        "load_level_id": run.load_level_id,
        "metric_id": run.workload.primary_metric_id,
    }
    counts = (run.state, run.outcome, run.is_excluded) == (Run.State.SEALED, Run.Outcome.SUCCEEDED, False)
    history = History.objects.filter(**key).first()
    if history is None and counts:
        history, _ = History.objects.get_or_create(**key)
    return [] if history is None else follow_history(history.pk)


def follow_rest(*, most: int) -> int:
    """Looks again at those whose thresholds were changed, and at those that were followed by other rules, up to `most`
    of them; how many."""
    by_others = Q(past_hash="") | ~Q(rules=RULES)
    due = History.objects.filter(by_others, analysed__gt=0).order_by("pk").values_list("pk", flat=True)[:most]
    for history_id in (ids := list(due)):
        follow_history(history_id)
    return len(ids)


@transaction.atomic
def follow_history(history_id: int) -> list[Finding]:
    """One worker at a time; the second finds nothing new."""
    # Only its own row: others may hold the rows that it refers to.
    history = History.objects.select_for_update(of=("self",)).select_related(*RELATED).get(pk=history_id)
    (series,) = read([history], thresholds.every())
    is_as_it_was = history.rules == RULES and history.past_hash == _hash(series, history.analysed)
    if is_as_it_was and history.analysed == len(series.points) and history.analysed_at is not None:
        return []
    changes = list(history.changes.select_related("first_run__system__release").order_by("pk"))
    judged = judge(series, changes, analysed=history.analysed if is_as_it_was else 0, anew=not history.past_hash)
    findings = _settled(series, judged, changes, anew=history.rules != RULES)
    _keep(series)
    return findings


@dataclass(frozen=True)
class JudgedChanges:
    """`holding`: changes that hold, by their place in the series; `known` those of them, and others, that were told
    before. One that comes back near where it was told once is that one again."""

    holding: Sequence[change_points.ChangePoint]
    known: Mapping[int, Change]


def judge(series: TrendSeries, changes: Sequence[Change], *, analysed: int = 0, anew: bool = False) -> JudgedChanges:
    """`changes` that were ever told of it. `analysed`: so many runs were looked at before, and are as they were.
    `anew`: what was told before must pass the limits as what is new must."""
    known = _known(series, [change for change in changes if change.gone_at is None])
    followed = _followed(series, known, analysed)
    if back := _back(series, followed, [change for change in changes if change.gone_at is not None]):
        followed = _followed(series, known | back, analysed)
        known |= {place: back[place] for each in followed.changes if (place := each.index) in back}
    holding = followed.changes
    if anew and any(change.p >= series.limits.significant for change in holding):
        passed = {each.index for each in holding if each.p < series.limits.significant}
        # What went parted the runs of its neighbours.
        again = _followed(series, {place: change for place, change in known.items() if place in passed}, analysed)
        holding = tuple(change for change in again.changes if change.p < series.limits.significant)
    return JudgedChanges(holding, known)


def _followed(series: TrendSeries, known: Mapping[int, Change], analysed: int) -> Followed:
    return follow(
        series.values,
        known=[_as_detected(place, change) for place, change in known.items()],
        analysed=analysed,
        resets=series.resets,
        boundaries=trends_series.boundaries(series.points),
        limits=series.limits,
    )


def _back(series: TrendSeries, followed: Followed, gone: Sequence[Change]) -> dict[int, Change]:
    """Those that were told once, by place, and are found again near there, not with a later release."""
    places, found = _known(series, gone), dict[int, Change]()
    points = series.points
    for each in followed.found:
        near = [
            place
            for place in places
            if abs(place - each.index) <= change_points.ALIKE
            and (each.index < place or points[each.index].release == points[place].release)
        ]
        if near:
            place = min(near, key=lambda place: abs(place - each.index))
            found[place] = places.pop(place)
    return found


def read(histories: Sequence[History], chosen: thresholds.Thresholds) -> list[TrendSeries]:
    """In the same order, judged by these thresholds. One query."""
    found = trends_series.points_of([history.pk for history in histories])
    return [
        TrendSeries(
            history,
            points := found[history.pk],
            np.array([point.value for point in points]),
            trends_series.resets(points),
            chosen.of(history.workload_id, history.metric_id),
        )
        for history in histories
    ]


def _hash(series: TrendSeries, runs: int) -> str:
    """Of the first so many runs: which they are, their values and what they are judged by."""
    text = [repr(series.limits), *(f"{p.run} {p.value!r} {bool(p.reset)}" for p in series.points[:runs])]
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def place_of(points: Sequence[SeriesRun], run: Run) -> int:
    """Where a run is, or would be if it counted."""
    release = run.system.release
    own = (tuple(release.version_key), release.version, run.started_at, run.pk)
    return bisect_left([point.order for point in points], own)


def _known(series: TrendSeries, changes: Sequence[Change]) -> dict[int, Change]:
    """Changes by place, the first told at each; not those that have no runs left to bear them out."""
    bounds = change_points.stretches(len(series.points), series.resets)
    found: dict[int, Change] = {}
    for change in changes:
        if change.first_run is None:
            continue
        place = place_of(series.points, change.first_run)
        end = bisect_right(bounds, place)
        inside = end < len(bounds) and place not in bounds
        # Where none of its release's runs is left, what comes there is of the release behind.
        inside = inside and series.points[place].release == change.first_run.system.release_id
        if inside and bounds[end] - bounds[end - 1] >= change_points.SHORTEST:
            found.setdefault(place, change)
    return found


def _as_detected(place: int, change: Change) -> change_points.ChangePoint:
    ratio, low, high = change.ratio or 1.0, change.low or 0.0, change.high or math.inf
    before = math.nan if change.before is None else change.before
    return change_points.ChangePoint(place, ratio, low, high, change.p or 0.0, len(change.runs_after), before)


def _settled(series: TrendSeries, judged: JudgedChanges, changes: Sequence[Change], *, anew: bool) -> list[Finding]:
    """Tells all that hold."""
    holding = judged.holding
    looked_at = [change for change in changes if change.gone_at is None]
    if not holding and not looked_at:
        return []
    releases = Release.objects.in_bulk({point.release for point in series.points} if holding else ())
    bounds = sorted({*change_points.stretches(len(series.points), series.resets), *(each.index for each in holding)})
    told = [_told(series, each, bounds, releases, judged.known.get(each.index)) for each in holding]
    return reconcile.settle(told, looked_at=looked_at, anew=anew)


def _told(
    series: TrendSeries,
    change: change_points.ChangePoint,
    bounds: Sequence[int],
    releases: Mapping[int, Release],
    own: Change | None,
) -> tuple[FindingKey, DetectedChange]:
    history, at = series.history, change.index
    start, end = bounds[bisect_left(bounds, at) - 1], bounds[bisect_right(bounds, at)]
    first, last = series.points[at], series.points[at - 1]
    place = FindingKey(
        kind=Finding.Kind.CHANGE,
        family=reconcile.family_of(history.workload),
        platform=history.platform,
        hardware_class=history.hardware_class,
        release=releases[first.release],
        baseline=releases[last.release],
    )
    before = None if math.isnan(change.before) else change.before
    told = DetectedChange(
        kind=Change.Kind.HISTORY,
        verdict=reconcile.verdict_of(change.ratio, history.metric.direction),
        system=first.system,
        baseline_system=last.system,
        workload=history.workload_id,
        load_level=history.load_level_id,
        metric=history.metric_id,
        history=history.pk,
        first_run=own.first_run_id if own else first.run,
        before=before,
        after=None if before is None else before * change.ratio,
        ratio=change.ratio,
        low=change.low,
        high=change.high,
        p=change.p,
        runs_before=tuple(point.run for point in series.points[max(start, at - change_points.MOST_ASIDE) : at]),
        runs_after=tuple(point.run for point in series.points[at : min(end, at + change_points.MOST_ASIDE)]),
    )
    return place, told


def _keep(series: TrendSeries) -> None:
    history, points = series.history, series.points
    seen = detectable.sight(series.values, resets=series.resets, limits=series.limits)
    history.analysed, history.last_run_id = len(points), points[-1].run if points else None
    history.past_hash, history.rules = _hash(series, len(points)), RULES
    history.resets = [points[place].run for place in series.resets]
    history.runs, history.variation, history.effect = seen.runs, seen.variation, seen.effect
    history.reason, history.analysed_at = seen.reason, timezone.now()
    history.save()
