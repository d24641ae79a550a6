"""Two published articles side by side: what both state of the same sides, and how their set-ups differ.

Stated figures only: no ratio is made of two articles, since nobody knows what else differed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.published import queries, wording
from apps.published.values import ArticleDetail, ArticleValue, FigureValue, SideValue

# Kept apart: a workload's parameters are what its author varied from article to article.
DIFFERING = ("workloads", "hardware", "conditions", "topology", "client")


@dataclass(frozen=True)
class SharedRow:
    """What each article states under equal conditions; figures of one cell are several tests of the article."""

    metric_name: str
    unit: str
    direction_words: str
    conditions_text: str
    sides: tuple[SideValue, ...]  # two: the first divided by the second
    stated: tuple[tuple[FigureValue, ...], tuple[FigureValue, ...]]


@dataclass(frozen=True)
class SetupDifference:
    """A part of the set-up that the articles state differently; empty: not stated."""

    what: str
    stated: tuple[str, str]


@dataclass(frozen=True)
class TwoArticles:
    """`alone`: number of figures that only the one, and only the other, states."""

    articles: tuple[ArticleValue, ArticleValue]
    rows: tuple[SharedRow, ...]
    differences: tuple[SetupDifference, ...]
    alone: tuple[int, int]


def side_by_side(one: str, other: str) -> TwoArticles | None:
    """Of the articles with these slugs, the rows in the order of the first; None: there is no such article."""
    found = [queries.load_article(slug) for slug in (one, other)]
    first, second = found
    if first is None or second is None:
        return None
    groups = [_groups(detail.all_figures) for detail in (first, second)]
    shared = [key for key in groups[0] if key in groups[1]]
    alone = [sum(len(own) for key, own in each.items() if key not in shared) for each in groups]
    return TwoArticles(
        articles=(first.article, second.article),
        rows=tuple(_row(groups[0][key], groups[1][key]) for key in shared),
        differences=tuple(_differences(first, second)),
        alone=(alone[0], alone[1]),
    )


def _groups(figures: Iterable[FigureValue]) -> dict[tuple[Any, ...], list[FigureValue]]:
    groups: dict[tuple[Any, ...], list[FigureValue]] = {}
    for figure in figures:
        sides = tuple(side.platform or side.name for side in figure.sides)
        key = (figure.question, figure.metric, figure.unit, figure.conditions_text, _work(figure), sides)
        groups.setdefault(key, []).append(figure)
    return groups


def _work(figure: FigureValue) -> str:
    """Two articles name their workloads apart; the test, where one is stated, is a condition."""
    return "" if "test" in figure.conditions else figure.workload


def _row(one: list[FigureValue], other: list[FigureValue]) -> SharedRow:
    first = one[0]
    return SharedRow(
        metric_name=first.metric_name,
        unit=first.unit,
        direction_words=first.direction_words,
        conditions_text=first.conditions_text or first.workload_label,
        sides=first.sides,
        stated=(tuple(one), tuple(other)),
    )


def _differences(one: ArticleDetail, other: ArticleDetail) -> Iterable[SetupDifference]:
    texts = [dict(_texts(detail.setup)) for detail in (one, other)]
    for what in dict.fromkeys([*texts[0], *texts[1]]):
        stated = (texts[0].get(what, ""), texts[1].get(what, ""))
        if stated[0] != stated[1]:
            yield SetupDifference(what, stated)


def _texts(setup: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for part in DIFFERING:
        stated = setup.get(part)
        if isinstance(stated, dict):
            yield from _leaves(stated, wording.label(part))


def _leaves(stated: Mapping[str, Any], path: str) -> Iterable[tuple[str, str]]:
    for key, value in stated.items():
        if key == "question":
            continue
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}: {wording.label(key)}")
        else:
            yield f"{path}: {wording.label(key)}", wording.plain(value)
