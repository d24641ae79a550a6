"""MySQL Group Replication on a member: certification, applier, flow control, conflicts, membership."""

from dataclasses import replace

import numpy as np

from apps.core.units import NBSP
from apps.use_method.indicators import Indicator, Resource, Rule, on_servers
from apps.use_method.levels import LevelLimits, counted, for_and_from, judge, steps, stretches, total
from apps.use_method.resources.counters import setting
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

GROUP, STATUS = "mysql.group.", "mysql.status.Gr_"
STATE, ONLINE_MEMBERS = GROUP + "state", GROUP + "online"
TO_CERTIFY, TO_APPLY = GROUP + "certification_queue", GROUP + "applier_queue"
CERTIFIED, CONFLICTS = GROUP + "certified", GROUP + "conflicts"
PROPOSED, ROLLED_BACK = GROUP + "proposed", GROUP + "rolled_back"
MESSAGES = STATUS + "data_messages_sent_count"
THROTTLED, LATENCY, TRAFFIC = "derived.group.throttled", "derived.group.latency", "derived.group.traffic"
STATES = {0: "OFFLINE", 1: "ERROR", 2: "UNREACHABLE", 3: "RECOVERING", 4: "ONLINE"}
RECOVERING, ONLINE = 3, 4

# A single thread applies some thousand small transactions a second: see asynchronous replication.
QUEUE_WATCH = 1000.0
QUEUE_LIMIT = 25_000.0
# Flow control drains a full queue, so that few samples see it full.
QUEUE_SHARE = 0.05
THROTTLED_LIMITS = LevelLimits(watch=0.1, saturated=1.0)
LATENCY_LIMITS = LevelLimits(watch=5.0, saturated=50.0)
REFUSED = 1.0  # % from which on refusals are an error
MANUAL = "MySQL Reference Manual, Group Replication"
PLATFORM = "MySQL Group Replication"
STATS = {PLATFORM: "performance_schema.replication_group_member_stats, once a second"}
MEMBERS = {PLATFORM: "performance_schema.replication_group_members, once a second"}
SHOW_STATUS = {PLATFORM: "SHOW GLOBAL STATUS, since MySQL 8.1"}
ASKS = ("state of the group",)
MODE = "group_replication_flow_control_mode"
COMPONENT = (
    "flow control does not report its pauses; INSTALL COMPONENT 'file://component_group_replication_flow_control_stats'"
)


def on(node: NodeFacts, facts: RunFacts) -> bool:
    return on_servers(node, facts) and any(STATE in each.series for each in facts.nodes)


def traffic(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(TRAFFIC)
    return judge(samples, LevelLimits(None, None), unit="bytes/s", metric=TRAFFIC) if samples else None


def throttled(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(THROTTLED)
    if samples is None:
        return RuleResult(UseLevel.NOT_OBSERVABLE, None, COMPONENT) if STATE in node.series else None
    return judge(samples, THROTTLED_LIMITS, unit="transactions", metric=THROTTLED)


def _queue(key: str, variable: str) -> Rule:
    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        samples = node.series.get(key)
        if samples is None:
            return None
        if node.variables.get(MODE, "").upper() == "DISABLED":
            found = judge(samples, LevelLimits(QUEUE_WATCH, None), unit="transactions", metric=key)
            return found and replace(found, words=f"{found.words}; flow control is off: nothing holds back writers")
        threshold = setting(node, variable)
        # At a threshold of 0 the first transaction that waits holds them back.
        limit = QUEUE_LIMIT if threshold is None else max(threshold, 1.0)
        limits = LevelLimits(watch=min(QUEUE_WATCH, limit / 2), saturated=limit, share=QUEUE_SHARE, least=1)
        found = judge(samples, limits, unit="transactions", metric=key)
        return found and replace(found, words=f"{found.words}; from {limit:,g} on flow control holds back writers")

    return rule


def latency(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(LATENCY)
    if samples is None:
        return None
    found = judge(samples, LATENCY_LIMITS, unit="ms", metric=LATENCY)
    return found or RuleResult(UseLevel.OK, None, "it sent no transaction", LATENCY)


def _refused(key: str, of: str, words: str) -> Rule:
    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        samples = node.series.get(key)
        found = counted(samples, unit="transactions", metric=key, level=UseLevel.WATCH) if samples else None
        if found is None or not found.value:
            return found
        share = 100 * found.value / max((total(node.series[of]) if of in node.series else None) or 0.0, found.value)
        level = UseLevel.ERROR if share >= REFUSED else UseLevel.WATCH
        return replace(found, level=level, words=f"{found.words}; {share:.2g}{NBSP}% of {words}")

    return rule


def size(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(ONLINE_MEMBERS)
    if samples is None or np.isnan(samples.values).all():
        return None
    most = max(sum(on_servers(each, facts) for each in facts.nodes), int(np.nanmax(samples.values)))
    least = int(np.nanmin(samples.values))
    spans = tuple(stretches(samples, samples.values < most))
    if not spans:
        return RuleResult(UseLevel.OK, float(least), f"all {most}", ONLINE_MEMBERS, float(most))
    words = f"{least} of {most} members {for_and_from(spans)}"
    return RuleResult(UseLevel.ERROR, float(least), words, ONLINE_MEMBERS, float(most), spans)


def state(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(STATE)
    if samples is None or np.isnan(samples.values).all():
        return None
    other = ~np.isnan(samples.values) & (samples.values != ONLINE)
    if not other.any():
        return RuleResult(UseLevel.OK, 0.0, "ONLINE all the time", STATE)
    spans = tuple(stretches(samples, other))
    worst = int(samples.values[other].min())
    words = f"{STATES.get(worst, 'in an unknown state')} {for_and_from(spans)}"
    level = UseLevel.WATCH if worst == RECOVERING else UseLevel.ERROR
    return RuleResult(level, _length(samples, other), words, STATE, None, spans)


def _length(samples: MetricSamples, where: "np.typing.NDArray[np.bool_]") -> float:
    return float(steps(samples)[where].sum())


def _limits_of(variable: str) -> str:
    return (
        f"watch from {QUEUE_WATCH:,g}{NBSP}transactions on, or half of {variable} where that is less; saturated from "
        f"all of it on, {LevelLimits(None, 1.0, share=QUEUE_SHARE).held()}; watch alone where {MODE} is DISABLED"
    )


CERTIFIER_THRESHOLD = "group_replication_flow_control_certifier_threshold"
APPLIER_THRESHOLD = "group_replication_flow_control_applier_threshold"

RESOURCE = Resource(
    key="group_replication",
    title="Group Replication",
    layer="replication",
    question="Does one member hold back the others, and do all take part?",
    on=on,
    indicators=(
        Indicator(
            key="group_replication.traffic",
            aspect=Aspect.UTILIZATION,
            title="messages in and out",
            unit="bytes/s",
            metrics=(TRAFFIC, STATE),
            formula="rise of (Gr_consensus_bytes_sent_sum + Gr_consensus_bytes_received_sum) / time",
            limits="none: no limit of it is known; see the network",
            reason="The member that writes sends every change to all others.",
            literature=f"{MANUAL}: Group Replication Status Variables",
            sources=SHOW_STATUS,
            rule=traffic,
        ),
        Indicator(
            key="group_replication.throttled",
            aspect=Aspect.SATURATION,
            title="held back by flow control",
            unit="transactions",
            metrics=(THROTTLED,),
            formula="rise of Gr_flow_control_throttle_time_sum / time",
            limits=THROTTLED_LIMITS.words("transactions"),
            reason="Transactions that wait because some member's queue is full: at one, a whole connection does "
            "nothing else.",
            literature=f"{MANUAL}: Flow Control; Monitoring Flow Control",
            sources={PLATFORM: "SHOW GLOBAL STATUS, with component_group_replication_flow_control_stats"},
            rule=throttled,
        ),
        Indicator(
            key="group_replication.certification_queue",
            aspect=Aspect.SATURATION,
            title="transactions to certify",
            unit="transactions",
            metrics=(TO_CERTIFY,),
            formula="COUNT_TRANSACTIONS_IN_QUEUE",
            limits=_limits_of(CERTIFIER_THRESHOLD),
            reason="A commit waits until it is certified. At the threshold all members write less, which drains the "
            "queue, so that samples once a second rarely find it full: one in twenty is much.",
            literature=f"{MANUAL}: The replication_group_member_stats Table; Flow Control",
            sources=STATS,
            rule=_queue(TO_CERTIFY, CERTIFIER_THRESHOLD),
            asks=ASKS,
        ),
        Indicator(
            key="group_replication.applier_queue",
            aspect=Aspect.SATURATION,
            title="transactions to apply",
            unit="transactions",
            metrics=(TO_APPLY,),
            formula="COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE",
            limits=_limits_of(APPLIER_THRESHOLD),
            reason="Reads of this member are stale by them, and a new primary applies them before it takes writes: a "
            "single thread applies some thousand small ones a second.",
            literature=f"{MANUAL}: The replication_group_member_stats Table; Flow Control",
            sources=STATS,
            rule=_queue(TO_APPLY, APPLIER_THRESHOLD),
            asks=ASKS,
        ),
        Indicator(
            key="group_replication.latency",
            aspect=Aspect.SATURATION,
            title="time to replicate a message",
            unit="ms",
            metrics=(LATENCY, MESSAGES),
            formula="rise of Gr_data_messages_sent_roundtrip_time_sum / rise of Gr_data_messages_sent_count",
            limits=LATENCY_LIMITS.words("ms"),
            reason="Each commit waits for one: at 5 ms one connection commits at most 200 times a second. Within a "
            "data centre it is below 1 ms, between continents 100 ms and more.",
            literature=f"{MANUAL}: Group Replication Status Variables",
            sources=SHOW_STATUS,
            rule=latency,
        ),
        Indicator(
            key="group_replication.conflicts",
            aspect=Aspect.ERRORS,
            title="transactions that failed certification",
            unit="transactions",
            metrics=(CONFLICTS, CERTIFIED),
            formula="rise of COUNT_CONFLICTS_DETECTED",
            limits=f"watch from the first on, error from {REFUSED:g} % of those checked on",
            reason="Another member changed a row first: the client gets an error at COMMIT and must run the "
            "transaction again. With one primary there are none, except just after an election.",
            literature=f"{MANUAL}: The replication_group_member_stats Table",
            sources=STATS,
            rule=_refused(CONFLICTS, CERTIFIED, "those checked"),
            asks=ASKS,
        ),
        Indicator(
            key="group_replication.rolled_back",
            aspect=Aspect.ERRORS,
            title="own transactions rolled back",
            unit="transactions",
            metrics=(ROLLED_BACK, PROPOSED),
            formula="rise of COUNT_TRANSACTIONS_LOCAL_ROLLBACK",
            limits=f"watch from the first on, error from {REFUSED:g} % of its own transactions on",
            reason="They were executed and sent, and the group refused them: work that an application must repeat.",
            literature=f"{MANUAL}: The replication_group_member_stats Table",
            sources=STATS,
            rule=_refused(ROLLED_BACK, PROPOSED, "its own transactions"),
            asks=ASKS,
        ),
        Indicator(
            key="group_replication.size",
            aspect=Aspect.ERRORS,
            title="members ONLINE",
            unit="members",
            metrics=(ONLINE_MEMBERS,),
            formula="least number of members with MEMBER_STATE ONLINE, against the system's servers",
            limits="error while one is missing",
            reason="A missing member failed, is being shut down, or is partitioned from the others. With more than "
            "half of them unreachable nothing commits.",
            literature=f"{MANUAL}: Group Replication Server States; Network Partitioning",
            sources=MEMBERS,
            rule=size,
            asks=ASKS,
        ),
        Indicator(
            key="group_replication.state",
            aspect=Aspect.ERRORS,
            title="time not ONLINE",
            unit="s",
            metrics=(STATE,),
            formula="time with its own MEMBER_STATE other than ONLINE",
            limits="watch while it is RECOVERING; error in another state",
            reason="A member that recovers takes what it missed from another one and serves stale reads; one in ERROR "
            "or OFFLINE left the group and gets no changes.",
            literature=f"{MANUAL}: Group Replication Server States",
            sources=MEMBERS,
            rule=state,
            asks=ASKS,
        ),
    ),
)
