"""The trend board: the monitored series as rows, their last nights, campaigns, builds or releases as columns. A
constant number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from django.db.models import F, QuerySet

from apps.catalog.models import Metric
from apps.comparison.api import baselines
from apps.comparison.pure import Direction
from apps.core.problems import FieldProblem, Invalid
from apps.regressions import thresholds
from apps.regressions.models import Trend
from apps.regressions.thresholds import Thresholds
from apps.regressions.trends import builds, follow, patterns, queries
from apps.regressions.trends import series as trends_series
from apps.regressions.trends.board_cells import BoardCell, ColumnSeries, badness, board_cells, newest, worse_since
from apps.regressions.trends.board_columns import (
    BY_TIME,
    CAMPAIGN,
    ColumnKey,
    Columns,
    Place,
    columns_of,
    key_of,
    place_of,
    times_of,
    usual,
)
from apps.regressions.trends.board_findings import (
    BoardChange,
    BoardFinding,
    OpenFinding,
    begins,
    changes_of,
    findings_of,
    marks_of,
    open_findings,
)
from apps.regressions.trends.patterns import TrendPatterns
from apps.regressions.trends.series import SeriesRun

# Limits of series, those with changes first, and of the newest runs of each.
MOST_ROWS, MOST_RUNS = 60, 600
HEADLINE, ERRORS = "headline", "errors"
# Key in the address -> the metric's key; empty: the primary metric of each workload.
METRICS = {HEADLINE: "", "p95": "client.latency.p95", "p99": "client.latency.p99", ERRORS: "client.errors"}


@dataclass(frozen=True)
class BoardFilter:
    """`by`: a key of COLUMNS, empty: nights, but campaigns where no series has two nights; `metric`: of METRICS;
    `platform`: slug; `baseline`: key of a column."""

    by: str = ""
    metric: str = HEADLINE
    platform: str = ""
    baseline: str = ""


@dataclass(frozen=True)
class BoardColumn:
    """`key`: in addresses; `version`: release of all its runs; `build`: reported by their servers, empty: the column is
    a release; `commit`: of the newest run's server; empty: not known."""

    key: str
    version: str
    build: str = ""
    commit: str = ""


@dataclass(frozen=True)
class BoardRow:
    """`points`: the series' runs, to which the cells refer. `pinned`: a baseline was chosen or pinned for it.
    `patterns`: only of metrics that are followed."""

    trend: Trend
    metric: Metric
    points: Sequence[SeriesRun]
    cells: tuple[BoardCell, ...]
    changes: tuple[BoardChange, ...]
    findings: tuple[BoardFinding, ...]
    pinned: bool
    patterns: TrendPatterns

    @property
    def last(self) -> BoardCell:
        return newest(self.cells)

    @property
    def worse_since(self) -> int | None:
        """Column; None: it is not worse at the end."""
        return worse_since(self.cells)


@dataclass(frozen=True)
class BoardGroup:
    """Series of one platform, hardware class and configuration, the worst first. `columns` by place; None: no run."""

    settings: str
    columns: tuple[BoardColumn | None, ...]
    rows: tuple[BoardRow, ...]


@dataclass(frozen=True)
class Board:
    """`by`: a key of COLUMNS. `times`: keys of the columns where all groups share them. `single`, `absent`: numbers of
    series left out, since they have runs in one column only, or in none; `more`: there are further series. `findings`:
    the open ones for the worse, whatever the columns show."""

    by: str
    groups: tuple[BoardGroup, ...]
    times: tuple[str, ...]
    single: int
    absent: int
    more: bool
    findings: tuple[OpenFinding, ...] = ()


def load_board(chosen: BoardFilter) -> Board:
    """Raises Invalid naming `baseline` if no column has this key."""
    found = list(_trends(chosen).order_by(*queries.MOST_CHANGED)[: MOST_ROWS + 1])
    trends, metric = found[:MOST_ROWS], _metric(chosen.metric)
    runs = trends_series.runs_of(
        trends,
        metric=metric.pk if metric else None,
        newest=MOST_RUNS,
        zero=chosen.metric == ERRORS,
        campaigns=chosen.by in ("", CAMPAIGN),
    )
    points = builds.with_commits(runs)
    chosen = replace(chosen, by=chosen.by or usual(points.values()))
    members: dict[Place, list[Sequence[SeriesRun]]] = defaultdict(list)
    for trend in trends:
        if points[trend.pk]:
            members[place_of(trend)].append(points[trend.pk])
    columns = columns_of(members, chosen.by, chosen.baseline)
    if chosen.baseline and not any(key and key.label == chosen.baseline for keys in columns.values() for key in keys):
        known = "no column shown has runs of it"
        raise Invalid([FieldProblem("baseline", f"{chosen.baseline!r:.60}: {known}", "choose a column's name")])
    rows = _rows(trends, points, columns, chosen, metric)
    board = _board(rows, columns, chosen.by, more=len(found) > len(trends))
    flagged = {each.number for group in board.groups for row in group.rows for each in row.findings if each.is_shown}
    return replace(board, findings=open_findings(chosen.platform, flagged))


def _trends(chosen: BoardFilter) -> "QuerySet[Trend]":
    primary = Trend.objects.filter(metric=F("workload__primary_metric"))
    return queries.with_changes(primary.filter(platform__slug=chosen.platform) if chosen.platform else primary)


def _metric(name: str) -> Metric | None:
    """None: that of each series, or one that no run has yet."""
    return Metric.objects.filter(key=METRICS[name]).first() if METRICS[name] else None


def _rows(
    trends: Sequence[Trend],
    points: Mapping[int, Sequence[SeriesRun]],
    keys: Columns,
    chosen: BoardFilter,
    metric: Metric | None,
) -> list[BoardRow]:
    limits, pins = thresholds.every(), baselines.pins({trend.workload_id for trend in trends})
    stored = changes_of(trends)
    wanted = [trend for trend in trends if points[trend.pk]]
    series = []
    for trend in wanted:
        own, runs = metric or trend.metric, points[trend.pk]
        columns = _columns(runs, keys[place_of(trend)], chosen.by)
        pin = pins.get(trend.workload_id)
        series.append(
            ColumnSeries(
                values=[run.value for run in runs],
                columns=columns,
                direction=Direction(own.direction),
                smallest=limits.of(trend.workload_id, own.pk).smallest,
                sessions=[run.session for run in runs],
                resets=[place for place, run in enumerate(runs) if run.reset],
                changes=sorted(begins(stored[trend.pk], runs, {own.pk, trend.metric_id})),
                pinned=_pinned(chosen, runs, columns, keys[place_of(trend)], pin.system_id if pin else None),
                rate=trends_series.rate_of(trend, own),
                lengths=[run.length for run in runs],
            )
        )
    return [
        BoardRow(
            trend=trend,
            metric=metric or trend.metric,
            points=points[trend.pk],
            cells=cells,
            changes=marks_of(stored[trend.pk], points[trend.pk], each.columns, metric or trend.metric),
            findings=findings_of(stored[trend.pk], points[trend.pk], each.columns, metric or trend.metric),
            pinned=each.pinned is not None,
            patterns=_patterns(trend, metric or trend.metric, points[trend.pk], each, limits),
        )
        for trend, each, cells in zip(wanted, series, board_cells(series), strict=True)
    ]


def _patterns(
    trend: Trend, metric: Metric, points: Sequence[SeriesRun], own: ColumnSeries, limits: Thresholds
) -> TrendPatterns:
    is_followed = metric == trend.metric or metric.key == follow.LATENCY
    if not is_followed or trends_series.rate_of(trend, metric) is not None:
        return TrendPatterns()
    series = trends_series.trend_series(trend, points, limits.of(trend.workload_id, metric.pk))
    return patterns.of(series.results, own.changes, direction=metric.direction)


def _columns(runs: Sequence[SeriesRun], keys: Sequence[ColumnKey | None], by: str) -> list[int | None]:
    places = {key: place for place, key in enumerate(keys)}
    return [places.get(key_of(run, by)) for run in runs]


def _pinned(
    chosen: BoardFilter,
    runs: Sequence[SeriesRun],
    columns: Sequence[int | None],
    keys: Sequence[ColumnKey | None],
    system: int | None,
) -> int | None:
    """The column chosen in the address, of several releases the oldest; else the first one of the system that is the
    workload's pinned baseline."""
    own = [(column, run) for run, column in zip(runs, columns, strict=True) if column is not None]
    if chosen.baseline:
        return min(
            (column for column, _ in own if (key := keys[column]) and key.label == chosen.baseline), default=None
        )
    return min((column for column, run in own if run.system == system), default=None)


def _board(rows: Sequence[BoardRow], keys: Columns, by: str, *, more: bool) -> Board:
    shown: defaultdict[Place, list[BoardRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: badness(row.cells) if row.cells else (9, 0.0)):
        if len(row.cells) > 1:
            shown[place_of(row.trend)].append(row)
    latest = {place: _newest_runs(own, by) for place, own in shown.items()}
    settings = queries.settings_words({row.trend.settings_hash for own in shown.values() for row in own})
    groups = tuple(
        BoardGroup(
            settings=settings.get(place[2], ""),
            columns=tuple(
                BoardColumn(*key[:3], run.commit) if key and (run := latest[place].get(key)) else None
                for key in keys[place]
            ),
            rows=tuple(own),
        )
        for place, own in shown.items()
    )
    times = times_of(keys) if by in BY_TIME else ()
    single, absent = (sum(len(row.cells) == count for row in rows) for count in (1, 0))
    return Board(by, groups, times, single, absent, more)


def _newest_runs(rows: Iterable[BoardRow], by: str) -> dict[ColumnKey, SeriesRun]:
    runs = sorted((run for row in rows for run in row.points), key=attrgetter("started_at"))
    return {key_of(run, by): run for run in runs}
