"""Matrix of an article's ratios to one baseline: test × load level × side. Without verdicts."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count

from apps.core.answers import Hidden, component
from apps.published import wording
from apps.published.format import RATIO
from apps.published.models import Figure
from apps.published.queries import list_articles, list_figures
from apps.published.values import ArticleValue, FigureFilter, FigureValue, SideValue

# Conditions that state the load.
LOADS = ("connections", "threads", "clients", "users")
# Fewest ratios of an article for a matrix.
FEWEST_RATIOS = 4
# Fewest tests of a side at a load whose mean says anything.
FEWEST_TESTS = 4


@dataclass(frozen=True)
class StatedTest:
    test: str
    load: Annotated[str, "empty: none stated"]
    metric: str
    metric_name: Hidden[str]
    direction: str
    cells: Annotated[tuple[FigureValue | None, ...], "in the order of the sides; null: not stated"]


@component(text="Ratios to one baseline from a published article. There is never an interval or a verdict.")
@dataclass(frozen=True)
class StatedMatrix:
    """`sides` without the baseline."""

    article: ArticleValue
    baseline: SideValue
    sides: tuple[SideValue, ...]
    rows: tuple[StatedTest, ...]
    elsewhere: Annotated[int, "ratios of the article to another baseline"]


def list_matrices() -> list[ArticleValue]:
    """Articles with enough ratios to one baseline, the newest first."""
    groups = Figure.objects.filter(unit=RATIO, value__isnull=False).values("article__slug", "denominator")
    enough = groups.annotate(ratios=Count("id")).filter(ratios__gte=FEWEST_RATIOS).order_by()
    slugs = {group["article__slug"] for group in enough}
    return [article for article in list_articles() if article.slug in slugs]


def load_matrix(slug: str) -> StatedMatrix | None:
    """None: no such article, or it states no ratio. The baseline is that of most of its ratios."""
    ratios = [figure for figure in list_figures(FigureFilter(articles=(slug,))) if figure.is_ratio and figure.stated]
    counts = Counter(figure.denominator for figure in ratios)
    if not counts:
        return None
    baseline = counts.most_common(1)[0][0]
    figures = sorted((figure for figure in ratios if figure.denominator == baseline), key=lambda figure: figure.id)
    sides = tuple(dict.fromkeys(figure.numerator for figure in figures if figure.numerator))
    workloads: dict[str, set[str]] = {}
    for figure in figures:
        workloads.setdefault(_test(figure), set()).add(figure.workload_label)
    groups: dict[tuple[str, str, str], list[FigureValue]] = {}
    for figure in figures:
        test = _test(figure)
        name = f"{test}; {figure.workload_label}" if len(workloads[test]) > 1 else test
        groups.setdefault((name, _load(figure), figure.metric), []).append(figure)
    rows = [
        _row(f"{test}; {part}" if part else test, load, own, sides)
        for (test, load, _), group in groups.items()
        for part, own in _parts(group)
    ]
    # Levels of a test are grouped, tests in the article's order.
    tests = {test: place for place, test in enumerate(dict.fromkeys(row.test for row in rows))}
    return StatedMatrix(
        article=figures[0].article,
        baseline=baseline or SideValue("", "", None),
        sides=sides,
        rows=tuple(sorted(rows, key=lambda row: tests[row.test])),
        elsewhere=len(ratios) - len(figures),
    )


@dataclass(frozen=True)
class Spread:
    """Speeds of one side at one load in one metric, relative to the baseline. `mean`: geometric mean over the tests."""

    side: SideValue
    load: str
    metric_name: str
    ratios: tuple[tuple[str, float], ...]  # test, speed

    @property
    def mean(self) -> float:
        return statistics.geometric_mean(value for _, value in self.ratios)

    @property
    def tests(self) -> int:
        return len(self.ratios)

    @property
    def faster(self) -> int:
        return sum(value > 1 for _, value in self.ratios)

    @property
    def slower(self) -> int:
        return sum(value < 1 for _, value in self.ratios)


def spreads(matrix: StatedMatrix) -> list[Spread]:
    """By side, then load; a ratio of times counts as its inverse. Of one metric: that of most tests. Bounds, ranges and
    notes are left out, since they have no place among values, and sides at loads with fewer than FEWEST_TESTS."""
    metric = Counter(row.metric for row in matrix.rows if row.direction != "neutral").most_common(1)
    rows = [row for row in matrix.rows if metric and row.metric == metric[0][0]]
    loads = list(dict.fromkeys(row.load for row in rows))
    return [
        Spread(side, load, rows[0].metric_name, ratios)
        for place, side in enumerate(matrix.sides)
        for load in loads
        if len(ratios := tuple(_speeds([row for row in rows if row.load == load], place))) >= FEWEST_TESTS
    ]


def _speeds(rows: Sequence[StatedTest], side: int) -> Iterator[tuple[str, float]]:
    for row in rows:
        cell = row.cells[side]
        if cell and cell.value and cell.value > 0 and cell.qualifier in ("exact", "approx"):
            yield row.test, cell.value if row.direction == "higher" else 1 / cell.value


def _parts(figures: Sequence[FigureValue]) -> list[tuple[str, list[FigureValue]]]:
    """Figures of a row each, with what makes it one where a side has several: machine, qualifier, place in the
    article."""
    parts = [("", list(figures))]
    for name in (_machine, _qualifier):
        parts = [
            ("; ".join(filter(None, (text, part))), own)
            for text, group in parts
            for part, own in (_split(group, name) if _has_doubles(group) else [("", group)])
        ]
    return [
        ("; ".join(filter(None, (text, f"figure {number}" if number > 1 else ""))), own)
        for text, group in parts
        for number, own in enumerate(_singles(group), 1)
    ]


def _split(figures: Sequence[FigureValue], name: Callable[[FigureValue], str]) -> list[tuple[str, list[FigureValue]]]:
    found: dict[str, list[FigureValue]] = {}
    for figure in figures:
        found.setdefault(name(figure), []).append(figure)
    return list(found.items()) if len(found) > 1 else [("", list(figures))]


def _singles(figures: Sequence[FigureValue]) -> list[list[FigureValue]]:
    """The first figure of each side, then the second of each, and so on."""
    found: list[list[FigureValue]] = []
    for figure in figures:
        place = next((own for own in found if figure.numerator not in [each.numerator for each in own]), None)
        if place is None:
            found.append([figure])
        else:
            place.append(figure)
    return found


def _has_doubles(figures: Sequence[FigureValue]) -> bool:
    return len({figure.numerator for figure in figures}) < len(figures)


def _machine(figure: FigureValue) -> str:
    return f"on {figure.machine}" if figure.machine else "machine not stated"


def _qualifier(figure: FigureValue) -> str:
    return wording.WORDS[figure.qualifier] or figure.qualifier


def _row(test: str, load: str, figures: Sequence[FigureValue], sides: Sequence[SideValue]) -> StatedTest:
    by_side = {figure.numerator: figure for figure in figures}
    first = figures[0]
    return StatedTest(
        test=test,
        load=load,
        metric=first.metric,
        metric_name=first.metric_name,
        direction=first.direction,
        cells=tuple(by_side.get(side) for side in sides),
    )


def _test(figure: FigureValue) -> str:
    """The article's name of the test, with its conditions other than the load."""
    named = {key: value for key, value in figure.conditions.items() if key not in LOADS}
    test = str(named.pop("test", "")) or figure.workload_label
    rest = wording.conditions(named)
    return f"{test}; {rest}" if rest else test


def _load(figure: FigureValue) -> str:
    """For example "8 connections"; empty if not stated."""
    for key in LOADS:
        if key in figure.conditions:
            count = figure.conditions[key]
            word = wording.label(key)
            return f"{wording.plain(count)} {word.removesuffix('s') if count == 1 else word}"
    return ""
