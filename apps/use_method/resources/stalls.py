"""Stalls: seconds in which hardly a statement finished although connections had one in execution, and their cause."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from apps.core.units import format_duration
from apps.use_method.levels import SLACK, steps, stretches
from apps.use_method.resources.counters import (
    BESIDE,
    QUESTIONS,
    RUNNING,
    SAMPLING,
    STATUS,
    idle_running,
    own_statements,
    together,
)
from apps.use_method.resources.redo_log import FULL
from apps.use_method.values import Floats, MetricSamples, Moment, NodeFacts, RuleResult, RunFacts, Span, UseLevel

ROWS_NOW = STATUS + "Innodb_row_lock_current_waits"
PAGES = STATUS + "Innodb_buffer_pool_read_requests"
# MariaDB and MySQL before 8.0.26; MySQL since.
SEMI_SYNC = tuple(STATUS + f"Rpl_semi_sync_{name}_wait_sessions" for name in ("master", "source"))
FSYNCS, READS = STATUS + "Innodb_data_pending_fsyncs", STATUS + "Innodb_data_pending_reads"
CLUSTER = STATUS + "wsrep_cluster_size"
METRICS = (RUNNING, QUESTIONS, SAMPLING, ROWS_NOW, PAGES, *SEMI_SYNC, FSYNCS, READS, *FULL, CLUSTER, *BESIDE)

HOLD = 3.0  # s
FEWEST = 2.0  # connections that wait
STILL = 0.02  # of the usual rate
# With an open load, waiting statements pile up while checks and readers continue.
PILE, STILL_PILED = 10.0, 0.2
USUAL = 90  # percentile
LEAST = 20.0  # statements/s: a load with fewer has seconds without any
NEAR = 1.0  # s around a statement
NEARLY = 0.95  # of the redo log
IDLE = 0.05  # of the usual reads of pages


@dataclass(frozen=True)
class StallSpan:
    """One stall, s; `most` statements in execution."""

    span: Span
    length: float
    most: float
    why: str


def stall(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Only stalls without another explanation: rows, disks, the redo log, semi-synchronous replicas and the cluster
    have indicators of their own."""
    if RUNNING not in node.series or QUESTIONS not in node.series:
        return None
    threads, asked = together(node.series, (RUNNING, QUESTIONS))
    running = threads.values
    own = own_statements(node)
    # The server counts a statement at its start: those started and waiting did not finish.
    begun = np.maximum(np.diff(running, prepend=running[:1]) / steps(threads), 0.0)
    served = np.maximum(asked.values - own - begun, 0.0)
    seen = ~np.isnan(served) & ~np.isnan(running)
    if not seen.any():
        return None
    usual = float(np.percentile(served[seen], USUAL))
    if usual < LEAST:
        return RuleResult(
            UseLevel.OK, 0.0, f"fewer than {LEAST:g} statements/s from clients, too few for a result", QUESTIONS
        )
    waiting = running - idle_running(node)
    few = np.maximum(np.where(waiting >= PILE, STILL_PILED, STILL) * usual, max(own, 2.0))
    still = seen & (served < few) & (waiting >= FEWEST)
    if not still.any():
        return RuleResult(UseLevel.OK, 0.0, "statements finished in every second", RUNNING)
    return _found(node, facts.events, replace(threads, values=waiting), still)


def _found(node: NodeFacts, events: Sequence[Moment], waiting: MetricSamples, still: NDArray[np.bool_]) -> RuleResult:
    """Each stretch is judged by its own cause: a metadata lock is not excused by another stretch's row locks."""
    stood: list[StallSpan] = []
    elsewhere: list[StallSpan] = []
    for start, end in stretches(waiting, still):
        then = still & (waiting.at > start) & (waiting.at <= end)
        ddl = _under_way(events, (start, end))
        other = "" if ddl else _explained(node, waiting.at[then], float(np.median(waiting.values[then])))
        why = other or (f"“{ddl.label[:80]}” was under way" if ddl else "none waited for rows, hardly a page was read")
        one = StallSpan((start, end), float(steps(waiting)[then].sum()), float(waiting.values[then].max()), why)
        (elsewhere if other else stood).append(one)
    shown = stood or elsewhere
    longest = max(shown, key=lambda one: one.length)
    length, most = sum(one.length for one in shown), max(one.most for one in shown)
    since = format_duration(round(max(0.0, shown[0].span[0]), 1))
    words = (
        f"for {format_duration(round(length, 1))}, first from {since} on, "
        f"hardly a statement came through while up to {most:.0f} were in execution: {longest.why}"
    )
    if not stood:
        return RuleResult(UseLevel.OK, length, words, RUNNING, most)
    lasts = any(end - start >= HOLD - SLACK for start, end in (one.span for one in stood))
    spans = tuple(one.span for one in stood)
    return RuleResult(UseLevel.SATURATED if lasts else UseLevel.WATCH, length, words, RUNNING, most, spans)


def _explained(node: NodeFacts, at: Floats, waiting: float) -> str:
    """Other cause of the wait at these times, `waiting` connections at once; empty: none known."""
    pages = node.series.get(PAGES)
    usual = float(np.nanpercentile(pages.values, USUAL)) if pages else 0.0
    reasons = (
        (_median_at(node, ROWS_NOW, at) >= waiting / 2, "they waited for rows"),
        (
            max(_median_at(node, key, at) for key in SEMI_SYNC) >= waiting / 2,
            "they waited for a semi-synchronous replica",
        ),
        (_mean(node, CLUSTER, 0.0) > 0, "they waited for the cluster"),
        (max(_median_at(node, FSYNCS, at), _median_at(node, READS, at)) >= 1, "they waited for a disk"),
        (
            any(_median_at(node, key, at) >= NEARLY * full for key, full in FULL.items()),
            "they waited for room in the redo log",
        ),
        (_median_at(node, PAGES, at) > IDLE * usual, "they were at work on pages"),
    )
    return next((words for holds, words in reasons if holds), "")


def _median_at(node: NodeFacts, key: str, at: Floats) -> float:
    """Median at these times; 0: not sampled then."""
    samples = node.series.get(key)
    if samples is None:
        return 0.0
    values = samples.values[np.isin(samples.at, at)]
    return float(np.nanmedian(values)) if len(values) and not np.isnan(values).all() else 0.0


def _mean(node: NodeFacts, key: str, otherwise: float) -> float:
    samples = node.series.get(key)
    return otherwise if samples is None or np.isnan(samples.values).all() else float(np.nanmean(samples.values))


def _under_way(events: Sequence[Moment], span: Span) -> Moment | None:
    """A statement that changes a table, at the time of a stall."""
    for event in events:
        end = event.ends_at if event.ends_at is not None else event.starts_at
        if event.kind == "ddl" and event.starts_at - NEAR <= span[1] and span[0] <= end + NEAR:
            return event
    return None
