"""InnoDB's row locks."""

from dataclasses import replace

from apps.core.units import with_unit
from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits, counted
from apps.use_method.resources.connections import MANUAL, SHOWN
from apps.use_method.resources.counters import COMMITS, FROM_THE_FIRST, STATUS, WRITES, by_clients, events, transactions
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts, UseLevel

WAITING = "derived.row_locks.waiting"
NOW = STATUS + "Innodb_row_lock_current_waits"
DEADLOCKS, INNODB_DEADLOCKS = STATUS + "Innodb_deadlocks", "mysql.innodb.lock_deadlocks"
TIMEOUTS = "mysql.innodb.lock_timeouts"
LIMITS = LevelLimits(watch=10.0, saturated=50.0)
MOST_DEADLOCKS = 0.01  # of all transactions
INNODB_METRICS = ("InnoDB metrics",)


def waiting(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(WAITING)
    return by_clients(samples, node, facts, LIMITS, WAITING) if samples else None


def waiting_now(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(NOW)
    return by_clients(samples, node, facts, LIMITS, NOW) if samples else None


def deadlocks(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    key = DEADLOCKS if DEADLOCKS in node.series else INNODB_DEADLOCKS
    samples = node.series.get(key)
    return among(counted(samples, unit="deadlocks", metric=key), transactions(node) or 0.0) if samples else None


def among(found: RuleResult | None, done: float) -> RuleResult | None:
    """A count of deadlocks, judged by its share of these and the `done` transactions."""
    if found is None or not found.value:
        return found
    share = found.value / (found.value + done)
    level = UseLevel.ERROR if share >= MOST_DEADLOCKS else UseLevel.WATCH
    return replace(found, level=level, words=f"{found.words}, {with_unit(100 * share, '%', 2)} of the transactions")


RESOURCE = Resource(
    key="row_locks",
    title="Row locks",
    layer="server",
    question="Do transactions wait for each other's rows?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="row_locks.waiting",
            aspect=Aspect.UTILIZATION,
            title="time in which clients waited for rows",
            unit="%",
            metrics=(WAITING,),
            formula="rate of Innodb_row_lock_time / 1000 / connections of the load on this node",
            limits=LIMITS.words("%"),
            reason="For clients without think time, the share of connections waiting is the share of time, and so of "
            "throughput, lost to row locks; beyond half, more threads only wait for each other. A wait counts when it "
            "ends.",
            literature="Gregg, Systems Performance, 2nd ed., 2.3.12 Saturation and 2.5.9 The USE Method; Little's law",
            sources=SHOWN,
            rule=waiting,
        ),
        Indicator(
            key="row_locks.now",
            aspect=Aspect.SATURATION,
            title="connections waiting for rows",
            unit="%",
            metrics=(NOW,),
            formula="Innodb_row_lock_current_waits / connections of the load on this node",
            limits=LIMITS.words("%"),
            reason="The queue at the moment of the sample: it shows a wait that has not ended, too.",
            literature=f"{MANUAL}, 17.15.2 InnoDB INFORMATION_SCHEMA Transaction and Locking Information",
            sources=SHOWN,
            rule=waiting_now,
        ),
        Indicator(
            key="row_locks.deadlocks",
            aspect=Aspect.ERRORS,
            title="deadlocks",
            unit="deadlocks",
            metrics=(DEADLOCKS, INNODB_DEADLOCKS, COMMITS, *WRITES),
            formula="rise of Innodb_deadlocks, else of lock_deadlocks of INNODB_METRICS, by transactions",
            limits=f"watch {FROM_THE_FIRST}, error from {MOST_DEADLOCKS * 100:g} % of the transactions on",
            reason="A deadlock is no danger to an application that tries again, unless some transactions can hardly "
            "run at all; one in a hundred already moves the 99th percentile.",
            literature=f"{MANUAL}, 17.7.5 Deadlocks in InnoDB",
            sources={
                "MariaDB": "SHOW GLOBAL STATUS",
                "MySQL": "information_schema.INNODB_METRICS",
                "Aurora": "INNODB_METRICS, or Deadlocks of CloudWatch, which were not sampled",
            },
            rule=deadlocks,
            asks=INNODB_METRICS,
        ),
        Indicator(
            key="row_locks.timeouts",
            aspect=Aspect.ERRORS,
            title="waits that timed out",
            unit="timeouts",
            metrics=(TIMEOUTS,),
            formula="rise of lock_timeouts of INNODB_METRICS",
            limits=f"error {FROM_THE_FIRST}",
            reason="A client waited for innodb_lock_wait_timeout, 50 s unless set, and got error 1205.",
            literature=f"{MANUAL}, 17.14 InnoDB Startup Options and System Variables, innodb_lock_wait_timeout",
            sources={
                "MariaDB and MySQL": "information_schema.INNODB_METRICS",
                "Aurora": "INNODB_METRICS, which was not sampled",
            },
            rule=events(TIMEOUTS, unit="timeouts"),
            asks=INNODB_METRICS,
        ),
    ),
)
