"""Trends in PostgreSQL: 100,000 points of 500 series, then one more run of each, analysed by two workers.

The worker's task after each seal, without the broker: read the series, continue its analysis, store changes as
findings.
"""

import multiprocessing
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection, connections

from apps.catalog.api import load_level_for, workload_for
from apps.catalog.models import HardwareClass, LoadLevel, Platform, Release, System, Workload
from apps.core.canonical import canonical_hash
from apps.regressions.api import trend_follow
from apps.runs.models import Artifact, Measurement, Run
from bench import histories, results
from bench.context import Bench
from bench.histories import Floats
from bench.results import Figure

SERIES, RUNS, ROUNDS = 500, 200, 3  # of the 200 runs of each series the last three are added one by one
RELEASES = 10
WORKERS = 2
SEED = 77
LIMIT = 60.0  # s
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """Common to all runs of a series, except the release."""

    systems: Sequence[System]
    workload: Workload
    load_level: LoadLevel


def measure(bench: Bench) -> None:
    bench.say(f"making {SERIES * RUNS:,} runs of {SERIES} series")
    values = [made.values[:RUNS] for made in histories.synthetic(SEED, series=SERIES)]
    systems = _systems()
    places = [Place(systems, _workload(number), load_level_for(threads=4)) for number in range(SERIES)]
    last = [_add(place, series[:-ROUNDS], since=0) for place, series in zip(places, values, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    _follow(last)
    took = []
    for number in range(RUNS - ROUNDS, RUNS):
        newest = [
            _add(place, series[number : number + 1], since=number) for place, series in zip(places, values, strict=True)
        ]
        took.append(_follow(newest))
    ours = statistics.median(took)
    figure = Figure(
        key="detection.through_postgresql", part="detection",
        title=f"{SERIES * RUNS:,} runs in PostgreSQL, one more of each of {SERIES} series looked at by two workers",
        peer="", unit="s", better="lower", measured_on=bench.today, ours=ours, rounds=len(took), limit_ours=LIMIT,
        passed=results.holds(ours, LIMIT, "lower"),
    )  # fmt: skip
    bench.figures.append(figure)
    bench.say(results.sentence(figure))


def _systems() -> list[System]:
    """One per release, all with the same configuration and hardware class."""
    platform = Platform.objects.get_or_create(slug="history-bench", name="history bench")[0]
    hardware = HardwareClass.objects.get_or_create(
        slug="history-bench", defaults={"name": "history bench", "vcpu": 2, "memory_bytes": 2**33}
    )[0]
    releases = [
        Release.objects.get_or_create(platform=platform, version=f"1.0.{number}", version_key=[1, 0, number])[0]
        for number in range(RELEASES)
    ]
    return [
        System.objects.create(
            slug=f"history-bench-{number}", name=f"history bench {number}", short_name=f"hist{number}",
            release=release, hardware_class=hardware,
            settings={}, settings_hash=canonical_hash({}), labels=[],
        )
        for number, release in enumerate(releases)
    ]  # fmt: skip


def _workload(number: int) -> Workload:
    parameters = {"test": "oltp_write_only", "tables": 2, "table_size": 1000 + number}
    return workload_for(tool="sysbench_oltp", parameters=parameters)


def _add(place: Place, values: Floats, *, since: int) -> int:
    """Add runs of the series from number `since` on, in the order of releases; returns the last one's id."""
    host = {"cpus": 2, "memory_bytes": 2**33, "kernel": "6.1"}
    runs = Run.objects.bulk_create(
        Run(
            system=place.systems[number * RELEASES // RUNS], workload=place.workload, load_level=place.load_level,
            provenance="agent", state=Run.State.SEALED, outcome=Run.Outcome.SUCCEEDED, warmup=10, duration=60,
            started_at=(at := FIRST + timedelta(hours=number)), ended_at=at + timedelta(seconds=60),
            sealed_at=at + timedelta(seconds=61), measured_from=0, measured_to=60, host=host,
            tool_version="sysbench 1.0.20", data_bytes=10**9,
        )
        for number in range(since, since + len(values))
    )  # fmt: skip
    artifacts = Artifact.objects.bulk_create(Artifact(run=run, name="output", sha256="0" * 64, size=1) for run in runs)
    Measurement.objects.bulk_create(
        Measurement(
            run=run, metric=place.workload.primary_metric, value=1000 * float(value), artifact=artifact,
            byte_start=0, byte_end=1, parser="bench", parser_version="1",
        )
        for run, artifact, value in zip(runs, artifacts, values, strict=True)
    )  # fmt: skip
    return runs[-1].pk


def _follow(runs: Sequence[int]) -> float:
    """Wall time in s until all were analysed."""
    connections.close_all()  # connections must not be shared with a forked process
    began = time.monotonic()
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("fork")) as workers:
        list(workers.map(_look_at, runs, chunksize=10))
    return time.monotonic() - began


def _look_at(run_id: int) -> None:
    trend_follow.follow_run(run_id)
