"""Aurora and RDS by CloudWatch's metrics; what a guest cannot observe is listed with the reason."""

from dataclasses import replace

import numpy as np

from apps.core.units import format_duration, with_unit
from apps.use_method.indicators import Indicator, Resource, Rule
from apps.use_method.levels import LevelLimits, for_and_from, judge, mean, steps
from apps.use_method.resources.counters import gauge, scaled, setting
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

PREFIX = "aws.rds."
CONNECTIONS, LAG, RDS_LAG = PREFIX + "DatabaseConnections", PREFIX + "AuroraReplicaLag", PREFIX + "ReplicaLag"
COMMIT, CREDITS, LOAD = PREFIX + "CommitLatency", PREFIX + "CPUCreditBalance", PREFIX + "DBLoad"
READS, WRITES = PREFIX + "VolumeReadIOPs", PREFIX + "VolumeWriteIOPs"
BURSTS = {PREFIX + name: name for name in ("EBSIOBalance%", "EBSByteBalance%", "BurstBalance")}
UPTIME, LOGINS, CAPACITY = PREFIX + "EngineUptime", PREFIX + "LoginFailures", PREFIX + "ACUUtilization"
PERIOD = 300.0  # s: what one value of the volume's counts covers
CONNECTIONS_LIMITS = LevelLimits(watch=80.0, saturated=95.0)
LAG_LIMITS = LevelLimits(watch=100.0, saturated=1000.0)
COMMIT_LIMITS = LevelLimits(watch=10.0, saturated=50.0)
LOAD_LIMITS = LevelLimits(watch=0.7, saturated=1.0)
LOGINS_LIMITS = LevelLimits(watch=0.01, saturated=1.0, level=UseLevel.ERROR)
CAPACITY_LIMITS = LevelLimits(watch=80.0, saturated=99.0)
# Remaining credits: thresholds of watch and of saturated.
CREDITS_LEFT, BURST_LEFT = (30.0, 1.0), (30.0, 1.0)
# The burstable class that is limited to its baseline without credits: the later ones run in Unlimited mode.
STANDARD = "db.t2."
UNLIMITED = f"it is not limited by that, surplus credits are charged (only {STANDARD}* runs at its baseline)"
GUIDE = "Amazon Aurora User Guide"
METRICS_GUIDE = f"{GUIDE}, Amazon CloudWatch metrics for Amazon Aurora"
PAPER = "Verbitski et al., Amazon Aurora: Design Considerations, SIGMOD 2017"
CLOUD = {"Aurora": "CloudWatch, one value a minute"}
SELDOM = {"Aurora": "CloudWatch, one value in five minutes"}
CLOUDWATCH, CLUSTER = "cloudwatch:", "cluster"


def on_instances(node: NodeFacts, facts: RunFacts) -> bool:
    return bool(facts.aws) and node.name.startswith(CLOUDWATCH) and node.role != CLUSTER


def on_volumes(node: NodeFacts, facts: RunFacts) -> bool:
    """CloudWatch reports the volume under the cluster's name."""
    return bool(facts.aws) and node.role == CLUSTER


def or_none(rule: Rule, *keys: str, why: str = "") -> Rule:
    """The rule's result, else "not observable" because CloudWatch has none of `keys`, with `why`."""
    names = ", ".join(key.removeprefix(PREFIX) for key in keys)
    reason = f"CloudWatch has no value of {names}" + (f": {why}" if why else "")
    return lambda node, facts: rule(node, facts) or RuleResult(UseLevel.NOT_OBSERVABLE, None, reason)


def connections(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    samples = node.series.get(CONNECTIONS)
    if samples is None:
        return None
    most = next(filter(None, (setting(each, "max_connections") for each in (node, *facts.nodes))), None)
    if not most:
        words = f"{with_unit(mean(samples), 'connections')} open; max_connections is not known: not in CloudWatch"
        return RuleResult(UseLevel.NOT_OBSERVABLE, None, words, CONNECTIONS)
    found = judge(scaled(samples, 100 / most), CONNECTIONS_LIMITS, unit="%", metric=CONNECTIONS)
    return found and replace(found, words=f"{found.words}, of max_connections = {most:g}")


def volume(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Billed reads and writes, 1/s; they have no limit to reach."""
    both = [node.series[key] for key in (READS, WRITES) if key in node.series]
    if not both:
        return None
    rates = [value / PERIOD for samples in both if (value := mean(samples)) is not None]
    if not rates:
        return None
    words = "billed reads and writes; AWS states no limit of the volume"
    return RuleResult(UseLevel.OK, sum(rates), words, READS if READS in node.series else WRITES)


def lag(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Lag of a reader; the writer has none. RDS reports s, and -1 if replication has stopped."""
    if LAG in node.series:
        return judge(node.series[LAG], LAG_LIMITS, unit="ms", metric=LAG)
    samples = node.series.get(RDS_LAG)
    if samples is None:
        return RuleResult(UseLevel.OK, None, "the writer has none") if node.role == "writer" else None
    if (samples.values == -1).any():
        return RuleResult(UseLevel.ERROR, None, "replication has stopped", RDS_LAG)
    return judge(scaled(samples, 1000), LAG_LIMITS, unit="ms", metric=RDS_LAG)


def load(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples, cpus = node.series.get(LOAD), node.hardware_vcpu
    if samples is None or not cpus:
        return None
    found = judge(scaled(samples, 1 / cpus), LOAD_LIMITS, unit="sessions", metric=LOAD)
    return found and replace(found, words=f"{found.words}, for each of {cpus} vCPU")


def left(samples: MetricSamples, limits: tuple[float, float], *, unit: str, metric: str) -> RuleResult | None:
    """Level of a remaining amount: watch below the first limit, saturated below the second."""
    if np.isnan(samples.values).all():
        return None
    least = float(np.nanmin(samples.values))
    seen = ~np.isnan(samples.values)
    for level, limit in ((UseLevel.SATURATED, limits[1]), (UseLevel.WATCH, limits[0])):
        below = np.zeros(len(seen), np.bool_)
        below[seen] = samples.values[seen] < limit
        if below.any():
            lengths = steps(samples)
            spans = tuple((float(samples.at[i] - lengths[i]), float(samples.at[i])) for i in np.flatnonzero(below))
            words = f"below {limit:g} {for_and_from(spans)}, least {with_unit(least, unit)}"
            return RuleResult(level, least, words, metric, None, spans)
    return RuleResult(UseLevel.OK, least, f"least {with_unit(least, unit)}", metric)


def credits_left(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(CREDITS)
    if samples is not None:
        found = left(samples, CREDITS_LEFT, unit="credits", metric=CREDITS)
        if found is None or found.level is not UseLevel.SATURATED or node.hardware_class.startswith(STANDARD):
            return found
        return replace(found, level=UseLevel.WATCH, words=f"{found.words}; {UNLIMITED}")
    if node.hardware_class and not node.hardware_class.startswith("db.t"):
        return RuleResult(UseLevel.OK, None, "its class is not burstable: it has no credits")
    return None


def bursts(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    there = {name: key for key, name in BURSTS.items() if key in node.series}
    found = {name: left(node.series[key], BURST_LEFT, unit="%", metric=key) for name, key in there.items()}
    seen = {name: one for name, one in found.items() if one is not None}
    if not seen:
        return None
    name = min(seen, key=lambda each: (-seen[each].level.severity, seen[each].value or 0.0))
    return replace(seen[name], words=f"{name}: {seen[name].words}")


def restarts(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    samples = node.series.get(UPTIME)
    if samples is None or np.isnan(samples.values).all():
        return None
    seen = samples.values[~np.isnan(samples.values)]
    fell = np.flatnonzero(np.diff(seen) < 0)
    if not len(fell):
        return RuleResult(UseLevel.OK, 0.0, "none seen", UPTIME)
    at = samples.at[~np.isnan(samples.values)][fell[0] + 1]
    words = f"its uptime was reset before {format_duration(round(float(at)))}: a restart or a failover"
    return RuleResult(UseLevel.ERROR, float(len(fell)), words, UPTIME)


def errors_of_volume(_: NodeFacts, __: RunFacts) -> RuleResult:
    words = "Aurora repairs copies of its volume itself and does not report their errors"
    return RuleResult(UseLevel.NOT_OBSERVABLE, None, words)


RESOURCE = Resource(
    key="aurora",
    title="Aurora and RDS",
    layer="server",
    question="What does the managed service report about the server?",
    on=on_instances,
    indicators=(
        Indicator(
            key="aurora.connections",
            aspect=Aspect.UTILIZATION,
            title="connections of the maximum",
            unit="%",
            metrics=(CONNECTIONS,),
            formula="DatabaseConnections / max_connections",
            limits=CONNECTIONS_LIMITS.words("%"),
            reason="At the maximum, which AWS sets by the memory of the class, clients are refused.",
            literature=f"{GUIDE}, Maximum connections to an Aurora MySQL DB instance",
            sources=CLOUD,
            rule=or_none(connections, CONNECTIONS),
        ),
        Indicator(
            key="aurora.capacity",
            aspect=Aspect.UTILIZATION,
            title="capacity units used",
            unit="%",
            metrics=(CAPACITY,),
            formula="ACUUtilization",
            limits=CAPACITY_LIMITS.words("%"),
            reason="A serverless instance at 100 % cannot grow any further.",
            literature=f"{GUIDE}, Performance and scaling for Aurora Serverless v2",
            sources=CLOUD,
            rule=or_none(gauge(CAPACITY, CAPACITY_LIMITS, "%"), CAPACITY, why="it is not serverless"),
        ),
        Indicator(
            key="aurora.load",
            aspect=Aspect.SATURATION,
            title="sessions active for each vCPU",
            unit="sessions",
            metrics=(LOAD,),
            formula="DBLoad / vCPU of the class",
            limits=LOAD_LIMITS.words("sessions"),
            reason="With more active sessions than vCPU, sessions wait for CPU or for something else.",
            literature=f"{GUIDE}, Monitoring DB load with Performance Insights",
            sources={"Aurora": "CloudWatch, one value a minute, where Performance Insights is on"},
            rule=or_none(load, LOAD, why="Performance Insights is off, or the class is not known"),
        ),
        Indicator(
            key="aurora.lag",
            aspect=Aspect.SATURATION,
            title="replica lag",
            unit="ms",
            metrics=(LAG, RDS_LAG),
            formula="AuroraReplicaLag of a reader; of RDS, ReplicaLag",
            limits=LAG_LIMITS.words("ms"),
            reason="Readers share the volume and miss only the last changes in memory: usually far less than 100 ms. A "
            "second is typical of asynchronous replication.",
            literature=f"{GUIDE}, Replication with Amazon Aurora; {PAPER}, 4.2.4",
            sources=CLOUD,
            rule=or_none(lag, LAG, RDS_LAG),
        ),
        Indicator(
            key="aurora.commit",
            aspect=Aspect.SATURATION,
            title="commit",
            unit="ms",
            metrics=(COMMIT,),
            formula="CommitLatency",
            limits=COMMIT_LIMITS.words("ms"),
            reason="A commit waits until four of six copies in three zones have its log: a few ms. At 10 ms a "
            "connection commits at most 100 times a second.",
            literature=f"{PAPER}, 3.2 and 4.2.1; {METRICS_GUIDE}",
            sources=CLOUD,
            rule=or_none(gauge(COMMIT, COMMIT_LIMITS, "ms"), COMMIT),
        ),
        Indicator(
            key="aurora.credits",
            aspect=Aspect.SATURATION,
            title="CPU credits left",
            unit="credits",
            metrics=(CREDITS,),
            formula="least CPUCreditBalance",
            limits=f"watch below {CREDITS_LEFT[0]:g}, saturated below {CREDITS_LEFT[1]:g} credits on {STANDARD}*",
            reason="A credit is a minute of one vCPU. Without any, db.t2 is limited to its baseline, a fifth or less; "
            "db.t3 and db.t4g run in Unlimited mode: surplus credits are charged, and nothing is limited.",
            literature="Amazon RDS User Guide, DB instance classes; Amazon EC2 User Guide, Burstable performance "
            "instances: CPU credits",
            sources=SELDOM,
            rule=or_none(credits_left, CREDITS),
        ),
        Indicator(
            key="aurora.bursts",
            aspect=Aspect.SATURATION,
            title="burst balance of storage left",
            unit="%",
            metrics=tuple(BURSTS),
            formula="least of EBSIOBalance%, EBSByteBalance%, BurstBalance",
            limits=f"watch below {BURST_LEFT[0]:g} %, saturated below {BURST_LEFT[1]:g} %",
            reason="Remaining requests and bytes above the class's baseline; without any it is throttled to that.",
            literature="Amazon EC2 User Guide, Amazon EBS-optimized instances: EBS burst balance",
            sources=CLOUD,
            rule=or_none(bursts, *BURSTS),
        ),
        Indicator(
            key="aurora.restarts",
            aspect=Aspect.ERRORS,
            title="restarts",
            unit="restarts",
            metrics=(UPTIME,),
            formula="number of resets of EngineUptime",
            limits="error from the first on",
            reason="A failover restarts instances; CloudWatch resolves it to a minute, the events of RDS to a second.",
            literature=f"{GUIDE}, High availability for Amazon Aurora",
            sources=CLOUD,
            rule=or_none(restarts, UPTIME),
        ),
        Indicator(
            key="aurora.logins",
            aspect=Aspect.ERRORS,
            title="failed logins",
            unit="logins/s",
            metrics=(LOGINS,),
            formula="LoginFailures",
            limits=LOGINS_LIMITS.words("logins/s"),
            reason="Refused for the password, the host or the maximum of connections.",
            literature=METRICS_GUIDE,
            sources=CLOUD,
            rule=or_none(gauge(LOGINS, LOGINS_LIMITS, "logins/s"), LOGINS),
        ),
    ),
)
VOLUME = Resource(
    key="aurora_volume",
    title="Aurora's volume",
    layer="machine",
    question="How much is the storage shared by the instances used?",
    on=on_volumes,
    indicators=(
        Indicator(
            key="aurora_volume.requests",
            aspect=Aspect.UTILIZATION,
            title="billed requests",
            unit="requests/s",
            metrics=(READS, WRITES),
            formula="(VolumeReadIOPs + VolumeWriteIOPs) / 300 s",
            limits="none: the volume grows and AWS states no limit of its requests",
            reason="Billed by AWS; the instance's class limits them before the volume does.",
            literature=f"{METRICS_GUIDE}: cluster-level metrics; {PAPER}",
            sources=SELDOM,
            rule=or_none(volume, READS, WRITES),
        ),
        Indicator(
            key="aurora_volume.errors",
            aspect=Aspect.ERRORS,
            title="errors",
            unit="errors",
            metrics=(),
            formula="not reported",
            limits="none",
            reason="Six copies mask failed ones; the visible effect is a longer commit.",
            literature=f"{PAPER}, 2.1 and 2.2",
            sources=CLOUD,
            rule=errors_of_volume,
        ),
    ),
)
