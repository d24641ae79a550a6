"""Input of the rules, read from a sealed run in a constant number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Q

from apps.catalog.models import Node
from apps.catalog.pure import derived_metrics
from apps.runs.models import COUNTED, Event, Measurement, Run, RunNode, Series, Stream
from apps.runs.quality.rules import generator, network, noisy_neighbours, reproducibility, work_done
from apps.runs.quality.values import (
    AGENT,
    COMMITTED,
    QUESTIONS,
    Floats,
    QualityFacts,
    QualityNode,
    Siblings,
    Stat,
    ThroughputSeconds,
    ToolCheck,
    ToolError,
)
from apps.runs.samples.columns import CLIENT
from apps.runs.samples.rates import COUNTER
from apps.runs.storage import blocks, codec
from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.declaration import WorkloadSpec
from workers.protocol.workloads.foreign import FOREIGN

KEYS = (
    *(
        QUESTIONS,
        COMMITTED,
        work_done.SAMPLING,
        work_done.INSERTED,
        *work_done.WRITES,
        noisy_neighbours.STEAL,
        *network.SERVER_BYTES,
    ),
    *(generator.BUSY, generator.CPUS, generator.SERVER, generator.ITSELF, *generator.TOOL, network.RETRANSMITS),
)
INTERFACES = "host.net."
# Series for the steady-state check where the primary metric has none.
THROUGHPUTS = ("client.throughput", "client.events", "client.file_reads", "client.file_writes")
# Runs read before and after a run, of the same place: more than needed, since some have other conditions.
NEARBY = 2 * reproducibility.NEWEST


def facts(run: Run, *, siblings: bool = True) -> QualityFacts:
    """Facts of a sealed `run`, selected with its workload's primary metric; without `siblings`, none are looked for.
    Raises blocks.Moved."""
    spec = WORKLOADS.get(run.workload.tool) or FOREIGN.get(run.workload.tool) or WorkloadSpec("", "", "")
    phase = run.measured_from, run.measured_to
    events = list(Event.objects.filter(run=run, kind__in=("check", "error", "warning", "neighbours")))
    headlines = dict(Measurement.objects.filter(run=run).values_list("metric__key", "value"))
    measured = None if phase[0] is None or phase[1] is None else (phase[0], phase[1])
    return QualityFacts(
        tool=run.workload.tool,
        measured=measured,
        headlines=headlines,
        nodes=tuple(_nodes(run)),
        seconds=_seconds(run),
        complaints=tuple(_tool_error(event) for event in events if event.kind == "error"),
        claims=tuple(_tool_check(event) for event in events if event.kind == "check"),
        contradictions=tuple(event.label for event in events if event.detail.get("contradiction")),
        siblings=place_of(run).siblings(run.pk) if siblings else None,
        unsteady=spec.unsteady,
        faults=spec.faults,
        rate=run.load_level.rate,
        threads=run.load_level.threads,
        neighbours=_neighbours(events),
        has_database=spec.needs_database,
    )


def _tool_error(event: Event) -> ToolError:
    code, text = event.detail.get("code"), str(event.detail.get("text") or event.label)
    count = event.detail.get("count", 1)
    return ToolError(f"error {code}: {text}" if code else text, count if isinstance(count, int) else 1)


def _neighbours(events: Iterable[Event]) -> dict[str, float] | None:
    """Of the host of the agent that ran the load tool."""
    for event in events:
        if event.kind == "neighbours" and event.node == AGENT:
            cpus = event.detail.get("cpus")
            if isinstance(cpus, dict):
                return {str(name): float(value) for name, value in cpus.items() if isinstance(value, int | float)}
    return None


def _tool_check(event: Event) -> ToolCheck:
    return ToolCheck(str(event.detail.get("text") or event.label), bool(event.detail.get("held")))


def _nodes(run: Run) -> Iterable[QualityNode]:
    rows = list(RunNode.objects.filter(run=run).order_by("number"))
    stats = _statistics(run, rows)
    bandwidths = dict(
        Node.objects.filter(system=run.system_id).values_list("name", "hardware_class__network_bits_per_second")
    )
    own = next((row for row in rows if row.name == AGENT), None)
    generator_apart = own is not None and generator.BUSY in stats[own.number]
    elsewhere = {name for names in Stream.objects.filter(run=run).values_list("nodes", flat=True) for name in names}
    for row in rows:
        if row.name != CLIENT:
            yield QualityNode(
                name=row.name,
                role=row.role,
                clock=_clock(row),
                stats=stats[row.number],
                apart=generator_apart or row.name in elsewhere,
                # What one agent samples runs on its machine, if maybe on other CPUs than the load generator.
                host=row.name if row.name in elsewhere else "",
                bandwidth=bandwidths.get(row.name),
            )


def _clock(row: RunNode) -> Floats:
    if not row.clock:
        return np.zeros(0)
    try:
        return codec.decode_floats(bytes(row.clock))
    except codec.BadBlock:
        # The damage is reported to readers of the node's series.
        return np.zeros(0)


def _statistics(run: Run, rows: Iterable[RunNode]) -> dict[int, dict[str, Stat]]:
    """Node number -> metric key -> statistics of the measured phase; a counter that never changed has the rate 0."""
    found: dict[int, dict[str, Stat]] = defaultdict(dict)
    wanted = Q(metric__key__in=KEYS) | Q(metric__key__startswith=INTERFACES)
    held = Series.objects.filter(wanted, run=run).values_list("node", "metric__key", "mean", "p95")
    for node, key, mean, p95 in held:
        found[node][key] = Stat(mean, p95)
    for row in rows:
        for key, value in row.constants.items():
            if (key in KEYS or key.startswith(INTERFACES)) and value is not None:
                level = 0.0 if derived_metrics.describe(key)[0].kind == COUNTER else float(value)
                found[row.number].setdefault(key, Stat(level, level))
    return found


def _seconds(run: Run) -> ThroughputSeconds | None:
    keys = dict.fromkeys((run.workload.primary_metric.key, *THROUGHPUTS))
    nodes = blocks.read([run.pk], list(keys), [CLIENT]).get(run.pk, [])
    for node in nodes:
        for key in keys:
            column = node.column(key)
            if column is not None and column.observed.any():
                spec = derived_metrics.describe(key)[0]
                values = column.as_float()[column.observed]
                return ThroughputSeconds(spec.name, spec.unit, node.clock[column.observed], values)
    return None


# ---------------------------------------------------------------- siblings


@dataclass(frozen=True)
class Alike:
    """A run that counts; `conditions`: test conditions that affect its value."""

    id: int
    started_at: datetime
    conditions: tuple[Any, ...]
    value: float | None


@dataclass(frozen=True)
class SiblingRuns:
    """Runs that count, of the same system, workload, load level and origin, around the time of one of them."""

    name: str
    unit: str
    runs: tuple[Alike, ...]

    def siblings(self, run_id: int) -> Siblings | None:
        """The nearest runs under the same conditions; None: the run does not count or has no value."""
        own = next((one for one in self.runs if one.id == run_id), None)
        if own is None or own.value is None:
            return None
        alike = [one for one in self.runs if one.id != run_id and one.conditions == own.conditions]
        near = sorted(alike, key=lambda one: (abs(one.started_at - own.started_at), one.id))
        values = [one.value for one in near if one.value is not None][: reproducibility.NEWEST]
        return Siblings(self.name, self.unit, own.value, np.array(values, np.float64))


def place_of(run: Run) -> SiblingRuns:
    """The runs around `run`, which is selected with its workload's primary metric. Two queries."""
    metric = run.workload.primary_metric
    alike = Run.objects.filter(
        COUNTED,
        system_id=run.system_id,
        workload_id=run.workload_id,
        load_level_id=run.load_level_id,
        provenance=run.provenance,
    )
    before = alike.filter(started_at__lte=run.started_at).order_by("-started_at", "-id")[: NEARBY + 1]
    after = alike.filter(started_at__gt=run.started_at).order_by("started_at", "id")[:NEARBY]
    columns = ("id", "started_at", "duration", "host", "warmup", "server_version", "tool_version")
    rows = list(before.values_list(*columns).union(after.values_list(*columns), all=True))
    held = Measurement.objects.filter(run_id__in=[row[0] for row in rows], metric=metric)
    values = dict(held.values_list("run_id", "value"))
    runs = tuple(
        Alike(pk, started_at, (*found, _length(duration), *_lasting(host)), values.get(pk))
        for pk, started_at, duration, host, *found in rows
    )
    return SiblingRuns(metric.name, metric.unit, runs)


def _length(duration: float | None) -> float | None:
    """Rounded, so that durations that differ by clock jitter are equal."""
    return None if duration is None else round(duration, 0 if duration >= 10 else 1)


def _lasting(host: Mapping[str, Any]) -> tuple[str, ...]:
    """Facts of the load generator's host that do not change from run to run."""
    return tuple(str(host.get(name)) for name in ("name", "cpus", "memory_bytes", "kernel"))
