"""Published results about two platforms, beside measured runs: in the articles' words, without an interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Hidden
from apps.published import queries as published
from apps.published.values import FigureValue, PublishedComparison
from workers.protocol.workloads.kinds import (
    FAILOVER,
    INGEST,
    LATENCY,
    MACHINE,
    MIXED,
    OTHER,
    SCHEMA_CHANGE,
    TPCC,
    kind_of_test,
)

# Question of the articles -> kind of load; any other question is OTHER.
KINDS = {
    "failover": FAILOVER,
    "ingest": INGEST,
    "oltp": MIXED,
    "tpcc": TPCC,
    "latency": LATENCY,
    "ddl": SCHEMA_CHANGE,
    "disk": MACHINE,
}
# "About 2" may be 1.8 or 2.2: figures nearer to each other than this share are inconclusive.
ABOUT = 0.1
# Questions whose tables name a test in their conditions.
BY_TEST = "engines"


@dataclass(frozen=True)
class PublishedResult:
    """A ratio, or two absolute figures under the same conditions, for a side's platform and the baseline's.

    `says`, of the side: better, worse or "cannot tell", from the metric's direction and the figures' qualifiers.
    `exact` has every digit; `workload` and `conditions` are the article's.
    """

    says: Annotated[str, 'better, worse, "cannot tell"']
    sentence: Annotated[str, "in the article's words; no interval is stated"]
    exact: Hidden[str]
    workload: str
    conditions: str
    hardware: str
    note: str
    article: Annotated[str, "slug"]
    article_title: Hidden[str]
    by: str
    published: Annotated[str, "YYYY, YYYY-MM or YYYY-MM-DD"]


def stated_about(side: str, baseline: str) -> dict[str, tuple[PublishedResult, ...]]:
    """Kind of load -> published results. `side` and `baseline`: slugs of platforms; empty if they are equal.
    Two queries."""
    if side == baseline:
        return {}
    found: dict[str, list[PublishedResult]] = {}
    for comparison in published.compared(published.figures_about([side, baseline])):
        for figures in _figure_pairs(comparison, side, baseline):
            kind = _kind(comparison.question, figures[0])
            found.setdefault(kind, []).append(_result(figures, side))
    return {kind: tuple(results) for kind, results in found.items()}


def _kind(question: str, figure: FigureValue) -> str:
    if question == BY_TEST:
        return kind_of_test(str(figure.conditions.get("test", "")))
    return KINDS.get(question, OTHER)


def _figure_pairs(comparison: PublishedComparison, side: str, baseline: str) -> list[list[FigureValue]]:
    """Each ratio between the two, and each absolute figure of the side paired with each of the baseline."""
    ratios = [
        [figure]
        for figure in comparison.figures
        if figure.numerator
        and figure.denominator
        and {figure.numerator.platform, figure.denominator.platform} == {side, baseline}
    ]
    own, base = (
        [f for f in comparison.figures if f.side and f.side.platform == slug and f.stated] for slug in (side, baseline)
    )
    return ratios + [[one, other] for one in own for other in base]


def _result(figures: Sequence[FigureValue], side: str) -> PublishedResult:
    first = figures[0]
    if len(figures) == 1:
        turned = bool(first.denominator and first.denominator.platform == side)
        says = _says(_span(first), (1.0, 1.0), first.direction, turned=turned)
        sentence, exact = first.sentence, first.exact_sentence
    else:
        says = _says(_span(figures[0]), _span(figures[1]), first.direction)
        named = [f"{figure.side.name} {figure.text}" for figure in figures if figure.side]
        sentence = f"{named[0]}, {named[1]} ({first.metric_name}, {first.direction_words})"
        exact = "; ".join(figure.exact_sentence for figure in figures)
    return PublishedResult(
        says=says,
        sentence=sentence,
        exact=exact,
        workload=first.workload_label,
        conditions=first.conditions_text,
        hardware=", ".join(dict.fromkeys(figure.hardware for figure in figures if figure.hardware)),
        note="; ".join(dict.fromkeys(figure.note for figure in figures if figure.note)),
        article=first.article.slug,
        article_title=first.article.title,
        by=first.article.by,
        published=first.article.published,
    )


def _span(figure: FigureValue) -> tuple[float, float]:
    """Range of a figure by its qualifier: "at least 120" is 120 or more."""
    if figure.low is not None and figure.high is not None:
        return figure.low, figure.high
    value = figure.value if figure.value is not None else math.nan
    around = value - ABOUT * abs(value), value + ABOUT * abs(value)
    spans = {"at_least": (value, math.inf), "at_most": (-math.inf, value), "approx": around}
    return spans.get(figure.qualifier, (value, value))


def _says(own: tuple[float, float], base: tuple[float, float], direction: str, *, turned: bool = False) -> str:
    """`turned`: the ratio has the side in its denominator, so the verdict is reversed."""
    if own[0] > base[1]:
        found = "higher"
    elif own[1] < base[0]:
        found = "lower"
    else:
        return "cannot tell"
    if direction not in ("higher", "lower"):
        return "cannot tell"
    return "better" if (found == direction) != turned else "worse"
