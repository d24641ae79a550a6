"""Q1: counters of several runs as rates, downsampled for a chart: by the query layer, and by the HTTP API."""

import json
import time
from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

from apps.catalog.pure import counter_rules
from apps.runs.api import queries
from apps.runs.pure import COUNTER
from bench import peers, recording, remote_write, rounds
from bench.bulk import Stored
from bench.context import Bench
from bench.peers import PROMETHEUS, VICTORIA_METRICS
from bench.servers import Connection, Failed

RUNS = 6
POINTS = 800
NODES = 2
ROUNDS = 15
# Counters that rise on both servers throughout.
METRICS = [
    "host.context_switches",
    "host.cpu.idle",
    "host.cpu.system",
    "host.cpu.user",
    "host.disk.vda.io_time",
    "host.disk.vda.write_bytes",
    "host.disk.vda.writes",
    "host.vmstat.pgfault",
    "mysql.status.Bytes_received",
    "mysql.status.Bytes_sent",
    "mysql.status.Com_commit",
    "mysql.status.Com_update",
    "mysql.status.Handler_commit",
    "mysql.status.Handler_read_key",
    "mysql.status.Innodb_buffer_pool_read_requests",
    "mysql.status.Innodb_buffer_pool_write_requests",
    "mysql.status.Innodb_log_write_requests",
    "mysql.status.Innodb_os_log_written",
    "mysql.status.Handler_update",
    "mysql.status.Questions",
]
LAYER, HTTP = "query layer", "HTTP"
# A page requests one chart after the other. Waking an idle process takes longer than a small response: each side
# returns other counters right before it is measured, and once it is measured without that.
ASLEEP = "after a pause"
# As a dashboard queries runs of different times, and with the fewest queries if they had the same time.
EACH, ONE = "a query for each metric of each run", "as few queries as it can"
# At 800 steps a peer skips the samples between them; we show every minimum and maximum.
EVERY_SECOND = "as few queries as it can, at every second"
TITLE = f"Q1: {RUNS} runs × {len(METRICS)} metrics × {NODES} nodes as rates, {POINTS} points"


def measure(bench: Bench, stored: Stored, port: int) -> None:
    ids, labels = stored.ids[:RUNS], stored.labels[:RUNS]
    names = [remote_write.name_of(key) for key in METRICS]
    http = Connection(port)
    seconds = stored.span.end - stored.span.start
    before = _other_counters()
    other_names = [remote_write.name_of(key) for key in before]
    sides: dict[str, Callable[[], float]] = {
        LAYER: _awake(partial(_through_the_layer, ids, before), partial(_through_the_layer, ids, METRICS)),
        HTTP: _awake(partial(_through_http, http, ids, before), partial(_through_http, http, ids, METRICS)),
        f"{LAYER}, {ASLEEP}": partial(_through_the_layer, ids, METRICS),
    }
    for name, peer in bench.peers.items():
        each = partial(peers.apart, peer, runs=labels, span=stored.span, points=POINTS)
        together = partial(peer.rates, runs=labels, span=stored.span)
        for form, asks in (
            (EACH, each),
            (ONE, partial(together, points=POINTS)),
            (EVERY_SECOND, partial(together, points=seconds)),
        ):
            sides[f"{name} {form}"] = _awake(partial(asks, metrics=other_names), partial(asks, metrics=names))
        sides[f"{name} {EACH}, {ASLEEP}"] = partial(each, metrics=names)
    rounds.interleaved(sides, rounds=2)
    found = {
        side: [1000 * took for took in values] for side, values in rounds.interleaved(sides, rounds=ROUNDS).items()
    }
    for side, form, limits in (
        (LAYER, EACH, (0.10, 0.10)),
        (LAYER, ONE, (None, None)),
        (LAYER, EVERY_SECOND, (None, None)),
        (HTTP, EACH, (0.5, None)),
        (HTTP, ONE, (None, None)),
        (f"{LAYER}, {ASLEEP}", f"{EACH}, {ASLEEP}", (None, None)),
    ):
        for whose, limit in zip((VICTORIA_METRICS, PROMETHEUS), limits, strict=True):
            theirs = found.get(f"{whose} {form}")
            bench.report(
                key=f"q1.{side}.{form}.{whose}".replace(" ", "_"), part="q1",
                title=f"{TITLE}; {side}; the peer is asked {form}", peer=whose, unit="ms", better="lower", limit=limit,
                found=None if theirs is None else rounds.compared(found[side], theirs),
            )  # fmt: skip


def _awake(before: Callable[[], float], measured: Callable[[], float]) -> Callable[[], float]:
    def both() -> float:
        before()
        return measured()

    return both


def _other_counters() -> list[str]:
    """As many other counters that rise on both servers."""
    rising = [
        {
            key
            for key, column in node.changing.items()
            if counter_rules.describe(key).kind == COUNTER and column.observed.all()
        }
        for node in recording.recorded()[:NODES]
    ]
    return sorted(set.intersection(*rising) - set(METRICS))[: len(METRICS)]


def _through_the_layer(ids: list[int], metrics: list[str]) -> float:
    """s until the arrays are complete. Raises Failed if a series is missing."""
    began = time.perf_counter()
    series = queries.load_series(run_ids=ids, metrics=metrics, points=POINTS)
    took = time.perf_counter() - began
    if len(series) != RUNS * NODES * len(metrics):
        raise Failed(f"the query layer answered {len(series)} series")
    return took


def _through_http(http: Connection, ids: list[int], metrics: list[str]) -> float:
    """s to the last byte."""
    asked = [*(("run", str(run)) for run in ids), *(("metric", key) for key in metrics), ("points", str(POINTS))]
    answer, took = http.send("GET", f"/api/v1/series/?{urlencode(asked)}")
    if len(json.loads(answer)["series"]) != RUNS * NODES * len(metrics):
        raise Failed("the API answered too few series")
    return took
