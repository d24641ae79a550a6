"""Statements that differ between the runs before and after a change. Pure.

Compared are the mean time and the rows examined of an execution, and the executions per transaction, each with its
interval over the runs. `share` is the statement's part of the additional time per transaction, summed over the
statements whose time grew, or of what the client saw if that is more; of a change for the better, of the time saved.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.comparison.pure import ComparedMetric, Direction
from apps.core.answers import Name, Rounded
from apps.core.units import format_number, with_unit
from apps.regressions.findings.evidence import quantities
from apps.regressions.findings.evidence.quantities import Judge, QuantityDifference, Sides
from apps.runs.pure import StatementCounts

# Compared are those that take the most time on either side; the rest together hardly add to it.
MOST_COMPARED = 40
TIME, ROWS, EXECUTIONS = "time", "rows", "executions"
UNITS = {TIME: "ms", ROWS: "rows", EXECUTIONS: "executions"}
FLOORS = {TIME: 0.001, ROWS: 1.0, EXECUTIONS: 0.01}
# Asked by samplers, at a constant rate.
SAMPLING = re.compile(r"^show |\b(performance_schema|information_schema)\.|^select @@|^set ")
TEXT_SHOWN = 72


@dataclass(frozen=True)
class StatementDifference:
    """`key`: of its text. `time`: ms per execution; `rows`: examined per execution; `executions` per transaction."""

    key: Annotated[str, Name("statement")]
    text: Annotated[str, "normalised"]
    time: Annotated[QuantityDifference | None, "ms per execution; null: one side never executed it"]
    rows: Annotated[QuantityDifference | None, Name("rows_examined"), "per execution; null: not reported"]
    executions: Annotated[QuantityDifference | None, "per transaction; null: transactions or time not known"]
    share: Annotated[Rounded | None, "0 to 1, of the time per transaction that all gained (saved); null: not of it"]

    @property
    def short(self) -> str:
        return self.text if len(self.text) <= TEXT_SHOWN else f"{self.text[: TEXT_SHOWN - 1]}…"

    @property
    def quantities(self) -> tuple[QuantityDifference | None, ...]:
        return self.time, self.rows, self.executions

    @property
    def share_percent(self) -> float | None:
        return None if self.share is None else 100 * self.share

    @property
    def work(self) -> tuple[QuantityDifference, ...]:
        """What it does more or less of, whatever the time that takes."""
        return tuple(each for each in (self.rows, self.executions) if each is not None and each.is_sure)

    @property
    def is_sure(self) -> bool:
        return bool(self.work) or (self.time is not None and self.time.is_sure)

    @property
    def spans(self) -> str:
        """ "rows examined 1 → 10,000, 0.1 → 4.2 ms per execution"."""
        parts = []
        if self.rows and self.rows.is_sure:
            parts.append(f"{_span(self.rows, 'rows')} examined per execution")
        if self.executions and self.executions.is_sure:
            parts.append(f"{_span(self.executions, 'executions')} per transaction")
        if self.time and self.time.is_sure:
            parts.append(f"{_span(self.time, 'ms')} per execution")
        return ", ".join(parts)


def _span(found: QuantityDifference, unit: str) -> str:
    return f"{format_number(found.before, unit=unit)} → {with_unit(found.after, unit)}"


def differences(
    statements: Mapping[int, Sequence[StatementCounts]],
    done: Mapping[int, float],
    lengths: Mapping[int, float],
    sides: Sides,
    judge: Judge,
    *,
    is_worse: bool,
    elapsed: float = 0.0,
) -> tuple[StatementDifference, ...]:
    """Those that differ, by their share. `done`: transactions, 1/s; `lengths` of the measured phases, s: of the runs
    for which they are known. `elapsed`: how much longer a transaction took, s. Empty unless runs of both sides list
    statements."""
    own = tuple([run for run in side if run in statements] for side in sides)
    before, after = own
    if not before or not after:
        return ()
    counts = {run: {each.text: each for each in statements[run]} for run in (*before, *after)}
    spans = {run: max((each.span for each in statements[run] if each.span), default=lengths.get(run)) for run in counts}
    texts = {text for known in counts.values() for text in known if not SAMPLING.search(text)}
    busy = {text: max(_mean_time(text, side, counts, spans) for side in (before, after)) for text in texts}
    chosen = sorted(texts, key=lambda text: (-busy[text], text))[:MOST_COMPARED]
    keys = {text: hashlib.sha256(text.encode()).hexdigest()[:10] for text in chosen}
    values = {
        run: {
            f"{keys[text]}.{what}": value
            for text in chosen
            for what, value in _values(counts[run].get(text), done.get(run), spans[run]).items()
        }
        for run in counts
    }
    metrics = [
        ComparedMetric(f"{keys[text]}.{what}", text, unit, Direction.NEUTRAL, "statement", primary=False)
        for text in chosen
        for what, unit in UNITS.items()
    ]
    floors = {metric.key: FLOORS[metric.key.rpartition(".")[2]] for metric in metrics}
    found = quantities.compared(metrics, floors, values, (before, after), judge)
    known = tuple([run for run in side if done.get(run) and spans[run]] for side in (before, after))
    means = {text: [_mean_time(text, side, counts, spans, done) for side in known] for text in chosen if all(known)}
    gains = {text: (own[1] - own[0]) * (1 if is_worse else -1) for text, own in means.items()}
    # Time outside the listed statements counts too: servers may not list prepared ones.
    whole = max(sum(gain for gain in gains.values() if gain > 0), elapsed if is_worse else -elapsed)
    rows = [
        StatementDifference(
            key=keys[text],
            text=text,
            time=found.get(f"{keys[text]}.{TIME}"),
            rows=found.get(f"{keys[text]}.{ROWS}"),
            executions=found.get(f"{keys[text]}.{EXECUTIONS}"),
            share=gains[text] / whole if gains.get(text, 0.0) > 0 else None,
        )
        for text in chosen
    ]
    return tuple(sorted((row for row in rows if row.is_sure), key=lambda row: (-(row.share or 0.0), row.key)))


def _values(one: StatementCounts | None, done: float | None, span: float | None) -> dict[str, float]:
    """A run without the statement executed it 0 times; its time and rows are unknown."""
    if one is None:
        return {EXECUTIONS: 0.0} if done and span else {}
    found = {TIME: 1000 * one.seconds / one.count}
    if one.rows_examined is not None:
        found[ROWS] = one.rows_examined / one.count
    if done and span:
        found[EXECUTIONS] = one.count / span / done
    return found


def _mean_time(
    text: str,
    runs: Sequence[int],
    counts: Mapping[int, Mapping[str, StatementCounts]],
    spans: Mapping[int, float | None],
    done: Mapping[int, float] | None = None,
) -> float:
    """Of the statement, s per second, or per transaction."""
    own = [run for run in runs if text in counts[run]]
    each = (counts[run][text].seconds / (spans[run] or 1.0) / (done[run] if done else 1.0) for run in own)
    return sum(each) / len(runs)
