"""Q2: five statistics of one gauge over many runs."""

import time
from functools import partial

from apps.runs import queries
from bench import context, recording, remote_write, rounds
from bench.context import Bench
from bench.peers import PROMETHEUS, VICTORIA_METRICS
from bench.servers import Failed

SET = 1
RUNS = 200
ROUNDS = 15
KEY = "mysql.status.Threads_running"
# Each run has a few other series besides: fewer than a real one, which can only help the peers.
OTHERS = ["mysql.status.Questions", "mysql.status.Bytes_sent", "host.cpu.user", "host.memory.MemFree"]
TITLE = f"Q2: mean, deviation, least, greatest and a quantile of one metric over {RUNS} runs"


def measure(bench: Bench) -> None:
    span = context.span(SET, seconds=len(recording.recorded()[0].clock))
    labels = [f"q{number}" for number in range(RUNS)]
    uids = []
    for number, label in enumerate(labels):
        nodes = recording.a_run(2000 + number, nodes=1, keys=[KEY, *OTHERS])
        run = context.prepared(label, span=span, nodes=nodes, batch_seconds=1800, request_seconds=1800)
        uid = bench.warehouse.open_run(started=span.start, nodes=[node.name for node in nodes])
        for sequence, payload in enumerate(run.batches):
            bench.warehouse.send_batch(uid, sequence, payload)
        bench.warehouse.end_run(uid, batches=len(run.batches), span=span)
        uids.append(uid)
        for peer in bench.peers.values():
            for body in run.requests:
                peer.write(body)
    ids = bench.warehouse.await_sealed(uids)
    for peer in bench.peers.values():
        peer.settle(span)
    metric = remote_write.name_of(KEY)
    sides = {
        "ours": partial(_ours, ids),
        **{
            name: partial(peer.five_statistics, metric=metric, runs=labels, span=span)
            for name, peer in bench.peers.items()
        },
    }
    rounds.interleaved(sides, rounds=2)
    found = {
        side: [1000 * took for took in values] for side, values in rounds.interleaved(sides, rounds=ROUNDS).items()
    }
    for peer_name, limit in ((VICTORIA_METRICS, 0.05), (PROMETHEUS, None)):
        bench.tell(
            key=f"q2.{peer_name}", part="q2", title=TITLE, peer=peer_name, unit="ms", better="lower", limit=limit,
            found=rounds.compared(found["ours"], found[peer_name]) if peer_name in found else None,
        )  # fmt: skip


def _ours(ids: list[int]) -> float:
    began = time.perf_counter()
    rows = queries.statistics_of(metric=KEY, run_ids=ids)
    took = time.perf_counter() - began
    if len(rows) != RUNS:
        raise Failed(f"the query layer answered statistics of {len(rows)} runs")
    return took
