"""Network as the limit: bandwidth and packet loss. Pure."""

from apps.runs.quality.values import (
    QualityFacts,
    QualityNode,
    RuleFinding,
    cannot_tell,
    failed,
    limit,
    listed,
    passed,
    percent,
    plain,
)

# Share of the bandwidth, mean of the measured phase: above it, sub-second bursts fill the link and packets queue.
MOST_USED = 0.7
# Share of packets: at 1 %, TCP's congestion window stays small (Mathis et al. 1997).
MOST_LOST = 0.01
# With less than this share of the exchanged bytes on the network, client and server used the loopback.
LEAST_OUTSIDE = 0.1
LIMITS = (
    f"at most {limit(MOST_USED)} of the bandwidth, either way; at most {limit(MOST_LOST)} of the packets resent or lost"
)
RETRANSMITS = "host.tcp.retransmits"
SERVER_BYTES = ("mysql.status.Bytes_sent", "mysql.status.Bytes_received")


def check(facts: QualityFacts) -> RuleFinding:
    nodes = [node for node in facts.nodes if node.interfaces()]
    if not nodes:
        return cannot_tell("No host's network was sampled.")
    outside = max((flow for node in nodes if (flow := busiest(node)) is not None), default=0.0)
    found = sum(node.mean(key) or 0.0 for node in facts.servers for key in SERVER_BYTES)
    is_within = bool(found) and outside < LEAST_OUTSIDE * found
    shares = [(node, _lost(node, with_loopback=is_within)) for node in nodes]
    lost = [(node, share) for node, share in shares if share is not None and share > MOST_LOST]
    if lost:
        words = listed([f"{percent(share)} on the host of {node.name}" for node, share in lost])
        return failed(f"Packets were retransmitted or lost: {words}.", lost=max(share for _, share in lost))
    used = [(node, flow, node.bandwidth) for node in nodes if node.bandwidth and (flow := busiest(node)) is not None]
    busy = [(node, 8 * flow / full) for node, flow, full in used if 8 * flow > MOST_USED * full]
    if busy:
        words = listed([f"{percent(share)} of its bandwidth on the host of {node.name}" for node, share in busy])
        return failed(f"The network was near its limit: {words}.", used=max(share for _, share in busy))
    if used:
        share = max(8 * flow / full for _, flow, full in used)
        return passed(f"At most {percent(share)} of the bandwidth was used, with next to no packet loss.", used=share)
    if is_within:
        text = f"Client and server used the loopback: {plain(outside / 2**20)} MiB/s went over the network."
        return passed(text, outside=outside)
    return cannot_tell(
        f"The bandwidth of the hardware class is not stated; at most {plain(outside / 2**20)} MiB/s one way."
    )


def busiest(node: QualityNode) -> float | None:
    """Mean of the busier direction of the busiest interface, bytes/s."""
    means = [node.mean(f"host.net.{name}.{way}_bytes") for name in node.interfaces() for way in ("rx", "tx")]
    return max((value for value in means if value is not None), default=None)


def _lost(node: QualityNode, *, with_loopback: bool) -> float | None:
    """Share of packets retransmitted, dropped or damaged. Those of the loopback, which loses none, would hide what a
    network loses; they count where the load used it."""

    def total(what: str) -> float:
        names = [*node.interfaces(), *(["lo"] if with_loopback else [])]
        return sum(node.mean(f"host.net.{name}.{what}") or 0.0 for name in names)

    packets = total("rx_packets") + total("tx_packets")
    if packets < 1:
        return None
    again = node.mean(RETRANSMITS) or 0.0
    dropped = sum(total(what) for what in ("rx_drops", "tx_drops", "rx_errors", "tx_errors"))
    return (again + dropped) / packets
