"""A live run: every ten seconds a batch of 1,300 series, accepted by us and by the peers."""

from apps.runs.sampled import SampledNode
from bench import context, recording, rounds
from bench.context import Bench
from bench.peers import PROMETHEUS, VICTORIA_METRICS

SET = 2
SERIES = 1300
SECONDS = 10
TITLE = f"a live batch of {SECONDS} s × {SERIES:,} series accepted, HTTP to HTTP"


def measure(bench: Bench) -> None:
    nodes = [_first(node, SERIES // 2) for node in recording.a_run(1000)]
    length = len(nodes[0].clock)
    span = context.span(SET, seconds=length)
    run = context.prepared("live", span=span, nodes=nodes, batch_seconds=SECONDS, request_seconds=SECONDS)
    uid = bench.warehouse.open_run(started=span.start, nodes=[node.name for node in nodes])
    batches, requests = iter(enumerate(run.batches)), {name: iter(run.requests) for name in bench.peers}

    def ours() -> float:
        sequence, payload = next(batches)
        return 1000 * bench.warehouse.send_batch(uid, sequence, payload)

    sides = {"ours": ours}
    for name, peer in bench.peers.items():
        sides[name] = lambda peer=peer, own=requests[name]: 1000 * peer.write(next(own))  # type: ignore[misc]
    rounds.interleaved(sides, rounds=5)
    found = rounds.interleaved(sides, rounds=len(run.batches) - 5)
    bench.warehouse.end_run(uid, batches=len(run.batches), span=span)
    for name, limit in ((VICTORIA_METRICS, 0.5), (PROMETHEUS, None)):
        bench.tell(
            key=f"live.{name}", part="live", title=TITLE, peer=name, unit="ms", better="lower", limit=limit,
            found=rounds.compared(found["ours"], found[name]) if name in found else None,
        )  # fmt: skip


def _first(node: SampledNode, count: int) -> SampledNode:
    """The node with so many of its series, in the proportion of changing ones that it has."""
    changing = count * len(node.changing) // (len(node.changing) + len(node.constants))
    return recording.only(node, [*list(node.changing)[:changing], *list(node.constants)[: count - changing]])
