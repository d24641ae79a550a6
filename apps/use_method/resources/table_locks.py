"""Locks of whole tables: metadata locks, LOCK TABLES, the global read lock."""

from collections.abc import Sequence

import numpy as np

from apps.core.units import format_duration
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.judging import Limits, steps, stretches
from apps.use_method.resources.connections import MANUAL, SHOWN
from apps.use_method.resources.counters import (
    FROM_THE_FIRST,
    QUESTIONS,
    RUNNING,
    STATUS,
    by_clients,
    stall_words,
    stalls,
    together,
)
from apps.use_method.values import Aspect, Facts, Floats, Found, Level, Moment, Node, Samples

WAITED = STATUS + "Table_locks_waited"
METADATA = "mysql.waits.lock.metadata.sql.mdl.seconds"
ROWS_NOW = STATUS + "Innodb_row_lock_current_waits"
PAGES = STATUS + "Innodb_buffer_pool_read_requests"
SAMPLING = "agent.statements"
SEMI_SYNC = STATUS + "Rpl_semi_sync_master_wait_sessions"
FSYNCS = STATUS + "Innodb_data_pending_fsyncs"
CLUSTER = STATUS + "wsrep_cluster_size"
# Threads_running counts these although they serve no client.
DUMPS = STATUS + "Slaves_connected"
REPLICA = ("mysql.replication.io_running", "mysql.replication.sql_running")

METADATA_LIMITS = Limits(watch=10.0, saturated=50.0)
WAITED_LIMITS = Limits(watch=None, saturated=1.0)
HOLD = 3.0  # s
FEWEST = 2.0  # connections that wait
STILL = 0.02  # of the usual rate
USUAL = 90  # percentile
LEAST = 20.0  # statements/s: a load with fewer has seconds without any
NEAR = 1.0  # s around a statement
SHORT = 0.05  # s: how often the tool that changes a schema looks


def standstill(node: Node, facts: Facts) -> Found | None:
    """Seconds in which connections had a statement in execution and none came through, and that nothing else explains:
    rows, the disk, semi-synchronous replicas and the cluster have rows of their own."""
    if RUNNING not in node.series or QUESTIONS not in node.series:
        return None
    at, (running, asked) = together(node.series, (RUNNING, QUESTIONS))
    own = _mean(node, SAMPLING, 1.0)
    served = np.maximum(asked - own, 0.0)
    seen = ~np.isnan(served) & ~np.isnan(running)
    if not seen.any():
        return None
    usual = float(np.percentile(served[seen], USUAL))
    if usual < LEAST:
        return Found(Level.OK, 0.0, f"fewer than {LEAST:g} statements/s from clients, too few to tell", QUESTIONS)
    waiting = running - 1 - _mean(node, DUMPS, 0.0) - sum(_mean(node, key, 0.0) for key in REPLICA)
    still = seen & (served < max(STILL * usual, own, 2.0)) & (waiting >= FEWEST)
    if not still.any():
        return Found(Level.OK, 0.0, "statements came through in every second", RUNNING)
    samples = Samples(at, waiting)
    spans = stretches(samples, still)
    length = float(steps(at)[still].sum())
    ddl = _under_way(facts.events, spans)
    most = float(waiting[still].max())
    said = f"for {format_duration(round(length, 1))} from {format_duration(round(max(0.0, spans[0][0]), 1))} on no "
    said += f"statement came through while {most:.0f} were in execution"
    other = "" if ddl else _explained(node, at, waiting, still)
    if other:
        return Found(Level.OK, length, f"{said}: {other}", RUNNING, most)
    held = any(end - start >= HOLD - 1e-6 for start, end in spans)
    level = Level.SATURATED if held else Level.WATCH
    why = f"“{ddl.label[:80]}” was under way" if ddl else "none waited for rows, and hardly a page was read"
    return Found(level, length, f"{said}: {why}", RUNNING, most, tuple(spans))


def _explained(node: Node, at: Floats, waiting: Floats, still: "np.typing.NDArray[np.bool_]") -> str:
    """What else they waited for; empty: nothing else is known."""
    most = float(np.median(waiting[still]))
    if _then(node, ROWS_NOW, at[still]) >= most / 2:
        return "they waited for rows"
    if _then(node, SEMI_SYNC, at[still]) >= most / 2:
        return "they waited for a semi-synchronous replica"
    if _mean(node, CLUSTER, 0.0) > 0:
        return "they waited for the cluster"
    if _then(node, FSYNCS, at[still]) >= 1:
        return "they waited for an fsync"
    pages = node.series.get(PAGES)
    if pages is not None and _then(node, PAGES, at[still]) > 0.05 * float(np.nanpercentile(pages.values, USUAL)):
        return "they were at work on pages"
    return ""


def _then(node: Node, key: str, at: Floats) -> float:
    """Median at these moments; 0: it was not sampled then."""
    samples = node.series.get(key)
    if samples is None:
        return 0.0
    values = samples.values[np.isin(samples.at, at)]
    return float(np.nanmedian(values)) if len(values) and not np.isnan(values).all() else 0.0


def _mean(node: Node, key: str, otherwise: float) -> float:
    samples = node.series.get(key)
    return otherwise if samples is None or np.isnan(samples.values).all() else float(np.nanmean(samples.values))


def _under_way(events: Sequence[Moment], spans: Sequence[tuple[float, float]]) -> Moment | None:
    """A statement that changes a table and that was not over when a standstill began."""
    for event in events:
        end = event.ends_at if event.ends_at is not None else event.starts_at
        if event.kind == "ddl" and any(event.starts_at - NEAR <= to and since <= end + NEAR for since, to in spans):
            return event
    return None


def schema_change(_: Node, facts: Facts) -> Found | None:
    """What the tool that changed a table saw of its metadata lock; looked at every 50 ms."""
    seen = [event for event in facts.events if event.kind == "ddl" and "metadata_lock_wait" in event.detail]
    if not seen:
        return Found(Level.OK, 0.0, "no tool changed a table, or none looked at its lock")
    worst = max(seen, key=lambda event: _number(event, "metadata_lock_wait"))
    wait = _number(worst, "metadata_lock_wait")
    queue = max(_number(event, "metadata_lock_queue") for event in seen)
    words = f"“{worst.label[:80]}” waited {format_duration(wait)} for its lock, {queue:.0f} connections behind it"
    if wait <= SHORT or queue < 1:
        return Found(Level.OK, queue, words, RUNNING, queue)
    span = (worst.starts_at, worst.ends_at if worst.ends_at is not None else worst.starts_at)
    level = Level.SATURATED if wait >= HOLD and queue >= FEWEST else Level.WATCH
    return Found(level, queue, words, RUNNING, queue, (span,))


def _number(event: Moment, name: str) -> float:
    value = event.detail.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def metadata(node: Node, facts: Facts) -> Found | None:
    samples = node.series.get(METADATA)
    return by_clients(samples, node, facts, METADATA_LIMITS, METADATA) if samples else None


RESOURCE = Resource(
    key="table_locks",
    title="Table and metadata locks",
    layer="server",
    question="Does a schema change, or a lock of a table, hold up everybody?",
    indicators=(
        Indicator(
            key="table_locks.standstill",
            aspect=Aspect.SATURATION,
            title="nothing came through",
            unit="s",
            metrics=(RUNNING, QUESTIONS, SAMPLING, ROWS_NOW, PAGES, SEMI_SYNC, FSYNCS, CLUSTER, DUMPS, *REPLICA),
            formula=f"seconds with at least {FEWEST:g} connections in execution (Threads_running without the sampler "
            f"and replication) and under {STILL * 100:g} % of the usual Questions",
            limits=f"watch {FROM_THE_FIRST}, saturated from {HOLD:g} s in a row on; not where rows, an fsync, "
            "semi-synchronous replication or the cluster explain it and no schema change was under way",
            reason="No server counts waits for a metadata lock by default. A statement that waits for its table is in "
            "execution, asks for no rows, reads no pages and does not end; the next ones queue behind it.",
            literature=f"{MANUAL}, 10.11.4 Metadata Locking; MariaDB Server Documentation, Metadata Locking",
            sources=SHOWN,
            rule=standstill,
        ),
        Indicator(
            key="table_locks.metadata",
            aspect=Aspect.SATURATION,
            title="connections waiting for a metadata lock",
            unit="%",
            metrics=(METADATA,),
            formula="rate of the time in wait/lock/metadata/sql/mdl / connections of the load on this node",
            limits=METADATA_LIMITS.words("%"),
            reason="As for rows: the share of clients that wait is the share of throughput that is lost. A wait counts "
            "when it ends.",
            literature=f"{MANUAL}, 29.12.13.3 The metadata_locks Table",
            sources={
                "MariaDB": "performance_schema with performance_schema_instrument = 'wait/lock/metadata/sql/mdl=ON'",
                "MySQL": "performance_schema, instrumented by default from 8.0 on",
                "Aurora": "performance_schema, where it is on and an agent may ask it",
            },
            rule=metadata,
            asks=("waits and statements", "kinds of waits"),
        ),
        Indicator(
            key="table_locks.schema_change",
            aspect=Aspect.SATURATION,
            title="connections behind a schema change",
            unit="connections",
            metrics=(RUNNING,),
            formula="most connections waiting for a metadata lock while the tool's own statement ran",
            limits=f"watch from a wait of {SHORT:g} s with one behind it, saturated from {HOLD:g} s with {FEWEST:g}",
            reason="What waits for the lock of an ALTER waits as long as the oldest transaction that uses the table.",
            literature=f"{MANUAL}, 10.11.4 Metadata Locking",
            sources={"tool": "ddl_under_load looks into the process list every 50 ms"},
            rule=schema_change,
        ),
        Indicator(
            key="table_locks.waited",
            aspect=Aspect.SATURATION,
            title="waits for a table",
            unit="waits",
            metrics=(WAITED,),
            formula="rise of Table_locks_waited",
            limits=stall_words(WAITED_LIMITS, "waits"),
            reason="An engine that locks whole tables, or LOCK TABLES: InnoDB's statements do not come here.",
            literature=f"{MANUAL}, 10.11.2 Table Locking Issues",
            sources=SHOWN,
            rule=stalls(WAITED, WAITED_LIMITS, "waits"),
        ),
    ),
)
