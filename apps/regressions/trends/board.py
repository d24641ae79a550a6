"""The trend board: the monitored series as rows, their last nights, campaigns, builds or releases as columns. A
constant number of queries."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from django.db.models import F, QuerySet

from apps.catalog.models import Metric
from apps.comparison.api import baselines
from apps.comparison.pure import Direction
from apps.core.problems import FieldProblem, Invalid
from apps.regressions import thresholds
from apps.regressions.models import Change, Trend
from apps.regressions.thresholds import Thresholds
from apps.regressions.trends import follow, patterns, queries
from apps.regressions.trends import series as trends_series
from apps.regressions.trends.board_cells import BoardCell, ColumnSeries, badness, board_cells, worse_since
from apps.regressions.trends.patterns import TrendPatterns
from apps.regressions.trends.series import SeriesRun
from apps.runs.models import RunNode

MOST_COLUMNS = 30
# Limits of series, those with changes first, and of the newest runs of each.
MOST_ROWS, MOST_RUNS = 60, 600
NIGHT, CAMPAIGN, BUILD, RELEASE = "night", "campaign", "build", "release"
COLUMNS = {NIGHT: "Nights", CAMPAIGN: "Campaigns", BUILD: "Builds", RELEASE: "Releases"}
# Columns by time, which all groups share.
BY_TIME = (NIGHT, CAMPAIGN)
HEADLINE, ERRORS = "headline", "errors"
# Key in the address -> the metric's key; empty: the primary metric of each workload.
METRICS = {HEADLINE: "", "p95": "client.latency.p95", "p99": "client.latency.p99", ERRORS: "client.errors"}
# Where a server states the commit that it was built from.
COMMIT = "version_source_revision"


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
    """`key`: in addresses; `version`: of its newest run; `commit`: of that run's server; empty: not known."""

    key: str
    version: str
    commit: str = ""


@dataclass(frozen=True)
class BoardChange:
    """A change point that holds: it begins in `column`."""

    column: int
    verdict: str


@dataclass(frozen=True)
class BoardFinding:
    """A finding whose change begins in `column`."""

    column: int
    number: int
    state: str


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
    """`by`: a key of COLUMNS. `times`: keys of the columns where all groups share them. `single`: number of series left
    out, since they have runs in one column only; `more`: there are further series."""

    by: str
    groups: tuple[BoardGroup, ...]
    times: tuple[str, ...]
    single: int
    more: bool


# Key of a run's column.
Keyed = Callable[[SeriesRun], str]
# (platform, hardware class, settings)
Place = tuple[int, int, str]


def _night(run: SeriesRun) -> str:
    return run.started_at.date().isoformat()


def _campaign(run: SeriesRun) -> str:
    """Of a run without one: its night. Both sort by time."""
    return run.campaign or _night(run)


def _build(run: SeriesRun) -> str:
    return run.build or run.version


def _release(run: SeriesRun) -> str:
    return run.version


KEYED: dict[str, Keyed] = {NIGHT: _night, CAMPAIGN: _campaign, BUILD: _build, RELEASE: _release}


def load_board(chosen: BoardFilter) -> Board:
    """Raises Invalid naming `baseline` if no column has this key."""
    found = list(_trends(chosen).order_by(*queries.MOST_CHANGED)[: MOST_ROWS + 1])
    trends, metric = found[:MOST_ROWS], _metric(chosen.metric)
    points = trends_series.runs_of(
        trends,
        metric=metric.pk if metric else None,
        newest=MOST_RUNS,
        zero=chosen.metric == ERRORS,
        campaigns=chosen.by in ("", CAMPAIGN),
    )
    chosen = replace(chosen, by=chosen.by or _usual(points.values()))
    keyed = KEYED[chosen.by]
    places: dict[Place, list[Trend]] = defaultdict(list)
    for trend in trends:
        if points[trend.pk]:
            places[trend.platform_id, trend.hardware_class_id, trend.settings_hash].append(trend)
    keys = {place: _keys([points[each.pk] for each in own], chosen, keyed) for place, own in places.items()}
    if chosen.by in BY_TIME:
        every = _newest(sorted({key for own in keys.values() for key in own}), chosen.baseline)
        keys = dict.fromkeys(keys, every)
    if chosen.baseline and not any(chosen.baseline in own for own in keys.values()):
        known = "no column shown has runs of it"
        raise Invalid([FieldProblem("baseline", f"{chosen.baseline!r:.60}: {known}", "choose a column's name")])
    if (width := max(map(len, keys.values()), default=0)) and chosen.by not in BY_TIME:
        keys = {place: [""] * (width - len(own)) + own for place, own in keys.items()}
    rows = _rows(trends, points, keys, chosen, metric)
    return _board(rows, keys, chosen.by, more=len(found) > len(trends))


def _usual(points: Iterable[Sequence[SeriesRun]]) -> str:
    nights = [len({_night(run) for run in runs}) for runs in points]
    return CAMPAIGN if nights and max(nights) == 1 else NIGHT


def _trends(chosen: BoardFilter) -> "QuerySet[Trend]":
    primary = Trend.objects.filter(metric=F("workload__primary_metric"))
    return queries.with_changes(primary.filter(platform__slug=chosen.platform) if chosen.platform else primary)


def _metric(name: str) -> Metric | None:
    """None: that of each series, or one that no run has yet."""
    return Metric.objects.filter(key=METRICS[name]).first() if METRICS[name] else None


def _keys(members: Iterable[Sequence[SeriesRun]], chosen: BoardFilter, keyed: Keyed) -> list[str]:
    """Of the group's columns: by time, or by version, then by first run."""
    first: dict[str, tuple[object, ...]] = {}
    for run in (run for points in members for run in points):
        key = keyed(run)
        order = (key,) if chosen.by in BY_TIME else (run.version_key, run.version, run.started_at)
        first[key] = min(first.get(key, order), order)
    return _newest(sorted(first, key=lambda key: first[key]), chosen.baseline)


def _newest(keys: list[str], baseline: str) -> list[str]:
    """The last ones, with the baseline if it is older."""
    if baseline in keys[:-MOST_COLUMNS]:
        return [baseline, *keys[-MOST_COLUMNS + 1 :]]
    return keys[-MOST_COLUMNS:]


def _rows(
    trends: Sequence[Trend],
    points: Mapping[int, Sequence[SeriesRun]],
    keys: Mapping[Place, Sequence[str]],
    chosen: BoardFilter,
    metric: Metric | None,
) -> list[BoardRow]:
    limits, pins = thresholds.every(), baselines.pins({trend.workload_id for trend in trends})
    stored = _changes(trends)
    wanted = [trend for trend in trends if points[trend.pk]]
    series = []
    for trend in wanted:
        own, runs = metric or trend.metric, points[trend.pk]
        columns = _columns(runs, keys[_place(trend)], KEYED[chosen.by])
        pin = pins.get(trend.workload_id)
        series.append(
            ColumnSeries(
                values=[run.value for run in runs],
                columns=columns,
                direction=Direction(own.direction),
                smallest=limits.of(trend.workload_id, own.pk).smallest,
                sessions=[run.session for run in runs],
                resets=[place for place, run in enumerate(runs) if run.reset],
                changes=sorted(_places(stored[trend.pk], runs, {own.pk, trend.metric_id})),
                pinned=_pinned(chosen, runs, columns, keys[_place(trend)], pin.system_id if pin else None),
            )
        )
    return [
        BoardRow(
            trend=trend,
            metric=metric or trend.metric,
            points=points[trend.pk],
            cells=cells,
            changes=_marks(stored[trend.pk], points[trend.pk], each.columns, metric or trend.metric),
            findings=_findings(stored[trend.pk], points[trend.pk], each.columns, metric or trend.metric),
            pinned=each.pinned is not None,
            patterns=_patterns(trend, metric or trend.metric, points[trend.pk], each, limits),
        )
        for trend, each, cells in zip(wanted, series, board_cells(series), strict=True)
    ]


def _patterns(
    trend: Trend, metric: Metric, points: Sequence[SeriesRun], own: ColumnSeries, limits: Thresholds
) -> TrendPatterns:
    if metric != trend.metric and metric.key != follow.LATENCY:
        return TrendPatterns()
    series = trends_series.trend_series(trend, points, limits.of(trend.workload_id, metric.pk))
    return patterns.of(series.results, own.changes, direction=metric.direction)


def _place(trend: Trend) -> Place:
    return trend.platform_id, trend.hardware_class_id, trend.settings_hash


def _columns(runs: Sequence[SeriesRun], keys: Sequence[str], keyed: Keyed) -> list[int | None]:
    places = {key: place for place, key in enumerate(keys)}
    return [places.get(keyed(run)) for run in runs]


def _pinned(
    chosen: BoardFilter,
    runs: Sequence[SeriesRun],
    columns: Sequence[int | None],
    keys: Sequence[str],
    system: int | None,
) -> int | None:
    """The column chosen in the address, else the first one of the system that is the workload's pinned baseline."""
    if chosen.baseline:
        place = keys.index(chosen.baseline) if chosen.baseline in keys else None
        return place if place in columns else None
    own = [column for run, column in zip(runs, columns, strict=True) if run.system == system and column is not None]
    return min(own, default=None)


def _changes(trends: Sequence[Trend]) -> dict[int, list[Change]]:
    """Trend -> changes that hold, of any metric: along its runs, and of its systems' releases. One query."""
    found: dict[int, list[Change]] = {trend.pk: [] for trend in trends}
    places = {(*_place(each), each.workload_id, each.load_level_id): each.pk for each in trends}
    related = ("finding", "first_run__system__release", "system__release")
    kinds = [Change.Kind.HISTORY, Change.Kind.RELEASE]
    stored = Change.objects.filter(kind__in=kinds, gone_at=None, workload__in={each.workload_id for each in trends})
    for change in stored.select_related(*related).order_by("pk"):
        system = change.system
        at = (system.release.platform_id, system.hardware_class_id, system.settings_hash)
        if trend := places.get((*at, change.workload_id, change.load_level_id or 0)):
            found[trend].append(change)
    return found


def _places(changes: Iterable[Change], runs: Sequence[SeriesRun], metrics: set[int]) -> set[int]:
    """Indices of runs at which a change of one of the metrics begins."""
    own = [change.first_run for change in changes if change.first_run and change.metric_id in metrics]
    found = {trends_series.place_of(runs, run) for run in own}
    return {place for place in found if 0 < place < len(runs)}


def _marks(
    changes: Iterable[Change], runs: Sequence[SeriesRun], columns: Sequence[int | None], metric: Metric
) -> tuple[BoardChange, ...]:
    found = []
    for change in (each for each in changes if each.metric_id == metric.pk):
        if change.first_run and 0 < (place := trends_series.place_of(runs, change.first_run)) < len(runs):
            column = columns[place]
            found += [BoardChange(column, change.verdict)] if column is not None else []
    return tuple(found)


def _findings(
    changes: Iterable[Change], runs: Sequence[SeriesRun], columns: Sequence[int | None], metric: Metric
) -> tuple[BoardFinding, ...]:
    """Each finding once, at its first column."""
    found: dict[int, BoardFinding] = {}
    for change in changes:
        if change.metric_id != metric.pk:
            continue
        if change.first_run:
            place = trends_series.place_of(runs, change.first_run)
            own = {columns[place]} if place < len(runs) else set()
        else:
            own = {column for run, column in zip(runs, columns, strict=True) if run.system == change.system_id}
        if (column := min((each for each in own if each is not None), default=None)) is not None:
            known = found.get(change.finding_id)
            column = min(column, known.column) if known else column
            found[change.finding_id] = BoardFinding(column, change.finding_id, change.finding.state)
    return tuple(sorted(found.values(), key=lambda each: each.column))


def _board(rows: Sequence[BoardRow], keys: Mapping[Place, Sequence[str]], by: str, *, more: bool) -> Board:
    shown: defaultdict[Place, list[BoardRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: badness(row.cells) if row.cells else (9, 0.0)):
        if len(row.cells) > 1:
            shown[_place(row.trend)].append(row)
    newest = {place: _newest_runs(own, keys[place], KEYED[by]) for place, own in shown.items()}
    commits = _commits({run.run for own in newest.values() for run in own.values()})
    settings = queries.settings_words({row.trend.settings_hash for own in shown.values() for row in own})
    groups = tuple(
        BoardGroup(
            settings=settings.get(place[2], ""),
            columns=tuple(
                BoardColumn(key, run.version, commits.get(run.run, "")) if (run := newest[place].get(key)) else None
                for key in keys[place]
            ),
            rows=tuple(own),
        )
        for place, own in shown.items()
    )
    every = next(iter(keys.values()), []) if by in BY_TIME else []
    return Board(by, groups, tuple(every), sum(len(row.cells) == 1 for row in rows), more)


def _newest_runs(rows: Iterable[BoardRow], keys: Sequence[str], keyed: Keyed) -> dict[str, SeriesRun]:
    found: dict[str, SeriesRun] = {}
    for run in sorted((run for row in rows for run in row.points), key=attrgetter("started_at")):
        found[keyed(run)] = run
    return {key: found[key] for key in keys if key in found}


def _commits(runs: Iterable[int]) -> dict[int, str]:
    """Run -> commit of its server. One query."""
    at = f"configuration__variables__{COMMIT}"
    nodes = RunNode.objects.filter(run__in=list(runs), configuration__variables__has_key=COMMIT).order_by("-number")
    return {run: str(commit) for run, commit in nodes.values_list("run", at)}
