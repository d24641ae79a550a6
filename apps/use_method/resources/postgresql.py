"""A server of PostgreSQL: its sessions and their locks."""

from apps.use_method.indicators import Indicator, Resource, on_postgresql
from apps.use_method.levels import counted, total
from apps.use_method.resources.connections import USED_LIMITS
from apps.use_method.resources.counters import FROM_THE_FIRST, by_clients, share_of
from apps.use_method.resources.row_locks import LIMITS, MOST_DEADLOCKS, among
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts

SESSIONS, LOCKED = "postgresql.sessions.total", "postgresql.waiting.lock"
DEADLOCKS, COMMITTED = "postgresql.database.deadlocks", "postgresql.database.xact_commit"
MANUAL = "PostgreSQL 17 Documentation"


def waiting(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(LOCKED)
    return by_clients(samples, node, facts, LIMITS, LOCKED) if samples else None


def deadlocks(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(DEADLOCKS)
    done = (total(node.series[COMMITTED]) or 0.0) if COMMITTED in node.series else 0.0
    return among(counted(samples, unit="deadlocks", metric=DEADLOCKS), done) if samples else None


RESOURCE = Resource(
    key="postgresql",
    title="Sessions and locks of PostgreSQL",
    layer="server",
    question="Do sessions find a free connection, and do they wait for each other?",
    on=on_postgresql,
    indicators=(
        Indicator(
            key="postgresql.connections",
            aspect=Aspect.UTILIZATION,
            title="client sessions of max_connections",
            unit="%",
            metrics=(SESSIONS,),
            formula="client sessions of all databases / max_connections",
            limits=USED_LIMITS.words("%"),
            reason="At 100 % the next client is refused; some are reserved (superuser_reserved_connections).",
            literature=f"{MANUAL}, 20.3 Connections and Authentication: max_connections",
            sources={"PostgreSQL": "pg_stat_activity"},
            rule=share_of(SESSIONS, "max_connections", USED_LIMITS),
        ),
        Indicator(
            key="postgresql.lock_waits",
            aspect=Aspect.SATURATION,
            title="sessions waiting for locks",
            unit="%",
            metrics=(LOCKED,),
            formula="client sessions in a statement with wait_event_type Lock / connections of the load",
            limits=LIMITS.words("%"),
            reason="As for row locks: for clients without think time the share of sessions waiting is the share of "
            "throughput lost. It is counted at the moment of the sample.",
            literature=f"{MANUAL}, 27.2.3 pg_stat_activity, Wait Events of Type Lock",
            sources={"PostgreSQL": "pg_stat_activity; of other roles' sessions with pg_monitor only"},
            rule=waiting,
        ),
        Indicator(
            key="postgresql.deadlocks",
            aspect=Aspect.ERRORS,
            title="deadlocks",
            unit="deadlocks",
            metrics=(DEADLOCKS, COMMITTED),
            formula="rise of deadlocks in pg_stat_database, by committed transactions",
            limits=f"watch {FROM_THE_FIRST}, error from {MOST_DEADLOCKS * 100:g} % of the transactions on",
            reason="A deadlock is found after deadlock_timeout, 1 s unless set, and one transaction is cancelled.",
            literature=f"{MANUAL}, 13.3.4 Deadlocks",
            sources={"PostgreSQL": "pg_stat_database"},
            rule=deadlocks,
        ),
    ),
)
