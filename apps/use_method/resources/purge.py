"""Purge of old row versions."""

from dataclasses import replace

import numpy as np

from apps.core.units import with_unit
from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits, judge
from apps.use_method.resources.connections import MANUAL
from apps.use_method.resources.counters import STATUS, setting, unseen
from apps.use_method.resources.row_locks import INNODB_METRICS
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

LENGTHS = (STATUS + "Innodb_history_list_length", "mysql.innodb.trx_rseg_history_len")
WATCH, SATURATED = 100_000.0, 1_000_000.0
GROWTH = 100.0  # transactions/s
LEAST = 10.0  # s between the thirds: in less, a list that comes and goes seems to grow
SOURCES = {
    "MariaDB": "SHOW GLOBAL STATUS",
    "MySQL": "information_schema.INNODB_METRICS",
    "Aurora": "INNODB_METRICS, or RollbackSegmentHistoryListLength of CloudWatch, which were not sampled",
}


def length(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    key, samples = _length(node)
    if samples is None:
        return None
    lag = setting(node, "innodb_max_purge_lag")
    limits = LevelLimits(lag / 2, lag) if lag else LevelLimits(WATCH, SATURATED)
    found = judge(samples, limits, unit="transactions", metric=key)
    return found and replace(found, words=f"{found.words}{f'; innodb_max_purge_lag = {lag:,.0f}' if lag else ''}")


def growth(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Growth from the mean of the phase's first third to that of the last, robust against single seconds."""
    key, samples = _length(node)
    if samples is None:
        return None
    seen = ~np.isnan(samples.values)
    at, values = samples.at[seen], samples.values[seen]
    third = len(at) // 3
    apart = float(at[-third:].mean() - at[:third].mean()) if third else 0.0
    if apart < LEAST:
        return unseen("the phase is too short to detect growth")
    first, last = float(values[:third].mean()), float(values[-third:].mean())
    rate = (last - first) / apart
    words = (
        f"from {with_unit(first, 'transactions')} in the first third to {with_unit(last, 'transactions')} in the last"
    )
    if rate < GROWTH:
        return RuleResult(UseLevel.OK, max(0.0, rate), words, key, None)
    return RuleResult(UseLevel.WATCH, rate, words, key, None, ((float(at[0]), float(at[-1])),))


def _length(node: NodeFacts) -> tuple[str, MetricSamples | None]:
    key = LENGTHS[0] if LENGTHS[0] in node.series else LENGTHS[1]
    return key, node.series.get(key)


RESOURCE = Resource(
    key="purge",
    title="Purge",
    layer="server",
    question="Does the server remove old row versions as fast as they are made?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="purge.length",
            aspect=Aspect.SATURATION,
            title="history list",
            unit="transactions",
            metrics=LENGTHS,
            formula="Innodb_history_list_length, else trx_rseg_history_len of INNODB_METRICS",
            limits=LevelLimits(WATCH, SATURATED).words("transactions")
            + "; with innodb_max_purge_lag set: saturated from it on, watch from half of it on",
            reason="Reads pass over row versions that are not purged. The manual names a million for a workload in "
            "trouble; from innodb_max_purge_lag on the server delays every write.",
            literature=f"{MANUAL}, 17.8.9 Purge Configuration",
            sources=SOURCES,
            rule=length,
            asks=INNODB_METRICS,
        ),
        Indicator(
            key="purge.growth",
            aspect=Aspect.SATURATION,
            title="history list growing",
            unit="transactions/s",
            metrics=LENGTHS,
            formula="(mean of the last third of the phase - mean of its first third) / time between them",
            limits=f"watch from {GROWTH:g} transactions/s on, in a phase with {LEAST:g} s between the two thirds",
            reason="Purge falls behind the load: a longer run would become slower.",
            literature=f"{MANUAL}, 17.8.9 Purge Configuration; Schwartz et al., 3rd ed., ch. 8, InnoDB purge",
            sources=SOURCES,
            rule=growth,
            asks=INNODB_METRICS,
        ),
    ),
)
