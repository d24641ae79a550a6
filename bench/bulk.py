"""Finished runs, stored by all sides in turn: CPU time of ingest, bytes on disk, and the data for Q1."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from django.db import connection, models

from apps.runs.pure import SampledNode
from bench import context, peers, recording, rounds, servers, warehouse
from bench.context import BY_SAMPLE, BY_SERIES, Bench, Prepared
from bench.peers import PROMETHEUS, VICTORIA_METRICS, Peer, Span

SET = 0  # number of its time span
RUNS = 1 + rounds.ROUNDS  # the first one is the warm-up
# Few large messages for both sides, the best case; the cost of live runs is measured separately.
BATCH_SECONDS = 300
# A peer gets one half of each run in requests as its senders make them (some 10,000 samples), the other as compactly
# as possible.
REQUEST_SECONDS = {BY_SAMPLE: 5, BY_SERIES: 60}
FORMS = (BY_SAMPLE, BY_SERIES)
OURS, BULK_CREATE = "ours", "Django bulk_create"
BULK_CREATE_SECONDS = 20  # of one node: some 17,000 rows per round


@dataclass(frozen=True)
class Stored:
    """Stored data: our runs' `ids`, the peers' `labels`, and the measurements. The first run is in neither.

    `speeds`: side -> samples per CPU second, one value per round. `bytes_per_sample`: side -> on disk, in final form.
    """

    span: Span
    ids: list[int]
    labels: list[str]
    speeds: dict[str, list[float]]
    bytes_per_sample: dict[str, float]


class SampleRow(models.Model):
    """A sample as a row, the naive schema: indexed by run, metric, node and time."""

    run = models.IntegerField()
    metric = models.IntegerField()
    node = models.SmallIntegerField()
    at = models.DateTimeField()
    value = models.FloatField()

    # Declared because the app is not installed, so that no migration creates its table.
    objects: "models.Manager[SampleRow]" = models.Manager()

    class Meta:
        app_label = "bench"
        db_table = "bench_sample"
        indexes = [models.Index(fields=["run", "metric", "node", "at"], name="bench_sample_place")]

    def __str__(self) -> str:
        return f"sample {self.pk}"


def store(bench: Bench) -> Stored:
    """All sides store run after run in turn; then all files are brought into their final form and measured."""
    span = context.span(SET, seconds=len(recording.recorded()[0].clock))
    with connection.schema_editor() as editor:
        editor.create_model(SampleRow)
    speeds: dict[str, list[float]] = {}
    uids: list[str] = []
    samples: list[int] = []
    empty = 0
    for number in range(RUNS):
        run = context.prepared(
            label_of(number), span=span, nodes=recording.a_run(number),
            batch_seconds=BATCH_SECONDS,
        )  # fmt: skip
        sides: dict[str, Callable[[], float]] = {
            OURS: partial(_ours, bench, run, span, uids),
            **{f"{name} {form}": partial(_peer, bench, name, run, form) for name in bench.peers for form in FORMS},
            BULK_CREATE: partial(_bulk_create, run, number, span),
        }
        found = rounds.interleaved(sides, rounds=1)
        summary = ", ".join(f"{name} {value / 1e6:.3g}" for name, (value,) in found.items())
        bench.say(f"run {number + 1} of {RUNS}, million samples per CPU second: {summary}")
        samples.append(run.samples)
        if number == 0:
            # From here on every metric has its row, as in any warehouse in use: the rest is the cost of the runs.
            empty = warehouse.size()
            continue
        for name, (value,) in found.items():
            speeds.setdefault(name, []).append(value)
    bytes_per_sample = {OURS: (warehouse.size() - empty) / sum(samples[1:])}
    for name, peer in bench.peers.items():
        before = peer.cpu()
        peer.settle(span)
        settling = (peer.cpu() - before) / sum(samples)
        # The reported cost includes bringing the data into the form whose bytes are counted: for us the seal, without
        # PostgreSQL's VACUUM.
        for form in FORMS:
            side = f"{name} {form}"
            speeds[side] = [1 / (1 / speed + settling) for speed in speeds[side]]
        bench.say(f"{name} settled in {settling * sum(samples):.2f} CPU s")
        bytes_per_sample[name] = peer.size() / sum(samples)
    bench.data |= {
        "runs": RUNS, "series in a run": _series_in(recording.recorded()), "samples in a run": samples[0],
    }  # fmt: skip
    return Stored(
        span=span,
        ids=bench.warehouse.await_sealed(uids[1:]),
        labels=[label_of(number) for number in range(1, RUNS)],
        speeds=speeds,
        bytes_per_sample=bytes_per_sample,
    )


def in_whole_seconds(others: Mapping[str, Peer]) -> dict[str, float]:
    """Bytes per sample of fresh peers with the same values, whose timestamps are exactly one second apart."""
    span = context.span(SET, seconds=len(recording.recorded()[0].clock))
    samples = 0
    for number in range(RUNS):
        nodes = [replace(node, clock=np.arange(1.0, len(node.clock) + 1)) for node in recording.a_run(number)]
        samples += recording.samples_in(nodes)
        parts = recording.series(label_of(number), nodes, start=span.start)
        for body in context.requests(parts, seconds=REQUEST_SECONDS[BY_SERIES]):
            for peer in others.values():
                peer.write(body)
    for peer in others.values():
        peer.settle(span)
    return {name: peer.size() / samples for name, peer in others.items()}


def label_of(number: int) -> str:
    return f"r{number}"


def _series_in(nodes: list[SampledNode]) -> int:
    return sum(len(node.changing) + len(node.constants) for node in nodes)


def _ours(bench: Bench, run: Prepared, span: Span, uids: list[str]) -> float:
    """Samples per CPU second, from opening the run to its seal."""
    ours = bench.warehouse
    before = ours.cpu_by_program()
    uid = ours.open_run(started=span.start, nodes=[node.name for node in run.nodes])
    for sequence, payload in enumerate(run.batches):
        ours.send_batch(uid, sequence, payload)
    ours.end_run(uid, batches=len(run.batches), span=span)
    ours.await_sealed([uid])
    uids.append(uid)
    spent = {name: now - before[name] for name, now in ours.cpu_by_program().items()}
    bench.say(f"our CPU seconds: {', '.join(f'{name} {seconds:.2f}' for name, seconds in spent.items())}")
    return run.samples / sum(spent.values())


def _peer(bench: Bench, name: str, run: Prepared, form: str) -> float:
    """Samples per CPU second of one half of the run, until it is on disk, not yet merged."""
    peer, length = bench.peers[name], max(len(part.at) for part in run.parts)
    half = (0, length // 2) if form == BY_SAMPLE else (length // 2, length)
    bodies = list(context.requests(run.parts, seconds=REQUEST_SECONDS[form], form=form, between=half))
    before = peer.cpu()
    for body in bodies:
        peer.write(body)
    peer.flush()
    return run.samples * (half[1] - half[0]) / length / (peer.cpu() - before)


def _bulk_create(run: Prepared, number: int, span: Span) -> float:
    """Samples per CPU second of Django and PostgreSQL together."""
    node = run.nodes[0]
    began = datetime.fromtimestamp(span.start, UTC)
    moments = [began + timedelta(seconds=second) for second in node.clock[:BULK_CREATE_SECONDS].tolist()]
    values = [(metric, column.values.tolist()) for metric, (_, column) in enumerate(recording.columns_of(node))]
    postgres = warehouse.postgres_pid()
    database, python = servers.cpu_seconds(postgres), time.process_time()
    rows = [
        SampleRow(run=number, metric=metric, node=1, at=at, value=value)
        for metric, samples in values
        for at, value in zip(moments, samples, strict=False)
    ]
    SampleRow.objects.bulk_create(rows, batch_size=1000)
    return len(rows) / (time.process_time() - python + servers.cpu_seconds(postgres) - database)


def report_ingest(bench: Bench, stored: Stored) -> None:
    for side, peer, limit in (
        (f"{VICTORIA_METRICS} {BY_SAMPLE}", VICTORIA_METRICS, 8.0),
        (f"{VICTORIA_METRICS} {BY_SERIES}", VICTORIA_METRICS, None),
        (f"{PROMETHEUS} {BY_SAMPLE}", PROMETHEUS, None),
        (f"{PROMETHEUS} {BY_SERIES}", PROMETHEUS, None),
        (BULK_CREATE, BULK_CREATE, 100.0),
    ):
        form = side.removeprefix(peer).strip()
        bench.report(
            key=f"ingest.{side}".replace(" ", "_"), part="ingest",
            title="ingest, from HTTP to the form in which it stays" + (f"; the peer is sent {form}" if form else ""),
            peer=peer, unit="samples per CPU second", better="higher", limit=limit,
            found=rounds.compared(stored.speeds[OURS], stored.speeds[side]) if side in stored.speeds else None,
        )  # fmt: skip


def report_disk(bench: Bench, stored: Stored, folder: Path) -> None:
    """With the recorded timestamps, and for the peers also with timestamps rounded to seconds, which favours them."""
    fresh = folder / "whole-seconds"
    fresh.mkdir()
    with ExitStack() as stack:
        others = {name: stack.enter_context(peers.started(name, fresh)) for name in bench.peers}
        rounded = in_whole_seconds(others)
    for key, title, sizes, judged in (
        ("disk", "on disk with indexes", stored.bytes_per_sample, True),
        ("disk_whole_seconds", "on disk with indexes, the peer's clock rounded to seconds", rounded, False),
    ):
        for peer, limit in ((VICTORIA_METRICS, 0.9), (PROMETHEUS, 0.35)):
            ours = [stored.bytes_per_sample[OURS]]
            bench.report(
                key=f"{key}.{peer}", part="disk", title=title, peer=peer, unit="bytes a sample", better="lower",
                limit=limit if judged else None, found=rounds.compared(ours, [sizes[peer]]) if peer in sizes else None,
            )  # fmt: skip
