"""Ratios of an article's many tests to one baseline: one strip of points a load, in per cent of a log axis."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.core.units import format_number
from apps.published.matrix import Spread, list_matrices, load_matrix, spreads
from apps.published.values import ArticleValue, SideValue
from apps.web.components.ticks import log_ticks

# Room at both ends of the axis, as a factor.
MARGIN = 1.15


@dataclass(frozen=True)
class SpreadPoint:
    place: float
    title: str


@dataclass(frozen=True)
class SpreadStrip:
    """`start`: the first strip of its side."""

    side: SideValue
    load: str
    points: tuple[SpreadPoint, ...]
    mean_place: float
    mean: float
    faster: int
    slower: int
    start: bool


@dataclass(frozen=True)
class SpreadCard:
    """`one`: place of the baseline; `ticks`: places and texts of the axis; `fewest`, `most`: tests of a strip."""

    article: ArticleValue
    baseline: SideValue
    metric_name: str
    answer: str
    strips: tuple[SpreadStrip, ...]
    ticks: tuple[tuple[float, str], ...]
    one: float


def spread_cards() -> list[SpreadCard]:
    return [card for article in list_matrices() if (card := _card(article))]


def _card(article: ArticleValue) -> SpreadCard | None:
    matrix = load_matrix(article.slug)
    found = spreads(matrix) if matrix else []
    if matrix is None or not found:
        return None
    values = [1.0, *(value for each in found for _, value in each.ratios)]
    low, high = math.log(min(values) / MARGIN), math.log(max(values) * MARGIN)

    def place(value: float) -> float:
        return (math.log(value) - low) / (high - low) * 100

    strips: list[SpreadStrip] = []
    for each in found:
        strips.append(
            SpreadStrip(
                side=each.side,
                load=each.load,
                points=tuple(
                    SpreadPoint(place(value), f"{test}: {format_number(value)} ×") for test, value in each.ratios
                ),
                mean_place=place(each.mean),
                mean=each.mean,
                faster=each.faster,
                slower=each.slower,
                start=not strips or strips[-1].side != each.side,
            )
        )
    ticks = log_ticks(math.exp(low), math.exp(high))
    return SpreadCard(
        article=article,
        baseline=matrix.baseline,
        metric_name=found[0].metric_name,
        answer=_answer(found, matrix.baseline),
        strips=tuple(strips),
        ticks=tuple((place(value), f"{format_number(value, 1)} ×") for value in ticks),
        one=place(1.0),
    )


def _answer(found: Sequence[Spread], baseline: SideValue) -> str:
    """At the load of the last strips: "48 connections: MyRocks 1.46 × of InnoDB 5.6.35, geometric mean of 12 tests.";
    where sides have different tests, each with their number."""
    load = found[-1].load
    own = sorted((each for each in found if each.load == load), key=lambda each: -each.mean)
    where = f"{load}: " if load else ""
    if len({each.tests for each in own}) == 1:
        return f"{where}{_means(own)} of {baseline.name}, geometric mean of {own[0].tests} tests."
    return f"{where}{_means(own, counts=True)} of {baseline.name}, geometric means."


def _means(own: Iterable[Spread], *, counts: bool = False) -> str:
    return ", ".join(
        f"{each.side.name} {format_number(each.mean)} ×{f' ({each.tests} tests)' if counts else ''}" for each in own
    )
