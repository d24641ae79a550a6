"""The scorecard as it is drawn: bars on one scale a row, measured and published, and one conclusion a row."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.http import urlencode

from apps.comparison.api import SCORECARD_FAMILIES, Family, ScorecardCell, ScorecardRow, load_scorecard
from apps.core import units
from apps.core.names import with_tool
from apps.published import queries as published
from apps.published.frames import Frame, FrameMark, frames
from apps.published.values import FigureFilter, FigureValue
from apps.published.wording import UNSPOKEN
from apps.web.components.tracks import TrackBar
from apps.web.overview import wording
from workers.protocol.workloads.kinds import FAILOVER, SCHEMA_CHANGE

# Width of the longest bar in per cent; the rest is for words beside bars.
LONGEST = 56.0
# Beside words that name a machine too.
LONGEST_NAMED = 36.0
# Characters of a unit that stands beside each value (s, ms); a longer one stands once a row.
LONGEST_UNIT = 2
USUAL_ORIGIN = "agent"


@dataclass(frozen=True)
class CardCell:
    """`value`, `span`: of the measured runs, in the row's unit; None: not measured. `word`: of the verdict on the ratio
    to the best of the row. `stated`: the published figure; empty: none in the frame shown. `apart`: number of
    published figures, of which those without a frame compare with other systems. `origins` of its runs but the usual
    one; `in_head`: the column's head has them too."""

    family: Family
    slug: str
    value: float | None
    unit: str
    span: str
    runs: int
    failed: int
    word: str
    is_best: bool
    bar: TrackBar | None
    stated: str
    stated_title: str
    stated_bar: TrackBar | None
    is_fastest: bool
    apart: int = 0
    origins: tuple[str, ...] = ()
    in_head: bool = False


@dataclass(frozen=True)
class CardRow:
    """`between`: the verdict on those behind the best, in short and with intervals. `limit`: what failed checks make of
    the conclusion, in short and as a sentence. `action`: the address that shows more or fills the row, with its
    words."""

    key: str
    title: str
    what: str
    unit: str
    direction: str
    hardware: str
    cells: tuple[CardCell, ...]
    standing: str
    conclusion: str
    between: tuple[str, str]
    limit: tuple[str, str]
    stated: str
    action: tuple[str, str]


@dataclass(frozen=True)
class ColumnHead:
    """What a column rests on. `origins`: those that all of its cells have; empty: they differ."""

    family: Family
    releases: tuple[str, ...]
    articles: int
    origins: tuple[str, ...]


@dataclass(frozen=True)
class Scorecard:
    """`is_local`: all that was measured shared a machine with its load generator."""

    answer: str
    heads: tuple[ColumnHead, ...]
    rows: tuple[CardRow, ...]
    is_local: bool

    @property
    def has_failed(self) -> bool:
        return any(cell.failed for row in self.rows for cell in row.cells)


def scorecard() -> Scorecard:
    rows = load_scorecard()
    figures = published.list_figures(FigureFilter(questions=tuple(wording.QUESTIONS.values())))
    stated = frames(figures)
    heads = tuple(_head(family, rows, figures) for family in SCORECARD_FAMILIES)
    marked = {head.family.key for head in heads if head.origins}
    return Scorecard(
        answer=wording.answer(rows, has_figures=bool(stated)),
        heads=heads,
        rows=tuple(
            _row(row, [frame for frame in stated if _is_about(frame, row.kind)], figures, marked=marked) for row in rows
        ),
        is_local=bool(sides := [cell.side for row in rows for cell in row.measured if cell.side])
        and all(side.is_local for side in sides),
    )


def _is_about(frame: Frame, kind: str) -> bool:
    return frame.question == wording.QUESTIONS[kind] and len(_families(frame)) > 1


def _families(frame: Frame) -> list[str]:
    """Keys of the columns that the frame has, the fastest first."""
    slugs = {slug: family.key for family in SCORECARD_FAMILIES for slug in family.platforms}
    return list(dict.fromkeys(slugs[mark.side.platform] for mark in frame.marks if mark.side.platform in slugs))


def _head(family: Family, rows: Sequence[ScorecardRow], figures: Iterable[FigureValue]) -> ColumnHead:
    sides = [cell.side for row in rows for cell in row.cells if cell.family is family and cell.side]
    articles = {figure.article.slug for figure in figures for side in figure.sides if side.platform in family.platforms}
    releases = dict.fromkeys(f"{side.platform} {side.release.partition('-')[0]}" for side in sides)
    origins = {tuple(sorted(side.origins)) for side in sides}
    return ColumnHead(family, tuple(releases), len(articles), origins.pop() if len(origins) == 1 else ())


def _row(
    row: ScorecardRow, stated: Sequence[Frame], figures: Iterable[FigureValue], *, marked: Collection[str]
) -> CardRow:
    """`marked`: keys of the columns whose heads name the origins of their cells."""
    tool = row.workload.tool if row.workload else ""
    shown = max(stated, key=lambda frame: rank(frame, tool), default=None)
    other = contrary(shown, stated)
    marks = {family.key: shown.mark_of(family.platforms) if shown else None for family in SCORECARD_FAMILIES}
    unit = row.metric.unit if row.metric else ""
    values = [cell.cell.summary.maximum for cell in row.measured if cell.cell and cell.cell.summary]
    absolute = [figure.value or 0.0 for figure in _absolute(marks.values())]
    is_shared = bool(absolute) and unit in ("", *(figure.unit for figure in _absolute(marks.values())))
    scale = max(values + absolute if is_shared else values, default=0.0)
    return CardRow(
        key=row.kind,
        title=wording.TITLES[row.kind],
        what=_what(row),
        unit=f"{unit}, {row.metric.direction.value} is better" if row.metric else "",
        direction=row.metric.direction.value if row.metric else "",
        hardware=row.measured[0].side.hardware if row.measured and row.measured[0].side else "",
        cells=tuple(
            replace(
                _cell(
                    cell, unit, marks[cell.family.key], scale, is_shared=is_shared, contested=shown if other else None
                ),
                apart=_apart(cell.family, figures, wording.QUESTIONS[row.kind]),
                in_head=cell.family.key in marked,
            )
            for cell in row.cells
        ),
        standing=wording.standing(row),
        conclusion=wording.conclusion(row),
        between=wording.between(row),
        limit=wording.limit(row),
        stated=wording.stated(shown, other) if shown else "",
        action=action(row),
    )


def _apart(family: Family, figures: Iterable[FigureValue], question: str) -> int:
    """Published figures of the family about the question."""
    about = (figure for figure in figures if figure.question == question)
    return sum(any(side.platform in family.platforms for side in figure.sides) for figure in about)


def _absolute(marks: Iterable[FrameMark | None]) -> list[FigureValue]:
    """The figures of the marks, if all are absolute and of one unit."""
    figures = [mark.figure for mark in marks if mark]
    known = [figure for figure in figures if figure and figure.unit not in UNSPOKEN]
    return known if len(known) == len(figures) and len({figure.unit for figure in known}) == 1 else []


def rank(frame: Frame, tool: str) -> tuple[int, bool, bool, str]:
    """Of several frames the shown one has most: architectures, then the tool that the row is measured with, then values
    rather than bounds, then newest."""
    is_like = bool(tool) and frame.workload.startswith(tool)
    has_values = all(mark.speed.low == mark.speed.high for mark in frame.marks)
    return len(_families(frame)), is_like, has_values, frame.article.published


def contrary(shown: Frame | None, stated: Sequence[Frame]) -> Frame | None:
    """The newest frame whose fastest architecture is behind another one of it in the frame shown."""
    if shown is None or not shown.is_ranked:
        return None
    place = {key: number for number, key in enumerate(_families(shown))}
    ranked = [frame for frame in stated if frame.is_ranked]
    others = [frame for frame in ranked if _is_reversed([place[key] for key in _families(frame) if key in place])]
    return max(others, key=lambda frame: frame.article.published, default=None)


def _is_reversed(places: Sequence[int]) -> bool:
    return len(places) > 1 and places[0] > min(places)


def _what(row: ScorecardRow) -> str:
    if row.workload is None or row.level is None:
        return ""
    return f"{with_tool(row.workload.tool, row.workload.name)}, {row.level.text}"


def _cell(
    cell: ScorecardCell, unit: str, mark: FrameMark | None, scale: float, *, is_shared: bool, contested: Frame | None
) -> CardCell:
    summary = cell.cell.summary if cell.cell else None
    span = ""
    if summary and summary.count > 1:
        low, high = (units.format_number(end, unit=unit) for end in (summary.minimum, summary.maximum))
        span = f"{low}–{high}"
    return CardCell(
        family=cell.family,
        slug=cell.side.slug if cell.side else "",
        value=summary.value if summary else None,
        unit=unit if len(unit) <= LONGEST_UNIT else "",
        span=span,
        runs=summary.count if summary else 0,
        failed=cell.failed,
        word=cell.cell.words if cell.cell else "",
        is_best=cell.is_best,
        bar=_bar(summary.value, scale, summary.minimum, summary.maximum) if summary else None,
        stated=wording.mark(mark, contested) if mark else "",
        stated_title=_source(mark) if mark else "",
        stated_bar=_stated_bar(mark, scale, is_shared=is_shared, longest=LONGEST_NAMED if contested else LONGEST)
        if mark
        else None,
        is_fastest=bool(mark and mark.is_fastest and not mark.stated and contested is None),
        origins=tuple(origin for origin in sorted(cell.side.origins) if origin != USUAL_ORIGIN) if cell.side else (),
    )


def _bar(value: float, scale: float, low: float, high: float) -> TrackBar:
    share = LONGEST / scale if scale > 0 else 0.0
    return TrackBar(value * share, low * share, high * share) if high > low else TrackBar(value * share)


def _stated_bar(mark: FrameMark, scale: float, *, is_shared: bool, longest: float) -> TrackBar:
    if is_shared and mark.figure and scale > 0:
        return TrackBar((mark.figure.value or 0.0) / scale * LONGEST, is_open=mark.is_open)
    return TrackBar(mark.length * longest, is_open=mark.is_open)


def _source(mark: FrameMark) -> str:
    if mark.figure is None:
        return "chained from two stated ratios" if mark.is_chained else "as the article states the ratio"
    return mark.figure.exact_sentence


def action(row: ScorecardRow) -> tuple[str, str]:
    """The address that shows more of the row or fills it, with its words."""
    title = wording.TITLES[row.kind]
    if not row.measured:
        return reverse("web:campaign-new"), f"Plan {wording.ARTICLES[row.kind]} campaign"
    if row.kind == FAILOVER:
        return reverse("web:failovers"), "See the trials"
    if row.kind == SCHEMA_CHANGE:
        return reverse("web:schema-changes"), "See the schema changes"
    sides = [cell.side.slug for cell in sorted(row.measured, key=lambda cell: not cell.is_best) if cell.side]
    if len(sides) < 2 or row.workload is None or row.level is None:
        return reverse("web:campaign-new"), f"Plan {wording.ARTICLES[row.kind]} campaign"
    asked: dict[str, list[str] | int | str] = {"side": sides, "workload": row.workload.id, "level": row.level.key}
    return f"{reverse('web:compare')}?{urlencode(asked, doseq=True)}", f"Compare {title}"
