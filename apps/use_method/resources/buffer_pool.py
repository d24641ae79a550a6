"""InnoDB's buffer pool."""

from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits, judge
from apps.use_method.resources.connections import MANUAL, SHOWN
from apps.use_method.resources.counters import (
    FEWEST_SERVED,
    QUESTIONS,
    SAMPLING,
    STATUS,
    for_each_statement,
    gauge,
    setting,
    stall_words,
    stalls,
    with_words,
)
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts

USED, DIRTY = "derived.buffer_pool.used", "derived.buffer_pool.dirty"
READS, MISSES = STATUS + "Innodb_buffer_pool_reads", "derived.buffer_pool.misses_per_statement"
WAITS = STATUS + "Innodb_buffer_pool_wait_free"
USED_LIMITS = LevelLimits(None, None)
MISS_LIMITS = LevelLimits(watch=0.1, saturated=1.0)
WAIT_LIMITS = LevelLimits(watch=None, saturated=1.0)
# Share of innodb_max_dirty_pages_pct; its value if the server does not report it.
NEAR, DIRTY_DEFAULT = 0.9, 90.0


def dirty(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(DIRTY)
    if samples is None:
        return None
    most = setting(node, "innodb_max_dirty_pages_pct") or DIRTY_DEFAULT
    found = judge(samples, LevelLimits(NEAR * most, most), unit="%", metric=DIRTY)
    return with_words(found, f"; from {most:g} % on the server flushes at its maximum rate")


RESOURCE = Resource(
    key="buffer_pool",
    title="Buffer pool",
    layer="server",
    question="Does the data in use fit in memory, and are free pages available?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="buffer_pool.used",
            aspect=Aspect.UTILIZATION,
            title="pages in use",
            unit="%",
            metrics=(USED,),
            formula="(pages_total - pages_free) / pages_total",
            limits="none: a full pool is normal, and only its misses show whether it is too small",
            reason="With free pages left, all data read so far fits in memory.",
            literature=f"{MANUAL}, 17.5.1 Buffer Pool",
            sources=SHOWN,
            rule=gauge(USED, USED_LIMITS, "%"),
        ),
        Indicator(
            key="buffer_pool.dirty",
            aspect=Aspect.SATURATION,
            title="dirty pages",
            unit="%",
            metrics=(DIRTY,),
            formula="pages_dirty / pages_total",
            limits=f"watch from {NEAR * 100:.0f} % of innodb_max_dirty_pages_pct on, saturated from 100 % of it on",
            reason="From there on the server writes pages at its maximum rate, at the expense of other disk requests.",
            literature=f"{MANUAL}, 17.8.3.5 Configuring Buffer Pool Flushing",
            sources=SHOWN,
            rule=dirty,
        ),
        Indicator(
            key="buffer_pool.misses",
            aspect=Aspect.SATURATION,
            title="disk reads that a statement waits for",
            unit="reads",
            metrics=(READS, QUESTIONS, SAMPLING, MISSES),
            formula="Innodb_buffer_pool_reads / Questions",
            limits=f"{MISS_LIMITS.words('reads')}, while there are {FEWEST_SERVED:g} statements/s",
            reason="From 1 on the average statement waits for a disk at least once, so the disk sets its duration. The "
            "ratio of misses to page reads is less informative: each statement reads many pages from memory.",
            literature="Schwartz et al., High Performance MySQL, 3rd ed., ch. 8, The InnoDB Buffer Pool",
            sources=SHOWN,
            rule=for_each_statement(READS, MISS_LIMITS, by=1.0, unit="reads", opens=MISSES),
            digits=2,
        ),
        Indicator(
            key="buffer_pool.wait_free",
            aspect=Aspect.SATURATION,
            title="waits for a free page",
            unit="waits",
            metrics=(WAITS,),
            formula="rise of Innodb_buffer_pool_wait_free",
            limits=stall_words(WAIT_LIMITS, "waits"),
            reason="No clean page was left: a statement waited for a page to be written before it could read its own.",
            literature=f"{MANUAL}, 7.1.10 Server Status Variables",
            sources=SHOWN,
            rule=stalls(WAITS, WAIT_LIMITS, "waits"),
        ),
    ),
)
