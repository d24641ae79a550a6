"""Texts of the Compare page: verdicts, their sizes, and the runs needed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from apps.comparison.pure import (
    MARGIN,
    MOST_REPETITIONS,
    NO_ERRORS,
    NO_RUNS,
    NOT_MEASURED,
    UNJUDGED,
    Cell,
    ComparedMetric,
    ComparedRun,
    Comparison,
    Level,
    More,
    Ratio,
    Side,
    Verdict,
    interval_text,
    label,
    ratio_text,
    welch,
)
from apps.core.text import counted
from apps.core.units import all_digits, format_number
from apps.runs.pure import title_of

# More load levels than this under one verdict are summarized by their extremes.
LISTED_LEVELS = 3
# Number of named runs with a failed check beside a chart.
NAMED_RUNS = 6
LIKELY = "needed"
GEOMETRIC_MEAN = "geometric mean"
NO_HISTORY = "no earlier runs of the same configuration: the spread is estimated from these alone"
ORDER = (
    "better",
    "higher",
    "worse",
    "lower",
    "equivalent",
    "inconclusive",
    "verdict withheld",
    "too few repetitions",
    *UNJUDGED,
)


@dataclass(frozen=True)
class AnswerPart:
    """A verdict and the load levels for which it holds."""

    words: str
    text: str


@dataclass(frozen=True)
class SideAnswer:
    """One side against the baseline in one metric."""

    side: Side
    metric: ComparedMetric
    label: str
    parts: tuple[AnswerPart, ...]


@dataclass(frozen=True)
class AnswerCell:
    """A table cell as shown. `judged`: False for the baseline and for cells without a verdict. `absent`: why it has no
    value."""

    metric: ComparedMetric
    label: str
    value: float | None
    kind: str
    spread: str
    title: str
    ratio: str
    interval: str
    has_interval: bool
    ratio_title: str
    words: str
    short: str
    judged: bool
    note: str
    lacking: str
    absent: str


@dataclass(frozen=True)
class TableRow:
    """`failed`: checks that `doubted` of the runs failed."""

    level: Level
    side: Side
    runs: int
    doubted: int
    failed: tuple[str, ...]
    runs_title: str
    few_runs: bool
    entries: tuple[AnswerCell, ...]


def said(cell: Cell) -> str:
    """The verdict as shown: "better by less than 2 %" where the whole interval is that close to 1."""
    if cell.ratio is None or cell.ratio.verdict not in (Verdict.HIGHER, Verdict.LOWER) or not cell.ratio.is_small:
        return cell.words
    return f"{cell.words} by less than {MARGIN * 100:g}\u00a0%" if cell.words in ORDER[:4] else cell.words


def answers(comparison: Comparison) -> list[SideAnswer]:
    """One per judged metric and side but the baseline, the primary metric first."""
    metrics = sorted((m for m in comparison.metrics if m.kind != "errors"), key=lambda m: not m.primary)
    return [
        SideAnswer(side, metric, label(metric), tuple(_parts(comparison, side, metric)))
        for metric in metrics
        for side in comparison.sides[1:]
    ]


def _parts(comparison: Comparison, side: Side, metric: ComparedMetric) -> Iterable[AnswerPart]:
    names = {each.slug: each.name for each in comparison.sides}
    found = [(level, comparison.cell(side=side.slug, level=level.id, metric=metric.key)) for level in comparison.levels]
    return parts(found, names)


def parts(by_level: Sequence[tuple[Level, Cell]], names: Mapping[str, str]) -> Iterable[AnswerPart]:
    """Verdicts and the load levels for which they hold, those without a ratio last. `names` of the sides, by slug."""
    places = {words: place for place, words in enumerate(ORDER)}

    def kind(pair: tuple[Level, Cell]) -> tuple[int, str, bool]:
        _, cell = pair
        return places.get(cell.words, len(ORDER)), said(cell), cell.ratio is None or cell.ratio.value is None

    for (_, words, lacks_ratio), group in groupby(sorted(by_level, key=kind), key=kind):
        pairs = list(group)
        at = join_levels([level for level, _ in pairs])
        cells = [cell for _, cell in pairs]
        if words in (NO_RUNS, NOT_MEASURED, NO_ERRORS):
            yield AnswerPart(words, f"at {at}")
        elif lacks_ratio:
            yield AnswerPart(words, f"at {at}: {_reason(cells)}")
        elif words == "too few repetitions":
            yield AnswerPart(words, f"at {at}: {_remedies(pairs, names)}")
        elif words == "inconclusive":
            yield AnswerPart(words, f"at {_ratios(pairs)}: {_remedies(pairs, names)}")
        else:
            yield AnswerPart(words, f"at {_ratios(pairs)}")


def _ratios(pairs: Sequence[tuple[Level, Cell]]) -> str:
    found = [
        (level.text, cell.ratio) for level, cell in pairs if cell.ratio is not None and cell.ratio.value is not None
    ]
    if len(found) <= LISTED_LEVELS:
        return ", at ".join(f"{text} {ratio_text(ratio)} {interval_text(ratio)}" for text, ratio in found)
    ends = (
        min(found, key=lambda each: each[1].value or 0),
        max(found, key=lambda each: each[1].value or 0),
    )
    low, high = (f"{ratio_text(ratio)} {interval_text(ratio)} ({text})" for text, ratio in ends)
    return f"{len(found)} load levels, from {low} to {high}"


def _reason(cells: Sequence[Cell]) -> str:
    return "; ".join(dict.fromkeys(cell.ratio.reason for cell in cells if cell.ratio is not None))


def _remedies(pairs: Sequence[tuple[Level, Cell]], names: Mapping[str, str]) -> str:
    """Runs needed, smallest effort first: once if equal at all load levels, else by level.

    Many different numbers are summarized by the smallest and the largest.
    """
    found: dict[str, list[Level]] = {}
    for level, cell in sorted(pairs, key=lambda pair: _effort(pair[1])):
        found.setdefault(remedy(cell, names), []).append(level)
    if len(found) == 1:
        return next(iter(found))
    likely = [cell for _, cell in pairs if remedy(cell, names).endswith(LIKELY)]
    if len(found) > LISTED_LEVELS and len({remedy(cell, names) for cell in likely}) > 1:
        efforts = sorted(max(more.runs for more in cell.more) for cell in likely)
        unit = likely[0].more[0].unit
        range_of = f"about {efforts[0]:,} to {efforts[-1]:,} more {unit}s per side {LIKELY}"
        found = {text: levels for text, levels in found.items() if not text.endswith(LIKELY)}
        first = [range_of]
    else:
        first = []
    return ", ".join([*first, *(f"{text} at {join_levels(levels)}" for text, levels in found.items())])


def _effort(cell: Cell) -> int:
    return sum(more.runs for more in cell.more)


def remedy(cell: Cell, names: Mapping[str, str]) -> str:
    """Runs needed for an undecided cell, for example "about 4 more runs per side needed"."""
    if cell.ratio is None:
        return ""
    if not cell.more:
        return cell.ratio.reason
    if (cell.ratio.needed or 0) > MOST_REPETITIONS:
        return f"even {MOST_REPETITIONS:,} {cell.more[0].unit}s per side are too few"
    if cell.words == Verdict.TOO_FEW:
        return f"needs at least {_more(cell.more, names)}"
    # Significant alone but not after correction over its table: its reason explains that.
    alone = cell.ratio.low is not None and cell.ratio.high is not None and not cell.ratio.low <= 1 <= cell.ratio.high
    return f"{cell.ratio.reason}; " * alone + f"about {_more(cell.more, names)} {LIKELY}"


def _lacking(cell: Cell, names: dict[str, str]) -> str:
    if cell.ratio is not None and (cell.ratio.needed or 0) > MOST_REPETITIONS:
        return f"more than {MOST_REPETITIONS:,} {cell.more[0].unit if cell.more else 'run'}s per side"
    return _more(cell.more, names)


def _more(more: Sequence[More], names: Mapping[str, str]) -> str:
    if len(more) > 1 and len({each.runs for each in more}) == 1:
        return f"{_count(more[0])} per side"
    return " and ".join(f"{_count(each)} of {names[each.side]}" for each in more)


def _count(more: More) -> str:
    return counted(more.runs, f"more {more.unit}")


def join_levels(levels: Sequence[Level]) -> str:
    """For example "1, 4 and 8 threads"."""
    if any(level.rate is not None for level in levels):
        return _listed([level.text for level in levels])
    return _listed([f"{level.threads}" for level in levels[:-1]] + [levels[-1].text])


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def value_words(comparison: Comparison, metric: ComparedMetric) -> str:
    """The kind of values in a metric's column."""
    kinds = _kinds(comparison, metric)
    if len(kinds) > 1:
        return "geometric mean, or median where a run is zero or negative"
    return next(iter(kinds), GEOMETRIC_MEAN)


def value_note(comparison: Comparison, metrics: Sequence[ComparedMetric]) -> str:
    """The kinds of values in the whole table, and how ratios follow from them."""
    medians = [metric for metric in metrics if _kinds(comparison, metric) - {GEOMETRIC_MEAN}]
    parts = []
    if any(GEOMETRIC_MEAN in _kinds(comparison, metric) for metric in metrics):
        parts.append("geometric mean of the runs: the ratio is the quotient of two values")
        if medians:
            named = ", ".join(map(label, medians))
            parts.append(f"median, without a ratio, where a run is zero or negative ({named})")
    elif medians:
        parts.append("median over the runs; a run is zero or negative, so that no ratio exists")
    return "; ".join(parts) or "geometric mean of the runs: the ratio is the quotient of two values"


def _kinds(comparison: Comparison, metric: ComparedMetric) -> set[str]:
    return {cell.summary.kind for cell in comparison.cells if cell.metric == metric.key and cell.summary}


def table(comparison: Comparison) -> list[TableRow]:
    """A row per load level and side."""
    return [_row(comparison, level, side) for level in comparison.levels for side in comparison.sides]


def _row(comparison: Comparison, level: Level, side: Side) -> TableRow:
    cells = {
        metric: comparison.cell(side=side.slug, level=level.id, metric=metric.key) for metric in comparison.metrics
    }
    names = {each.slug: each.name for each in comparison.sides}
    runs = [run for run in comparison.counted if (run.level, run.side) == (level.id, side.slug)]
    history = max((cell.history for cell in cells.values()), default=0)
    return TableRow(
        level=level,
        side=side,
        runs=len(runs),
        doubted=sum(bool(run.failed_checks) for run in runs),
        failed=tuple(dict.fromkeys(title_of(key) for run in runs for key in run.failed_checks)),
        runs_title=f"the spread includes {history} earlier runs" if history else NO_HISTORY,
        few_runs=welch.is_few(len(runs), history),
        entries=tuple(entry(metric, cell, names, has_runs=bool(runs)) for metric, cell in cells.items()),
    )


def doubted_runs(runs: Sequence[ComparedRun]) -> dict[str, Any]:
    """Runs of a chart that failed a check; the first few by name."""
    doubted = [run for run in runs if run.failed_checks]
    return {"doubted_runs": doubted[:NAMED_RUNS], "doubted_more": max(0, len(doubted) - NAMED_RUNS)}


def run_words(run: int, failed_checks: Sequence[str]) -> str:
    """For example "run 7 (failed load generator)", as chart label."""
    failed = f" (failed {', '.join(map(title_of, failed_checks))})" if failed_checks else ""
    return f"run {run}{failed}"


def entry(metric: ComparedMetric, cell: Cell, names: dict[str, str], *, has_runs: bool = True) -> AnswerCell:
    """`names` of the sides. `has_runs`: the cell's side has runs at its level that count."""
    summary, ratio = cell.summary, cell.ratio
    spread = title = ratio_title = note = ""
    if summary is not None:
        runs = counted(summary.count, "run")
        title = f"{all_digits(summary.value)} {metric.unit}: {summary.kind} of {runs}"
        spread = "" if summary.count == 1 else f"{format_number(summary.minimum)}\u2013{format_number(summary.maximum)}"
        if summary.variation is not None:
            spread += f" · {format_number(100 * summary.variation, 2)}\u00a0%"
    if ratio is not None:
        ratio_title = _ratio_title(ratio)
        undecided = cell.words in (Verdict.INCONCLUSIVE, Verdict.TOO_FEW)
        has_none = ratio.value is None and cell.words in ORDER
        note = remedy(cell, names) if undecided else ratio.reason if has_none or cell.words == Verdict.NO_RATIO else ""
    return AnswerCell(
        metric=metric,
        label=label(metric),
        value=summary.value if summary else None,
        kind=summary.kind if summary and summary.kind != GEOMETRIC_MEAN else "",
        spread=spread,
        title=title,
        ratio=ratio_text(ratio) if ratio else "",
        interval=interval_text(ratio) if ratio else "",
        has_interval=ratio is not None and ratio.low is not None,
        ratio_title=ratio_title,
        words=cell.words,
        short=said(cell).removeprefix("verdict "),
        judged=cell.words not in ("", NO_ERRORS),
        note=note,
        lacking=_lacking(cell, names) if note and cell.more else "",
        absent="" if summary else NOT_MEASURED if has_runs else NO_RUNS,
    )


def _ratio_title(ratio: Ratio) -> str:
    """All digits, and further statistics of the ratio."""
    if ratio.value is None:
        return ratio.reason
    parts = [f"ratio {ratio.value!r}"]
    if ratio.low is not None and ratio.high is not None:
        parts.append(f"95 % interval {ratio.low!r} to {ratio.high!r}")
    if ratio.p is not None:
        parts.append(f"p {ratio.p:.2g}")
    if ratio.adjusted_p is not None:
        parts.append(f"corrected for the number of comparisons in the table {ratio.adjusted_p:.2g}")
    if ratio.systematic:
        parts.append(f"±{math.expm1(ratio.systematic):.2%} of the interval because the values are read from a grid")
    if ratio.delta is not None:
        parts.append(f"Cliff's δ {ratio.delta:+.2f}")
    return "; ".join(parts)
