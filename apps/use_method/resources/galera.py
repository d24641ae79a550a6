"""Galera on a node: flow control, apply queue, certification failures, cluster membership."""

import re
from dataclasses import replace

import numpy as np

from apps.core.units import NBSP, with_unit
from apps.use_method.indicators import Indicator, Resource, on_servers
from apps.use_method.levels import LevelLimits, counted, for_and_from, judge, peak, steps, stretches, total
from apps.use_method.values import Aspect, Floats, MetricSamples, NodeFacts, RuleResult, RunFacts, Span, UseLevel

STATUS = "mysql.status.wsrep_"
STATE, PRIMARY, READY = STATUS + "local_state", STATUS + "cluster_status", STATUS + "ready"
PAUSES_FROM = STATUS + "flow_control_interval_high"
SIZE, SENT = STATUS + "cluster_size", STATUS + "flow_control_sent"
RECEIVING, SENDING = STATUS + "local_recv_queue", STATUS + "local_send_queue"
FAILURES, ABORTS, COMMITS = STATUS + "local_cert_failures", STATUS + "local_bf_aborts", STATUS + "local_commits"
TIMED = STATUS + "evs_repl_latency_samples"
PAUSED, LATENCY, TRAFFIC = "derived.galera.paused", "derived.galera.latency", "derived.galera.traffic"
STATES = {0: "alone", 1: "joining", 2: "donor or desynced", 3: "joined, catching up", 4: "synced"}
SYNCED = 4

PAUSED_LIMITS = LevelLimits(watch=1.0, saturated=10.0)
# Flow control empties a full queue at once, so that few samples see it full.
QUEUE_SHARE = 0.05
SENDING_LIMITS = LevelLimits(watch=1.0, saturated=10.0)
LATENCY_LIMITS = LevelLimits(watch=5.0, saturated=50.0)
REFUSED = 1.0  # % of the node's own transactions from which on refusals are an error
CODERSHIP = "Galera Cluster documentation"
MANUAL = f"{CODERSHIP}, Monitoring the Cluster: Checking the Replication Health"
CONFLICTS = f"{CODERSHIP}, Dealing with Multi-Master Conflicts"
SOURCES = {"Galera": "SHOW GLOBAL STATUS"}


def has_galera(node: NodeFacts) -> bool:
    """A server without Galera has some of its variables, but no state."""
    return STATE in node.series


def on(node: NodeFacts, facts: RunFacts) -> bool:
    return on_servers(node, facts) and any(map(has_galera, facts.nodes))


def members(facts: RunFacts) -> int:
    return sum(on_servers(node, facts) for node in facts.nodes)


def traffic(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(TRAFFIC)
    return judge(samples, LevelLimits(None, None), unit="bytes/s", metric=TRAFFIC) if samples else None


def paused(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(PAUSED)
    return judge(samples, PAUSED_LIMITS, unit="%", metric=PAUSED) if samples else None


def asked(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    """Each second of pause times this node's share of the pause requests: those of that second, or if none was sent in
    it, of the last second with any."""
    if SENT not in node.series or PAUSED not in node.series:
        return None
    at = node.series[SENT].at
    requests = [_on(at, each.series[SENT]) for each in facts.nodes if SENT in each.series]
    everybody, own = np.sum(requests, axis=0), _on(at, node.series[SENT])
    pause = np.max([_on(at, each.series[PAUSED]) for each in facts.nodes if PAUSED in each.series], axis=0)
    share, values = 0.0, np.zeros(len(at))
    for place, number in enumerate(everybody):
        share = float(own[place] / number) if number else share
        values[place] = share * pause[place]
    found = judge(replace(node.series[SENT], values=values), PAUSED_LIMITS, unit="%", metric=SENT)
    number = total(node.series[SENT])
    if found is None or number is None:
        return None
    words = f"{with_unit(round(number), 'requests')} to pause" + (f"; {found.words}" if number >= 1 else "")
    return replace(found, words=words)


def _on(at: Floats, samples: MetricSamples) -> Floats:
    """The sample nearest to each time; 0 if nothing was observed within two seconds."""
    places = np.searchsorted((samples.at[1:] + samples.at[:-1]) / 2, at)
    near = np.abs(samples.at[places] - at) <= 2
    return np.where(near, np.nan_to_num(samples.values[places]), 0.0)


def flow_limit(node: NodeFacts, facts: RunFacts) -> float | None:
    """Write sets in the queue from which on the node requests a pause, as reported by Percona XtraDB Cluster; else
    gcs.fc_limit times the root of the number of nodes, without the root if the cluster is configured for one writer.
    None: not known. Its default differs between MariaDB and Percona XtraDB Cluster."""
    reported = peak(node.series[PAUSES_FROM]) if PAUSES_FROM in node.series else None
    if reported:
        return reported
    options = dict(re.findall(r"([\w.]+) = ([^;]*)", node.variables.get("wsrep_provider_options", "")))
    if "gcs.fc_limit" not in options:
        return None
    limit = float(options["gcs.fc_limit"])
    one_writer = "yes" in (options.get("gcs.fc_single_primary"), options.get("gcs.fc_master_slave"))
    return limit if one_writer else limit * max(1, members(facts)) ** 0.5


def receiving(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(RECEIVING)
    if samples is None:
        return None
    known = flow_limit(node, facts)
    if known is None:
        found = judge(samples, LevelLimits(None, None), unit="write sets", metric=RECEIVING)
        return found and replace(found, words=f"{found.words}; gcs.fc_limit is not known: no limit of it is judged")
    limit = round(known, 1)
    limits = LevelLimits(watch=limit / 2, saturated=limit, share=QUEUE_SHARE, least=1)
    found = judge(samples, limits, unit="write sets", metric=RECEIVING)
    pause = (
        f"from {limit:g} on it requests a pause, which empties the queue: {100 * QUEUE_SHARE:g} % of the time is much"
    )
    return found and replace(found, words=f"{found.words}; {pause}")


def sending(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(SENDING)
    return judge(samples, SENDING_LIMITS, unit="write sets", metric=SENDING) if samples else None


def latency(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Galera reports a mean that restarts each report period: split into means per second by the number of messages. A
    second without a message has none."""
    means, numbers = node.series.get(LATENCY), node.series.get(TIMED)
    if means is None or numbers is None or len(means.at) != len(numbers.at):
        return None
    grown = np.diff(numbers.values)
    before = np.where(grown < 0, 0.0, numbers.values[:-1])
    number = numbers.values[1:] - before
    spent = means.values[1:] * numbers.values[1:] - np.where(grown < 0, 0.0, means.values[:-1]) * before
    of_each = np.where(number > 0, np.maximum(spent, 0.0) / np.where(number > 0, number, 1.0), np.nan)
    each_second = MetricSamples(means.at[1:], of_each, since=means.at[:-1])
    found = judge(each_second, LATENCY_LIMITS, unit="ms", metric=LATENCY)
    return found or RuleResult(UseLevel.OK, None, "no message was replicated", LATENCY)


def certification(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    return _refused(node, FAILURES, "transactions")


def aborts(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    return _refused(node, ABORTS, "transactions")


def _refused(node: NodeFacts, key: str, unit: str) -> RuleResult | None:
    samples = node.series.get(key)
    found = counted(samples, unit=unit, metric=key, level=UseLevel.WATCH) if samples else None
    if found is None or not found.value:
        return found
    done = total(node.series[COMMITS]) if COMMITS in node.series else None
    share = 100 * found.value / (found.value + (done or 0.0))
    level = UseLevel.ERROR if share >= REFUSED else UseLevel.WATCH
    return replace(found, level=level, words=f"{found.words}; {share:.2g}{NBSP}% of its own transactions")


def size(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(SIZE)
    if samples is None or np.isnan(samples.values).all():
        return None
    most = max(members(facts), int(np.nanmax(samples.values)))
    least = int(np.nanmin(samples.values))
    spans = tuple(stretches(samples, samples.values < most))
    if not spans:
        return RuleResult(UseLevel.OK, float(least), f"all {most}", SIZE, float(most))
    return RuleResult(
        UseLevel.ERROR, float(least), f"{least} of {most} nodes {for_and_from(spans)}", SIZE, float(most), spans
    )


def state(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(STATE)
    if samples is None or np.isnan(samples.values).all():
        return None
    other = ~np.isnan(samples.values) & (samples.values != SYNCED)
    refusing = max(_zero(node, PRIMARY), _zero(node, READY), key=len)
    spans = tuple(stretches(samples, other)) or refusing
    length = float(steps(samples)[other].sum())
    if not spans:
        return RuleResult(UseLevel.OK, 0.0, "synced all the time", STATE)
    first = int(samples.values[other][0]) if other.any() else SYNCED
    words = f"{STATES.get(first, 'in an unknown state')} {for_and_from(spans)}"
    if refusing:
        words += f"; it refused statements {for_and_from(refusing)}"
    level = UseLevel.ERROR if refusing or first in (0, 1) else UseLevel.WATCH
    return RuleResult(level, length, words, STATE, None, spans)


def _zero(node: NodeFacts, key: str) -> tuple[Span, ...]:
    samples = node.series.get(key)
    return tuple(stretches(samples, samples.values == 0)) if samples else ()


RESOURCE = Resource(
    key="galera",
    title="Galera",
    layer="replication",
    question="Does one node hold back the others, and do all take part?",
    on=on,
    indicators=(
        Indicator(
            key="galera.traffic",
            aspect=Aspect.UTILIZATION,
            title="write sets in and out",
            unit="bytes/s",
            metrics=(TRAFFIC, STATE),
            formula="rise of (wsrep_replicated_bytes + wsrep_received_bytes) / time",
            limits="none: no limit of it is known; see the network",
            reason="Every node sends and receives all changes of all nodes.",
            literature=f"{CODERSHIP}, Galera Status Variables",
            sources=SOURCES,
            rule=traffic,
        ),
        Indicator(
            key="galera.paused",
            aspect=Aspect.SATURATION,
            title="paused by flow control",
            unit="%",
            metrics=(PAUSED,),
            formula="rise of wsrep_flow_control_paused_ns / time",
            limits=PAUSED_LIMITS.words("%"),
            reason="While it is paused no node of the cluster commits. The share since the server's start, "
            "wsrep_flow_control_paused, hides when; losing a tenth of each second affects every percentile.",
            literature=f"{MANUAL}; Schwartz, Zaitsev, Tkachenko, High Performance MySQL, 3rd ed. 2012, chapter 12",
            sources=SOURCES,
            rule=paused,
        ),
        Indicator(
            key="galera.asked",
            aspect=Aspect.SATURATION,
            title="pauses requested",
            unit="%",
            metrics=(SENT, PAUSED),
            formula="paused share of each second x its part of the rise of wsrep_flow_control_sent over all nodes",
            limits=PAUSED_LIMITS.words("%"),
            reason="All nodes are paused alike; the one that requests it cannot apply as fast as others write.",
            literature=f"{CODERSHIP}, Flow Control; Managing Flow Control: Monitoring Flow Control",
            sources=SOURCES,
            rule=asked,
        ),
        Indicator(
            key="galera.receive_queue",
            aspect=Aspect.SATURATION,
            title="write sets to apply",
            unit="write sets",
            metrics=(RECEIVING, PAUSES_FROM),
            formula="wsrep_local_recv_queue",
            limits="watch from half, saturated from all of wsrep_flow_control_interval_high on, else of gcs.fc_limit x "
            "√nodes (without the root where the cluster is configured for one writer), "
            f"{LevelLimits(None, 1.0, share=QUEUE_SHARE).held()}; none where neither is known",
            reason="At the limit the node requests a pause of all others. The pause empties the queue at once, so that "
            "samples once a second rarely find it full: one in twenty is much.",
            literature=f"{MANUAL}; MariaDB manual, wsrep_provider_options: gcs.fc_limit, gcs.fc_single_primary; "
            "Percona XtraDB Cluster manual, Index of wsrep status variables",
            sources={"Galera": "SHOW GLOBAL STATUS, wsrep_provider_options"},
            rule=receiving,
        ),
        Indicator(
            key="galera.send_queue",
            aspect=Aspect.SATURATION,
            title="write sets to send",
            unit="write sets",
            metrics=(SENDING,),
            formula="wsrep_local_send_queue",
            limits=SENDING_LIMITS.words("write sets"),
            reason="Commits of this node that wait for the network, or for the end of a pause.",
            literature=f"{CODERSHIP}, Monitoring the Cluster: Checking Node Throughput / Network",
            sources=SOURCES,
            rule=sending,
        ),
        Indicator(
            key="galera.latency",
            aspect=Aspect.SATURATION,
            title="time to replicate a message",
            unit="ms",
            metrics=(LATENCY, TIMED),
            formula="of each second, from the mean and number of wsrep_evs_repl_latency, which begin anew each "
            "evs.stats_report_period",
            limits=LATENCY_LIMITS.words("ms"),
            reason="Each commit waits for one: at 5 ms one connection commits at most 200 times a second. Within a "
            "data centre it is below 1 ms, between continents 100 ms and more. A starved node shows here too.",
            literature=f"{CODERSHIP}, Galera Status Variables: wsrep_evs_repl_latency",
            sources=SOURCES,
            rule=latency,
        ),
        Indicator(
            key="galera.certification",
            aspect=Aspect.ERRORS,
            title="transactions that failed certification",
            unit="transactions",
            metrics=(FAILURES, COMMITS),
            formula="rise of wsrep_local_cert_failures",
            limits=f"watch from the first on, error from {REFUSED:g} % of its own transactions on",
            reason="Another node changed the same row first: the client gets a deadlock at COMMIT and must run the "
            "transaction again. A few are the cost of several writers; more are wasted work.",
            literature=CONFLICTS,
            sources=SOURCES,
            rule=certification,
        ),
        Indicator(
            key="galera.aborts",
            aspect=Aspect.ERRORS,
            title="transactions that gave way to write sets",
            unit="transactions",
            metrics=(ABORTS, COMMITS),
            formula="rise of wsrep_local_bf_aborts",
            limits=f"watch from the first on, error from {REFUSED:g} % of its own transactions on",
            reason="A replicated change needed a row that a local transaction had locked: the local one is rolled back "
            "(brute force), since the cluster has committed the change.",
            literature=CONFLICTS,
            sources=SOURCES,
            rule=aborts,
        ),
        Indicator(
            key="galera.size",
            aspect=Aspect.ERRORS,
            title="nodes in its cluster",
            unit="nodes",
            metrics=(SIZE,),
            formula="least wsrep_cluster_size, against the system's servers",
            limits="error while a node is missing",
            reason="A missing node failed, is being shut down, or is partitioned from the others.",
            literature=f"{CODERSHIP}, Monitoring the Cluster: Checking Cluster Integrity",
            sources=SOURCES,
            rule=size,
        ),
        Indicator(
            key="galera.state",
            aspect=Aspect.ERRORS,
            title="time out of sync",
            unit="s",
            metrics=(STATE, PRIMARY, READY),
            formula="time with wsrep_local_state other than 4",
            limits="watch while it is donor, desynced or catching up; error while it joins, is alone, outside the "
            "primary component, or not ready",
            reason="A desynced node falls behind without asking for pauses, and most proxies send it nothing; one "
            "outside the primary component refuses all statements.",
            literature=f"{CODERSHIP}, Monitoring the Cluster: Checking the Node Status",
            sources=SOURCES,
            rule=state,
        ),
    ),
)
