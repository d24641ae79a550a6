"""All metrics, on the Compare page and as CSV and Markdown: a row per metric, load level and side."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.comparison.api import ALL_METRICS_SECTION, Everything, Measured
from apps.comparison.pure import (
    MOST_REPETITIONS,
    NO_RUNS,
    NOT_MEASURED,
    WITHHELD,
    ComparedMetric,
    Comparison,
    Direction,
    Level,
    Ratio,
    Side,
    Verdict,
    verdict_table,
)
from apps.core import tabular
from apps.core.problems import FieldProblem, Invalid
from apps.core.units import format_number
from apps.web.compare.view import CompareView
from apps.web.compare.wording import AnswerCell, entry

DIRECTIONS = {Direction.HIGHER: "higher is better", Direction.LOWER: "lower is better", Direction.NEUTRAL: "neither"}
FORMS = (("CSV", "csv"), ("Markdown", "md"))
# Rows of a table that are not folded.
SHOWN_AT_ONCE = 8
# Verdicts that leave open whether there is a difference.
UNJUDGED = (Verdict.TOO_FEW.value, Verdict.NO_RATIO.value, NO_RUNS, NOT_MEASURED)
COLUMNS = (
    "metric",
    "unit",
    "direction",
    "load",
    "side",
    "baseline",
    "baseline value",
    "value",
    "kind",
    "runs",
    "ratio",
    "low",
    "high",
    "verdict",
    "p",
    "adjusted p",
    "Cliff's delta",
    "needed per side",
    "unit of needed",
)


@dataclass(frozen=True)
class MetricRow:
    """A row as shown: `entry` of the side, `base` of the baseline. `each`: the values of single events."""

    measured: Measured
    level: Level
    side: Side
    entry: AnswerCell
    base: AnswerCell
    meaning: str
    direction: str
    p: str
    adjusted_p: str
    delta: str
    needed: str
    needed_unit: str
    each: str

    @property
    def statistics(self) -> str:
        """What the cell does not show: values with all digits, the ratio's statistics."""
        values = f"{self.base.title or self.base.absent} → {self.entry.title or self.entry.absent}"
        parts = [values, self.entry.ratio_title, self.entry.note, f"each: {self.each}" * bool(self.each)]
        return "; ".join(filter(None, parts))


@dataclass(frozen=True)
class MetricGroup:
    """A metric of one side at each load level, in the order of the levels; None: not measured there."""

    metric: ComparedMetric
    side: Side
    meaning: str
    direction: str
    cells: tuple[MetricRow | None, ...]


def context(seen: CompareView) -> dict[str, Any] | None:
    """Raises Invalid for an unknown `show`."""
    show = seen.address.option("show")
    if show not in ("", "all"):
        raise Invalid([FieldProblem("show", f"{show[:40]!r} is not known", 'leave it out or use "all"')])
    found = seen.read(ALL_METRICS_SECTION)
    if not found.measured:
        return None
    relevant = [one for one in found.measured if one.is_relevant]
    rows = groups(seen.comparison, found, show_all=show == "all")
    return {
        "groups": rows,
        "is_open": bool(show) or len(rows) <= SHOWN_AT_ONCE,
        "summary": summary(found.measured),
        "relevant": len(relevant),
        "rest": len(all_metrics := {one.metric.key for one in found.measured})
        > len({one.metric.key for one in relevant}),
        "metrics": len(all_metrics),
        "tests": found.tests,
        "shows_all": show == "all",
        "other": _other(seen, "" if show else "all"),
        "answered": any(one.answered for one in found.measured),
        # No export of snapshots: it would contain current data.
        "export_urls": None if seen.kept is not None else [(name, _export(seen, form)) for name, form in FORMS],
    }


def summary(measured: Sequence[Measured]) -> str:
    """Number of comparisons that show a difference, and of those that cannot be judged."""
    total = len(measured)
    words = Counter(one.cell.words for one in measured if one.is_relevant)
    withheld = words.pop(WITHHELD, 0)
    unknown = sum(one.cell.words in UNJUDGED for one in measured)
    reasons = Counter(one.metric.unjudged for one in measured if one.cell.words == Verdict.NOT_JUDGED)
    short = sum(one.cell.words == Verdict.RATE_NOT_HELD for one in measured)
    same = total - unknown - withheld - words.total() - reasons.total() - short
    parts = []
    if words:
        text = ", ".join(f"{count} {word}" for word, count in words.most_common())
        parts.append(f"{words.total()} of {total} comparisons show{'s' * (words.total() == 1)} a difference ({text})")
    if withheld:
        parts.append(f"{withheld} of {total} comparisons differ, but their verdicts are withheld")
    if same and parts:
        parts.append(f"{same} do{'es' * (same == 1)} not")
    elif same:
        parts.append(f"None of {same} comparison{'s' * (same > 1)} shows a difference")
    if unknown:
        whole = f"{unknown}" if parts else f"All {total} comparisons"
        parts.append(f"{whole} cannot be judged (too few repetitions, or no ratio exists)")
    parts += [f"{short} of a fixed rate that was not held"] if short else []
    parts += [f"{count} of latency {'is' if count == 1 else 'are'} not judged: {why}" for why, count in reasons.items()]
    return "; ".join(parts)


def _other(seen: CompareView, show: str) -> dict[str, str]:
    """Addresses of the other choice of rows: the page, and the part alone, which keeps the scroll position."""
    address = seen.address.with_option("show", show)
    return {"url": f"{address.url()}#all-metrics", "part_url": address.part_url("all-metrics")}


def _export(seen: CompareView, form: str) -> str:
    return f"{reverse('web:compare-everything', args=[form])}?{seen.address.query()}"


def lines(comparison: Comparison, found: Everything, *, show_all: bool) -> list[MetricRow]:
    names = {side.slug: side.name for side in comparison.sides}
    sides = {side.slug: side for side in comparison.sides}
    levels = {level.id: level for level in comparison.levels}
    measured = {(run.side, run.level) for run in comparison.counted}
    return [
        MetricRow(
            measured=one,
            level=levels[one.cell.level],
            side=sides[one.cell.side],
            entry=entry(one.metric, one.cell, names, has_runs=(one.cell.side, one.cell.level) in measured),
            base=entry(one.metric, one.baseline, names, has_runs=(one.baseline.side, one.baseline.level) in measured),
            meaning=found.meanings.get(one.metric.key, ""),
            direction=DIRECTIONS[one.metric.direction],
            p=_p(one.cell.ratio.p if one.cell.ratio else None),
            adjusted_p=_p(one.cell.ratio.adjusted_p if one.cell.ratio else None),
            delta=_delta(one.cell.ratio),
            needed=_needed(one.cell.ratio),
            needed_unit=_needed_unit(one.cell.ratio),
            each=_each(one),
        )
        for one in found.measured
        if show_all or one.is_relevant
    ]


def groups(comparison: Comparison, found: Everything, *, show_all: bool) -> list[MetricGroup]:
    """The metrics of the answer first, then by significance; without `show_all` those with a difference at any load."""
    rows: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for line in sorted(lines(comparison, found, show_all=True), key=lambda line: not line.measured.answered):
        rows.setdefault((line.measured.metric.key, line.side.slug), {})[line.level.key] = line
    places = {key: place for place, (key, _) in reversed(list(enumerate(rows)))}  # of its first row
    shown = sorted(rows.items(), key=lambda item: (places[item[0][0]], next(iter(item[1].values())).side.position))
    return [
        MetricGroup(
            metric=(first := next(iter(own.values()))).measured.metric,
            side=first.side,
            meaning=first.meaning,
            direction=first.direction,
            cells=tuple(own.get(level.key) for level in comparison.levels),
        )
        for _, own in shown
        if show_all or any(line.measured.is_relevant for line in own.values())
    ]


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<\u00a00.0001" if value < 0.0001 else f"{value:#.2g}" if value < 0.1 else f"{value:.2f}"


def _delta(ratio: Ratio | None) -> str:
    return "" if ratio is None or ratio.delta is None else f"{ratio.delta:+.2f}".replace("-", "\u2212")


def _needed(ratio: Ratio | None) -> str:
    if ratio is None or ratio.needed is None:
        return ""
    return f"more than {MOST_REPETITIONS:,}" if ratio.needed > MOST_REPETITIONS else f"{ratio.needed:,}"


def _needed_unit(ratio: Ratio | None) -> str:
    if ratio is None or ratio.needed is None:
        return ""
    return "sessions" if verdict_table.by_session(ratio) else "runs"


def _each(one: Measured) -> str:
    """Single events are few and listed one by one: the side's, then the baseline's."""
    if not one.metric.single_events:
        return ""
    texts = [", ".join(format_number(each.value) for each in cell.replicates) for cell in (one.baseline, one.cell)]
    return " against ".join(text or "none" for text in reversed(texts))


def comma_separated(comparison: Comparison, found: Everything) -> str:
    """All rows, numbers in full precision."""
    return tabular.comma_separated(
        COLUMNS,
        [
            [
                line.measured.metric.name,
                line.measured.metric.unit,
                line.direction,
                line.level.text,
                line.side.name,
                comparison.sides[0].name,
                line.base.value,
                line.entry.value,
                line.measured.cell.summary.kind if line.measured.cell.summary else "",
                len(line.measured.cell.replicates),
                *_numbers(line.measured.cell.ratio, "value", "low", "high"),
                line.entry.words,
                *_numbers(line.measured.cell.ratio, "p", "adjusted_p", "delta"),
                line.needed,
                line.needed_unit,
            ]
            for line in lines(comparison, found, show_all=True)
        ],
    )


def markdown(comparison: Comparison, found: Everything, *, show_all: bool) -> str:
    """The rows as shown."""
    base = comparison.sides[0].name
    heads = ("Metric", "Load", "Side", base, "Value", f"÷ {base}", "Verdict", "Adjusted p", "Cliff's δ")
    rows = [
        [
            f"{line.measured.metric.name} ({', '.join(filter(None, (line.measured.metric.unit, line.direction)))})",
            line.level.text,
            line.side.name,
            _shown(line.base),
            _shown(line.entry),
            f"{line.entry.ratio} {line.entry.interval}".strip(),
            line.entry.words,
            line.adjusted_p,
            line.delta,
        ]
        for line in lines(comparison, found, show_all=show_all)
    ]
    return tabular.markdown(heads, rows)


def _numbers(ratio: Ratio | None, *names: str) -> list[float | None]:
    return [getattr(ratio, name) if ratio is not None else None for name in names]


def _shown(cell: AnswerCell) -> str:
    return cell.absent or f"{format_number(cell.value)} {cell.kind}".strip()
