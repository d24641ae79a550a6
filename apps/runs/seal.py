"""Sealing: converts a complete run's batches into compressed series with statistics.

Stored data are read back and compared before the batches are deleted, all in one transaction: a worker that dies
leaves the run unchanged, and two concurrent seals have the effect of one. A sealed run can be resealed by newer rules
from its stored samples and the tool's output.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import chain

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.catalog.api import InvalidField, metrics_for, name_metrics, state_metrics
from apps.catalog.models import Metric
from apps.core import binary_cursor, limits
from apps.core.text import and_list
from apps.runs import tool_output
from apps.runs.ingest import batch_archive, batch_digests, streams
from apps.runs.ingest.clean_text import printable
from apps.runs.ingest.prometheus import files as prometheus
from apps.runs.ingest.seal_queue import count_attempt, pending
from apps.runs.models import (
    ArchivedRun,
    Artifact,
    Batch,
    Block,
    Distribution,
    Event,
    Measurement,
    Run,
    Series,
)
from apps.runs.quality import check
from apps.runs.samples import derivation, rates
from apps.runs.samples.columns import (
    CLIENT,
    SampledNode,
    client_of,
    covers_interval,
    joined,
)
from apps.runs.samples.decode import DecodedSamples, UnreadBatch, decoded
from apps.runs.samples.nodes import role_spans, samplers_of, server_start
from apps.runs.samples.rates import Phase
from apps.runs.storage import artifacts, blocks
from apps.runs.storage.blocks import StoredDifferently
from apps.runs.storage.codec import Column, NotANumber
from apps.runs.tool_output import Output
from workers.protocol import wire

__all__ = ["DERIVATION", "RAW_BATCHES", "UNREAD_BATCHES", "StoredDifferently", "reseal", "reseal_alone", "seal"]

# Version of the rules for series, statistics and measurements, incremented with each change of their results: `reseal`
# finds the runs of older versions.
DERIVATION = 3
RAW_BATCHES = "batches.tar"
UNREAD_BATCHES = "unread-batches.tar"
RESERVED = (RAW_BATCHES, UNREAD_BATCHES)
# Path and content of each.
SetAside = list[tuple[str, bytes]]
_NEXT_BATCHES = (
    "SELECT sequence, payload FROM runs_batch WHERE run_id = %s AND sequence > %s ORDER BY sequence LIMIT 16"
)


@dataclass(frozen=True)
class _Gathered:
    """The decoded content of a run. `problem`: why its samples cannot be read; `unread`: batches that are left out.
    `refused`: why the values of its output are left out."""

    parsed: Output
    output: Artifact | None
    nodes: list[SampledNode]
    events: list[wire.EventMessage]
    metrics: dict[str, Metric]
    offset: float
    problem: str = ""
    unread: SetAside = field(default_factory=list)
    refused: str = ""


def seal(*, run_id: int) -> bool:
    """True: the run is sealed, now or before. False: it has not ended, or batches or artifacts are missing. After
    seal_queue.WAITS_AT_MOST it is sealed without them, as a failure.

    Raises Run.DoesNotExist, artifacts.DamagedArtifact, StoredDifferently; the run is then unchanged.
    """
    run = Run.objects.select_related("workload").get(pk=run_id)
    if run.state == Run.State.OPEN:
        return False
    if run.state == Run.State.SEALED or not count_attempt(run):
        return True
    waiting = pending(run)
    if waiting is None or not (waiting.has_all or waiting.is_over):
        return False
    streams.close(run)
    gathered = _gather(run, _from_batches)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        if run.state == Run.State.SEALED:
            return True
        if waiting.missing and waiting.missing != getattr(pending(run), "missing", ()):
            return False  # more arrived meanwhile, and may not be part of what was gathered
        run.told = {
            "outcome": run.outcome,
            "reason": run.reason,
            "measured_from": run.measured_from,
            "measured_to": run.measured_to,
            "offset": gathered.offset,
            "batches": batch_digests.of_run(run),
            "missing": and_list(waiting.missing),
        }
        if gathered.problem:
            _keep(run, RAW_BATCHES, _raw(run))
        elif gathered.unread:
            _keep(run, UNREAD_BATCHES, gathered.unread)
        _write(run, gathered)
        Batch.objects.filter(run=run).delete()
        streams.drop_batches(run)
    check.check_siblings(run_id=run_id)
    return True


def reseal(*, run_id: int) -> bool:
    """Seals a sealed run again by the current rules: keeps sampled series and events, parses the tool's output again.
    False: not sealed yet.

    Raises Run.DoesNotExist, artifacts.DamagedArtifact, blocks.Moved, blocks.DamagedSeries, StoredDifferently; the run
    is then unchanged.
    """
    done = reseal_alone(run_id=run_id)
    if done:
        check.check_siblings(run_id=run_id)
    return done


@transaction.atomic
def reseal_alone(*, run_id: int) -> bool:
    """As `reseal`, as part of the caller's transaction: the run's siblings are to be checked after it."""
    run = Run.objects.select_related("workload__primary_metric").select_for_update(of=("self",)).get(pk=run_id)
    if run.state != Run.State.SEALED:
        return False
    gathered = _gather(run, _from_blocks)
    for field_name in ("outcome", "reason", "measured_from", "measured_to"):
        setattr(run, field_name, run.told.get(field_name, getattr(run, field_name)))
    for kind in (Series, Block, Measurement, Distribution):
        kind.objects.filter(run=run).delete()
    Event.objects.filter(run=run, from_output=True).delete()
    # If the run's samples could not be read, its samplers' batches exist only in this artifact.
    if not gathered.problem and not run.streams.exists():
        Artifact.objects.filter(run=run, name=RAW_BATCHES).delete()
        if gathered.unread:
            _keep(run, UNREAD_BATCHES, gathered.unread)
    ArchivedRun.objects.filter(run=run).delete()
    _write(run, gathered)
    return True


def output_name(run: Run) -> str:
    """Name of the artifact with the load tool's output."""
    return tool_output.artifact_name(run.workload.tool)


def _gather(run: Run, source: Callable[[Run, Output], tuple[DecodedSamples, SetAside]]) -> _Gathered:
    tool = run.workload.tool
    of_tool = Q(name__in=tool_output.artifact_names(tool))
    rows = list(Artifact.objects.filter(of_tool | prometheus.ARTIFACTS, run=run))
    attached = [one for one in rows if prometheus.NAME.fullmatch(one.name)]
    held = {one.name: one for one in rows if one not in attached}
    contents = {name: artifacts.read_artifact(one) for name, one in held.items()}
    name, parsed = tool_output.read_kept(tool, contents, run.workload.parameters)
    output = held.get(name)
    problem = refused = ""
    try:
        sampled, unread = source(run, parsed)
        name_metrics(_keys(sampled.nodes))
    except (wire.BadBatch, NotANumber, InvalidField) as error:
        problem = f"its samples could not be read ({printable(str(error))}); they are kept in {RAW_BATCHES}"
        sampled, unread = DecodedSamples(), []
    offset = sampled.offset or 0.0
    try:
        client = client_of(parsed.intervals, offset=offset)
        state_metrics(parsed.described)
        name_metrics([*parsed.metrics(), *_keys([client] if client else [])])
    except (wire.BadBatch, InvalidField) as error:
        refused = f"the values of {name} could not be stored ({printable(str(error))})"
        client, parsed = None, replace(parsed, intervals={}, headlines=(), distributions=())
    nodes = joined([*([client] if client else []), *sampled.nodes])
    nodes, lost = prometheus.with_series(run, nodes, attached)
    sampled.events.extend(lost)
    changing = [(*node.changing, *derivation.keys(node)) for node in nodes]
    # What is derived has no more keys than what it is derived from, which were counted.
    metrics = metrics_for([*parsed.metrics(), *chain.from_iterable(changing)], most_new=limits.SERIES)
    return _Gathered(parsed, output, nodes, sampled.events, metrics, offset, problem, unread, refused)


def _keys(nodes: Iterable[SampledNode]) -> Iterable[str]:
    return chain.from_iterable((*node.changing, *node.constants) for node in nodes)


def _from_batches(run: Run, _: Output) -> tuple[DecodedSamples, SetAside]:
    own, others = decoded(partial(_payloads, run)), streams.read(run)
    lost = [*map(_lost, own.unread), *others.lost]
    samples = DecodedSamples([*own.nodes, *others.nodes], [*own.events, *others.events, *lost], own.offset)
    held = Batch.objects.filter(run=run, sequence__in=[batch.sequence for batch in own.unread])
    unread = [(f"{batch.sequence:06}", bytes(batch.payload)) for batch in held]
    return samples, [*unread, *others.unread]


def _lost(batch: UnreadBatch) -> wire.EventMessage:
    words = f"batch {batch.sequence} of the samples could not be read ({printable(batch.reason)})"
    detail = {"batch": batch.sequence, "reason": printable(batch.reason), "kept": UNREAD_BATCHES}
    label = words[: streams.LABEL_LIMIT]
    return wire.EventMessage(kind="sampler_error", label=label, starts_at=round(batch.after, 6), detail=detail)


def _payloads(run: Run) -> Iterator[tuple[int, bytes]]:
    last = -1
    while found := binary_cursor.fetch(_NEXT_BATCHES, [run.pk, last]):
        yield from found
        last = found[-1][0]


def _from_blocks(run: Run, parsed: Output) -> tuple[DecodedSamples, SetAside]:
    """A sealed run's samples, without series parsed from the tool's output."""
    raw = Artifact.objects.filter(run=run, name=RAW_BATCHES).first()
    if raw is not None:
        return _from_raw(artifacts.read_artifact(raw))
    nodes = blocks.read([run.pk]).get(run.pk, [])
    blocks.require_whole(nodes)
    client = next((node for node in nodes if node.name == CLIENT), None)
    offset = run.told.get("offset")
    if offset is None and client is not None and len(client.clock) and parsed.intervals:
        offset = float(client.clock[0]) - min(parsed.intervals)
    sampled = [_without_output(node) if node is client else node for node in nodes]
    # A node without remaining series had only the tool's output.
    return DecodedSamples(nodes=[node for node in sampled if node.changing or node.constants], offset=offset), []


def _from_raw(archive: bytes) -> tuple[DecodedSamples, SetAside]:
    """As by _from_batches, of the batches of a run that could not be read once."""
    found = decoded(partial(batch_archive.unpacked, archive))
    payloads = dict(batch_archive.unpacked(archive)) if found.unread else {}
    unread = [(f"{batch.sequence:06}", payloads[batch.sequence]) for batch in found.unread]
    return replace(found, events=[*found.events, *map(_lost, found.unread)]), unread


def _without_output(client: SampledNode) -> SampledNode:
    """The agent's samples of the load generator, at their own times."""
    changing = {key: column for key, column in client.changing.items() if not covers_interval(key)}
    seen = np.zeros(len(client.clock), np.bool_)
    for column in changing.values():
        seen |= column.observed
    return SampledNode(
        name=client.name,
        role=client.role,
        clock=client.clock[seen],
        changing={key: Column(column.values[seen], column.observed[seen]) for key, column in changing.items()},
        constants={key: value for key, value in client.constants.items() if not covers_interval(key)},
    )


def _write(run: Run, gathered: _Gathered) -> None:
    run.outcome, run.reason = _verdict(run, gathered)
    phase = _phase(run, gathered)
    # Of a submission whose output states no phase.
    run.duration = run.duration or None
    run.unparsed_lines = list(gathered.parsed.unparsed)
    run.tool_version = run.tool_version or gathered.parsed.tool_version[:120]
    run.samplers = samplers_of(gathered.nodes)
    start = server_start(gathered.nodes)
    run.server_started_at = None if start is None else run.started_at + timedelta(seconds=start)
    run.state, run.sealed_at, run.derivation = Run.State.SEALED, timezone.now(), DERIVATION
    run.save()
    blocks.write(run=run, nodes=gathered.nodes, metrics=gathered.metrics, phase=phase)
    _write_events(run, gathered)
    if gathered.output:
        _write_measurements(run, gathered, gathered.output)
        _write_distributions(run, gathered, gathered.output)
    check.check(run)


def _verdict(run: Run, gathered: _Gathered) -> tuple[str, str]:
    """Outcome and reason: a success without totals, or with missing or unreadable samples, becomes a failure."""
    problems = [run.reason] if run.reason else []
    succeeded = run.outcome == Run.Outcome.SUCCEEDED
    if missing := run.told.get("missing"):
        problems.append(f"{missing} never arrived")
    # The reason of an imported run may contain it already.
    if gathered.problem and gathered.problem not in run.reason:
        problems.append(gathered.problem)
    if gathered.refused and gathered.refused not in run.reason:
        problems.append(gathered.refused)
    if succeeded and gathered.output is None:
        problems.append(f"no output of {run.workload.tool} arrived (artifact {output_name(run)})")
    elif succeeded and not gathered.parsed.complete:
        words = f": {gathered.parsed.fatal}" if gathered.parsed.fatal else ""
        problems.append(f"{run.workload.tool} printed no totals{words}")
    elif succeeded:
        problems += [f"a check failed: {label}" for label in gathered.parsed.failures]
    outcome = Run.Outcome.FAILED.value if succeeded and problems else run.outcome
    return outcome, "; ".join(problems)


def _phase(run: Run, gathered: _Gathered) -> Phase:
    """The measured phase reported by the agent, else the one the output's totals cover, else the whole run."""
    if run.measured_from is None or run.measured_to is None:
        if gathered.parsed.measured is None:
            return rates.WHOLE_RUN
        run.measured_from, run.measured_to = (t + gathered.offset for t in gathered.parsed.measured)
    return Phase(run.measured_from, run.measured_to)


def _write_events(run: Run, gathered: _Gathered) -> None:
    printed = [tool_output.moved(event, gathered.offset) for event in gathered.parsed.events]
    derived = [span.event() for span in role_spans(gathered.nodes)]
    rows = {
        (event.kind, event.starts_at, event.label): Event(
            run=run,
            kind=event.kind,
            label=event.label,
            starts_at=event.starts_at,
            ends_at=event.ends_at,
            node=event.node,
            detail=event.detail,
            from_output=from_output,
        )
        # What is derived is derived anew by a reseal, like what was printed.
        for from_output, events in ((True, [*printed, *derived]), (False, gathered.events))
        for event in reversed(events)
    }
    # In a reseal, sampled events exist already.
    Event.objects.bulk_create(rows.values(), ignore_conflicts=True)


def _write_measurements(run: Run, gathered: _Gathered, output: Artifact) -> None:
    Measurement.objects.bulk_create(
        Measurement(
            run=run,
            metric=gathered.metrics[headline.metric],
            value=headline.value,
            artifact=output,
            byte_start=headline.byte_start,
            byte_end=headline.byte_end,
            parser=gathered.parsed.parser,
            parser_version=gathered.parsed.version,
        )
        for headline in gathered.parsed.headlines
    )


def _write_distributions(run: Run, gathered: _Gathered, output: Artifact) -> None:
    Distribution.objects.bulk_create(
        Distribution(
            run=run,
            metric=gathered.metrics[read.metric],
            starts_at=read.starts_at,
            ends_at=read.ends_at,
            grid=read.distribution.grid.id,
            buckets=list(read.distribution.buckets),
            counts=list(read.distribution.counts),
            artifact=output,
            byte_start=read.byte_start,
            byte_end=read.byte_end,
            parser=gathered.parsed.parser,
            parser_version=gathered.parsed.version,
        )
        for read in (found.moved(gathered.offset) for found in gathered.parsed.distributions)
    )


def _raw(run: Run) -> Iterator[tuple[str, bytes]]:
    """Path and content of all batches; those of samplers are in folders of their own."""
    batches = Batch.objects.filter(run=run).order_by("sequence").values_list("sequence", "payload")
    yield from ((f"{sequence:06}", bytes(payload)) for sequence, payload in batches.iterator(16))
    yield from streams.raw(run)


def _keep(run: Run, artifact: str, batches: Iterable[tuple[str, bytes]]) -> None:
    """Keeps batches as received, in an artifact."""
    content = batch_archive.packed(batches)
    Artifact.objects.create(
        run=run,
        name=artifact,
        sha256=artifacts.keep(content),
        size=len(content),
        media_type="application/x-tar",
    )
