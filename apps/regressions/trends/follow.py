"""Incremental analysis of stored trends when runs are added or excluded: changes become findings.

Detection uses indices in a series; here they are mapped to runs, which are stable when earlier runs are added.
"""

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.catalog.models import Metric, Release
from apps.regressions import detection, thresholds
from apps.regressions.detection import ChangePoint
from apps.regressions.findings import reconcile
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Change, Finding, Trend
from apps.regressions.trends import series as trends_series
from apps.regressions.trends.series import TrendSeries
from apps.runs.models import Run

log = logging.getLogger(__name__)

RELATED = ("platform", "hardware_class", "workload", "load_level", "metric")
# Followed beside a workload's primary metric.
LATENCY = "client.latency.p95"


def follow_run(run_id: int) -> list[Finding]:
    """Analyse the trends of a run again, whether the run counts or not: of the primary metric and, if it was measured,
    of the latency. Returns the changed findings. Idempotent, also on two workers at once. Synthetic runs
    count only in trends without measured ones, and only if this is called for them."""
    run = Run.objects.select_related("system__release", "workload").filter(pk=run_id).first()
    if run is None:
        return []
    key: dict[str, Any] = {
        "platform_id": run.system.release.platform_id,
        "hardware_class_id": run.system.hardware_class_id,
        "settings_hash": run.system.settings_hash,
        "workload_id": run.workload_id,
        "load_level_id": run.load_level_id,
    }
    followed = Q(pk=run.workload.primary_metric_id)
    if run.provenance in trends_series.MEASURED:
        # A run sealed again as a failure may have lost the latency that is in a trend.
        measured, stored = run.measurements.values("metric"), Trend.objects.filter(**key).values("metric")
        followed |= Q(key=LATENCY) & (Q(pk__in=measured) | Q(pk__in=stored))
    metrics = Metric.objects.filter(followed).exclude(direction=Metric.Direction.NEUTRAL).order_by("pk")
    findings = [finding for metric in metrics for finding in _follow_metric(run, {**key, "metric_id": metric.pk})]
    return list({finding.pk: finding for finding in findings}.values())


def _follow_metric(run: Run, key: Mapping[str, Any]) -> list[Finding]:
    counts = (run.state, run.outcome, run.is_excluded) == (Run.State.SEALED, Run.Outcome.SUCCEEDED, False)
    trend = Trend.objects.filter(**key).first()
    if trend is None and counts:
        trend, _ = Trend.objects.get_or_create(**key)
    return [] if trend is None else follow_trend(trend.pk)


def follow_rest(*, most: int) -> int:
    """Analyse up to `most` trends with changed thresholds or another version of the rules again; returns their
    number. One that fails stays due and does not count, so that it keeps no other waiting."""
    by_others = Q(past_hash="") | ~Q(rules=detection.RULES)
    done = 0
    for trend_id in Trend.objects.filter(by_others, analysed__gt=0).order_by("pk").values_list("pk", flat=True):
        if done == most:
            break
        try:
            follow_trend(trend_id)
        except Exception:
            log.exception("trend %s could not be analysed again", trend_id)
        else:
            done += 1
    return done


@transaction.atomic
def follow_trend(trend_id: int) -> list[Finding]:
    """One worker at a time; a second one finds nothing new."""
    # Lock this row only: others may hold the rows that it refers to.
    trend = Trend.objects.select_for_update(of=("self",)).select_related(*RELATED).get(pk=trend_id)
    (series,) = trends_series.read([trend], thresholds.every())
    is_unchanged = trend.rules == detection.RULES and trend.past_hash == _hash(series, trend.analysed)
    if is_unchanged and trend.analysed == len(series.points) and trend.analysed_at is not None:
        return []
    stored = list(trend.changes.select_related("first_run__system__release").order_by("pk"))
    analysis = analyse(series, stored, analysed=trend.analysed if is_unchanged else 0, retest=not trend.past_hash)
    findings = _settle(series, analysis, stored)
    _store(series)
    return findings


@dataclass(frozen=True)
class Analysis:
    """`changes` that hold; `reported`: index -> stored change, whether it still holds or was reported until now. A gone
    change found again nearby is the same change."""

    changes: Sequence[ChangePoint]
    reported: Mapping[int, Change]


def analyse(series: TrendSeries, stored: Sequence[Change], *, analysed: int = 0, retest: bool = False) -> Analysis:
    """`stored`: changes reported so far, including gone ones. `analysed`: number of runs analysed and unchanged since.
    `retest`: test reported changes again too. Throughput at a fixed rate has no changes."""
    known = _by_place(series, [change for change in stored if change.gone_at is None])
    if trends_series.rate_of(series.trend, series.trend.metric) is not None:
        return Analysis((), known)
    gone = _by_place(series, [change for change in stored if change.gone_at is not None])
    followed = detection.follow(
        series.results, _change_points(known), gone=_change_points(gone), analysed=analysed, retest=retest
    )
    return Analysis(followed.changes, known | {place: gone[place] for place in followed.returned})


def _hash(series: TrendSeries, runs: int) -> str:
    """Hash of the first `runs` runs: their ids, values and resets, and the limits."""
    text = [repr(series.results.limits), *(f"{p.run} {p.value!r} {bool(p.reset)}" for p in series.points[:runs])]
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def _by_place(series: TrendSeries, changes: Sequence[Change]) -> dict[int, Change]:
    """The first change reported at each index, without those that have no runs left."""
    found: dict[int, Change] = {}
    for change in changes:
        if change.first_run is None:
            continue
        place = trends_series.place_of(series.points, change.first_run)
        if not series.results.is_testable(place):
            continue
        # If none of the release's runs is left, a change there belongs to the next release.
        if series.points[place].release == change.first_run.system.release_id:
            found.setdefault(place, change)
    return found


def _change_points(changes: Mapping[int, Change]) -> list[ChangePoint]:
    return [
        ChangePoint(
            place,
            ratio=change.ratio or 1.0,
            low=change.low or 0.0,
            high=change.high or math.inf,
            p=change.p or 0.0,
            runs_after=len(change.runs_after),
            before=math.nan if change.before is None else change.before,
        )
        for place, change in changes.items()
    ]


def _settle(series: TrendSeries, analysis: Analysis, stored: Sequence[Change]) -> list[Finding]:
    """Store all changes that hold, as findings."""
    reported = [change for change in stored if change.gone_at is None]
    if not analysis.changes and not reported:
        return []
    ids = {point.release for point in series.points} if analysis.changes else set()
    releases = Release.objects.in_bulk(ids)
    found = [
        (_finding_key(series, change.index, releases), _detected(series, change, analysis))
        for change in analysis.changes
    ]
    # Under other rules, the same changes may have another summary.
    return reconcile.settle(found, looked_at=reported, refresh=series.trend.rules != detection.RULES)


def _finding_key(series: TrendSeries, place: int, releases: Mapping[int, Release]) -> FindingKey:
    return FindingKey(
        kind=Finding.Kind.CHANGE,
        family=reconcile.family_of(series.trend.workload),
        platform=series.trend.platform,
        hardware_class=series.trend.hardware_class,
        release=releases[series.points[place].release],
        baseline=releases[series.points[place - 1].release],
    )


def _detected(series: TrendSeries, change: ChangePoint, analysis: Analysis) -> DetectedChange:
    trend, points = series.trend, series.points
    own = analysis.reported.get(change.index)
    first = points[change.index]
    before = None if math.isnan(change.before) else change.before
    left, right = series.results.split(change.index, [each.index for each in analysis.changes]).sides
    return DetectedChange(
        kind=Change.Kind.HISTORY,
        verdict=reconcile.verdict_of(change.ratio, trend.metric.direction),
        system=first.system,
        baseline_system=points[change.index - 1].system,
        workload=trend.workload_id,
        load_level=trend.load_level_id,
        metric=trend.metric_id,
        history=trend.pk,
        first_run=own.first_run_id if own else first.run,
        before=before,
        after=None if before is None else before * change.ratio,
        ratio=change.ratio,
        low=change.low,
        high=change.high,
        p=change.p,
        runs_before=tuple(point.run for point in points[left]),
        runs_after=tuple(point.run for point in points[right]),
    )


def _store(series: TrendSeries) -> None:
    trend, points = series.trend, series.points
    found = detection.detectable(series.results)
    trend.analysed, trend.last_run_id = len(points), points[-1].run if points else None
    trend.past_hash, trend.rules = _hash(series, len(points)), detection.RULES
    trend.resets = [points[place].run for place in series.results.resets]
    trend.runs, trend.variation, trend.effect = found.runs, found.variation, found.effect
    trend.reason, trend.analysed_at = found.reason, timezone.now()
    if trends_series.rate_of(trend, trend.metric) is not None:
        trend.effect, trend.reason = None, trends_series.RATED
    trend.save()
