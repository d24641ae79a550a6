"""The runs of one campaign as rows to be written: samples of each node, speed, outcome."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np

from apps.catalog.models import Metric
from apps.rig import recordings
from apps.rig.plan import PlannedCampaign
from apps.rig.recordings import Recording, stretches
from apps.rig.statistics import Floats
from apps.rig.templates import Moments, Template, client_nodes, server_node
from apps.rig.world import RigWorkload, SystemSpec

CLIENT_KEYS = (
    "client.throughput",
    "client.latency.p95",
    "client.queries",
    "client.reads",
    "client.writes",
    "client.others",
)
MEASURED = (
    "client.throughput",
    "client.queries",
    "client.errors",
    "client.latency.avg",
    "client.latency.p50",
    "client.latency.p95",
    "client.latency.p99",
    "client.latency.max",
)
# Relative deviation of throughput and latency between repetitions, and of a system between campaigns.
RUN_NOISE, CAMPAIGN_NOISE = 0.02, 0.015
FAILED_SHARE, EVENT_SHARE = 0.015, 0.03
PAUSE = 12  # s between two runs
REASONS = (
    "sysbench exited with code 1: FATAL: mysql_drv_query() returned error 2013 (Lost connection to MySQL server)",
    "sysbench exited with code 1: FATAL: mysql_drv_query() returned error 1205 (Lock wait timeout exceeded)",
)


@dataclass(frozen=True)
class Shape:
    """Size of every run: `series` that change, of `seconds` each."""

    series: int
    seconds: int

    @property
    def warmup(self) -> float:
        return float(self.seconds // 10)

    @property
    def duration(self) -> float:
        return self.seconds - self.warmup

    @property
    def of_client(self) -> int:
        return min(len(CLIENT_KEYS), (self.series + 1) // 2)


@dataclass(frozen=True)
class MadeRun:
    """`nodes`: the load generator's and the servers', by number; `shift`: added to the bases of its counters;
    `values`: metric -> headline value; `event`: s on its clock, None: no event. `reason` of its failure; empty: it
    succeeded."""

    uid: UUID
    system: SystemSpec
    workload: RigWorkload
    threads: int
    repetition: int
    job: int
    started_at: datetime
    reason: str
    nodes: tuple[Template, ...]
    shift: int
    values: dict[str, float]
    event: float | None


def keys_of(spec: SystemSpec, shape: Shape) -> list[tuple[Recording, list[str]]]:
    """Series of each server node: the described ones first, over as many nodes as are needed for all."""
    recorded = recordings.load()
    left = shape.series - shape.of_client
    found: list[tuple[Recording, list[str]]] = []
    while left > 0 or not found:
        recording = recorded[spec.platform.recorded[len(found) % len(spec.platform.recorded)]]
        keys = recording.keys()[: max(left, 0)]
        found.append((recording, keys))
        left -= len(keys)
    return found


def runs_of(planned: PlannedCampaign, *, shape: Shape, metrics: Mapping[str, Metric], seed: int) -> list[MadeRun]:
    """In order of their start; the same seed gives the same runs."""
    rng = np.random.default_rng([seed, planned.number])
    jobs = planned.jobs()
    places = [(job, threads) for job, (_, _, _, levels) in enumerate(jobs) for threads in levels]
    cells: dict[tuple[str, str, int], list[int]] = {}
    for place, (job, threads) in enumerate(places):
        _, workload, system, _ = jobs[job]
        cells.setdefault((system.slug, workload.test, threads), []).append(place)
    step = timedelta(seconds=shape.seconds + PAUSE)
    made: dict[int, MadeRun] = {}
    for own in cells.values():
        job, threads = places[own[0]]
        _, workload, system, _ = jobs[job]
        repetitions = _repetitions(system, workload, threads, runs=len(own), shape=shape, metrics=metrics, rng=rng)
        for place, (nodes, values) in zip(own, repetitions, strict=True):
            made[place] = MadeRun(
                uid=UUID(bytes=rng.bytes(16), version=4),
                system=system,
                workload=workload,
                threads=threads,
                repetition=jobs[places[place][0]][0],
                job=places[place][0],
                started_at=planned.starts_at + place * step,
                reason=str(rng.choice(REASONS)) if rng.random() < FAILED_SHARE else "",
                nodes=nodes,
                shift=int(rng.integers(0, 2**40)),
                values=values,
                event=round(float(rng.uniform(0, shape.seconds)), 3) if rng.random() < EVENT_SHARE else None,
            )
    return [made[place] for place in range(len(places))]


def _repetitions(
    system: SystemSpec,
    workload: RigWorkload,
    threads: int,
    *,
    runs: int,
    shape: Shape,
    metrics: Mapping[str, Metric],
    rng: np.random.Generator,
) -> Iterator[tuple[tuple[Template, ...], dict[str, float]]]:
    """Nodes and headline values of each repetition: the servers' are equal, the load generator's differ."""
    throughput = system.throughput(workload, threads) * float(rng.normal(1, CAMPAIGN_NOISE))
    servers: list[Template] = []
    pulse = np.ones(shape.seconds)
    chance = rng.random(shape.seconds)
    for recording, keys in keys_of(system, shape):
        load = recording.loads[workload.kind]
        if not servers:
            # All nodes replay the same seconds.
            chosen = int(rng.integers(len(load)))
            places = stretches(len(load[chosen]), shape.seconds, rng)
        seconds = load[chosen][np.minimum(places, len(load[chosen]) - 1)]
        statements = recording.statements()[seconds]
        if not servers:
            pulse = np.clip(statements / statements.mean(), 0.05, 3)
        servers.append(
            server_node(
                recording,
                metrics={key: metrics[key] for key in keys},
                seconds=seconds,
                scale=throughput * workload.queries / float(statements.mean()),
                moments=_moments(
                    np.arange(shape.seconds, dtype=np.float64) + 0.2 + rng.uniform(0, 0.004, shape.seconds), shape
                ),
                chance=chance,
            )
        )
    moments = _moments(np.arange(1, shape.seconds + 1, dtype=np.float64) + 0.02, shape)
    speed = throughput * rng.normal(1, RUN_NOISE, runs)
    printed = _printed(workload, threads, speed, pulse, rng)
    clients = client_nodes({metrics[key]: printed[key] for key in CLIENT_KEYS[: shape.of_client]}, moments)
    measured = moments.clock >= moments.measured_from + 0.5
    for run, client in enumerate(clients):
        own = {key: values[run, measured] for key, values in printed.items()}
        yield (client, *servers), _headlines(own, rng)


def _moments(clock: Floats, shape: Shape) -> Moments:
    return Moments(np.round(clock, 6), shape.warmup, float(shape.seconds) + 0.5)


def _printed(
    workload: RigWorkload, threads: int, speed: Floats, pulse: Floats, rng: np.random.Generator
) -> dict[str, Floats]:
    """Load generator's output per second: metric -> runs x seconds, with two decimals."""
    done = speed[:, None] * pulse * rng.normal(1, 0.01, (len(speed), len(pulse)))
    latency = 1000 * threads / done * 1.6 * rng.lognormal(0, 0.08, done.shape)
    others = workload.queries - workload.reads - workload.writes
    exact = {
        "client.throughput": done,
        "client.latency.p95": latency,
        "client.queries": done * workload.queries,
        "client.reads": done * workload.reads,
        "client.writes": done * workload.writes,
        "client.others": done * others,
    }
    return {key: np.round(values, 2) for key, values in exact.items()}


def _headlines(printed: Mapping[str, Floats], rng: np.random.Generator) -> dict[str, float]:
    """Over the measured phase: metric -> value."""
    throughput, p95 = float(printed["client.throughput"].mean()), float(printed["client.latency.p95"].mean())
    values = {
        "client.throughput": throughput,
        "client.queries": float(printed["client.queries"].mean()),
        "client.errors": 0.0 if rng.random() < 0.9 else throughput * float(rng.uniform(0, 0.001)),
        "client.latency.avg": p95 * 0.61,
        "client.latency.p50": p95 * 0.55,
        "client.latency.p95": p95,
        "client.latency.p99": p95 * float(rng.normal(1.6, 0.05)),
        "client.latency.max": float(printed["client.latency.p95"].max()) * float(rng.uniform(1.5, 6)),
    }
    return {key: round(value, 2) for key, value in values.items()}
