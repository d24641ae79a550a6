"""The matrix as shown, on the page and in its exports: cells with their verdicts as text and sign."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from apps.comparison.api import Matrix, MatrixRow
from apps.comparison.pure import (
    NO_RUNS,
    UNJUDGED,
    WITHHELD,
    Cell,
    ComparedMetric,
    Comparison,
    Direction,
    claim_limits,
    interval_text,
    label,
    ratio_text,
    with_interval,
)
from apps.core.names import with_tool
from apps.core.text import counted
from apps.core.units import NBSP, all_digits, format_number, with_unit
from apps.published.matrix import StatedMatrix
from apps.published.values import FigureValue
from apps.published.wording import DIRECTIONS, NO_INTERVAL
from apps.web.compare.wording import remedy
from workers.protocol.workloads.kinds import KINDS, MIXED, SCHEMA_CHANGE, TPCC, kind_of

SIGNS = {"better": "▲", "worse": "▼", "equivalent": "≈"}
TURNED = {"▲": "▼", "▼": "▲"}
CELL_KINDS = ("better", "worse", "equivalent", "unknown", "withheld", "none", "baseline", "stated")
SHORT_KINDS = {KINDS[MIXED]: "read-write", KINDS[TPCC]: "TPC-C-like", KINDS[SCHEMA_CHANGE]: "schema"}
ORDER = ("better", "higher", "worse", "lower", "equivalent", "inconclusive", WITHHELD)


@dataclass(frozen=True)
class Head:
    """A side's column; `place` in the palette, None: a published side that is no platform of the catalog.

    `origins`: where its runs come from; empty if agents measured all of them. `counts`: of its verdicts, with kind of
    cell, sign and number. `is_empty`: it has no run in any row.
    """

    name: str
    place: int | None
    below: str = ""
    is_baseline: bool = False
    origins: tuple[str, ...] = ()
    slug: str = ""
    counts: tuple[tuple[str, str, int], ...] = ()
    is_empty: bool = False


@dataclass(frozen=True)
class MatrixCell:
    """A cell: `text` with its unit or sign, `interval`, `words` (the verdict); `kind` (of CELL_KINDS) sets the colour.

    `title` has all digits, the number of runs and their origins; `note`: failed checks. `value`, `low`, `high` are of
    the ratio, or of the baseline's value.
    """

    kind: str
    text: str
    interval: str = ""
    words: str = ""
    sign: str = ""
    note: str = ""
    title: str = ""
    url: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def plain(self) -> str:
        """All of the cell in one line."""
        judged = f"{self.sign} {self.words}".strip()
        line = " ".join(part for part in (self.text, self.interval, judged) if part)
        return f"{line}; {self.note}" if self.note else line


@dataclass(frozen=True)
class LoadRow:
    load: str
    url: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True)
class TestGroup:
    """A test in one metric, a line per load level. `metric` with its unit and direction; `kind` of load, empty: not
    known."""

    test: str
    detail: str
    metric: str
    direction: str
    lines: tuple[LoadRow, ...]
    kind: str = ""


@dataclass(frozen=True)
class KindGroup:
    """Tests of one kind of load, as the page has them side by side. `count` of their lines; `short` beside few."""

    kind: str
    groups: tuple[TestGroup, ...]
    count: int

    @property
    def short(self) -> str:
        return SHORT_KINDS.get(self.kind, self.kind)


@dataclass(frozen=True)
class MatrixSheet:
    """`answers`: a sentence per side but the baseline; `method`: meaning of the cells.

    `metric` with unit and direction, if equal for all groups.
    """

    title: str
    metric: str
    heads: tuple[Head, ...]
    groups: tuple[TestGroup, ...]
    answers: tuple[tuple[Head, str], ...]
    method: str
    stated: bool

    @property
    def kinds(self) -> list[KindGroup]:
        found = []
        for kind, each in groupby(self.groups, key=lambda group: group.kind):
            own = tuple(each)
            found.append(KindGroup(kind, own, sum(len(group.lines) for group in own)))
        return found


@dataclass(frozen=True)
class Doubts:
    """`runs` that failed a check, and what that makes of the verdicts, by workload."""

    runs: Collection[int]
    comparisons: Mapping[int, Comparison]

    @classmethod
    def of(cls, matrix: Matrix) -> "Doubts":
        failed = {run.id for one in matrix.comparisons for run in one.runs if run.failed_checks}
        return cls(failed, {one.workload.id: one for one in matrix.comparisons})

    def note(self, row: MatrixRow, cell: Cell) -> str:
        """For example "3 of 3 failed a check; lower bound"."""
        failed = sum(each.run in self.runs for each in cell.replicates)
        parts = [f"{failed} of {len(cell.replicates)} failed a check"] if failed else []
        limits = claim_limits(self.comparisons[row.workload.id], row.level, row.metric) if self.runs else []
        parts += [each.head.lower() for each in limits if cell.side in each.sides][:1]
        return "; ".join(parts)


def measured_sheet(matrix: Matrix, *, address: Callable[[MatrixRow, str], str]) -> MatrixSheet:
    """`address` returns the Compare address of a row and a side (empty: all sides)."""
    doubts = Doubts.of(matrix)
    heads = tuple(
        Head(
            name=side.name,
            place=side.tone,
            below=f"{side.platform} {side.release} · {side.hardware}",
            is_baseline=side.position == 0,
            origins=side.origins if side.origins != ("agent",) else (),
            slug=side.slug,
            counts=_counts([row.cells[side.position] for row in matrix.rows]) if side.position else (),
            is_empty=all(row.cells[side.position].summary is None for row in matrix.rows),
        )
        for side in matrix.sides
    )
    groups = [
        _group(list(rows), matrix, doubts, address)
        for _, rows in groupby(matrix.rows, key=lambda row: (row.workload.id, row.metric.key))
    ]
    return MatrixSheet(
        title=f"Ratio to {heads[0].name}",
        metric=_common(groups),
        heads=heads,
        groups=tuple(groups),
        answers=tuple((heads[side.position], _answer(matrix.rows, side.position)) for side in matrix.sides[1:]),
        method=(
            "Ratio of the sides' values, as in Compare; its 95 % interval on hover and in the exports. A cell is "
            "coloured by its verdict, not by its ratio. Verdicts are corrected for the "
            f"{counted(matrix.tests, 'comparison')} of this table (Benjamini-Hochberg, 5 %), in Compare for those of "
            "one workload, so that verdicts may differ."
        ),
        stated=False,
    )


def _common(groups: Sequence[TestGroup]) -> str:
    metrics = {f"{group.metric}; {group.direction}" for group in groups}
    return metrics.pop() if len(metrics) == 1 else ""


def _group(
    rows: Sequence[MatrixRow], matrix: Matrix, doubts: Doubts, address: Callable[[MatrixRow, str], str]
) -> TestGroup:
    first = rows[0]
    names = {side.slug: side.name for side in matrix.sides}
    return TestGroup(
        test=with_tool(first.workload.tool, first.workload.name),
        detail=", ".join(f"{name} {value}" for name, value in sorted(first.workload.parameters.items())),
        metric=f"{label(first.metric)}, {first.metric.unit}" if first.metric.unit else label(first.metric),
        direction=DIRECTIONS[first.metric.direction],
        lines=tuple(
            LoadRow(
                load=row.level.text,
                url=address(row, ""),
                cells=tuple(
                    replace(
                        _shown(row.metric, cell, matrix.sides[place].origins, names),
                        note=doubts.note(row, cell),
                        url=address(row, cell.side) if place and cell.replicates else "",
                    )
                    for place, cell in enumerate(row.cells)
                ),
            )
            for row in rows
        ),
        kind=KINDS[kind_of(first.workload.tool, first.workload.parameters)],
    )


def _counts(cells: Sequence[Cell]) -> tuple[tuple[str, str, int], ...]:
    """Of the cells with runs, the most decided first; a withheld verdict counts as unknown."""
    judged = (each for each in cells if each.summary is not None and each.ratio is not None)
    kinds = Counter(_kind(cell.words) for cell in judged if cell.words not in UNJUDGED)
    kinds["unknown"] += kinds.pop("withheld", 0)
    order = (("worse", "▼"), ("unknown", "?"), ("equivalent", "≈"), ("better", "▲"))
    return tuple((kind, sign, kinds[kind]) for kind, sign in order if kinds[kind])


def _shown(metric: ComparedMetric, cell: Cell, origins: Sequence[str], names: Mapping[str, str]) -> MatrixCell:
    if cell.summary is None:
        return MatrixCell(kind="none", text=cell.words or NO_RUNS)
    runs = f"{counted(cell.summary.count, 'run')} ({', '.join(origins)})"
    value = f"{all_digits(cell.summary.value)}{NBSP}{metric.unit}, {cell.summary.kind} of {runs}"
    ratio = cell.ratio
    if ratio is None:
        own = cell.summary.value
        return MatrixCell(kind="baseline", text=format_number(own, unit=metric.unit), title=value, value=own)
    if ratio.value is None:
        shown = with_unit(cell.summary.value, metric.unit)
        return MatrixCell(kind="none", text=shown, words=cell.words, title=f"{value}; {ratio.reason}")
    facts = [f"{all_digits(ratio.value)} ×", value]
    if ratio.low is not None and ratio.high is not None:
        facts.insert(1, f"95 % interval {all_digits(ratio.low)} to {all_digits(ratio.high)}")
    if ratio.p is not None:
        facts.append(f"p {ratio.p:.2g}, corrected {ratio.adjusted_p:.2g}" if ratio.adjusted_p else f"p {ratio.p:.2g}")
    line = remedy(cell, names)
    facts += [text for text in ("" if line.startswith(ratio.reason) else ratio.reason, line) if text]
    return MatrixCell(
        kind=_kind(cell.words),
        text=ratio_text(ratio),
        interval=interval_text(ratio),
        words=cell.words,
        sign=_sign(cell.words, metric.direction),
        title="; ".join(facts),
        value=ratio.value,
        low=ratio.low,
        high=ratio.high,
    )


def _kind(words: str) -> str:
    if words == WITHHELD:
        return "withheld"
    return words if words in SIGNS else "unknown"


def _sign(words: str, direction: Direction) -> str:
    """The arrow gives the direction of the value: if lower is better, an improvement points down."""
    sign = SIGNS.get(words, "?")
    return TURNED.get(sign, sign) if direction is Direction.LOWER else sign


def _answer(rows: Sequence[MatrixRow], place: int) -> str:
    """Verdict counts with the range of ratios, for example "better in 3 of 7 (1.2 × [1.1, 1.3] to …); …". Ratios of
    metrics in which more is better, and in which less is, have a range each."""
    counts = Counter(row.cells[place].words for row in rows)
    places = {words: number for number, words in enumerate(ORDER)}
    directions = {row.metric.direction for row in rows}
    parts: list[str] = []
    for words in sorted(counts, key=lambda each: places.get(each, len(ORDER))):
        found = [row for row in rows if row.cells[place].words == words]
        spans = [
            f"{span} where {direction.value} is better" if len(directions) > 1 else span
            for direction in (Direction.HIGHER, Direction.LOWER)
            if (span := _ratios([row.cells[place] for row in found if row.metric.direction is direction]))
        ]
        shown = f" ({', '.join(spans)})" if words in ORDER[:4] and spans else ""
        of = "" if parts else f" of {len(rows)}"
        parts.append(f"{words} in {counts[words]}{of}{shown}")
    return "; ".join(parts)


def _ratios(cells: Sequence[Cell]) -> str:
    """The lowest to the highest ratio; empty: none."""
    ratios = [cell.ratio for cell in cells if cell.ratio and cell.ratio.value is not None]
    ratios.sort(key=lambda ratio: ratio.value or 0)
    return " to ".join(dict.fromkeys(with_interval(ratio) for ratio in (ratios[:1] + ratios[-1:])))


def stated_sheet(matrix: StatedMatrix) -> MatrixSheet:
    """Without a column for the baseline, which is 1 everywhere."""
    heads = tuple(Head(side.name, side.color) for side in matrix.sides)
    places = [_decimals([row.cells[place] for row in matrix.rows]) for place in range(len(heads))]
    groups = []
    for (test, metric), found in groupby(matrix.rows, key=lambda row: (row.test, row.metric_name)):
        rows = list(found)
        lines = tuple(
            LoadRow(
                row.load or "load not stated",
                "",
                tuple(_stated(cell, decimals) for cell, decimals in zip(row.cells, places, strict=True)),
            )
            for row in rows
        )
        groups.append(TestGroup(test, "", f"ratio of the {metric}", DIRECTIONS[rows[0].direction], lines))
    return MatrixSheet(
        title=f"Ratio to {matrix.baseline.name}, as published",
        metric=_common(groups),
        heads=heads,
        groups=tuple(groups),
        answers=tuple(
            (head, _span([row.cells[place] for row in matrix.rows], matrix.baseline.name))
            for place, head in enumerate(heads)
        ),
        method=(
            f"Figures that the article states, not measured here; {NO_INTERVAL}, so no verdict is given: "
            "their reproducibility is not known."
        ),
        stated=True,
    )


def _decimals(column: Sequence[FigureValue | None]) -> int:
    """Decimals of a column: aligns digits, and restores published trailing zeros."""
    exact = [all_digits(figure.value) for figure in column if figure and figure.qualifier == "exact"]
    return max((len(text.partition(".")[2]) for text in exact), default=0)


def _stated(figure: FigureValue | None, decimals: int) -> MatrixCell:
    if figure is None:
        return MatrixCell(kind="none", text="not stated")
    exact = figure.qualifier == "exact" and figure.value is not None and figure.low is None
    text = f"{figure.value:,.{decimals}f}" if exact else figure.stated
    title = f"{figure.exact_sentence}; {NO_INTERVAL}"
    return MatrixCell("stated", f"{text}{NBSP}×", title=title, value=figure.value, low=figure.low, high=figure.high)


def _span(cells: Sequence[FigureValue | None], baseline: str) -> str:
    values = sorted(figure.value for figure in cells if figure and figure.value is not None)
    if not values:
        return "no ratio stated"
    above = sum(value > 1 for value in values)
    return (
        f"stated {all_digits(values[0])} to {all_digits(values[-1])}{NBSP}× of {baseline}: above 1 in {above} of "
        f"{len(values)} figures; {NO_INTERVAL}"
    )
