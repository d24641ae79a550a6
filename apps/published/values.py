"""Published results as small frozen values. None has an interval: articles state none."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from apps.core.answers import Hidden, Shown, Words, component
from apps.published import wording
from apps.published.format import RATIO


@dataclass(frozen=True)
class ArticleValue:
    """Dates as stated: YYYY, YYYY-MM or YYYY-MM-DD."""

    slug: str
    title: str
    author: Annotated[str, "empty: not stated"]
    publisher: str
    published: Annotated[str, "YYYY, YYYY-MM or YYYY-MM-DD, as stated"]
    tested: str
    address: str
    figures: Hidden[int]
    tables: Hidden[tuple[str, ...]]  # their titles

    @property
    def by(self) -> str:
        return self.author or self.publisher or "author not stated"


@dataclass(frozen=True)
class SideValue:
    """`color` is None if the side is not a platform of the catalog."""

    name: Annotated[str, "name in the article"]
    platform: Annotated[str, "slug in the catalog; empty: not in the catalog"]
    color: Hidden[int | None]


@component("Figure", "One published figure. There is never an interval: articles give none.")
@dataclass(frozen=True)
class FigureValue:
    """One stated figure, with `side`, or `numerator` and `denominator` for a ratio. Never an interval."""

    id: int
    article: ArticleValue
    entry: Annotated[str, "entry of the article's file"]
    question: str
    workload: str
    conditions: dict[str, Any]
    metric: str
    metric_name: Hidden[str]
    direction: str
    unit: Annotated[str, "`ratio`: numerator to denominator, without absolute values"]
    value: Annotated[float | None, "null: a range or only a note is stated"]
    low: float | None
    high: float | None
    qualifier: Annotated[str, "exact, approx, at_least, at_most; empty: no number"]
    side: SideValue | None
    numerator: SideValue | None
    denominator: SideValue | None
    hardware: str
    machine: Hidden[str]  # its name in the article, else that of its class
    of_which: Hidden[dict[str, float]]
    note: str

    @property
    def workload_label(self) -> str:
        return wording.label(self.workload)

    @property
    def is_ratio(self) -> bool:
        return self.unit == RATIO

    @property
    def stated(self) -> str:
        """ "about 18", without unit; empty if only a note is stated."""
        return wording.number(value=self.value, low=self.low, high=self.high, qualifier=self.qualifier)

    @property
    def text(self) -> Annotated[Shown[Words], "the figure as text, for example `about 18 s`"]:
        """ "about 18 s", "about 3 ×", or the note without a number."""
        return wording.with_unit(self.stated, self.unit) if self.stated else self.note

    @property
    def sentence(self) -> str:
        """The figure in a sentence with its metric and direction."""
        return self._sentence(self.stated)

    @property
    def exact_sentence(self) -> str:
        """The sentence with every digit of the file."""
        return self._sentence(
            wording.number(value=self.value, low=self.low, high=self.high, qualifier=self.qualifier, exact=True)
        )

    def _sentence(self, stated: str) -> str:
        if self.is_ratio and self.numerator and self.denominator:
            return wording.ratio_sentence(
                metric=self.metric,
                metric_name=self.metric_name,
                direction=self.direction,
                numerator=self.numerator.name,
                denominator=self.denominator.name,
                stated=stated,
            )
        who = f"{self.side.name}: " if self.side else ""
        if not stated:
            return f"{who}{self.note}"
        return f"{who}{wording.with_unit(stated, self.unit)} ({self.metric_name}, {self.direction_words})"

    @property
    def direction_words(self) -> str:
        return wording.DIRECTIONS[self.direction]

    @property
    def conditions_text(self) -> str:
        return wording.conditions(self.conditions)

    @property
    def of_which_text(self) -> str:
        return wording.of_which(self.of_which, self.unit)

    @property
    def sides(self) -> tuple[SideValue, ...]:
        return tuple(side for side in (self.side, self.numerator, self.denominator) if side)


@dataclass(frozen=True)
class PublishedComparison:
    """The figures of one article for one workload, one set of conditions and one metric. `machine`: the one that they
    are of; empty: no side has figures on several."""

    article: ArticleValue
    question: str
    workload: str
    conditions_text: str  # with the machine
    machine: str
    metric: str
    metric_name: str
    unit: str
    direction_words: str
    figures: tuple[FigureValue, ...]

    @property
    def platforms(self) -> frozenset[str]:
        return frozenset(side.platform for figure in self.figures for side in figure.sides if side.platform)

    @property
    def spoken_unit(self) -> str:
        """The unit, empty for plain numbers."""
        return "" if self.unit in wording.UNSPOKEN else self.unit


@dataclass(frozen=True)
class TableNote:
    """A table without two sides in absolute values: shown in full on its article's page, elsewhere by title."""

    article: ArticleValue
    index: int
    title: str
    figures: int


@dataclass(frozen=True)
class QuestionGroup:
    question: str
    text: str
    comparisons: tuple[PublishedComparison, ...]
    tables: tuple[TableNote, ...]


@dataclass(frozen=True)
class Bar:
    group: str  # conditions, where the chart has several
    side: str
    color: int | None
    value: float
    stated: str  # with qualifier, without unit
    text: str  # with qualifier and unit


@dataclass(frozen=True)
class BarChart:
    """Absolute values of one article, workload and metric, with at least two under equal conditions."""

    anchor: str
    title: str
    subtitle: str
    metric_name: str
    unit: str
    direction_words: str
    source: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class FigureFilter:
    """Empty: everything. `platforms`: figures about any of them, on either side of a ratio."""

    platforms: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()


@dataclass(frozen=True)
class PublishedPlatform:
    slug: str
    name: str
    color: int | None


@dataclass(frozen=True)
class TableValue:
    """A table of the article as a matrix; a cell without a figure was not stated."""

    title: str
    workload: str
    conditions_text: str
    note: str
    heads: tuple["TableHead", ...]
    rows: tuple[tuple["TableCell", ...], ...]


@dataclass(frozen=True)
class TableHead:
    label: str
    unit: str
    direction_words: str
    is_axis: bool


@dataclass(frozen=True)
class TableCell:
    label: str
    figure: FigureValue | None
    is_axis: bool


@dataclass(frozen=True)
class ArticleDetail:
    article: ArticleValue
    setup: dict[str, Any]
    figures: tuple[FigureValue, ...]  # those outside its tables
    tables: tuple[TableValue, ...]
    all_figures: tuple[FigureValue, ...] = field(repr=False)
