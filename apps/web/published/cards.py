"""One card a question: its published frames (fastest = 1), what was measured here, one sentence. Widths of bars are in
per cent of their track."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.comparison.api import ScorecardCell, ScorecardRow, load_scorecard
from apps.comparison.pure import Direction, inverse, with_interval
from apps.core.names import with_tool
from apps.published.format import QUESTIONS
from apps.published.frames import Frame, FrameMark, frames
from apps.published.values import ArticleValue, FigureValue
from apps.web.components.tracks import TrackBar
from apps.web.overview.scorecard import action, contrary, rank
from apps.web.overview.wording import QUESTIONS as KINDS
from apps.web.overview.wording import conclusion
from apps.web.published import wording

# Width of the fastest's bar; words stand beside it.
LONGEST = 48.0
WHOLE = 100.0
# Frames drawn on one card; the others are sentences.
MOST_FRAMES = 4
# With more platforms a frame is drawn alone.
PAIR = 2


@dataclass(frozen=True)
class SpeedBar:
    """Speed of one platform in its frame. `verdict`: of a measured one on its ratio to the best."""

    name: str
    color: int | None
    bar: TrackBar
    text: str
    title: str
    verdict: str = ""


@dataclass(frozen=True)
class ChainLink:
    """`text`: how many times as fast the platform is as the next; empty for the last."""

    name: str
    color: int | None
    text: str


@dataclass(frozen=True)
class Chain:
    """The stated ratios of a frame in their order, and the product over all of them in words."""

    links: tuple[ChainLink, ...]
    product: str


@dataclass(frozen=True)
class FrameCard:
    """`caption`: workload, machine and conditions."""

    caption: str
    bars: tuple[SpeedBar, ...]
    chain: Chain | None = None


@dataclass(frozen=True)
class QuestionCard:
    """`stated`: frames of articles; `measured`: None where fewer than two architectures are measured. `fastest`: names
    of the platforms that lead a frame. `remarks`: frames that are not drawn, as sentences. `action`: the address that
    shows more measured or measures it, with its words."""

    key: str
    title: str
    question: str
    answer: str
    stated: tuple[FrameCard, ...]
    measured: FrameCard | None
    conclusion: str
    remarks: tuple[str, ...]
    articles: tuple[ArticleValue, ...]
    fastest: tuple[str, ...]
    figures: int
    action: tuple[str, str] | None


def cards(figures: Sequence[FigureValue]) -> list[QuestionCard]:
    """Of figures as from list_figures: the questions about which at least one frame is stated, in their order."""
    found = frames(figures, with_tables=True)
    kinds = {question: kind for kind, question in KINDS.items()}
    rows = {row.kind: row for row in load_scorecard()}
    return [
        _card(question, own, rows.get(kinds.get(question, "")), figures)
        for question in wording.TITLES
        if (own := [frame for frame in found if frame.question == question])
    ]


def _card(
    question: str, own: Sequence[Frame], row: ScorecardRow | None, figures: Iterable[FigureValue]
) -> QuestionCard:
    drawn = _drawn(own, row.workload.tool if row and row.workload else "")
    is_compared = row is not None and len(row.measured) > 1
    return QuestionCard(
        key=question,
        title=wording.TITLES[question],
        question=QUESTIONS[question],
        answer=wording.answer(drawn),
        stated=tuple(_stated(frame) for frame in drawn),
        measured=_measured(row) if row and is_compared else None,
        conclusion=conclusion(row, as_speed=True) if row and is_compared else "",
        remarks=tuple(wording.remark(frame) for frame in own if frame not in drawn),
        articles=tuple(dict.fromkeys(frame.article for frame in (*drawn, *own))),
        fastest=tuple(dict.fromkeys(frame.marks[0].side.name for frame in drawn if frame.is_ranked)),
        figures=sum(figure.question == question for figure in figures),
        action=action(row) if row else None,
    )


def _drawn(own: Sequence[Frame], tool: str) -> list[Frame]:
    """The first of them, one that reverses it, and others of its article that are as small."""
    ordered = sorted(own, key=lambda frame: rank(frame, tool), reverse=True)
    first = ordered[0]
    reverse = contrary(first, own)
    found = [first] if reverse is None else [first, reverse]
    if len(first.marks) <= PAIR:
        alike = [each for each in ordered if each.article == first.article and len(each.marks) <= PAIR]
        found += [each for each in alike if each not in found]
    return sorted(found[:MOST_FRAMES], key=own.index)


def _stated(frame: Frame) -> FrameCard:
    return FrameCard(
        caption=wording.caption(frame),
        bars=tuple(_stated_bar(mark, is_ranked=frame.is_ranked) for mark in frame.marks),
        chain=_chain(frame) if frame.is_ranked and any(mark.is_chained for mark in frame.marks) else None,
    )


def _stated_bar(mark: FrameMark, *, is_ranked: bool) -> SpeedBar:
    return SpeedBar(
        name=mark.side.name,
        color=mark.side.color,
        bar=TrackBar(mark.length * LONGEST, is_open=mark.is_open),
        text=wording.speed(mark, is_ranked=is_ranked),
        title=mark.figure.exact_sentence if mark.figure else "",
    )


def _chain(frame: Frame) -> Chain:
    first, last = frame.marks[0], frame.marks[-1]
    links = []
    for mark, following in zip(frame.marks, (*frame.marks[1:], None), strict=True):
        speed = mark.speed.times(following.speed.inverse).text if following else ""
        links.append(ChainLink(mark.side.name, mark.side.color, wording.ratio(speed) if speed else ""))
    return Chain(tuple(links), wording.product(first, last))


def _measured(row: ScorecardRow) -> FrameCard:
    level, workload = row.level, row.workload
    load = f"{with_tool(workload.tool, workload.name)}, {level.text}" if level and workload else ""
    # Articles state how long a change took, and what is measured is how long it stopped the load.
    what = f", {row.metric.name}" if row.metric and row.metric.direction == Direction.LOWER else ""
    return FrameCard(
        caption=f"measured here{what}: {load}",
        bars=tuple(_measured_bar(cell, row) for cell in sorted(row.measured, key=_position)),
    )


def _position(cell: ScorecardCell) -> int:
    return cell.side.position if cell.side else 0


def _measured_bar(cell: ScorecardCell, row: ScorecardRow) -> SpeedBar:
    ratio = cell.cell.ratio if cell.cell else None
    if ratio and row.metric and row.metric.direction == Direction.LOWER:
        ratio = inverse(ratio)
    value = (ratio.value or 0.0) if ratio else 1.0
    low, high = (ratio.low, ratio.high) if ratio else (None, None)
    return SpeedBar(
        name=cell.family.name,
        color=cell.family.color,
        bar=TrackBar(min(value * LONGEST, WHOLE), _share(low), _share(high)),
        text=(with_interval(ratio) or ratio.verdict) if ratio else wording.FASTEST,
        title=wording.measured(cell, row),
        verdict="" if cell.is_best or cell.cell is None else cell.cell.words,
    )


def _share(end: float | None) -> float | None:
    """A whisker is cut at the track's end."""
    return None if end is None else min(end * LONGEST, WHOLE)
