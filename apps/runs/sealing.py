"""Sealing: once all of a run has arrived, its batches become compressed series with their statistics.

What is stored is read back and compared before the batches go. All in one transaction: a worker that dies half-way
leaves the run as it was, and two at once have one effect.
"""

import io
import tarfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from django.db import transaction
from django.utils import timezone

from apps.catalog.models import Metric
from apps.catalog.services import InvalidParameters, metrics_for
from apps.runs import codec, headlines, storage, summary
from apps.runs.models import Artifact, Batch, Event, Measurement, Run, RunNode, Series
from apps.runs.parsers import sysbench
from apps.runs.pending import count_attempt, pending
from apps.runs.sampled import (
    CLIENT,
    SampledNode,
    client_of,
    events_of,
    joined,
    nodes_of,
    offset_of,
)
from apps.runs.summary import Phase
from apps.runs.text import printable
from workers import wire

ROWS_AT_ONCE = 1000
RAW_BATCHES = "batches.tar"


class StoredDifferently(Exception):
    """What was read back is not what was written: the seal is undone and the batches stay."""


@dataclass(frozen=True)
class _Gathered:
    """All that arrived of a run, read. `problem`: why its samples cannot be read."""

    payloads: list[tuple[int, bytes]]
    parsed: sysbench.Parsed
    output: Artifact | None = None
    nodes: list[SampledNode] = field(default_factory=list)
    events: list[wire.EventMessage] = field(default_factory=list)
    metrics: dict[str, Metric] = field(default_factory=dict)
    offset: float = 0.0
    problem: str = ""


def seal(*, run_id: int) -> bool:
    """True: the run is sealed, now or before. False: it has not ended, or batches or artifacts are still to come.

    Raises Run.DoesNotExist, storage.DamagedArtifact, StoredDifferently; the run is then as it was.
    """
    run = Run.objects.select_related("workload").get(pk=run_id)
    if run.state == Run.State.SEALED:
        return True
    if run.state == Run.State.OPEN:
        return False
    if not count_attempt(run):
        return True
    waiting = pending(run)
    if waiting is None or not waiting.has_all:
        return False
    gathered = _gather(run)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        if run.state == Run.State.SEALED:
            return True
        _write(run, gathered)
        _compare(run, gathered)
        Batch.objects.filter(run=run).delete()
    return True


def output_name(run: Run) -> str:
    """The artifact that holds what the load tool printed."""
    return f"{run.workload.tool}.txt"


def _gather(run: Run) -> _Gathered:
    batches = Batch.objects.filter(run=run).order_by("sequence").values_list("sequence", "payload")
    payloads = [(sequence, bytes(payload)) for sequence, payload in batches]
    output = Artifact.objects.filter(run=run, name=output_name(run)).first()
    parsed = sysbench.parse(storage.read_artifact(output)) if output else sysbench.Parsed()
    wanted = [headline.metric for headline in headlines.headlines(parsed)]
    try:
        decoded = wire.decode([payload for _, payload in payloads])
        offset = offset_of(decoded.output) or 0.0
        client = client_of(parsed.intervals, offset=offset)
        nodes = joined([*([client] if client else []), *nodes_of(decoded)])
        events = events_of(decoded)
        keys = {key for node in nodes for key in (*node.changing, *node.constants)}
        metrics = metrics_for([*keys, *wanted])
    except (wire.BadBatch, InvalidParameters) as error:
        client = client_of(parsed.intervals, offset=0.0)
        nodes = [client] if client else []
        keys = {key for node in nodes for key in (*node.changing, *node.constants)}
        problem = f"its samples could not be read ({printable(str(error))}); they are kept in {RAW_BATCHES}"
        return _Gathered(payloads, parsed, output, nodes, metrics=metrics_for([*keys, *wanted]), problem=problem)
    return _Gathered(payloads, parsed, output, nodes, events, metrics, offset)


def _write(run: Run, gathered: _Gathered) -> None:
    run.outcome, run.reason = _verdict(run, gathered)
    phase = _phase(run, gathered)
    run.unparsed_lines = headlines.unparsed_lines(gathered.parsed)
    run.tool_version = run.tool_version or gathered.parsed.version
    run.state, run.sealed_at = Run.State.SEALED, timezone.now()
    run.save()
    if gathered.problem:
        _keep_raw(run, gathered.payloads)
    numbers = _write_nodes(run, gathered.nodes)
    rows = [
        Series(
            run=run,
            metric=gathered.metrics[key],
            node=numbers[node.name],
            samples=codec.encode(column),
            **asdict(summary.of_series(gathered.metrics[key], node.clock, column, phase)),
        )
        for node in gathered.nodes
        for key, column in node.changing.items()
    ]
    Series.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
    _write_events(run, gathered)
    if gathered.output:
        _write_measurements(run, gathered, gathered.output)


def _verdict(run: Run, gathered: _Gathered) -> tuple[str, str]:
    """Outcome and reason: a success that left no totals, or samples that nobody can read, is none."""
    problems = [run.reason] if run.reason else []
    succeeded = run.outcome == Run.Outcome.SUCCEEDED
    # A run that was imported says so already.
    if gathered.problem and gathered.problem not in run.reason:
        problems.append(gathered.problem)
    if succeeded and gathered.output is None:
        problems.append(f"no output of {run.workload.tool} arrived (artifact {output_name(run)})")
    elif succeeded and not headlines.has_totals(gathered.parsed):
        fatal = gathered.parsed.fatal()
        said = f": {printable(fatal)}" if fatal else ""
        problems.append(f"{run.workload.tool} printed no totals{said}")
    outcome = Run.Outcome.FAILED.value if succeeded and problems else run.outcome
    return outcome, "; ".join(problems)


def _phase(run: Run, gathered: _Gathered) -> Phase:
    """The agent's word, else what the output's totals cover; without either, all of the run."""
    if run.measured_from is None or run.measured_to is None:
        found = headlines.measured_phase(gathered.parsed, offset=gathered.offset)
        if found is None:
            return summary.WHOLE_RUN
        run.measured_from, run.measured_to = found
    return Phase(run.measured_from, run.measured_to)


def _write_nodes(run: Run, nodes: Sequence[SampledNode]) -> dict[str, int]:
    """Fills the rows of the nodes that were announced and adds those that were not; name -> number."""
    known = {row.name: row for row in RunNode.objects.filter(run=run)}
    free = max((row.number for row in known.values()), default=0) + 1
    for node in nodes:
        row = known.get(node.name)
        if row is None:
            number = 0 if node.name == CLIENT else free
            free += number > 0
            row = known[node.name] = RunNode(run=run, number=number, name=node.name)
        row.role = row.role or node.role
        row.samples = len(node.clock)
        row.clock = codec.encode_floats(node.clock)
        row.constants = node.constants
        row.save()
    return {name: row.number for name, row in known.items()}


def _write_events(run: Run, gathered: _Gathered) -> None:
    said = [*gathered.events, *headlines.error_events(gathered.parsed, offset=gathered.offset)]
    events = {(event.kind, event.starts_at, event.label): event for event in reversed(said)}
    Event.objects.bulk_create(
        Event(
            run=run,
            kind=event.kind,
            label=event.label,
            starts_at=event.starts_at,
            ends_at=event.ends_at,
            node=event.node,
            detail=event.detail,
        )
        for event in events.values()
    )


def _write_measurements(run: Run, gathered: _Gathered, output: Artifact) -> None:
    Measurement.objects.bulk_create(
        Measurement(
            run=run,
            metric=gathered.metrics[headline.metric],
            value=headline.value,
            artifact=output,
            byte_start=headline.byte_start,
            byte_end=headline.byte_end,
            parser=sysbench.PARSER,
            parser_version=sysbench.VERSION,
        )
        for headline in headlines.headlines(gathered.parsed)
    )


def _keep_raw(run: Run, payloads: Sequence[tuple[int, bytes]]) -> None:
    """Nothing is lost: batches that cannot be read stay as they came, as an artifact."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for sequence, payload in payloads:
            entry = tarfile.TarInfo(f"{sequence:06}.ndjson.gz")
            entry.size = len(payload)
            archive.addfile(entry, io.BytesIO(payload))
    content = buffer.getvalue()
    Artifact.objects.create(
        run=run,
        name=RAW_BATCHES,
        sha256=storage.keep(content),
        size=len(content),
        media_type="application/x-tar",
    )


def _compare(run: Run, gathered: _Gathered) -> None:
    """Reads back what was written. Raises StoredDifferently."""
    rows = {row.name: row for row in RunNode.objects.filter(run=run)}
    stored = {
        (node, metric): bytes(samples)
        for node, metric, samples in Series.objects.filter(run=run).values_list("node", "metric_id", "samples")
    }
    written = 0
    for node in gathered.nodes:
        row = rows[node.name]
        if not np.array_equal(codec.decode_floats(row.clock), node.clock) or row.constants != node.constants:
            raise StoredDifferently(f"clock or constants of node {node.name} of run {run.pk}")
        for key, column in node.changing.items():
            if not codec.decode(stored[row.number, gathered.metrics[key].pk]).same_as(column):
                raise StoredDifferently(f"{key} of node {node.name} of run {run.pk}")
            written += 1
    if written != len(stored):
        raise StoredDifferently(f"run {run.pk} has {len(stored)} series, {written} were written")
