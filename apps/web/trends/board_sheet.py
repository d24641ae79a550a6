"""The trend board as shown: the answer, columns, lanes and cells in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from urllib.parse import urlencode

from django.urls import reverse

from apps.core.names import with_tool
from apps.core.text import counted
from apps.core.units import NBSP, with_unit
from apps.regressions.api import (
    Board,
    BoardCell,
    BoardColumn,
    BoardGroup,
    BoardRow,
    RowVerdict,
    percent,
    trend_board,
)
from apps.web.trends import pattern_words

SIGNS = {"worse": "▼", "better": "▲", "equivalent": "≈", "unknown": "?", "base": ""}
KINDS = {None: "base", RowVerdict.WORSE: "worse", RowVerdict.BETTER: "better", RowVerdict.UNCHANGED: "equivalent"}
# Above this number of columns a cell has decimals only where it is equivalent; its card has all.
ROOMY = 16
# Digits of a commit that fit in a column, and those that are enough anywhere.
DIGITS, COMMIT_LENGTH = 4, 12
MOST_NAMED = 3
WORST, NEWEST, NAME = "worst", "newest", "name"
SORTS = {WORST: "worst first", NEWEST: "newest change first", NAME: "by name"}
# Width and height of a sparkline, and the least that it spans on both sides of the baseline.
SPARK_WIDTH, SPARK_HEIGHT, EQUAL = 72.0, 20.0, 0.02


@dataclass(frozen=True)
class ShownCell:
    """`sign` and `text`, the change in per cent; `title`: change, interval and verdict; `value` beside the baseline's;
    `runs`: how many, when; `note`: reason of the verdict. `change`: a change point begins here. `compare`: address;
    empty: one system."""

    kind: str
    sign: str
    text: str
    title: str
    value: str
    runs: str
    note: str
    change: bool
    findings: tuple[tuple[int, str], ...]
    compare: str


@dataclass(frozen=True)
class SparkLine:
    """`path`, its `end`, y and height of the band within ±2 %; `changes`: x."""

    path: str
    band: tuple[float, float]
    end: tuple[float, float]
    changes: tuple[float, ...]


@dataclass(frozen=True)
class ShownRow:
    """`full`: with tool and load. `cells` by column; None: not measured. `last`: change in the last cell; `interval`:
    of it, in per cent; `reason`: both, and why the verdict is so; `patterns`: words and sentences, the drift first."""

    id: int
    name: str
    full: str
    load: str
    metric: str
    url: str
    cells: tuple[ShownCell | None, ...]
    kind: str
    last: str
    interval: str
    reason: str
    spark: SparkLine
    when: tuple[str, ...]
    patterns: Sequence[tuple[str, str]]

    @property
    def shown(self) -> list[tuple[ShownCell | None, str]]:
        """Each cell with its column in words."""
        return list(zip(self.cells, self.when, strict=True))


@dataclass(frozen=True)
class BoardLane:
    """A stretch of columns with one version or commit; `shown`: what of it fits."""

    span: int
    text: str
    shown: str


@dataclass(frozen=True)
class ShownGroup:
    """`lanes`: of versions; `commits`: of commits, empty where none is known."""

    platform: str
    color: int | None
    below: str
    worse: int
    lanes: tuple[BoardLane, ...]
    commits: tuple[BoardLane, ...]
    rows: tuple[ShownRow, ...]

    @property
    def has_commits(self) -> bool:
        return any(lane.text for lane in self.commits)


@dataclass(frozen=True)
class BoardSheet:
    """`metric`, `headline`: names of the metric and of the headline one, if all rows share it. `counts`: of the last
    cells, by kind. `finding`: the worst row's."""

    metric: str
    headline: str
    answer: str
    others: str
    counts: tuple[tuple[str, str, int], ...]
    finding: int | None
    heads: tuple[tuple[str, str], ...]
    groups: tuple[ShownGroup, ...]
    baseline: str
    has_changes: bool
    is_dense: bool


def board_sheet(board: Board, *, sort: str = WORST, changed: bool = False) -> BoardSheet:
    """`sort`: a key of SORTS; `changed`: only rows with a change point, a finding, or a last cell better or worse."""
    every, by = [row for group in board.groups for row in group.rows], board.by
    groups = [
        (group, _sorted([row for row in group.rows if not changed or _is_changed(row)], sort)) for group in board.groups
    ]
    groups = [(group, rows) for group, rows in groups if rows]
    if sort != WORST:
        groups.sort(key=lambda each: _key(each[1][0], sort))
    width = max((len(group.columns) for group in board.groups), default=0)
    claims = _claims([(group, row) for group in board.groups for row in group.rows], by)
    kinds = Counter(_kind(row.cells[-1]) for row in every)
    worst = [row for group in board.groups for row in group.rows if row.worse_since is not None]
    return BoardSheet(
        metric=_shared([row.metric.name for row in every]),
        headline=_shared([row.trend.metric.name for row in every]),
        answer=f"{claims[0]}." if claims else _fine(kinds),
        others=f"{'; '.join(claims[1:MOST_NAMED])}." if claims[1:] else "" if claims else _detected(every),
        counts=tuple((kind, SIGNS[kind], kinds[kind]) for kind in SIGNS if kind != "base"),
        finding=next((row.findings[-1].number for row in worst if row.findings), None),
        heads=tuple(_heads(board.times)) or tuple(("", "") for _ in range(width)),
        groups=tuple(_group(group, rows, by, roomy=width <= ROOMY) for group, rows in groups),
        baseline=_baseline(every),
        has_changes=not every or any(row.changes or row.metric == row.trend.metric for row in every),
        is_dense=width > ROOMY,
    )


def _shared(names: Sequence[str]) -> str:
    return f"{names[0][:1].upper()}{names[0][1:]}" if len(set(names)) == 1 else ""


def _sorted(rows: Sequence[BoardRow], sort: str) -> list[BoardRow]:
    return list(rows) if sort == WORST else sorted(rows, key=lambda row: _key(row, sort))


def _key(row: BoardRow, sort: str) -> tuple[object, ...]:
    if sort == NAME:
        level = row.trend.load_level
        return row.trend.platform.name, row.trend.workload.name, level.rate or 0, level.threads
    return (-max((change.column for change in row.changes), default=row.worse_since or -1),)


def _is_changed(row: BoardRow) -> bool:
    return bool(row.changes or row.findings) or _kind(row.cells[-1]) in ("worse", "better")


def _kind(cell: BoardCell) -> str:
    return KINDS.get(cell.verdict, "unknown")


def _claims(rows: Sequence[tuple[BoardGroup, BoardRow]], by: str) -> list[str]:
    """What got worse, the worst first: for example "throughput of sysbench oltp_read_write on MHA: −19 % [−21 %, −18 %]
    in the last column; worse since 18 Nov, at 3 of 3 loads"."""
    found: dict[tuple[int, int, str], list[tuple[BoardGroup, BoardRow]]] = {}
    loads: Counter[tuple[int, int, str]] = Counter()
    for group, row in rows:
        key = id(group), row.trend.workload_id, row.metric.key
        loads[key] += 1
        if row.worse_since is not None:
            found.setdefault(key, []).append((group, row))
    texts = []
    for key, own in found.items():
        group, row = own[0]
        last = row.cells[-1]
        column = group.columns[row.worse_since or 0]
        at = f"at {len(own)} of {loads[key]} loads" if loads[key] > 1 else f"at {row.trend.load_level}"
        name = with_tool(row.trend.workload.tool, row.trend.workload.name)
        texts.append(
            f"{row.metric.name} of {name} on {row.trend.platform.name}: {_change(last)} {_interval(last)} in the last "
            f"column; worse since {_when(column, by)}, {at}"
        )
    return [f"{text[:1].upper()}{text[1:]}" for text in texts]


def _fine(kinds: Counter[str]) -> str:
    if not kinds.total():
        return "No series with two columns yet."
    parts = [f"{kinds[kind]} {words}" for kind, words in WORDS.items() if kinds[kind]]
    return f"Nothing is worse than the baseline: {', '.join(parts)}."


def _detected(rows: Sequence[BoardRow]) -> str:
    """What was detected along the series, although no last cell is worse."""
    changed = sum(bool(row.changes) for row in rows)
    return f"{changed} of {len(rows)} series {'has' if changed == 1 else 'have'} a change point." if changed else ""


WORDS = {"better": "better", "equivalent": "equivalent", "unknown": "inconclusive", "base": "without a comparison"}


def _change(cell: BoardCell) -> str:
    return percent(cell.ratio.value) if cell.ratio and cell.ratio.value is not None else "no ratio"


def _interval(cell: BoardCell) -> str:
    if cell.ratio is None or cell.ratio.low is None or cell.ratio.high is None:
        return ""
    return f"[{percent(cell.ratio.low)}, {percent(cell.ratio.high)}]"


def _when(column: BoardColumn | None, by: str) -> str:
    if column is None:
        return "then"
    return _time(column.key) if by in trend_board.BY_TIME else column.key


def _time(key: str) -> str:
    """Key of a night or of a campaign, as 2026-11-25 or 2026-11-25 21:04:30."""
    at = datetime.fromisoformat(key)
    words = f"{at.day}{NBSP}{at:%b}{NBSP}{at.year}"
    return f"{words}{NBSP}{at:%H:%M}" if " " in key else words


def _heads(times: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Day, and the month where it begins; of campaigns the minute, and day and hour where they begin."""
    last = ""
    for key in times:
        at = datetime.fromisoformat(key)
        has_time = " " in key
        own = f"{at.day}{NBSP}{at:%b}{NBSP}{at:%H}{NBSP}h" if has_time else f"{at:%b}"
        yield f":{at:%M}" if has_time else str(at.day), own if own != last else ""
        last = own


def _group(group: BoardGroup, rows: Sequence[BoardRow], by: str, *, roomy: bool) -> ShownGroup:
    first = rows[0].trend
    when = tuple(_column_words(column, by) for column in group.columns)
    return ShownGroup(
        platform=first.platform.name,
        color=first.platform.color,
        below=f"{first.hardware_class.name}, {group.settings}",
        worse=sum(row.worse_since is not None for row in rows),
        lanes=tuple(_lanes(group.columns)),
        commits=tuple(_commits(group.columns)),
        rows=tuple(_row(row, when, roomy=roomy) for row in rows),
    )


def _column_words(column: BoardColumn | None, by: str) -> str:
    if column is None:
        return ""
    parts = [_when(column, by), column.version if column.version != column.key else ""]
    return ", ".join(filter(None, [*parts, f"commit {column.commit[:12]}" if column.commit else ""]))


def _commits(columns: Sequence[BoardColumn | None]) -> Iterator[BoardLane]:
    for commit, members in groupby(column.commit if column else "" for column in columns):
        span = len(list(members))
        yield BoardLane(span, commit, commit[: min(DIGITS * span, COMMIT_LENGTH)])


def _lanes(columns: Sequence[BoardColumn | None]) -> Iterator[BoardLane]:
    """A column without runs belongs to the version before."""
    versions, last = [], ""
    for column in columns:
        last = column.version if column else last
        versions.append(last)
    for version, members in groupby(versions):
        yield BoardLane(len(list(members)), version, version)


def _row(row: BoardRow, when: Sequence[str], *, roomy: bool) -> ShownRow:
    trend, last = row.trend, row.cells[-1]
    by_column = {cell.column: cell for cell in row.cells}
    return ShownRow(
        id=trend.pk,
        name=trend.workload.name,
        full=f"{with_tool(trend.workload.tool, trend.workload.name)}, {trend.load_level}",
        load=str(trend.load_level).replace(" threads", " thr").replace(" thread", " thr"),
        metric=f"{row.metric.name}, {row.metric.unit}",
        url=reverse("web:trend", args=[trend.pk]),
        cells=tuple(
            _cell(row, by_column[place], when, roomy=roomy) if place in by_column else None
            for place in range(len(when))
        ),
        kind=_kind(last),
        last=f"{SIGNS[_kind(last)]}{NBSP}{_change(last)}" if last.ratio else "baseline",
        interval=_interval(last).replace(f"{NBSP}%", ""),
        reason=" ".join(filter(None, [_interval(last), last.verdict or "baseline", last.reason])),
        spark=_spark(row, len(when)),
        when=tuple(when),
        patterns=pattern_words.marks(row.patterns),
    )


def _cell(row: BoardRow, cell: BoardCell, when: Sequence[str], *, roomy: bool) -> ShownCell:
    points = [row.points[run] for run in cell.runs]
    first, last = min(point.started_at for point in points), max(point.started_at for point in points)
    end = f" to {last:%H:%M}" if last.date() == first.date() else f" to {last:%Y-%m-%d %H:%M}"
    spell = f"{first:%Y-%m-%d %H:%M}" + (end if last > first else "")
    own, base = with_unit(cell.value, row.metric.unit), with_unit(cell.base_value, row.metric.unit)
    verdict = cell.verdict.value if cell.verdict else "baseline"
    return ShownCell(
        kind=_kind(cell),
        sign="" if _kind(cell) == "equivalent" else SIGNS[_kind(cell)],
        text=_text(cell, roomy=roomy),
        title=" ".join(filter(None, [_change(cell) if cell.ratio else "", _interval(cell), verdict])),
        value=f"{own}; baseline {base} ({when[cell.base]})" if cell.ratio else own,
        runs=f"{counted(len(points), 'run')}, {spell} UTC",
        note=cell.reason,
        change=any(change.column == cell.column for change in row.changes),
        findings=tuple((each.number, each.state) for each in row.findings if each.column == cell.column),
        compare=_compare_url(row, cell),
    )


def _compare_url(row: BoardRow, cell: BoardCell) -> str:
    """Of the two systems; empty: Compare has one side each for them, and this is one system."""
    base = next(other for other in row.cells if other.column == cell.base)
    systems = [row.points[each.runs[-1]].slug for each in (base, cell)]
    if systems[0] == systems[1]:
        return ""
    query = urlencode([("workload", row.trend.workload_id), *(("side", slug) for slug in systems)])
    return f"{reverse('web:compare')}?{query}"


def _text(cell: BoardCell, *, roomy: bool) -> str:
    if cell.ratio is None:
        return "0"
    if (ratio := cell.ratio.value) is None:
        return ""
    if ratio >= 10:
        return f"×{ratio:.0f}"
    size = abs(ratio - 1) * 100
    is_whole = size >= 9.95 or (not roomy and _kind(cell) != "equivalent")
    text = f"{size:.0f}" if is_whole else f"{size:.1f}"
    return "0" if text in ("0", "0.0") else f"{'−' if ratio < 1 else '+'}{text}"


def _spark(row: BoardRow, columns: int) -> SparkLine:
    """The ratio to the baseline, column by column."""
    shares = {cell.column: cell.ratio.value if cell.ratio else 1.0 for cell in row.cells}
    known = {column: share for column, share in shares.items() if share is not None}
    top, bottom = max(1 + EQUAL, *known.values()), min(1 - EQUAL, *known.values())

    def y(share: float) -> float:
        return round(1 + (SPARK_HEIGHT - 2) * (top - share) / (top - bottom), 1)

    step = (SPARK_WIDTH - 6) / max(columns - 1, 1)
    places = [(round(3 + step * column, 1), y(share)) for column, share in sorted(known.items())]
    return SparkLine(
        path="M" + "L".join(f"{x:g} {down:g}" for x, down in places),
        band=(y(1 + EQUAL), round(y(1 - EQUAL) - y(1 + EQUAL), 1)),
        end=places[-1],
        changes=tuple(round(3 + step * (change.column - 0.5), 1) for change in row.changes),
    )


def _baseline(rows: Sequence[BoardRow]) -> str:
    """Which column the changes refer to."""
    pinned = sum(row.pinned for row in rows)
    if pinned == len(rows) and rows:
        return "Compared with the pinned baseline."
    if not pinned:
        return "Compared with the first column shown of each row: no baseline is pinned."
    return f"Compared with the pinned baseline in {counted(pinned, 'row')}, else with the first column shown."
