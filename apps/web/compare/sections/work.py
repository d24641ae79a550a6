"""Work per transaction on the Compare page: what each side's servers and machines did, and what is not observed."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from apps.catalog.pure import BY_KEY
from apps.comparison.api import PER, WORK_SECTION, ComparedWork
from apps.comparison.pure import NO_ERRORS, Cell, ComparedMetric, Comparison, Level, Side, interval_text, ratio_text
from apps.core.answers import Unbounded
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.web.compare.charts import ChartSide, RatioAxis, Span, chart_sides, ratio_axis, ratio_bar
from apps.web.compare.view import CompareView
from apps.web.compare.wording import AnswerCell, TableRow, table

# Number of quantities per verdict in a side's sentence.
NAMED = 4
RESOURCES = {"cpu": "CPU"}
CHANGES = {"better": "less", "worse": "more", "lower": "", "higher": ""}


@dataclass(frozen=True)
class WorkRow:
    """A row of the table: entries in the order of the sides."""

    metric: ComparedMetric
    meaning: str
    formula: str
    entries: tuple[tuple[Side, AnswerCell], ...]


@dataclass(frozen=True)
class WorkSentence:
    """Quantities of which a side needs less or more: `texts` the farthest from 1, `more` the number of others."""

    words: str
    verdict: str
    texts: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class NodeColumn:
    side: Side
    node: str
    role: str


@dataclass(frozen=True)
class WorkPoint:
    """A quantity of a side over the baseline's; `bar` and `cut` as in RatioPoint."""

    metric: str
    name: str
    side: int
    ratio: float
    low: Unbounded | None
    high: Unbounded | None
    bar: Span | None
    cut: tuple[bool, bool]
    ratio_text: str
    words: str


@dataclass(frozen=True)
class WorkChart:
    """Ratios at one level, one line per quantity."""

    level: str
    per: str
    sides: Sequence[ChartSide]
    points: Sequence[WorkPoint]
    ratios: RatioAxis


def context(seen: CompareView) -> dict[str, Any] | None:
    """Raises Invalid for an unknown `per`."""
    found = seen.read(WORK_SECTION)
    if not found:
        return None
    per = seen.address.option("per")
    if per and per not in PER:
        raise Invalid([FieldProblem("per", f"{per[:40]!r} is not known", f"choose from: {', '.join(PER)}")])
    chosen = next((each for each in found if each.per == per), found[0])
    level = seen.level or seen.comparison.levels[0]
    columns, node_rows = _nodes(seen.comparison, chosen, level)
    groups, none = _groups(seen.comparison, chosen, level)
    return {
        "work": chosen,
        "groups": groups,
        "quantity_count": sum(len(quantities) for _, quantities in groups),
        "none": none,
        "none_words": NO_ERRORS,
        "side_rows": [row for row in table(seen.comparison) if row.level == level],
        "sentences": [
            (side, _sentences(chosen, side, level), _undecided(groups, side)) for side in seen.comparison.sides[1:]
        ],
        "chart": chart(seen.comparison, chosen, level),
        "columns": columns,
        "node_rows": node_rows,
        "not_observed": _not_observed(seen.comparison, chosen),
        "shown_level": level,
        "per_links": [
            (each.per, seen.address.with_option("per", "" if each is found[0] else each.per).url()) for each in found
        ],
    }


def _groups(
    comparison: Comparison, work: ComparedWork, level: Level
) -> tuple[list[tuple[str, list[WorkRow]]], list[str]]:
    """(resource, its quantities) in the order of the table of formulas; and names of those that are zero everywhere."""
    part = replace(comparison, metrics=work.metrics, cells=work.cells)
    rows: list[TableRow] = [row for row in table(part) if row.level == level]
    by_resource: dict[str, list[WorkRow]] = defaultdict(list)
    none = []
    for place, metric in enumerate(work.metrics):
        entries = tuple((row.side, row.entries[place]) for row in rows)
        if all(entry.value == 0 and entry.words in ("", NO_ERRORS) for _, entry in entries):
            none.append(metric.name)
        elif any(entry.value is not None for _, entry in entries):
            quantity = WorkRow(metric, work.meanings[metric.key], work.formulas[metric.key], entries)
            by_resource[RESOURCES.get(work.resources[metric.key], work.resources[metric.key])].append(quantity)
    return [(resource[:1].upper() + resource[1:], own) for resource, own in by_resource.items()], none


def _sentences(work: ComparedWork, side: Side, level: Level) -> list[WorkSentence]:
    names = {metric.key: metric.name for metric in work.metrics}
    cells = [cell for cell in work.cells if (cell.side, cell.level) == (side.slug, level.id) and cell.words in CHANGES]
    cells.sort(key=lambda cell: (cell.words, -_distance(cell)))
    found = []
    for verdict, group in groupby(cells, key=lambda cell: cell.words):
        own = list(group)
        texts = tuple(_text(names[cell.metric], cell) for cell in own[:NAMED])
        found.append(WorkSentence(CHANGES[verdict], verdict, texts, max(0, len(own) - NAMED)))
    return found


def _undecided(groups: Sequence[tuple[str, Sequence[WorkRow]]], side: Side) -> str:
    """A side's verdicts, counted: "14 quantities: 12 inconclusive, 2 equivalent"; empty: there are none."""
    entries = [entry for _, rows in groups for row in rows for own, entry in row.entries if own == side]
    counts = Counter(entry.words for entry in entries if entry.words)
    several = [f"{count:,} {words}" for words, count in counts.most_common()]
    listed = ", ".join(several if len(counts) > 1 else counts)
    return listed and f"{counted(counts.total(), 'quantity', plural='quantities')}: {listed}"


def _distance(cell: Cell) -> float:
    value = cell.ratio.value if cell.ratio else None
    return abs(math.log(value)) if value and math.isfinite(value) else 0.0


def _text(name: str, cell: Cell) -> str:
    if cell.ratio is None or cell.ratio.value is None:
        return name
    return f"{name} {ratio_text(cell.ratio)} {interval_text(cell.ratio)}"


def chart(comparison: Comparison, work: ComparedWork, level: Level) -> WorkChart:
    positions = {side.slug: side.position for side in comparison.sides}
    names = {metric.key: metric.name for metric in work.metrics}
    cells = [
        (cell, ratio, ratio.value)
        for cell in work.cells
        if cell.level == level.id and (ratio := cell.ratio) and ratio.value and math.isfinite(ratio.value)
    ]
    axis = ratio_axis(ratio for _, ratio, _ in cells)
    points = []
    for cell, ratio, value in cells:
        bar, cut = ratio_bar(ratio, axis)
        points.append(
            WorkPoint(
                metric=cell.metric,
                name=names[cell.metric],
                side=positions[cell.side],
                ratio=value,
                low=ratio.low,
                high=ratio.high,
                bar=bar,
                cut=cut,
                ratio_text=f"{ratio_text(ratio)} {interval_text(ratio)}",
                words=cell.words,
            )
        )
    return WorkChart(level.key, work.per, chart_sides(comparison), points, axis)


def _nodes(
    comparison: Comparison, work: ComparedWork, level: Level
) -> tuple[list[NodeColumn], list[tuple[ComparedMetric, list[float | None]]]]:
    """Columns: nodes of sides with several; rows: quantities with each node's value."""
    sides = {side.slug: side for side in comparison.sides}
    here = [each for each in work.nodes if each.level == level.id]
    places = sorted({(sides[each.side].position, each.side, each.node, each.role) for each in here})
    columns = [NodeColumn(sides[side], node, role) for _, side, node, role in places]
    values = {(each.side, each.node, each.metric): each.value for each in here}
    rows = [
        (metric, [values.get((column.side.slug, column.node, metric.key)) for column in columns])
        for metric in work.metrics
    ]
    return columns, [row for row in rows if any(row[1])]


def _not_observed(comparison: Comparison, work: ComparedWork) -> list[tuple[list[Side], str, list[str]]]:
    """(sides, reason, names of the quantities)."""
    sides_of: dict[tuple[str, str], list[Side]] = defaultdict(list)
    for side in comparison.sides:
        for each in work.not_observed:
            if each.side == side.slug:
                sides_of[each.metric, each.reason].append(side)
    found: dict[tuple[tuple[str, ...], str], tuple[list[Side], list[str]]] = {}
    for (metric, reason), sides in sides_of.items():
        place = tuple(side.slug for side in sides), reason
        found.setdefault(place, (sides, []))[1].append(BY_KEY[metric].name if metric in BY_KEY else metric)
    return [(sides, reason, names) for (_, reason), (sides, names) in found.items()]
