"""Rules shared by many counters and gauges of a server, and facts about a server beside its series."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from apps.use_method.indicators import Rule
from apps.use_method.levels import LevelLimits, counted, judge, mean, total
from apps.use_method.values import MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

STATUS = "mysql.status."
CONNECTED, RUNNING = STATUS + "Threads_connected", STATUS + "Threads_running"
SAMPLING = "agent.statements"
# Threads_running includes threads that send to replicas and, in MariaDB, that receive and apply, though they serve no
# client. MySQL counts its replicas only where they acknowledge.
DUMPS = STATUS + "Slaves_connected"
ACKNOWLEDGE = tuple(STATUS + f"Rpl_semi_sync_{name}_clients" for name in ("source", "master"))
REPLICA = ("mysql.replication.io_running", "mysql.replication.sql_running")
BESIDE = (DUMPS, *ACKNOWLEDGE, *REPLICA)
QUESTIONS, COMMITS = STATUS + "Questions", STATUS + "Com_commit"
WRITES = tuple(STATUS + name for name in ("Com_insert", "Com_update", "Com_delete"))
FROM_THE_FIRST = "from the first on"
# Checks of proxies and monitoring tools are statements, too.
FEWEST_SERVED = 50.0  # statements/s


def gauge(key: str, limits: LevelLimits, unit: str) -> Rule:
    """Judge the value as it is."""

    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        samples = node.series.get(key)
        return judge(samples, limits, unit=unit, metric=key) if samples else None

    return rule


def events(*keys: str, unit: str, level: UseLevel = UseLevel.ERROR) -> Rule:
    """For counters that should not rise; the first of `keys` that the node has: `level` from one event on."""

    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        for key in keys:
            if key in node.series:
                return counted(node.series[key], unit=unit, metric=key, level=level)
        return None

    return rule


def stalls(key: str, limits: LevelLimits, unit: str) -> Rule:
    """For a counter of waits: `limits` on its rate, and watch from the first wait on."""

    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        samples = node.series.get(key)
        if samples is None:
            return None
        found = judge(samples, limits, unit=f"{unit}/s", metric=key)
        number = counted(samples, unit=unit, metric=key, level=UseLevel.WATCH)
        if found is None or number is None:
            return None
        if found.level is UseLevel.OK:
            return number
        return replace(found, value=number.value, words=f"{number.words}; {found.words}", peak=number.peak)

    return rule


def stall_words(limits: LevelLimits, unit: str) -> str:
    return f"watch {FROM_THE_FIRST}, {limits.words(f'{unit}/s')}"


def unseen(words: str) -> RuleResult:
    return RuleResult(UseLevel.NOT_OBSERVABLE, None, words)


def scaled(samples: MetricSamples, factor: float) -> MetricSamples:
    return replace(samples, values=samples.values * factor)


def with_words(found: RuleResult | None, more: str) -> RuleResult | None:
    return found and replace(found, words=f"{found.words}{more}")


def setting(node: NodeFacts, name: str) -> float | None:
    """A server variable as a number; None: unknown, or not a number."""
    try:
        return float(node.variables[name])
    except (KeyError, ValueError):
        return None


def share_of(key: str, variable: str, limits: LevelLimits) -> Rule:
    """A gauge relative to the server variable that limits it, %."""

    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        samples, most = node.series.get(key), setting(node, variable)
        if samples is None:
            return None
        if not most:
            return unseen(f"the server's {variable} is not known")
        found = judge(scaled(samples, 100 / most), limits, unit="%", metric=key)
        return with_words(found, f", of {variable} = {most:,.0f}")

    return rule


def clients(node: NodeFacts, facts: RunFacts) -> float:
    """Connections of the load on this node: at most its threads, and at most the node's without the sampler's."""
    samples = node.series.get(CONNECTED)
    seen = samples.values[~np.isnan(samples.values)] if samples else ()
    here = max(1.0, float(np.percentile(seen, 90)) - 1) if len(seen) else float(facts.threads)
    return min(float(facts.threads), here) if facts.threads > 1 else here


def by_clients(
    samples: MetricSamples, node: NodeFacts, facts: RunFacts, limits: LevelLimits, metric: str
) -> RuleResult | None:
    """Waiters as a share of the connections that could wait, %."""
    number = clients(node, facts)
    found = judge(scaled(samples, 100 / number), limits, unit="%", metric=metric)
    waiting = mean(samples)
    if found is None or not waiting:
        return found
    return with_words(found, f"; {waiting:.3g} of {number:.0f} connections at once on average")


def for_each_statement(key: str, limits: LevelLimits, *, by: float, unit: str, opens: str) -> Rule:
    """Increase of a counter per statement, times `by`, in seconds with enough client statements: a server's own
    activity does not count. `opens`: the derived metric of the same quantity, if it exists."""

    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        if key not in node.series or QUESTIONS not in node.series:
            return None
        counter, asked = together(node.series, (key, QUESTIONS))
        served = asked.values - own_statements(node)
        each = np.full(len(served), np.nan)
        np.divide(by * counter.values, served, out=each, where=served >= FEWEST_SERVED)
        if np.isnan(each).all():
            return unseen(f"fewer than {FEWEST_SERVED:g} statements/s")
        metric = opens if opens in node.series else key
        return judge(replace(counter, values=each), limits, unit=unit, metric=metric)

    return rule


def own_statements(node: NodeFacts) -> float:
    """Statements of sampling, 1/s; 1 if they were not counted."""
    samples = node.series.get(SAMPLING)
    found = mean(samples) if samples else None
    return 1.0 if found is None else found


def idle_running(node: NodeFacts) -> float:
    """Threads_running without client statements: the sampler's own and those of replication, mean of the phase."""
    version = node.variables.get("version", "").lower()
    keys = ACKNOWLEDGE if version and "mariadb" not in version else (DUMPS, *REPLICA)
    return 1.0 + sum(mean(node.series[key]) or 0.0 for key in keys if key in node.series)


def transactions(node: NodeFacts) -> float | None:
    """Client transactions committed in the phase: COMMIT statements, else autocommitted writes; None: not observed."""
    commits = total(node.series[COMMITS]) if COMMITS in node.series else None
    if commits:
        return commits
    writes = [total(node.series[key]) for key in WRITES if key in node.series]
    return sum(found for found in writes if found is not None) if writes else commits


def together(series: Mapping[str, MetricSamples], keys: Sequence[str]) -> list[MetricSamples]:
    """The series of `keys` at the times at which all of them were sampled."""
    at = series[keys[0]].at
    for key in keys[1:]:
        at = np.intersect1d(at, series[key].at)
    return [series[key].cut(np.isin(series[key].at, at)) for key in keys]
