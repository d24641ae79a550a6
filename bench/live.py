"""A live run: a batch of 1,300 series every ten seconds, accepted by us and by the peers."""

from collections.abc import Callable, Iterator
from functools import partial

from apps.runs.pure import SampledNode
from bench import context, recording, rounds
from bench.context import BY_SAMPLE, BY_SERIES, Bench
from bench.peers import PROMETHEUS, VICTORIA_METRICS, Peer

SET = 2
SERIES = 1300
SECONDS = 10
RUNS = 2
WARM_UP = 5  # rounds
# A server with several live runs is not idle when a batch arrives: each side gets two in a row, of which the second is
# measured; the first, after a pause, is reported separately.
AWAKE, ASLEEP = 1, 0
TITLE = f"a live batch of {SECONDS} s × {SERIES:,} series accepted, HTTP to HTTP"


def measure(bench: Bench) -> None:
    """Two live runs, one for each form of the peers' requests."""
    for number, form in enumerate((BY_SAMPLE, BY_SERIES)):
        _measure(bench, number, form)


def _measure(bench: Bench, number: int, form: str) -> None:
    nodes = [_first(node, SERIES // 2) for node in recording.a_run(1000 + number)]
    span = context.span(SET + number, seconds=len(nodes[0].clock))
    parts = recording.series(f"live{number}", nodes, start=span.start)
    uid = bench.warehouse.open_run(started=span.start, nodes=[node.name for node in nodes])
    batches = list(recording.batches(uid, nodes, seconds=SECONDS))
    sides: dict[str, Callable[[], list[float]]] = {"ours": partial(_ours, bench, uid, enumerate(batches))}
    for name, peer in bench.peers.items():
        sides[name] = partial(_peer, peer, context.requests(parts, seconds=SECONDS, form=form))
    rounds.interleaved(sides, rounds=WARM_UP)
    found = rounds.interleaved(sides, rounds=len(batches) // 2 - WARM_UP)
    sent = 2 * (len(batches) // 2)
    bench.warehouse.end_run(uid, batches=sent, span=span)
    # The target applies to the form with an entry per sample, which live senders use.
    for name, limit in ((VICTORIA_METRICS, 0.5 if form == BY_SAMPLE else None), (PROMETHEUS, None)):
        for which, words, bar in ((AWAKE, "", limit), (ASLEEP, ", after a pause", None)):
            took = {side: [pair[which] for pair in pairs] for side, pairs in found.items()}
            bench.report(
                key=f"live.{form.replace(' ', '_')}.{name}{'.asleep' if which == ASLEEP else ''}", part="live",
                title=f"{TITLE}{words}; the peer is sent {form}", peer=name, unit="ms", better="lower", limit=bar,
                found=rounds.compared(took["ours"], took[name]) if name in took else None,
            )  # fmt: skip


def _ours(bench: Bench, uid: str, batches: "enumerate[bytes]") -> list[float]:
    return [1000 * bench.warehouse.send_batch(uid, *next(batches)) for _ in (ASLEEP, AWAKE)]


def _peer(peer: Peer, requests: Iterator[bytes]) -> list[float]:
    return [1000 * peer.write(next(requests)) for _ in (ASLEEP, AWAKE)]


def _first(node: SampledNode, count: int) -> SampledNode:
    """The node with `count` of its series, with the same proportion of changing ones."""
    changing = count * len(node.changing) // (len(node.changing) + len(node.constants))
    return recording.only(node, [*list(node.changing)[:changing], *list(node.constants)[: count - changing]])
