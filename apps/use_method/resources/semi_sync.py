"""Semi-synchronous replication on a source: what a commit waits for its replica, and when it no longer waits."""

from dataclasses import replace

import numpy as np

from apps.use_method.indicators import Indicator, Resource, on_servers
from apps.use_method.levels import LevelLimits, counted, for_and_from, judge
from apps.use_method.resources.counters import STATUS
from apps.use_method.resources.parts import held_at
from apps.use_method.resources.replication import READ_ONLY
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

# MariaDB and MySQL before 8.0.26; MySQL since.
SOURCES = ("master", "source")
WAIT_LIMITS = LevelLimits(watch=5.0, saturated=50.0)
OFF = LevelLimits(None, 1.0, level=UseLevel.ERROR)
SHOWN = {
    "MariaDB and MySQL": "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_%'",
    "Galera": "replicates by itself",
    "Aurora": "readers share the writer's volume: see Aurora",
}
MANUAL = "MariaDB manual, Semisynchronous Replication; MySQL manual, Semisynchronous Replication Monitoring"


def _keys(name: str) -> tuple[str, ...]:
    return tuple(f"{STATUS}Rpl_semi_sync_{source}_{name}" for source in SOURCES)


STATE, LATE, WAITS, WAITED = (_keys(name) for name in ("status", "no_tx", "tx_waits", "tx_wait_time"))


def on(node: NodeFacts, facts: RunFacts) -> bool:
    """Sources on which it was enabled: every server has the counters, and a replica may be set up for its promotion."""
    if not on_servers(node, facts):
        return False
    read_only, state = node.series.get(READ_ONLY), _series(node, STATE)
    if state is None or (read_only is not None and np.nanmin(read_only.values, initial=1.0) > 0):
        return False
    enabled = (node.variables.get(f"rpl_semi_sync_{source}_enabled", "").upper() for source in SOURCES)
    return any(value in ("ON", "1") for value in enabled) or bool(np.nanmax(state.values, initial=0.0) > 0)


def _series(node: NodeFacts, keys: tuple[str, ...]) -> MetricSamples | None:
    return next((node.series[key] for key in keys if key in node.series), None)


def _key(node: NodeFacts, keys: tuple[str, ...]) -> str:
    return next((key for key in keys if key in node.series), keys[0])


def wait(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """A second in which no wait ended has no value."""
    number, spent = _series(node, WAITS), _series(node, WAITED)
    if number is None or spent is None or len(number.at) != len(spent.at):
        return None
    each = np.where(number.values > 0, spent.values / 1000 / np.where(number.values > 0, number.values, 1.0), np.nan)
    found = judge(replace(number, values=each), WAIT_LIMITS, unit="ms", metric=_key(node, WAITED))
    return found or RuleResult(UseLevel.OK, None, "no commit waited", _key(node, WAITED))


def off(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    state, read_only = _series(node, STATE), node.series.get(READ_ONLY)
    if state is None:
        return None
    asynchronous = 1.0 - state.values
    if read_only is not None:
        asynchronous = np.where(held_at(read_only, state.at) > 0, 0.0, asynchronous)
    found = judge(replace(state, values=asynchronous), OFF, unit="", metric=_key(node, STATE))
    if found is None:
        return None
    if not found.spans:
        was = "a replica acknowledged all the time" if not np.nansum(asynchronous) else "it was off for a moment"
        return replace(found, value=0.0, words=was, peak=None)
    length = sum(end - start for start, end in found.spans)
    words = f"commits did not wait for a replica {for_and_from(found.spans)}"
    return replace(found, value=length, words=words, peak=None)


def unacknowledged(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = _series(node, LATE)
    return counted(samples, unit="transactions", metric=_key(node, LATE)) if samples else None


RESOURCE = Resource(
    key="semi_sync",
    title="semi-synchronous replication",
    layer="replication",
    question="What does a commit wait for its replica, and is it still acknowledged by one?",
    on=on,
    indicators=(
        Indicator(
            key="semi_sync.wait",
            aspect=Aspect.SATURATION,
            title="wait of a commit for its replica",
            unit="ms",
            metrics=(*WAITED, *WAITS),
            formula="of each second, rise of Rpl_semi_sync_master_tx_wait_time / rise of Rpl_semi_sync_master_tx_waits",
            limits=WAIT_LIMITS.words("ms"),
            reason="Each commit waits until one replica has received it: at 5 ms one connection commits at most 200 "
            "times a second. Within a data centre it is below 1 ms. Waits that end by the timeout are not in it.",
            literature=MANUAL,
            sources=SHOWN,
            rule=wait,
        ),
        Indicator(
            key="semi_sync.off",
            aspect=Aspect.ERRORS,
            title="time without acknowledgement",
            unit="s",
            metrics=(*STATE, READ_ONLY),
            formula="time with Rpl_semi_sync_master_status OFF on a source that has it enabled and accepts writes",
            limits=OFF.words("").replace(" from 1 on", ""),
            reason="No replica acknowledged within rpl_semi_sync_master_timeout, or none is connected: the source goes "
            "on asynchronously, and what it commits meanwhile is lost with it.",
            literature=MANUAL,
            sources=SHOWN,
            rule=off,
        ),
        Indicator(
            key="semi_sync.unacknowledged",
            aspect=Aspect.ERRORS,
            title="commits without acknowledgement",
            unit="transactions",
            metrics=LATE,
            formula="rise of Rpl_semi_sync_master_no_tx",
            limits="error from the first on",
            reason="The client got its acknowledgement, and no replica had the transaction: the timeout had passed.",
            literature=MANUAL,
            sources=SHOWN,
            rule=unacknowledged,
        ),
    ),
)
