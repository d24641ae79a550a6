"""The content of a run's page, except its series."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Case, When

from apps.catalog.models import HardwareClass
from apps.core.answers import Hidden, Inline, Name, OneOf, component
from apps.runs.ingest.seal_queue import SealWait, pending
from apps.runs.models import ArchiveAttempt, ArchivedRun, Artifact, Event, Measurement, Run, RunCheck, RunNode
from apps.runs.quality.checklist import CHECKS
from apps.runs.quality.exclusion import ExclusionDetail, history
from apps.runs.queries.run_list import NEWEST_FIRST, RunRow, rows_of
from apps.runs.storage import codec

MOST_SIBLINGS = 100
# What the API gives of a run in lists that it gives of one, too.
IN_DETAIL = (
    *("id", "address", "api", "started_at", "workload", "load_level", "repetition", "state", "outcome", "reason"),
    *("provenance", "tags", "failed_checks", "is_excluded", "campaign_id", "campaign_name"),
)


@component("RunSystem")
@dataclass(frozen=True)
class SystemDetail:
    """The system under test, from the catalog."""

    slug: str
    name: str
    short_name: str
    platform_slug: Annotated[str, Name("platform")]
    platform_name: Hidden[str]
    platform_color: Hidden[int | None]
    release: str
    endpoint: str
    settings: dict[str, Any]
    hardware: HardwareClass


@dataclass(frozen=True)
class NodeDetail:
    """A node with samples or recorded variables. `last`: time of its last sample, s on the run's clock; None: no
    samples, or an unreadable clock."""

    number: Hidden[int]
    name: str
    role: str
    samples: int
    variables: Annotated[dict[str, str] | None, "null: not recorded"]
    last: Hidden[float | None] = None


@component("Measurement", "A headline value with its provenance: bytes [byte_start, byte_end) of the artifact.")
@dataclass(frozen=True)
class MeasurementDetail:
    """A headline value with its provenance."""

    metric: str
    name: str
    unit: str
    direction: Annotated[str, "higher, lower or neutral: what is better"]
    value: float
    artifact: str
    sha256: str
    byte_start: int
    byte_end: int
    parser: str
    parser_version: str

    def source(self) -> str:
        return (
            f"Read from {self.artifact} (SHA-256 {self.sha256}), bytes {self.byte_start} to {self.byte_end}, "
            f"by parser {self.parser} {self.parser_version}"
        )


@dataclass(frozen=True)
class EventDetail:
    """`from_output`: printed by the load tool."""

    kind: str
    label: str
    starts_at: Annotated[float, "s on the run's clock"]
    ends_at: Annotated[float | None, "null: a moment"]
    node: str
    detail: dict[str, Any]
    from_output: Hidden[bool] = False


@component("Artifact")
@dataclass(frozen=True)
class ArtifactDetail:
    run: Hidden[int]
    name: str
    sha256: str
    size: Annotated[int, "bytes"]
    media_type: str


@dataclass(frozen=True)
class ArchiveDetail:
    """Archive state of a complete run. `moved_at`: since then its samples are only in the archive. `problem`: why the
    run could not be archived; the next attempt is at `next_at`."""

    archived_at: datetime | None
    moved_at: datetime | None
    problem: str
    next_at: datetime | None


@component("Check", "A quality check: question, evidence, and limits.")
@dataclass(frozen=True)
class CheckDetail:
    """A quality check of a run. `limits`: condition to pass."""

    key: str
    title: str
    question: str
    status: Annotated[str, OneOf(RunCheck.Status.values)]
    evidence: Annotated[str, "a sentence with the numbers that decide"]
    limits: str
    detail: Annotated[dict[str, Any], "these numbers"]


@dataclass(frozen=True)
class RunDetail:
    """`row`: the run in lists. `siblings`: other runs of the same system, workload and load level, newest first.
    `pending`: missing data between the run's end and its seal. `archive`: of a complete run. Times without a date are
    seconds, `measured_from` and `measured_to` on the run's clock. `checks`: in the order of the checklist; none before
    the seal and for runs of the scale rig. `exclusions`: newest first."""

    row: Annotated[RunRow, Inline(*IN_DETAIL)]
    uid: UUID
    ended_at: datetime | None
    sealed_at: datetime | None
    warmup: Annotated[float, "planned, s"]
    duration: Annotated[float | None, "planned length of the measured phase, s"]
    measured_from: Annotated[float | None, "s on the run's clock"]
    measured_to: float | None
    server_version: str
    tool_version: str
    command: Annotated[str, "without secrets"]
    host: Annotated[dict[str, Any], "the load generator's machine"]
    parameters: dict[str, Any]
    primary_metric: str
    system: SystemDetail
    job_id: int | None
    attempt: int | None
    nodes: tuple[NodeDetail, ...]
    measurements: tuple[MeasurementDetail, ...]
    events: tuple[EventDetail, ...]
    artifacts: tuple[ArtifactDetail, ...]
    unparsed_lines: Annotated[tuple[str, ...], "what no parser understood"]
    siblings: Hidden[tuple[RunRow, ...]]
    pending: Hidden[SealWait | None]
    archive: Hidden[ArchiveDetail | None]
    checks: Annotated[tuple[CheckDetail, ...], "in the order of the checklist; none before the run is complete"]
    exclusions: Annotated[tuple[ExclusionDetail, ...], "the latest first"]

    def measurement(self, metric: str) -> MeasurementDetail | None:
        return next((one for one in self.measurements if one.metric == metric), None)


def load_run(run_id: int) -> RunDetail:
    """Eleven queries, thirteen between the run's end and its seal. Raises Run.DoesNotExist."""
    run = Run.objects.select_related(
        *("system__release__platform", "system__hardware_class", "workload__primary_metric", "load_level"),
        *("archived", "archive_attempt"),
    ).get(pk=run_id)
    alike = Run.objects.filter(system=run.system, workload=run.workload, load_level=run.load_level)
    others = alike.exclude(pk=run_id).order_by(*NEWEST_FIRST).values_list("pk", flat=True)[:MOST_SIBLINGS]
    # The run itself first, then the others, newest first.
    own_first = Case(When(pk=run_id, then=0), default=1)
    (own, *siblings) = rows_of(Run.objects.filter(pk__in=[run_id, *others]).order_by(own_first, *NEWEST_FIRST))
    job_id, attempt = Run.objects.values_list("job_run__job_id", "job_run__attempt").get(pk=run_id)
    return RunDetail(
        row=own,
        uid=run.uid,
        ended_at=run.ended_at,
        sealed_at=run.sealed_at,
        warmup=run.warmup,
        duration=run.duration,
        measured_from=run.measured_from,
        measured_to=run.measured_to,
        server_version=run.server_version,
        tool_version=run.tool_version,
        command=run.command,
        host=run.host,
        parameters=run.workload.parameters,
        primary_metric=run.workload.primary_metric.key,
        system=_system(run),
        job_id=job_id,
        attempt=attempt,
        nodes=_nodes(run),
        measurements=_measurements(run),
        events=_events(run),
        artifacts=_artifacts(run),
        unparsed_lines=tuple(run.unparsed_lines),
        siblings=tuple(siblings),
        pending=pending(run),
        archive=_archive(run) if run.state == Run.State.SEALED else None,
        checks=_checks(run),
        exclusions=history(run_id),
    )


def _archive(run: Run) -> ArchiveDetail:
    known: ArchivedRun | None = getattr(run, "archived", None)
    tried: ArchiveAttempt | None = getattr(run, "archive_attempt", None)
    return ArchiveDetail(
        archived_at=known.archived_at if known else None,
        moved_at=known.moved_at if known else None,
        problem=tried.problem if tried else "",
        next_at=tried.due_at if tried else None,
    )


def _system(run: Run) -> SystemDetail:
    system, platform = run.system, run.system.release.platform
    return SystemDetail(
        slug=system.slug,
        name=system.name,
        short_name=system.short_name,
        platform_slug=platform.slug,
        platform_name=platform.name,
        platform_color=platform.color,
        release=system.release.version,
        endpoint=system.endpoint,
        settings=system.settings,
        hardware=system.hardware_class,
    )


def _nodes(run: Run) -> tuple[NodeDetail, ...]:
    rows = RunNode.objects.filter(run=run).order_by("number")
    return tuple(
        NodeDetail(number=number, name=name, role=role, samples=samples, variables=variables, last=_last(clock))
        for number, name, role, samples, variables, clock in rows.values_list(
            "number", "name", "role", "samples", "configuration__variables", "clock"
        )
    )


def _last(clock: bytes | memoryview) -> float | None:
    if not clock:
        return None
    try:
        times = codec.decode_floats(bytes(clock))
    except codec.BadBlock:
        # The damage is reported to readers of the node's series.
        return None
    return float(times[-1]) if len(times) else None


def _measurements(run: Run) -> tuple[MeasurementDetail, ...]:
    rows = Measurement.objects.filter(run=run).select_related("metric", "artifact").order_by("metric__key")
    return tuple(
        MeasurementDetail(
            metric=row.metric.key,
            name=row.metric.name,
            unit=row.metric.unit,
            direction=row.metric.direction,
            value=row.value,
            artifact=row.artifact.name,
            sha256=row.artifact.sha256,
            byte_start=row.byte_start,
            byte_end=row.byte_end,
            parser=row.parser,
            parser_version=row.parser_version,
        )
        for row in rows
    )


def _events(run: Run) -> tuple[EventDetail, ...]:
    rows = Event.objects.filter(run=run).order_by("starts_at", "label")
    return tuple(
        EventDetail(
            kind=row.kind,
            label=row.label,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            node=row.node,
            detail=row.detail,
            from_output=row.from_output,
        )
        for row in rows
    )


def _checks(run: Run) -> tuple[CheckDetail, ...]:
    held = {row.check_key: row for row in RunCheck.objects.filter(run=run)}
    return tuple(
        CheckDetail(
            key=key,
            title=check.title,
            question=check.question,
            status=held[key].status,
            evidence=held[key].evidence,
            limits=check.limits,
            detail=held[key].detail,
        )
        for key, check in CHECKS.items()
        if key in held
    )


def _artifacts(run: Run) -> tuple[ArtifactDetail, ...]:
    rows = Artifact.objects.filter(run=run).order_by("name")
    return tuple(ArtifactDetail(run.pk, *row) for row in rows.values_list("name", "sha256", "size", "media_type"))
