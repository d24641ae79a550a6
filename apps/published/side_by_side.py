"""Two published articles side by side: what both state of the same sides, and how their set-ups differ.

Stated figures only: no ratio is made of two articles, since nobody knows what else differed.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
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
    groups = _groups(first.all_figures, second.all_figures)
    shared = [key for key in groups[0] if key in groups[1]]
    alone = [sum(len(own) for key, own in each.items() if key not in shared) for each in groups]
    return TwoArticles(
        articles=(first.article, second.article),
        rows=tuple(_row(groups[0][key], groups[1][key], machine=key[-1]) for key in shared),
        differences=tuple(_differences(first, second)),
        alone=(alone[0], alone[1]),
    )


Groups = dict[tuple[Any, ...], list[FigureValue]]


def _groups(*articles: Sequence[FigureValue]) -> list[Groups]:
    """Of each article. A side is its platform, unless an article has several of it: then its name is. A key ends with
    the machine where an article has figures of several; else it is empty."""
    several = {platform for figures in articles for platform, names in _names(figures).items() if len(names) > 1}
    found = [_grouped(figures, lambda figure: _key(figure, several)) for figures in articles]
    parted = {key for each in found for key, own in each.items() if len({figure.machine for figure in own}) > 1}

    def with_machine(figure: FigureValue) -> tuple[Any, ...]:
        key = _key(figure, several)
        return (*key, figure.machine if key in parted else "")

    return [_grouped(figures, with_machine) for figures in articles]


def _grouped(figures: Iterable[FigureValue], key: Callable[[FigureValue], tuple[Any, ...]]) -> Groups:
    groups: Groups = {}
    for figure in figures:
        groups.setdefault(key(figure), []).append(figure)
    return groups


def _key(figure: FigureValue, several: Container[str]) -> tuple[Any, ...]:
    sides = tuple(
        side.name if not side.platform or side.platform in several else side.platform for side in figure.sides
    )
    return figure.question, figure.metric, figure.unit, figure.conditions_text, _work(figure), sides


def _names(figures: Iterable[FigureValue]) -> dict[str, set[str]]:
    """Platform -> the article's names of its sides."""
    names: dict[str, set[str]] = {}
    for figure in figures:
        for side in figure.sides:
            names.setdefault(side.platform, set()).add(side.name)
    return names


def _work(figure: FigureValue) -> str:
    """Two articles name their workloads apart; the test, where one is stated, is a condition."""
    return "" if "test" in figure.conditions else figure.workload


def _row(one: list[FigureValue], other: list[FigureValue], *, machine: str) -> SharedRow:
    first = one[0]
    where = first.conditions_text or first.workload_label
    return SharedRow(
        metric_name=first.metric_name,
        unit=first.unit,
        direction_words=first.direction_words,
        conditions_text=f"{where}; on {machine}" if machine else where,
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
