"""Q2: five statistics of one metric over many runs, of a gauge and of a counter's rate."""

import time
from functools import partial

from apps.runs.api import statistics_of
from bench import context, recording, remote_write, rounds
from bench.context import Bench
from bench.peers import PROMETHEUS, VICTORIA_METRICS, Peer, Span
from bench.servers import Failed

SET = 1
RUNS = 200
ROUNDS = 7
# Runs follow each other in time: one query each, for its own span. And once for all, as if they had the same span.
EACH, ONE = "a query for each run", "one query for all, as if of one time"
GAUGE, COUNTER = "mysql.status.Threads_running", "mysql.status.Questions"
# Each run has a few other series: fewer than a real one, which can only favour the peers.
OTHERS = ["mysql.status.Bytes_sent", "host.cpu.user", "host.memory.MemFree"]
STATISTICS = ("mean", "stddev", "minimum", "maximum", "p95")


def measure(bench: Bench) -> None:
    span = context.span(SET, seconds=len(recording.recorded()[0].clock))
    labels = [f"q{number}" for number in range(RUNS)]
    uids = []
    for number, label in enumerate(labels):
        nodes = recording.a_run(2000 + number, nodes=1, keys=[GAUGE, COUNTER, *OTHERS])
        run = context.prepared(label, span=span, nodes=nodes, batch_seconds=1800)
        uid = bench.warehouse.open_run(started=span.start, nodes=[node.name for node in nodes])
        for sequence, payload in enumerate(run.batches):
            bench.warehouse.send_batch(uid, sequence, payload)
        bench.warehouse.end_run(uid, batches=len(run.batches), span=span)
        uids.append(uid)
        for peer in bench.peers.values():
            for body in context.requests(run.parts, seconds=1800):
                peer.write(body)
    ids = bench.warehouse.await_sealed(uids)
    for peer in bench.peers.values():
        peer.settle(span)
    for key, of in ((COUNTER, "a counter's rate"), (GAUGE, "a gauge")):
        sides = {"ours": partial(_ours, key, ids)}
        for name, peer in bench.peers.items():
            sides[f"{name} {EACH}"] = partial(_each, peer, key, labels, span)
            sides[f"{name} {ONE}"] = partial(_theirs, peer, key, labels, span)
        rounds.interleaved(sides, rounds=2)
        took = rounds.interleaved(sides, rounds=ROUNDS)
        found = {side: [1000 * each for each in values] for side, values in took.items()}
        for form, bar in ((EACH, 0.05), (ONE, None)):
            for name, limit in ((VICTORIA_METRICS, bar), (PROMETHEUS, None)):
                theirs = found.get(f"{name} {form}")
                bench.report(
                    key=f"q2.{of}.{form}.{name}".replace(" ", "_"), part="q2",
                    title=f"Q2: mean, deviation, least, greatest and a quantile of {of} over {RUNS} runs, which ours "
                    f"computed at the seal; the peer is asked {form}",
                    peer=name, unit="ms", better="lower", limit=limit,
                    found=None if theirs is None else rounds.compared(found["ours"], theirs),
                )  # fmt: skip


def _each(peer: Peer, key: str, labels: list[str], span: Span) -> float:
    return sum(_theirs(peer, key, [label], span) for label in labels)


def _theirs(peer: Peer, key: str, labels: list[str], span: Span) -> float:
    metric = remote_write.name_of(key)
    return peer.five_statistics(metric=metric, runs=labels, span=span, is_counter=key == COUNTER)


def _ours(key: str, ids: list[int]) -> float:
    """s until the arrays are complete."""
    began = time.perf_counter()
    found = statistics_of(key, ids, statistics=STATISTICS)
    took = time.perf_counter() - began
    if len(found) != RUNS:
        raise Failed(f"the query layer answered statistics of {len(found)} runs")
    return took
