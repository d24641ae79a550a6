"""Runs as one zip file, to move them between installations: an agent's messages, rebuilt from the warehouse.

    bundle.json                          BundleMessage: version, systems, hardware classes
    runs/<uid>/run.json                  BundledRun: start and end of the run
    runs/<uid>/batches/<sequence>.gz     its samples and events in the wire format, or as received
    runs/<uid>/artifacts/<name>          its raw files

An import uses the same writes as an agent's upload and therefore the same validation.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from django.db import transaction

from apps.catalog.api import InvalidField, load_level_for, register_system, workload_for
from apps.catalog.models import HardwareClass, System
from apps.runs import archive
from apps.runs.ingest import accept
from apps.runs.models import Event, Run
from apps.runs.quality import exclusion
from apps.runs.samples.columns import CLIENT, SampledNode, second_of
from apps.runs.seal import RAW_BATCHES, kept, output_name
from apps.runs.storage import artifacts as storage_artifacts
from apps.runs.storage import blocks
from workers.protocol import wire

VERSION = 1
# A batch is flushed at this size before compression, bytes.
BATCH_SIZE = 4 * 1024 * 1024
PLAIN_TEXT = "text/plain"
T = TypeVar("T")


class MalformedBundle(Exception):
    """`member` of the zip file is invalid; `message` is the reason."""

    def __init__(self, member: str, message: str) -> None:
        super().__init__(f"{member}: {message}")
        self.member = member
        self.message = message


class BundleMessage(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    systems: list[wire.SystemMessage]
    hardware: list[wire.HardwareMessage]
    runs: list[str]


class BundledRun(msgspec.Struct, frozen=True, kw_only=True):
    system: str
    tool: str
    workload: str
    parameters: dict[str, Any]
    repetition: int
    provenance: str
    tags: list[str]
    opened: wire.RunMessage
    ended: wire.RunEndMessage
    # Artifact -> media type, unless plain text.
    media_types: dict[str, str] = {}
    exclusions: list[dict[str, str]] = []


# ---------------------------------------------------------------- export


def write_bundle(*, runs: Sequence[int], path: Path) -> int:
    """Writes sealed runs and returns their number; moved samples are fetched from the archive.

    Raises Run.DoesNotExist, artifacts.DamagedArtifact, blocks.DamagedSeries, archive.ArchiveTrouble.
    """
    found = list(
        Run.objects.filter(pk__in=runs, state=Run.State.SEALED)
        .select_related("system__release__platform", "system__hardware_class", "workload", "load_level")
        .prefetch_related("system__nodes__hardware_class", "artifacts", "nodes__configuration", "nodes__defaults")
        .order_by("started_at", "id")
    )
    missing = sorted(set(runs) - {run.pk for run in found})
    if missing:
        raise Run.DoesNotExist(f"no complete run {', '.join(map(str, missing))}: only complete runs can be exported")
    systems = {run.system.pk: run.system for run in found}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("bundle.json", wire.to_json(_head(list(systems.values()), found)))
        for run in found:
            _write_run(bundle, run)
    return len(found)


def _head(systems: Sequence[System], runs: Sequence[Run]) -> BundleMessage:
    classes = {each.slug: each for system in systems for each in _hardware_of(system)}
    return BundleMessage(
        version=VERSION,
        systems=[_system_message(system) for system in systems],
        hardware=[
            wire.HardwareMessage(
                slug=each.slug,
                name=each.name,
                vcpu=each.vcpu or 0,
                memory_bytes=each.memory_bytes or 0,
                storage=each.storage,
            )
            for each in classes.values()
        ],
        runs=[str(run.uid) for run in runs],
    )


def _hardware_of(system: System) -> list[HardwareClass]:
    return [system.hardware_class, *(node.hardware_class for node in system.nodes.all())]


def _system_message(system: System) -> wire.SystemMessage:
    """Without the AWS identifier: another account's cluster may have the same one."""
    return wire.SystemMessage(
        slug=system.slug,
        name=system.name,
        platform=system.release.platform.slug,
        version=system.release.version,
        hardware_class=system.hardware_class.slug,
        endpoint=system.endpoint,
        settings=system.settings,
        nodes=[
            wire.NodeMessage(name=node.name, role=node.role, zone=node.zone, hardware_class=node.hardware_class.slug)
            for node in system.nodes.all()
        ],
    )


def _write_run(bundle: zipfile.ZipFile, run: Run) -> None:
    folder = f"runs/{run.uid}"
    contents = {artifact.name: storage_artifacts.read_artifact(artifact) for artifact in run.artifacts.all()}
    # Unreadable batches are exported as received: the import keeps them in the same way.
    raw = contents.pop(RAW_BATCHES, None)
    output = contents.get(output_name(run), b"")
    batches = list(_batches(run, output) if raw is None else enumerate(kept(raw)))
    for sequence, payload in batches:
        bundle.writestr(f"{folder}/batches/{sequence:06}.gz", payload, zipfile.ZIP_STORED)
    for name, content in contents.items():
        bundle.writestr(f"{folder}/artifacts/{name}", content)
    bundle.writestr(f"{folder}/run.json", wire.to_json(_bundled(run, len(batches))))


def _bundled(run: Run, batches: int) -> BundledRun:
    artifacts = [artifact for artifact in run.artifacts.all() if artifact.name != RAW_BATCHES]
    level = wire.LoadLevelMessage(threads=run.load_level.threads, rate=run.load_level.rate)
    return BundledRun(
        system=run.system.slug,
        tool=run.workload.tool,
        workload=run.workload.name,
        parameters=run.workload.parameters,
        repetition=run.repetition,
        provenance=run.provenance,
        tags=run.tags,
        opened=wire.RunMessage(
            job=0,
            attempt=0,
            load_level=level,
            started_at=run.started_at.isoformat(),
            warmup=run.warmup,
            duration=run.duration or 0.0,
            server_version=run.server_version,
            tool_version=run.tool_version,
            command=run.command,
            host=run.host,
            data_bytes=run.data_bytes,
            nodes=[
                wire.RunNodeMessage(
                    name=node.name,
                    role=node.role,
                    variables=node.configuration.variables if node.configuration else None,
                    defaults=node.defaults.variables if node.defaults else None,
                )
                for node in run.nodes.all()
            ],
        ),
        # As reported by the agent: the import's seal decides again.
        ended=wire.RunEndMessage(
            outcome=run.told.get("outcome", run.outcome),
            reason=run.told.get("reason", run.reason),
            ended_at=(run.ended_at or run.started_at).isoformat(),
            measured_from=run.told.get("measured_from", run.measured_from),
            measured_to=run.told.get("measured_to", run.measured_to),
            batches=batches,
            artifacts=[wire.ArtifactMessage(name=each.name, sha256=each.sha256, size=each.size) for each in artifacts],
        ),
        media_types={each.name: each.media_type for each in artifacts if each.media_type != PLAIN_TEXT},
        exclusions=exclusion.told(run),
    )


def _batches(run: Run, output: bytes) -> Iterator[tuple[int, bytes]]:
    encoder = wire.BatchEncoder(run=str(run.uid))
    nodes = archive.with_samples(lambda: blocks.read([run.pk])).get(run.pk, [])
    blocks.require_whole(nodes)
    client = next((node for node in nodes if node.name == CLIENT and len(node.clock)), None)
    if client is not None:
        # The load generator's series are parsed from its output again; its lines align the clocks.
        told = [(second_of(line), line) for line in output.decode("utf-8", "replace").splitlines()]
        lines = [(second, line) for second, line in told if second is not None]
        for second, line in lines:
            encoder.add_output(t=float(client.clock[0]) - lines[0][0] + second, line=line)
    for event in Event.objects.filter(run=run, from_output=False):
        encoder.add_event(
            wire.EventMessage(
                kind=event.kind,
                label=event.label,
                starts_at=event.starts_at,
                ends_at=event.ends_at,
                node=event.node,
                detail=event.detail,
            )
        )
    for node in nodes:
        if node is client:
            continue
        for at, values in _samples(node):
            encoder.add_sample(node=node.name, role=node.role, t=at, values=values)
            if encoder.size() >= BATCH_SIZE:
                yield encoder.flush()
    if not encoder.is_empty():
        yield encoder.flush()


def _samples(node: SampledNode) -> Iterator[tuple[float, dict[str, wire.Number]]]:
    columns: dict[str, list[wire.Number]] = {}
    for key, column in node.changing.items():
        pairs = zip(column.values.tolist(), column.observed.tolist(), strict=True)
        columns[key] = [value if seen else None for value, seen in pairs]
    for place, at in enumerate(node.clock.tolist()):
        yield at, {**node.constants, **{key: samples[place] for key, samples in columns.items()}}


# ---------------------------------------------------------------- import


def read_bundle(path: Path, *, provenance: str = "") -> list[Run]:
    """Imports and seals all runs of the file; existing runs stay unchanged. `provenance` overrides the file's. Runs
    before a malformed one stay imported; nothing of that one does.

    Raises MalformedBundle, or OSError when the file cannot be read.
    """
    try:
        bundle = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise MalformedBundle(path.name, f"is no zip file ({error}): use one that `export_runs` wrote") from error
    with bundle:
        head = _message(bundle, "bundle.json", BundleMessage)
        if head.version != VERSION:
            raise MalformedBundle("bundle.json", f"version is {head.version}, this installation reads {VERSION}")
        try:
            systems = {each.slug: register_system(message=each, hardware=head.hardware)[0] for each in head.systems}
        except InvalidField as error:
            raise MalformedBundle("bundle.json", f"systems: {error}") from error
        known = set(Run.objects.filter(uid__in=_uids(head.runs)).values_list("uid", flat=True))
        return [_read_run(bundle, uid, systems, provenance) for uid in _uids(head.runs) if uid not in known]


def _uids(texts: Iterable[str]) -> list[UUID]:
    try:
        return [UUID(text) for text in texts]
    except ValueError as error:
        raise MalformedBundle("bundle.json", f"runs: {error}") from error


def _message(bundle: zipfile.ZipFile, member: str, kind: type[T]) -> T:
    try:
        return wire.from_json(kind, bundle.read(member))
    except KeyError as error:
        raise MalformedBundle(member, "is missing from the file") from error
    except (msgspec.DecodeError, json.JSONDecodeError, zipfile.BadZipFile) as error:
        raise MalformedBundle(member, str(error)) from error


def _read_run(bundle: zipfile.ZipFile, uid: UUID, systems: dict[str, System], provenance: str) -> Run:
    folder = f"runs/{uid}"
    member = f"{folder}/run.json"
    told = _message(bundle, member, BundledRun)
    if told.system not in systems:
        raise MalformedBundle(member, f"system: {told.system!r} is not among the systems of bundle.json")
    try:
        with transaction.atomic():
            run = accept.open_run(
                uid=uid,
                system=systems[told.system],
                workload=workload_for(tool=told.tool, parameters=told.parameters, name=told.workload),
                load_level=load_level_for(threads=told.opened.load_level.threads, rate=told.opened.load_level.rate),
                repetition=told.repetition,
                provenance=provenance or told.provenance,
                message=told.opened,
            )
            for sequence in range(told.ended.batches):
                payload = bundle.read(f"{folder}/batches/{sequence:06}.gz")
                accept.accept_batch(run=run, sequence=sequence, checksum=wire.checksum(payload), payload=payload)
            for artifact in told.ended.artifacts:
                content = bundle.read(f"{folder}/artifacts/{artifact.name}")
                accept.accept_artifact(
                    run=run,
                    name=artifact.name,
                    sha256=artifact.sha256,
                    content=content,
                    media_type=told.media_types.get(artifact.name, PLAIN_TEXT),
                )
            accept.end_run(run=run, message=told.ended)
            Run.objects.filter(pk=run.pk).update(tags=told.tags)
            exclusion.take_over(run, told.exclusions)
    except (accept.Refused, ValueError) as error:
        raise MalformedBundle(member, str(error)) from error
    except KeyError as error:
        raise MalformedBundle(member, f"names what is not in the file: {error.args[0]}") from error
    accept.seal(run_id=run.pk)
    run.refresh_from_db()
    return run
