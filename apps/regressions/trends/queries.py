"""Monitored series for pages and the API; a constant number of queries, independent of series and runs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import numpy as np
from django.db.models import Count, F, Q, QuerySet

from apps.catalog.models import System
from apps.core.answers import Hidden, Inline, Name, Rounded, Shown, component
from apps.regressions import thresholds
from apps.regressions.detection import ChangeLimits, ChangePoint
from apps.regressions.findings import reconcile
from apps.regressions.models import Change, Trend
from apps.regressions.releases import threshold_preview
from apps.regressions.releases.threshold_preview import TriedReleases
from apps.regressions.thresholds import Key
from apps.regressions.trends import follow, patterns
from apps.regressions.trends import series as trends_series
from apps.regressions.trends.patterns import TrendPatterns
from apps.regressions.trends.series import SeriesRun, TrendSeries

RELATED = ("platform", "hardware_class", "workload", "load_level", "metric")
MOST_LISTED = 300
# Sort order: series with changes first.
MOST_CHANGED = (F("holding").desc(), F("analysed").desc(), F("pk"))
# Limit of series for the preview of a threshold: about 10 ms each.
MOST_TRIED = 200
FIT, SHORT, NOISY, RATED, CHANGED = "fit", "short", "noisy", "rate", "changed"
SIGHTS = {
    **{FIT: "can show a change", SHORT: "too short", NOISY: "too noisy"},
    **{RATED: "at a fixed rate", CHANGED: "with changes"},
}


@dataclass(frozen=True)
class TrendFilter:
    """`platform`, `hardware`: slugs; `tool`: a load tool; `workload`: id; `text`: in the workload's name; `sight`: a
    key of SIGHTS. Empty: any."""

    platform: str = ""
    hardware: str = ""
    tool: str = ""
    workload: int | None = None
    text: str = ""
    sight: str = ""


@component("Trend")
@dataclass(frozen=True)
class TrendRow:
    """A monitored series."""

    id: int
    platform_slug: Annotated[str, Name("platform")]
    platform: Annotated[str, Name("platform_name")]
    platform_color: Hidden[int | None]
    hardware_slug: Annotated[str, Name("hardware")]
    hardware: Annotated[str, Name("hardware_name")]
    settings: Annotated[str, "settings of its systems, as text"]
    tool: str
    workload: int
    workload_name: str
    level: str
    metric: str
    metric_name: str
    unit: str
    direction: str
    runs: Annotated[int, "runs since the last reset, at most 500"]
    analysed: Annotated[int, "analysed runs of the whole series"]
    resets: Annotated[int, "number of changes of conditions"]
    variation: Annotated[Rounded | None, "run-to-run, as a share of the value"]
    effect: Annotated[
        Rounded | None,
        "smallest change, as a share of the value, found within ten runs with 80 % power; null: too short",
    ]
    reason: Annotated[str, "why it cannot be monitored; empty: it can"]
    changes: Annotated[int, "number of changes that hold now"]
    analysed_at: datetime | None


@dataclass(frozen=True)
class TrendChange:
    """`place`: index in the series at which it is drawn."""

    place: Annotated[int, "index in `points`, from 0"]
    run: Annotated[int, "run at which it was first reported"]
    version: str
    verdict: Annotated[str, "better or worse"]
    ratio: Annotated[Rounded | None, "after / before"]
    low: Annotated[Rounded | None, "lower end of the approximate 95 % interval"]
    high: Rounded | None
    p: Rounded | None
    before: Annotated[Rounded | None, "in the metric's unit"]
    after: Rounded | None
    finding: int
    state: Annotated[str, "state of the finding"]
    gone_at: Annotated[datetime | None, "time since which newer runs do not confirm it"]


@dataclass(frozen=True)
class TrendLevel:
    """Runs `start` to `end` of a series, between changes and resets."""

    start: int
    end: Annotated[int, "exclusive"]
    value: Annotated[Rounded, "median, in the metric's unit"]


@dataclass(frozen=True)
class Limits:
    smallest: Annotated[Rounded, "share of the value"]
    significant: Annotated[Rounded, "p"]
    set_for: Annotated[str, "for what the threshold was set; “the default”: none was"]


@dataclass(frozen=True)
class TrendDetail:
    """`limits` that apply, and the scope for which they were set (`source`), as text."""

    row: Annotated[TrendRow, Inline()]
    points: tuple[SeriesRun, ...]
    changes: Annotated[tuple[TrendChange, ...], Name("changes_told")]
    levels: tuple[TrendLevel, ...]
    patterns: TrendPatterns
    limits: Hidden[ChangeLimits]
    source: Hidden[str]

    @property
    def threshold(self) -> Shown[Limits]:
        return Limits(self.limits.smallest, self.limits.significant, self.source)


@dataclass(frozen=True)
class TriedChange:
    """A change that a threshold would report, or (`stays` False) would withdraw."""

    place: Annotated[int, "index in the series' points, from 0"]
    run: int
    version: str
    verdict: Annotated[str, "better or worse"]
    ratio: Annotated[Rounded, "after / before"]
    low: Annotated[Rounded, "lower end of the approximate 95 % interval"]
    high: Rounded
    p: Rounded
    is_new: Annotated[bool, "not reported yet"]
    stays: Annotated[bool, "false: currently a finding that would be withdrawn"]
    finding: int | None


@dataclass(frozen=True)
class TriedSeries:
    row: Annotated[TrendRow, Name("history")]
    points: Hidden[tuple[SeriesRun, ...]]
    levels: Hidden[tuple[TrendLevel, ...]]
    changes: tuple[TriedChange, ...]


@dataclass(frozen=True)
class Tried:
    """Effect that a threshold would have had in the past. `series`: those with changes, the most first."""

    key: Hidden[Key]
    limits: Hidden[ChangeLimits]
    concerned: Annotated[int, "number of series to which it would apply"]
    looked_at: Annotated[int, "number of these that were analysed; at most 200"]
    too_short: Annotated[int, "number of these without ten runs under the same conditions"]
    kept_apart: Annotated[int, "number of series with a more specific threshold"]
    series: tuple[TriedSeries, ...]
    releases: Annotated[TriedReleases, "effect on comparisons between releases"]

    @property
    def raised(self) -> Annotated[Shown[int], "number of changes that it reports"]:
        return sum(change.stays for each in self.series for change in each.changes)

    @property
    def new(self) -> Annotated[Shown[int], "number of these not reported yet"]:
        return sum(change.is_new for each in self.series for change in each.changes)

    @property
    def withdrawn(self) -> Annotated[Shown[int], "number of current changes that it would withdraw"]:
        return sum(not change.stays for each in self.series for change in each.changes)


def rows_of(chosen: TrendFilter) -> QuerySet[Trend]:
    """Monitored series that match the filter."""
    asked = {
        "platform__slug": chosen.platform,
        "hardware_class__slug": chosen.hardware,
        "workload__tool": chosen.tool,
        "workload": chosen.workload,
        "workload__name__icontains": chosen.text,
    }
    found = with_changes(Trend.objects.filter(**{name: value for name, value in asked.items() if value}))
    if chosen.sight == CHANGED:
        return found.filter(pk__in=Change.objects.filter(kind=Change.Kind.HISTORY, gone_at=None).values("history"))
    starts = {sight: Q(reason__startswith=SIGHTS[sight]) for sight in (SHORT, NOISY, RATED)} | {FIT: Q(reason="")}
    return found.filter(starts.get(chosen.sight, Q()))


def with_changes(found: QuerySet[Trend]) -> QuerySet[Trend]:
    return found.select_related(*RELATED).annotate(holding=Count("changes", filter=Q(changes__gone_at=None)))


def listed(found: Sequence[Trend]) -> list[TrendRow]:
    """Rows for the result of `rows_of`. One query."""
    settings = settings_words({each.settings_hash for each in found})
    return [_row(each, settings) for each in found]


def detail(trend_id: int) -> TrendDetail | None:
    """None: there is no such series. Five queries."""
    found = with_changes(Trend.objects.filter(pk=trend_id)).first()
    if found is None:
        return None
    chosen = thresholds.every()
    (series,) = trends_series.read([found], chosen)
    stored = found.changes.select_related("first_run__system__release", "finding").order_by("pk")
    changes = tuple(each for change in stored if (each := _change(series.points, change)) is not None)
    holding = [change.place for change in changes if change.gone_at is None]
    is_rated = trends_series.rate_of(found, found.metric) is not None
    seen = TrendPatterns() if is_rated else patterns.of(series.results, holding, direction=found.metric.direction)
    return TrendDetail(
        row=listed([found])[0],
        points=tuple(series.points),
        changes=tuple(sorted(changes, key=lambda change: (change.place, change.run))),
        levels=levels(series, holding),
        patterns=seen,
        limits=series.results.limits,
        source=words_of(chosen.source(found.workload_id, found.metric_id)),
    )


def words_of(key: Key | None) -> str:
    """Scope of a threshold, as text."""
    if key is None:
        return "the default"
    workload, metric = key
    both = "this workload and metric" if workload and metric else ""
    return both or ("this workload" if workload else "this metric" if metric else "all workloads")


def levels(series: TrendSeries, places: Sequence[int]) -> tuple[TrendLevel, ...]:
    """Levels between the changes at `places` and the resets."""
    results = series.results
    return tuple(
        TrendLevel(start, end, float(np.median(results.values[start:end]))) for start, end in results.stretches(places)
    )


def preview(
    *, workload: int | None, metric: str | None, smallest: float, significant: float, margin: float | None = None
) -> Tried:
    """Changes that a threshold would report in the series to which it applies, which of these are new, and which
    current ones it would withdraw. Stores nothing. Raises Invalid."""
    limits = thresholds.limits(smallest=smallest, significant=significant, margin=margin, metric=metric)
    found, own = thresholds.place(workload=workload, metric=metric)
    key = (found.pk if found else None, own.pk if own else None)
    chosen = thresholds.every().instead(key, limits)
    every = list(with_changes(thresholds.trends(*key)).order_by(*MOST_CHANGED))
    concerned = [each for each in every if chosen.source(each.workload_id, each.metric_id) == key]
    looked_at = concerned[:MOST_TRIED]
    read = trends_series.read(looked_at, chosen)
    return Tried(
        key,
        limits,
        len(concerned),
        len(looked_at),
        sum(series.results.is_too_short for series in read),
        len(every) - len(concerned),
        tuple(_tried(read)),
        threshold_preview.tried(key, chosen, margin),
    )


def _tried(read: Sequence[TrendSeries]) -> list[TriedSeries]:
    stored: dict[int, list[Change]] = {series.trend.pk: [] for series in read}
    for change in Change.objects.filter(history__in=stored).select_related("first_run__system__release"):
        stored[change.history_id or 0].append(change)
    rows = listed([series.trend for series in read])
    found = []
    for row, series in zip(rows, read, strict=True):
        analysis = follow.analyse(series, stored[row.id], retest=True)
        places = [change.index for change in analysis.changes]
        changes = [_would(series, change, analysis.reported.get(change.index)) for change in analysis.changes]
        changes += [
            _would_not(series, place, change)
            for place, change in analysis.reported.items()
            if place not in places and change.gone_at is None
        ]
        if changes:
            ordered = tuple(sorted(changes, key=lambda change: change.place))
            found.append(TriedSeries(row, tuple(series.points), levels(series, places), ordered))
    return sorted(found, key=lambda each: -len(each.changes))


def _would(series: TrendSeries, change: ChangePoint, known: Change | None) -> TriedChange:
    point = series.points[change.index]
    return TriedChange(
        place=change.index,
        run=(known.first_run_id if known else None) or point.run,
        version=point.version,
        verdict=reconcile.verdict_of(change.ratio, series.trend.metric.direction),
        ratio=change.ratio,
        low=change.low,
        high=change.high,
        p=change.p,
        is_new=known is None or known.gone_at is not None,
        stays=True,
        finding=known.finding_id if known else None,
    )


def _would_not(series: TrendSeries, place: int, known: Change) -> TriedChange:
    return TriedChange(
        place=place,
        run=known.first_run_id or 0,
        version=series.points[place].version,
        verdict=known.verdict,
        ratio=known.ratio or 1.0,
        low=known.low or 1.0,
        high=known.high or 1.0,
        p=known.p or 0.0,
        is_new=False,
        stays=False,
        finding=known.finding_id,
    )


def _change(points: Sequence[SeriesRun], change: Change) -> TrendChange | None:
    if change.first_run is None:
        return None
    return TrendChange(
        place=trends_series.place_of(points, change.first_run),
        run=change.first_run.pk,
        version=change.first_run.system.release.version,
        verdict=change.verdict,
        ratio=change.ratio,
        low=change.low,
        high=change.high,
        p=change.p,
        before=change.before,
        after=change.after,
        finding=change.finding_id,
        state=change.finding.state,
        gone_at=change.gone_at,
    )


def settings_words(hashes: Collection[str]) -> dict[str, str]:
    """Hash of settings -> settings as text. One query."""
    systems = System.objects.filter(settings_hash__in=hashes).values_list("settings_hash", "settings")
    return {
        own: ", ".join(f"{name} = {value}" for name, value in sorted(settings.items())) or "no settings of its own"
        for own, settings in systems
    }


def _row(found: Trend, settings: dict[str, str]) -> TrendRow:
    return TrendRow(
        id=found.pk,
        platform_slug=found.platform.slug,
        platform=found.platform.name,
        platform_color=found.platform.color,
        hardware_slug=found.hardware_class.slug,
        hardware=found.hardware_class.name,
        settings=settings.get(found.settings_hash, "settings that no system has any more"),
        tool=found.workload.tool,
        workload=found.workload_id,
        workload_name=found.workload.name,
        level=str(found.load_level),
        metric=found.metric.key,
        metric_name=found.metric.name,
        unit=found.metric.unit,
        direction=found.metric.direction,
        runs=found.runs,
        analysed=found.analysed,
        resets=len(found.resets),
        variation=found.variation,
        effect=found.effect,
        reason=found.reason,
        changes=getattr(found, "holding", 0),
        analysed_at=found.analysed_at,
    )
