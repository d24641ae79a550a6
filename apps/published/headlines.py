"""Headline table of published results about several platforms, one platform per column."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.published.queries import compared
from apps.published.values import FigureValue, PublishedComparison, PublishedPlatform

REFERENCE = "reference"


@dataclass(frozen=True)
class HeadlineCell:
    """`text`: the figure as stated, with qualifier and unit; empty: none for this platform. A ratio is shown at its
    numerator ("about 0.33 × PXC"); its denominator is the REFERENCE."""

    platform: PublishedPlatform
    text: str
    figures: tuple[FigureValue, ...]

    @property
    def is_reference(self) -> bool:
        return self.text == REFERENCE

    @property
    def of_which(self) -> str:
        return "; ".join(dict.fromkeys(each.of_which_text for each in self.figures if each.of_which_text))

    @property
    def title(self) -> str:
        return "; ".join(dict.fromkeys(each.exact_sentence for each in self.figures))


@dataclass(frozen=True)
class HeadlineRow:
    """One workload, set of conditions and metric of one article; cells in the order of the table's platforms."""

    comparison: PublishedComparison
    cells: tuple[HeadlineCell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Headlines:
    platforms: tuple[PublishedPlatform, ...]
    rows: tuple[HeadlineRow, ...]


def headlines(figures: Iterable[FigureValue], platforms: Iterable[PublishedPlatform]) -> Headlines:
    """Table of the figures outside the articles' own tables: comparisons of at least two platforms.

    `figures` as from list_figures, `platforms` in the order of the columns; unused ones are left out.
    """
    found = [
        comparison
        for comparison in compared(figure for figure in figures if not figure.entry.startswith("tables["))
        if len(comparison.platforms) > 1
    ]
    named = {platform for comparison in found for platform in comparison.platforms}
    columns = tuple(platform for platform in platforms if platform.slug in named)
    return Headlines(columns, tuple(_row(comparison, columns) for comparison in found))


def _row(comparison: PublishedComparison, columns: Iterable[PublishedPlatform]) -> HeadlineRow:
    notes = dict.fromkeys(figure.note for figure in comparison.figures if figure.note)
    return HeadlineRow(comparison, tuple(_cell(comparison, platform) for platform in columns), tuple(notes))


def _cell(comparison: PublishedComparison, platform: PublishedPlatform) -> HeadlineCell:
    own = [figure for figure in comparison.figures if figure.side and figure.side.platform == platform.slug]
    above = [f for f in comparison.figures if f.numerator and f.numerator.platform == platform.slug]
    texts = [figure.text for figure in own]
    texts += [f"{figure.text} {figure.denominator.name}" for figure in above if figure.denominator]
    if texts:
        return HeadlineCell(platform, "; ".join(texts), (*own, *above))
    below = [f for f in comparison.figures if f.denominator and f.denominator.platform == platform.slug]
    return HeadlineCell(platform, REFERENCE if below else "", tuple(below))
