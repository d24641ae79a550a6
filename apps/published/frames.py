"""Published figures about several platforms in one frame: the speed of each, the fastest is 1.

A frame holds one article, workload and set of conditions: figures of one side on two machines never stand in one frame.
Ratios of one frame are chained where no figure relates two sides directly.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR

from apps.published import wording
from apps.published.queries import compared
from apps.published.values import ArticleValue, FigureValue, PublishedComparison, SideValue

# Metrics that have a direction and are no speed: how far a load could be raised, how much a rate varied.
NOT_SPEEDS = ("threads_reached", "tps_stddev", "latency_stddev")
BOUNDS = ("at_least", "at_most")
# Machines as the articles abbreviate them.
BOXES = {"SB": "small box", "LB": "large box"}
# Of the articles' machines by that name.
VCPUS = {"small box": 4, "large box": 32}


@dataclass(frozen=True)
class Span:
    """A speed relative to another: `low` equals `high` unless the article states a bound or a range."""

    low: float
    high: float
    is_about: bool

    @property
    def middle(self) -> float:
        """The value; of a bound the bound, of a range its geometric middle."""
        if math.isinf(self.high) or self.low == 0:
            return self.low or self.high
        return math.sqrt(self.low * self.high)

    @property
    def is_known(self) -> bool:
        return self.low > 0 or not math.isinf(self.high)

    @property
    def inverse(self) -> "Span":
        return Span(1 / self.high if self.high else math.inf, 1 / self.low if self.low else math.inf, self.is_about)

    def times(self, other: "Span") -> "Span":
        return Span(self.low * other.low, self.high * other.high, self.is_about or other.is_about)

    def within(self, other: "Span") -> "Span":
        """Both bounds of one relation: at least 2, at most 7."""
        return Span(max(self.low, other.low), min(self.high, other.high), self.is_about or other.is_about)

    @property
    def text(self) -> str:
        """ "≈ 0.33", "≥ 2", "2–7", without the multiplication sign."""
        # A bound is rounded away from the value: at most 0.125 is not at most 0.12.
        if math.isinf(self.high):
            return f"≥ {wording.ratio_digits(self.low, ROUND_FLOOR)}"
        if self.low == 0:
            return f"≤ {wording.ratio_digits(self.high, ROUND_CEILING)}"
        low, high = wording.ratio_digits(self.low), wording.ratio_digits(self.high)
        sign = "≈ " if self.is_about else ""
        return f"{sign}{low}" if low == high else f"{sign}{low}–{high}"


@dataclass(frozen=True)
class FrameMark:
    """Speed of one side relative to the frame's fastest. `figure`: its absolute figure; None: the article states ratios
    only, or a bound on either side. `is_chained`: by way of a third side. `length` of its bar, the longest is 1;
    `is_open`: it ends at a bound."""

    side: SideValue
    speed: Span
    figure: FigureValue | None
    is_chained: bool
    is_fastest: bool
    length: float
    is_open: bool

    @property
    def stated(self) -> str:
        """ "≥ 120 s"; empty without an absolute figure."""
        return wording.short(self.figure.stated, self.figure.unit) if self.figure else ""


@dataclass(frozen=True)
class FrameLink:
    """`above` was `speed` times as fast as `below`, as one figure states it."""

    above: SideValue
    below: SideValue
    speed: Span


@dataclass(frozen=True)
class Frame:
    """`marks`: the fastest first; where bounds leave that open, none is the fastest. `links`: the stated relations from
    which they are derived. `box`: the machine's name in the article; empty: it has one. `vcpu` of that machine, if
    known."""

    article: ArticleValue
    question: str
    workload: str
    box: str
    vcpu: int | None
    conditions_text: str
    metric_name: str
    marks: tuple[FrameMark, ...]
    links: tuple[FrameLink, ...]

    @property
    def is_ranked(self) -> bool:
        return self.marks[0].is_fastest

    def mark_of(self, platforms: Iterable[str]) -> FrameMark | None:
        """The mark of any of these platforms (slugs)."""
        wanted = set(platforms)
        return next((mark for mark in self.marks if mark.side.platform in wanted), None)

    @property
    def sentence(self) -> str:
        """ "MHA about 3 × PXC, PXC about 3 × Aurora", or the absolute figures, the best first."""
        if all(mark.stated for mark in self.marks):
            figures = ", ".join(f"{mark.side.name} {mark.stated}" for mark in self.marks)
            has_unit = all(mark.figure and mark.figure.unit not in wording.UNSPOKEN for mark in self.marks)
            return figures if has_unit else f"{figures} ({self.metric_name})"
        links = self._adjacent()
        if not all(link.speed.is_known for link in links):
            base = next(mark for mark in self.marks if mark.speed == FASTEST)
            links = [FrameLink(mark.side, base.side, mark.speed) for mark in self.marks if mark is not base]
        return ", ".join(f"{link.above.name} {wording.times(link.speed.text)} {link.below.name}" for link in links)

    def _adjacent(self) -> list[FrameLink]:
        stated = {(link.above, link.below): link for link in self.links}
        pairs = zip(self.marks, self.marks[1:], strict=False)
        return [
            stated.get((above.side, below.side))
            or FrameLink(above.side, below.side, above.speed.times(below.speed.inverse))
            for above, below in pairs
        ]


FASTEST = Span(1.0, 1.0, is_about=False)


def frames(figures: Iterable[FigureValue], *, with_tables: bool = False) -> list[Frame]:
    """Of figures as from list_figures. Metrics without direction are left out, and the ratios of tables, which have a
    matrix of their own; `with_tables`: the absolute values of tables, too."""
    groups: dict[tuple[str, str], list[list[PublishedComparison]]] = defaultdict(list)
    wanted = [figure for figure in figures if _is_placed(figure, with_tables=with_tables)]
    for comparison in compared(wanted):
        alike = groups[comparison.article.slug, comparison.workload]
        fitting = next((group for group in alike if all(_fits(comparison, each) for each in group)), None)
        if fitting is None:
            alike.append([comparison])
        else:
            fitting.append(comparison)
    found = [_frame(group) for alike in groups.values() for group in alike]
    return [frame for frame in found if frame]


def _is_placed(figure: FigureValue, *, with_tables: bool) -> bool:
    return (
        (not figure.entry.startswith("tables[") or (with_tables and not figure.is_ratio))
        and figure.metric not in NOT_SPEEDS
        and figure.direction != "neutral"
        and figure.value is not None
        and figure.value > 0
        and all(side.platform for side in figure.sides)
    )


def _fits(one: PublishedComparison, other: PublishedComparison) -> bool:
    """Whether both stand in one frame: two sets of ratios, none of whose conditions differ."""
    own, others = one.figures[0].conditions, other.figures[0].conditions
    are_ratios = all(figure.is_ratio for figure in (*one.figures, *other.figures))
    is_one_machine = one.machine == other.machine
    return are_ratios and is_one_machine and all(own[key] == others[key] for key in own.keys() & others.keys())


def _frame(group: Sequence[PublishedComparison]) -> Frame | None:
    """None: fewer than two platforms in known relations, or figures that exclude each other."""
    relations = _relations(group)
    if not relations or any(_contradicts(comparison) for comparison in group):
        return None
    connected = _speeds(next(iter(relations))[0], relations)
    speeds = max((_speeds(side, relations) for side in connected), key=_rank)
    best, is_ranked = next(iter(speeds)), _is_ranked(speeds)
    speeds = {side: speed for side, speed in speeds.items() if speed.is_known}
    if len({side.platform for side in speeds}) < 2:
        return None
    longest = max(speed.middle for speed in speeds.values())
    direct = {pair[1] for pair in relations if pair[0] == best}
    figures: dict[SideValue, list[FigureValue]] = defaultdict(list)
    for each in group:
        for figure in each.figures:
            if figure.side:
                figures[figure.side].append(figure)
    single = {side: own[0] for side, own in figures.items() if len(own) == 1}
    marks = [
        FrameMark(
            side=side,
            speed=speed,
            figure=single.get(side),
            is_chained=side not in {best, *direct},
            is_fastest=is_ranked and side == best,
            length=speed.middle / longest,
            # Without a fastest the words beside the bar are the figure alone.
            is_open=speed.low != speed.high if is_ranked or side not in single else single[side].qualifier in BOUNDS,
        )
        for side, speed in speeds.items()
    ]
    links = [
        FrameLink(above, below, speed)
        for (above, below), speed in relations.items()
        if above in speeds and below in speeds and speed.middle >= 1
    ]
    first = max(group, key=lambda each: len(each.conditions_text))
    box = BOXES.get(str(first.figures[0].conditions.get("box")), "")
    return Frame(
        article=first.article,
        question=first.question,
        workload=first.workload,
        box=", ".join(dict.fromkeys(part for part in (box, first.machine) if part)),
        vcpu=VCPUS.get(box),
        conditions_text=first.figures[0].conditions_text,
        metric_name=first.metric_name,
        marks=tuple(sorted(marks, key=lambda mark: -mark.speed.middle)),
        links=tuple(links),
    )


def _is_ranked(speeds: Mapping[SideValue, Span]) -> bool:
    """Whether the first is faster than all others, wherever between their bounds they are."""
    return all(speed.high < 1 for speed in list(speeds.values())[1:])


def _rank(speeds: Mapping[SideValue, Span]) -> tuple[bool, int, float]:
    """Of speeds relative to one side each, the greatest is shown: a ranked one, else that which says of most sides
    something, else that of the fastest by their middles."""
    known = [speed for speed in speeds.values() if speed.is_known]
    return _is_ranked(speeds), len(known), -max(speed.middle for speed in known)


def _contradicts(comparison: PublishedComparison) -> bool:
    """Whether two figures of one side, or two ratios of one pair, exclude each other: what they differ in is not
    known."""
    spans: dict[tuple[SideValue, ...], Span] = {}
    for figure in comparison.figures:
        speed = _speed(figure)
        both = spans[figure.sides].within(speed) if figure.sides in spans else speed
        if both.low > both.high:
            return True
        spans[figure.sides] = both
    return False


def _relations(group: Sequence[PublishedComparison]) -> dict[tuple[SideValue, SideValue], Span]:
    """(side, side) -> speed of the first relative to the second, in both orders."""
    found: dict[tuple[SideValue, SideValue], Span] = {}

    def add(above: SideValue, below: SideValue, speed: Span) -> None:
        if not speed.is_known:
            return
        known = found.get((above, below))
        if known:
            both = known.within(speed)
            speed = both if both.low <= both.high else known
        found[above, below], found[below, above] = speed, speed.inverse

    for comparison in group:
        for figure in comparison.figures:
            if figure.numerator and figure.denominator and figure.numerator != figure.denominator:
                add(figure.numerator, figure.denominator, _speed(figure))
        own = [figure for figure in comparison.figures if figure.side]
        for place, figure in enumerate(own):
            for other in own[place + 1 :]:
                if figure.side and other.side and figure.side != other.side:
                    add(figure.side, other.side, _speed(figure).times(_speed(other).inverse))
    return found


def _speed(figure: FigureValue) -> Span:
    """The figure as a speed: of a time or a cost its inverse."""
    value = figure.value or math.nan
    spans = {"at_least": Span(value, math.inf, is_about=False), "at_most": Span(0.0, value, is_about=False)}
    span = spans.get(figure.qualifier, Span(value, value, is_about=figure.qualifier == "approx"))
    return span if figure.direction == "higher" else span.inverse


def _speeds(start: SideValue, relations: dict[tuple[SideValue, SideValue], Span]) -> dict[SideValue, Span]:
    """Speed of each side that relations connect with `start`, relative to it; `start` first, by the fewest links."""
    found = {start: FASTEST}
    waiting = [start]
    while waiting:
        place = waiting.pop(0)
        for (above, below), speed in relations.items():
            if below == place and above not in found:
                found[above] = speed.times(found[place])
                waiting.append(above)
    return found
