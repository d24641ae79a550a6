"""Locks of whole tables: metadata locks, LOCK TABLES, the global read lock."""

import numpy as np

from apps.core.units import format_duration
from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits
from apps.use_method.resources import stalls as still
from apps.use_method.resources.connections import MANUAL, SHOWN
from apps.use_method.resources.counters import FROM_THE_FIRST, RUNNING, STATUS, by_clients, stall_words, stalls
from apps.use_method.resources.stalls import FEWEST, HOLD
from apps.use_method.values import Aspect, Moment, NodeFacts, RuleResult, RunFacts, UseLevel

WAITED = STATUS + "Table_locks_waited"
METADATA = "mysql.waits.lock.metadata.sql.mdl.seconds"
METADATA_LIMITS = LevelLimits(watch=10.0, saturated=50.0)
WAITED_LIMITS = LevelLimits(watch=None, saturated=1.0)
SHORT = 0.05  # s: interval at which the tool that changes a schema samples


def schema_change(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Metadata lock wait as sampled every 50 ms by the tool that changed a table. Reported for the node with the most
    statements in execution meanwhile."""
    seen = [event for event in facts.events if event.kind == "ddl" and "metadata_lock_wait" in event.detail]
    if not seen:
        return RuleResult(UseLevel.OK, 0.0, "no tool changed a table, or none sampled its lock")
    worst = max(seen, key=lambda event: (_number(event, "metadata_lock_queue"), _number(event, "seconds")))
    if node is not max(facts.nodes, key=lambda each: _ran(each, worst)):
        return RuleResult(UseLevel.OK, 0.0, "not on this node")
    queue, took = _number(worst, "metadata_lock_queue"), _number(worst, "seconds")
    statement = str(worst.detail.get("statement", worst.label))[:80]
    wait = format_duration(_number(worst, "metadata_lock_wait"))
    words = f"“{statement}” took {format_duration(took)}, {wait} of it until it had its lock; "
    words += f"{queue:.0f} connections waited for a metadata lock meanwhile"
    if queue < 1 or took <= SHORT:
        return RuleResult(UseLevel.OK, queue, words, RUNNING, queue)
    span = (worst.starts_at, worst.ends_at if worst.ends_at is not None else worst.starts_at)
    level = UseLevel.SATURATED if took >= HOLD and queue >= FEWEST else UseLevel.WATCH
    return RuleResult(level, queue, words, RUNNING, queue, (span,))


def _ran(node: NodeFacts, event: Moment) -> float:
    """Maximum of statements in execution during the event."""
    samples = node.series.get(RUNNING)
    if samples is None:
        return -1.0
    end = event.ends_at if event.ends_at is not None else event.starts_at
    then = samples.values[(samples.at >= event.starts_at) & (samples.at <= end + 1)]
    return float(np.nanmax(then)) if len(then) and not np.isnan(then).all() else 0.0


def _number(event: Moment, name: str) -> float:
    value = event.detail.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def metadata(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(METADATA)
    return by_clients(samples, node, facts, METADATA_LIMITS, METADATA) if samples else None


RESOURCE = Resource(
    key="table_locks",
    title="Table and metadata locks",
    layer="server",
    question="Does a schema change or a table lock block other statements?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="table_locks.standstill",
            aspect=Aspect.SATURATION,
            title="stall",
            unit="s",
            metrics=still.METRICS,
            formula=f"seconds with at least {FEWEST:g} connections in execution (Threads_running without the sampler "
            f"and replication) in which under {still.STILL * 100:g} % of the usual Questions come through, or under "
            f"{still.STILL_PILED * 100:g} % with {still.PILE:g} in execution; what begins and waits is not counted",
            limits=f"watch {FROM_THE_FIRST}, saturated from {HOLD:g} s in a row on; not where rows, a disk, the "
            "redo log, semi-synchronous replication or the cluster explain it and no schema change was under way",
            reason="No server counts waits for a metadata lock by default. A statement that waits for its table is in "
            "execution, asks for no rows, reads no pages and does not end; the next ones queue behind it.",
            literature=f"{MANUAL}, 10.11.4 Metadata Locking; MariaDB Server Documentation, Metadata Locking",
            sources=SHOWN,
            rule=still.stall,
        ),
        Indicator(
            key="table_locks.metadata",
            aspect=Aspect.SATURATION,
            title="connections waiting for a metadata lock",
            unit="%",
            metrics=(METADATA,),
            formula="rate of the time in wait/lock/metadata/sql/mdl / connections of the load on this node",
            limits=METADATA_LIMITS.words("%"),
            reason="As for row locks: the share of clients waiting is the share of throughput lost. A wait counts "
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
            formula="most connections that waited for a metadata lock while the tool's statement was under way",
            limits=f"watch from one connection for {SHORT:g} s on, saturated from {FEWEST:g} for {HOLD:g} s on",
            reason="They wait until it ends; if it waits itself, for the oldest transaction on the table.",
            literature=f"{MANUAL}, 10.11.4 Metadata Locking",
            sources={"tool": "ddl_under_load samples the process list every 50 ms"},
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
