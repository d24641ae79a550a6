"""Network of a node's machine. The loopback is separate: only the CPU limits it."""

from dataclasses import replace

import numpy as np

from apps.runs.pure import LEAST_OUTSIDE, MOST_LOST, MOST_USED
from apps.use_method.indicators import Indicator, Resource, Rule
from apps.use_method.levels import LevelLimits, counted, judge, mean
from apps.use_method.resources.counters import gauge, scaled, unseen, with_words
from apps.use_method.resources.parts import AWS, either, held_at, worst
from apps.use_method.values import Aspect, MetricSamples, NodeFacts, RuleResult, RunFacts, UseLevel

PREFIX, RECEIVED, SENT, LOOPBACK = "host.net.", ".rx_bytes", ".tx_bytes", "lo"
AGAIN, DROPPED = "derived.net.sent_again", "derived.net.dropped"
RETRANSMITS, DAMAGED = "host.tcp.retransmits", "host.tcp.errors"
OF_AWS = tuple(f"{AWS}Network{way}Throughput" for way in ("Receive", "Transmit"))
BANDWIDTH_LIMITS = LevelLimits(watch=100 * MOST_USED, saturated=90.0)
WAYS = ("rx", "tx")
NONE = LevelLimits(None, None)
LOST_LIMITS = LevelLimits(watch=10 * MOST_LOST, saturated=100 * MOST_LOST)
# Packets/s: below this, one lost packet is a large share and harmless.
FEW = 500.0
MATHIS = "Mathis et al., The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, CCR 27(3), 1997"
GREGG = "Gregg, Systems Performance, 2nd ed. 2020, chapter 10 (Network)"
NO_GUEST = "AWS shows its guests bytes, but no packets"


def busier_ways(node: NodeFacts) -> dict[str, MetricSamples]:
    """For each active interface except the loopback: the direction with more bytes, bytes/s."""
    found = {}
    for name, received in node.matching(PREFIX, RECEIVED).items():
        sent = node.series.get(f"{PREFIX}{name}{SENT}")
        ways = [one for one in (received, sent) if one is not None and (mean(one) or 0.0) > 0]
        if name != LOOPBACK and ways:
            found[name] = max(ways, key=lambda one: mean(one) or 0.0)
    return found


def key_of(node: NodeFacts, name: str, samples: MetricSamples) -> str:
    return next(key for way in (RECEIVED, SENT) if node.series.get(key := f"{PREFIX}{name}{way}") is samples)


def bandwidth(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    if not node.matching(PREFIX, RECEIVED):
        return None
    if not node.hardware_network:
        return unseen("the hardware class states no bandwidth")
    full = node.hardware_network
    text = f", of {full / 1e9:g} Gbit/s that {node.hardware_class} has"
    ways = busier_ways(node)
    if not ways:
        return RuleResult(UseLevel.OK, 0.0, "no traffic on any interface but the loopback")
    return worst(
        {
            name: with_words(
                judge(scaled(one, 800 / full), BANDWIDTH_LIMITS, unit="%", metric=key_of(node, name, one)), text
            )
            for name, one in ways.items()
        }
    )


def moved(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    if not node.matching(PREFIX, RECEIVED):
        return None
    ways = busier_ways(node)
    if not ways:
        return RuleResult(UseLevel.OK, 0.0, "no traffic on any interface but the loopback")
    return worst({name: judge(one, NONE, unit="bytes/s", metric=key_of(node, name, one)) for name, one in ways.items()})


def moved_of_aws(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    return worst({key.removeprefix(AWS): gauge(key, NONE, "bytes/s")(node, facts) for key in OF_AWS})


def loopback(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
    found = gauge(f"{PREFIX}{LOOPBACK}{RECEIVED}", NONE, "bytes/s")(node, facts)
    return with_words(found, "; no bandwidth limits it, only CPU time")


def lost(key: str) -> Rule:
    """Share of packets, in seconds with at least FEW."""

    def rule(node: NodeFacts, _: RunFacts) -> RuleResult | None:
        share = node.series.get(key)
        packets = {
            f"{name} {way}": held_at(one, share.at)
            for way in WAYS
            for name, one in node.matching(PREFIX, f".{way}_packets").items()
            if share is not None
        }
        average = mean(share) if share is not None else None
        if share is None or average is None or not packets:
            return None
        number = np.sum([np.nan_to_num(each) for each in packets.values()], axis=0)
        counts = replace(share, values=np.where((number < FEW) & ~np.isnan(share.values), 0.0, share.values))
        found = judge(counts, LOST_LIMITS, unit="%", metric=key, value=average)
        inside = sum(float(np.nansum(each)) for name, each in packets.items() if name.startswith(f"{LOOPBACK} "))
        if found is None or found.level is UseLevel.OK or inside < (1 - LEAST_OUTSIDE) * float(number.sum()):
            return found
        words = f"{found.words}; nearly all over the loopback, which loses none: a task without CPU was late"
        return replace(found, level=UseLevel.WATCH if found.level is UseLevel.SATURATED else UseLevel.OK, words=words)

    return rule


def errors(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    """Errors of an interface are errors; a bad TCP segment may also belong to a closed connection."""
    parts = {f"{name} {way}": one for way in WAYS for name, one in node.matching(PREFIX, f".{way}_errors").items()}
    found = {name: counted(one, unit="packets", metric=metric_of(name)) for name, one in parts.items()}
    if DAMAGED in node.series:
        found["TCP"] = counted(node.series[DAMAGED], unit="packets", metric=DAMAGED, level=UseLevel.WATCH)
    if not found:
        return None
    bad = {name: one for name, one in found.items() if one is not None and one.level is not UseLevel.OK}
    return worst(bad) if bad else RuleResult(UseLevel.OK, 0.0, "none", DAMAGED, 0.0)


def metric_of(name: str) -> str:
    interface, _, way = name.partition(" ")
    return f"{PREFIX}{interface}.{way}_errors" if way else DAMAGED


RESOURCE = Resource(
    key="network",
    title="network",
    layer="machine",
    question="Does the network delay or lose packets?",
    indicators=(
        Indicator(
            key="network.bandwidth",
            aspect=Aspect.UTILIZATION,
            title="bandwidth used",
            unit="%",
            metrics=(f"{PREFIX}*{RECEIVED}", f"{PREFIX}*{SENT}"),
            formula="8 × bytes in the busier direction of the busiest interface / the hardware class's bandwidth",
            limits=BANDWIDTH_LIMITS.words("%"),
            reason="At 70 % over a second, bursts within it reach nearly all of the bandwidth, and packets queue.",
            literature=GREGG,
            sources={
                "Linux": "/proc/net/dev; bandwidth of the catalog's hardware class",
                "Aurora": "CloudWatch does not count traffic with its storage",
            },
            rule=bandwidth,
            asks=("network", "/proc"),
        ),
        Indicator(
            key="network.bytes",
            aspect=Aspect.UTILIZATION,
            title="bytes moved",
            unit="bytes/s",
            metrics=(f"{PREFIX}*{RECEIVED}", f"{PREFIX}*{SENT}", *OF_AWS),
            formula="bytes in the busier direction of the busiest interface, without the loopback",
            limits="",
            reason="For hardware classes without a stated bandwidth.",
            literature=GREGG,
            sources={"Linux": "/proc/net/dev", "Aurora": "NetworkReceiveThroughput, NetworkTransmitThroughput"},
            rule=either(moved, moved_of_aws),
            asks=("network", "/proc"),
        ),
        Indicator(
            key="network.loopback",
            aspect=Aspect.UTILIZATION,
            title="bytes over the loopback",
            unit="bytes/s",
            metrics=(f"{PREFIX}{LOOPBACK}{RECEIVED}",),
            formula="bytes that the loopback delivered",
            limits="",
            reason="Client, proxy and servers on one machine communicate over it: no network is measured then.",
            literature=GREGG,
            sources={"Linux": "/proc/net/dev", "Aurora": "AWS shows its guests no interface"},
            rule=loopback,
            asks=("network", "/proc"),
        ),
        Indicator(
            key="network.sent_again",
            aspect=Aspect.SATURATION,
            title="packets sent again",
            unit="%",
            metrics=(AGAIN, RETRANSMITS, f"{PREFIX}*.rx_packets", f"{PREFIX}*.tx_packets"),
            formula=f"TCP segments sent again / packets sent, in seconds with at least {FEW:g} packets",
            limits=LOST_LIMITS.words("%"),
            reason="At one in a hundred TCP's window hardly opens; each costs a round trip or 200 ms. Over "
            "the loopback packets are lost only if a task has no CPU: one level less there.",
            literature=f"{MATHIS}; {GREGG}",
            sources={"Linux": "/proc/net/snmp and /proc/net/dev", "Aurora": NO_GUEST},
            rule=lost(AGAIN),
            asks=("network", "/proc"),
        ),
        Indicator(
            key="network.dropped",
            aspect=Aspect.SATURATION,
            title="packets dropped",
            unit="%",
            metrics=(DROPPED, f"{PREFIX}*.rx_packets", f"{PREFIX}*.tx_packets"),
            formula=f"packets dropped / packets, either way, in seconds with at least {FEW:g} packets",
            limits=LOST_LIMITS.words("%"),
            reason="The ring or the queue of an interface was full; TCP retransmits the packets.",
            literature=GREGG,
            sources={"Linux": "/proc/net/dev", "Aurora": NO_GUEST},
            rule=lost(DROPPED),
            asks=("network", "/proc"),
        ),
        Indicator(
            key="network.errors",
            aspect=Aspect.ERRORS,
            title="packets damaged",
            unit="packets",
            metrics=(f"{PREFIX}*.rx_errors", f"{PREFIX}*.tx_errors", DAMAGED),
            formula="rise of each interface's errors and of TCP's segments in error; of the worst",
            limits="error from the first of an interface on; watch from the first that only TCP refuses on",
            reason="A sound network damages no packets: a cable, a card or a driver is at fault. TCP also counts "
            "segments that match no open connection, as in a storm of connections.",
            literature=GREGG,
            sources={"Linux": "/proc/net/dev and /proc/net/snmp", "Aurora": NO_GUEST},
            rule=errors,
            asks=("network", "/proc"),
        ),
    ),
)
