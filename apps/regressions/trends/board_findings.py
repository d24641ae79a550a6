"""Changes and findings as marked on the trend board, and the open findings that it may not show."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from apps.catalog.models import Metric
from apps.regressions.findings.reconcile import OPEN
from apps.regressions.models import Change, Finding, Trend
from apps.regressions.trends import series as trends_series
from apps.regressions.trends.board_columns import place_of
from apps.regressions.trends.series import SeriesRun

FOR_THE_WORSE = (Finding.Verdict.WORSE, Finding.Verdict.MIXED)


@dataclass(frozen=True)
class BoardChange:
    """A change point that holds: it begins in `column`."""

    column: int
    verdict: str


@dataclass(frozen=True)
class BoardFinding:
    """A finding whose change begins in `column`; None: in none that is shown. `verdict`: of that change; `kind`: what
    found it, of Change.Kind."""

    column: int | None
    number: int
    state: str
    verdict: str
    kind: str

    @property
    def is_shown(self) -> bool:
        return self.column is not None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


@dataclass(frozen=True)
class OpenFinding:
    """`is_shown`: a row of the board is flagged with it."""

    number: int
    title: str
    is_shown: bool


def open_findings(platform: str, flagged: Collection[int]) -> tuple[OpenFinding, ...]:
    """Those for the worse, the largest first. `platform`: slug, empty: any. One query."""
    found = Finding.objects.filter(
        kind=Finding.Kind.CHANGE, state__in=OPEN, verdict__in=FOR_THE_WORSE, merged_into=None
    )
    found = found.filter(platform__slug=platform) if platform else found
    rows = found.order_by("-largest", "pk").values_list("pk", "title")
    return tuple(OpenFinding(pk, title, pk in flagged) for pk, title in rows)


def changes_of(trends: Sequence[Trend]) -> dict[int, list[Change]]:
    """Trend -> changes that hold, of any metric: along its runs, and of its systems' releases. One query."""
    found: dict[int, list[Change]] = {trend.pk: [] for trend in trends}
    places = {(*place_of(each), each.workload_id, each.load_level_id): each.pk for each in trends}
    related = ("finding", "first_run__system__release", "system__release")
    kinds = [Change.Kind.HISTORY, Change.Kind.RELEASE]
    stored = Change.objects.filter(kind__in=kinds, gone_at=None, workload__in={each.workload_id for each in trends})
    for change in stored.select_related(*related).order_by("pk"):
        system = change.system
        at = (system.release.platform_id, system.hardware_class_id, system.settings_hash)
        if trend := places.get((*at, change.workload_id, change.load_level_id or 0)):
            found[trend].append(change)
    return found


def begins(changes: Iterable[Change], runs: Sequence[SeriesRun], metrics: set[int]) -> set[int]:
    """Indices of runs at which a change of one of the metrics begins."""
    own = [change.first_run for change in changes if change.first_run and change.metric_id in metrics]
    found = {trends_series.place_of(runs, run) for run in own}
    return {place for place in found if 0 < place < len(runs)}


def marks_of(
    changes: Iterable[Change], runs: Sequence[SeriesRun], columns: Sequence[int | None], metric: Metric
) -> tuple[BoardChange, ...]:
    found = []
    for change in (each for each in changes if each.metric_id == metric.pk):
        if change.first_run and 0 < (place := trends_series.place_of(runs, change.first_run)) < len(runs):
            column = columns[place]
            found += [BoardChange(column, change.verdict)] if column is not None else []
    return tuple(found)


def findings_of(
    changes: Iterable[Change], runs: Sequence[SeriesRun], columns: Sequence[int | None], metric: Metric
) -> tuple[BoardFinding, ...]:
    """Each finding once, at its first column; those that begin in none shown come first."""
    found: dict[int, BoardFinding] = {}
    for change in (each for each in changes if each.metric_id == metric.pk):
        if change.first_run:
            place = trends_series.place_of(runs, change.first_run)
            own = {columns[place]} if place < len(runs) else set()
        else:
            own = {column for run, column in zip(runs, columns, strict=True) if run.system == change.system_id}
        known = found.get(change.finding_id)
        own |= {known.column} if known else set()
        found[change.finding_id] = BoardFinding(
            column=min((column for column in own if column is not None), default=None),
            number=change.finding_id,
            state=change.finding.state,
            verdict=(known or change).verdict,
            kind=(known or change).kind,
        )
    return tuple(sorted(found.values(), key=lambda each: -1 if each.column is None else each.column))
