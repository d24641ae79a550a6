"""The trend board as shown: the answer, columns, lanes and cells in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.core.names import with_tool
from apps.core.text import counted
from apps.core.units import NBSP, with_unit
from apps.regressions.api import Board, BoardCell, BoardFinding, BoardGroup, BoardRow, SeriesRun
from apps.web.findings.wording import beside_cell
from apps.web.trends import board_heads, pattern_words
from apps.web.trends.board_answer import (
    SIGNS,
    WORDS,
    BoardAnswer,
    board_answer,
    change_of,
    interval_of,
    kind_of,
)
from apps.web.trends.board_heads import BoardLane

# Above this number of columns a cell has decimals only where it is equivalent; its card has all.
ROOMY = 16
WORST, NEWEST, NAME = "worst", "newest", "name"
# Of fixed rates, among the counts of the newest cells.
COUNTED = {"held": "held", "unheld": "not held"}
SORTS = {WORST: "worst first", NEWEST: "newest change first", NAME: "by name"}
# Width and height of a sparkline, and the least that it spans on both sides of the baseline.
SPARK_WIDTH, SPARK_HEIGHT, EQUAL = 72.0, 20.0, 0.02


@dataclass(frozen=True)
class BoardFlag:
    """A finding; `why` its verdict has another word than the cell's, empty: it has none."""

    number: int
    state: str
    why: str


@dataclass(frozen=True)
class ShownCell:
    """`sign` and `text`, the change in per cent; `title`: change, interval and verdict, on a second line the
    reason; `value` beside the baseline's; `runs`: how many, when. `change`: a change point begins here. `compare`:
    address; empty: one system."""

    kind: str
    sign: str
    text: str
    title: str
    value: str
    runs: str
    change: bool
    findings: tuple[BoardFlag, ...]
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
    """`full`: with tool and load. `cells` by column; None: not measured. `last`: change in the newest cell; `interval`:
    of it, in per cent; `reason`: both, and why the verdict is so; `findings`: those of no column shown. `patterns`:
    words and sentences, the drift first."""

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
    findings: tuple[BoardFlag, ...]
    spark: SparkLine
    when: tuple[str, ...]
    patterns: Sequence[tuple[str, str]]

    @property
    def shown(self) -> list[tuple[ShownCell | None, str]]:
        """Each cell with its column in words."""
        return list(zip(self.cells, self.when, strict=True))


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
    """`metric`, `headline`: names of the metric and of the headline one, if all rows share it. `counts`: of the newest
    cells: words, kind, sign, number. `is_rated`: a row is of a fixed rate. `tests`: number of comparisons that the
    verdicts are corrected for."""

    metric: str
    headline: str
    answer: BoardAnswer
    counts: tuple[tuple[str, str, str, int], ...]
    is_rated: bool
    tests: int
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
    kinds = Counter(kind_of(row.last) for row in every)
    return BoardSheet(
        metric=_shared([row.metric.name for row in every]),
        headline=_shared([row.trend.metric.name for row in every]),
        answer=board_answer(board),
        counts=tuple(
            (WORDS.get(kind, kind), kind, COUNTED.get(kind, SIGNS[kind]), kinds[kind]) for kind in _counted(kinds)
        ),
        is_rated=any(cell.rate is not None for row in every for cell in row.cells),
        tests=sum(cell.ratio is not None and cell.ratio.p is not None for row in every for cell in row.cells),
        heads=tuple(board_heads.heads(board.times)) or tuple(("", "") for _ in range(width)),
        groups=tuple(_group(group, rows, by, roomy=width <= ROOMY) for group, rows in groups),
        baseline=_baseline(every),
        has_changes=not every or any(row.changes or row.metric == row.trend.metric for row in every),
        is_dense=width > ROOMY,
    )


def _counted(kinds: Mapping[str, int]) -> list[str]:
    """Those of fixed rates only where there are some."""
    return [
        kind
        for kind in SIGNS
        if kind in ("worse", "better", "equivalent", "unknown") or (kind != "base" and kinds[kind])
    ]


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
    return bool(row.changes or row.findings) or kind_of(row.last) in ("worse", "better")


def _group(group: BoardGroup, rows: Sequence[BoardRow], by: str, *, roomy: bool) -> ShownGroup:
    first = rows[0].trend
    several = board_heads.several_builds(group.columns)
    names = tuple(board_heads.column_words(column, by, several) for column in group.columns)
    return ShownGroup(
        platform=first.platform.name,
        color=first.platform.color,
        below=f"{first.hardware_class.name}, {group.settings}",
        worse=sum(row.worse_since is not None for row in rows),
        lanes=tuple(board_heads.lanes(group.columns, several, roomy=roomy)),
        commits=tuple(board_heads.commits(group.columns)),
        rows=tuple(_row(row, names, roomy=roomy) for row in rows),
    )


def _row(row: BoardRow, names: Sequence[str], *, roomy: bool) -> ShownRow:
    trend, last = row.trend, row.last
    by_column = {cell.column: cell for cell in row.cells}
    return ShownRow(
        id=trend.pk,
        name=trend.workload.name,
        full=f"{with_tool(trend.workload.tool, trend.workload.name)}, {trend.load_level}",
        load=str(trend.load_level).replace(" threads", " thr").replace(" thread", " thr"),
        metric=f"{row.metric.name}, {row.metric.unit}",
        url=reverse("web:trend", args=[trend.pk]),
        cells=tuple(
            _cell(row, by_column[place], names, roomy=roomy) if place in by_column else None
            for place in range(len(names))
        ),
        kind=kind_of(last),
        last=f"{SIGNS[kind_of(last)]}{NBSP}{change_of(last)}".strip() if last.ratio else "baseline",
        interval=interval_of(last).replace(f"{NBSP}%", ""),
        reason=_reason(row, names),
        findings=tuple(_flag(each, last) for each in row.findings if not each.is_shown),
        spark=_spark(row, len(names)),
        when=tuple(names),
        patterns=pattern_words.marks(row.patterns),
    )


def _reason(row: BoardRow, names: Sequence[str]) -> str:
    """Of the newest cell's verdict, and why findings differ."""
    last = row.last
    verdict = " ".join(filter(None, [interval_of(last), last.verdict or "baseline"]))
    flags = [(each, _flag(each, last)) for each in row.findings]
    found = [f"finding {each.number}, {each.state}: {each.verdict}; {flag.why}" for each, flag in flags if flag.why]
    return "\n".join(filter(None, [f"{names[last.column]}: {verdict}", last.reason, *found]))


def _flag(finding: BoardFinding, cell: BoardCell) -> BoardFlag:
    is_same = cell.verdict in (None, finding.verdict)
    return BoardFlag(finding.number, finding.state, "" if is_same else beside_cell(finding.kind))


def _cell(row: BoardRow, cell: BoardCell, names: Sequence[str], *, roomy: bool) -> ShownCell:
    points = [row.points[run] for run in cell.runs]
    first, last = min(point.started_at for point in points), max(point.started_at for point in points)
    end = f" to {last:%H:%M}" if last.date() == first.date() else f" to {last:%Y-%m-%d %H:%M}"
    spell = f"{first:%Y-%m-%d %H:%M}" + (end if last > first else "")
    own, base = with_unit(cell.value, row.metric.unit), with_unit(cell.base_value, row.metric.unit)
    verdict = cell.verdict.value if cell.verdict else "baseline"
    is_value = cell.ratio is not None and cell.rate is None
    title = " ".join(filter(None, [change_of(cell) if is_value else "", interval_of(cell), verdict]))
    return ShownCell(
        kind=kind_of(cell),
        sign="" if kind_of(cell) == "equivalent" else SIGNS[kind_of(cell)],
        text=_text(cell, roomy=roomy),
        title="\n".join(filter(None, [title, cell.reason])),
        value=f"{own}; baseline {base} ({names[cell.base]})" if cell.ratio else own,
        runs=f"{counted(len(points), 'run')}{_builds(points)}, {spell} UTC",
        change=any(change.column == cell.column for change in row.changes),
        findings=tuple(_flag(each, cell) for each in row.findings if each.column == cell.column),
        compare=_compare_url(row, cell),
    )


def _builds(points: Sequence[SeriesRun]) -> str:
    """How many are in a cell; empty: one."""
    found = {(point.build, point.commit) for point in points}
    return f" of {len(found)} builds" if len(found) > 1 else ""


def _compare_url(row: BoardRow, cell: BoardCell) -> str:
    """Of the two systems; empty: Compare has one side each for them, and this is one system."""
    base = next(other for other in row.cells if other.column == cell.base)
    systems = [row.points[each.runs[-1]].slug for each in (base, cell)]
    if systems[0] == systems[1]:
        return ""
    query = urlencode([("workload", row.trend.workload_id), *(("side", slug) for slug in systems)])
    return f"{reverse('web:compare')}?{query}"


def _text(cell: BoardCell, *, roomy: bool) -> str:
    if cell.rate is not None:
        return {"held": "held", "unheld": "not", "base": "–"}.get(kind_of(cell), "")
    if cell.ratio is None:
        return "0"
    if (ratio := cell.ratio.value) is None:
        return ""
    if ratio >= 10:
        return f"×{ratio:.0f}"
    size = abs(ratio - 1) * 100
    is_whole = size >= 9.95 or (not roomy and kind_of(cell) != "equivalent")
    text = f"{size:.0f}" if is_whole else f"{size:.1f}"
    return "0" if text in ("0", "0.0") else f"{'−' if ratio < 1 else '+'}{text}"


def _share(cell: BoardCell) -> float | None:
    if cell.rate is not None:
        return cell.value / cell.rate
    return cell.ratio.value if cell.ratio else 1.0


def _spark(row: BoardRow, columns: int) -> SparkLine:
    """The ratio to the baseline, or to the fixed rate, column by column."""
    shares = {cell.column: _share(cell) for cell in row.cells}
    known = {column: share for column, share in shares.items() if share is not None}
    top, bottom = max(1 + EQUAL, *known.values()), min(1 - EQUAL, *known.values())

    def y(share: float) -> float:
        return round(1 + (SPARK_HEIGHT - 2) * (top - share) / (top - bottom), 1)

    step = (SPARK_WIDTH - 6) / max(columns - 1, 1)
    places = {column: (round(3 + step * column, 1), y(share)) for column, share in sorted(known.items())}
    return SparkLine(
        path="M" + "L".join(f"{x:g} {down:g}" for x, down in places.values()),
        band=(y(1 + EQUAL), round(y(1 - EQUAL) - y(1 + EQUAL), 1)),
        end=places.get(row.last.column, (3.0, y(1.0))),
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
