"""Submission of runs measured without an agent, from the raw output of their tool, and of further files of runs."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.db import connection

from apps.catalog.api import InvalidField, metrics_for, state_metrics, workload_for
from apps.catalog.models import LoadLevel, Metric, System, Workload
from apps.core import limits
from apps.core.audit.api import Action, record
from apps.core.canonical import canonical_json
from apps.core.problems import FieldProblem, Invalid
from apps.runs.ingest import output_checks, quota, submitted_samples
from apps.runs.ingest.accept import Refused, accept_batch, end_run, open_run, require_no_secret
from apps.runs.models import ArchivedRun, Artifact, Block, Run
from apps.runs.samples.columns import NAME_LIMIT
from apps.runs.storage import artifacts
from apps.runs.tool_output import foreign, formats, once, plain_text
from apps.runs.tool_output.formats import Attached, Submitted, SubmittedOutput
from apps.runs.tool_output.parsers import sysbench
from apps.runs.tool_output.recognition import NotRecognised, recognised
from workers.protocol import wire
from workers.protocol.workloads.foreign import FOREIGN

# Namespace of the uid of runs submitted without one, so that a resend is the same run.
SUBMISSIONS = UUID("6f3d1a52-0f0e-5d0c-9c55-6d1c6f0a7d11")
CLOCKS_DIFFER_BY = timedelta(minutes=10)


def format_of(name: str | None, *, output: bytes) -> Submitted:
    """The format of that name; None: recognised by the content. Raises Invalid."""
    _require_unpacked("output", output)
    if name is not None:
        return formats.SUBMITTED[name]
    try:
        return recognised(output)
    except NotRecognised as error:
        raise _invalid("output", str(error), error.remedy) from error


def read(*, chosen: Submitted, output: bytes, parameters: Mapping[str, Any] | None = None) -> SubmittedOutput:
    """Parses `output`, of a workload of such `parameters`. Raises Refused with the first line that does not fit."""
    _require(bool(output.strip()), "output", f"is empty: send {chosen.made_by}")
    _require(
        len(output) <= limits.ARTIFACT, "output", f"has {len(output)} bytes; it may have at most {limits.ARTIFACT}"
    )
    _require_no_secret("output", output)
    if chosen.mapping is not None:
        _require(len(chosen.mapping) <= limits.MAPPING, "mapping", f"may have at most {limits.MAPPING} bytes")
        require_no_secret("mapping", chosen.mapping)
    _require(
        chosen.name != formats.OWN or chosen.mapping is not None, "mapping", "is missing: a file of your own needs one"
    )
    try:
        return chosen.read(output, parameters)
    except formats.NotThisFormat as error:
        raise Refused("output", f"is not an output of {chosen.title}: {error}") from error


def mapped(chosen: Submitted, document: object, *, started_at: datetime) -> Submitted:
    """The format with the sender's mapping; None: there is none. Raises Refused."""
    if document is None:
        return chosen
    _require(chosen.name == formats.OWN, "mapping", f"belongs to the format {formats.OWN}, not to {chosen.name}")
    try:
        return formats.mapped(document, started_at)
    except formats.BadMapping as error:
        raise Refused(error.field, error.message) from error


def workload_of(
    submitted: SubmittedOutput, *, chosen: Submitted, parameters: Mapping[str, Any], name: str = ""
) -> Workload:
    """The workload of a submission by its parameters, as given, and those that only the output states. A new one, of a
    file of the sender's own or of another tool whose primary metric is not in the output, is judged by the first value
    that has a direction. Raises Refused, InvalidField."""
    _state(submitted)
    named = {str(each).replace("-", "_") for each in parameters}
    parameters = {**{each: value for each, value in submitted.parameters.items() if each not in named}, **parameters}
    keys = [line.metric for line in submitted.output.headlines]
    usual = FOREIGN.get(chosen.tool)
    if usual is None or not keys or (chosen.mapping is None and usual.primary_metric in keys):
        return workload_for(tool=chosen.tool, parameters=parameters, name=name)
    known = metrics_for(keys)
    primary = next((key for key in keys if known[key].direction != Metric.Direction.NEUTRAL), keys[0])
    return workload_for(tool=chosen.tool, parameters=parameters, name=name, primary=primary)


def why_not_started(started_at: datetime, *, now: datetime) -> str:
    """Why no submitted run can have started then; empty: it can."""
    if started_at < limits.EARLIEST:
        return f"must not lie before {limits.EARLIEST:%Y-%m-%d}"
    if started_at <= now + CLOCKS_DIFFER_BY:
        return ""
    return (
        f"lies in the future: it may be at most {CLOCKS_DIFFER_BY // timedelta(minutes=1)} minutes ahead of the "
        f"server's clock, which shows {now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}; a time without a zone is UTC"
    )


def outcome_of(submitted: SubmittedOutput, *, chosen: Submitted, outcome: str, reason: str) -> tuple[str, str]:
    """Outcome and reason. Only a failed run may lack totals. Raises Invalid."""
    complete, fatal = submitted.output.complete, submitted.output.fatal
    if chosen.name in formats.FORMAT_OF.values():
        kind = "an OLTP test" if chosen.name == formats.DEFAULT else f"sysbench's {chosen.name}"
        why = f"sysbench: {fatal}" if fatal else f"the final report of {kind} is missing or cut off"
    else:
        why = fatal
    if outcome == Run.Outcome.FAILED:
        reason = reason or ("" if complete else why)
        if not reason:
            raise _invalid("reason", "a failed run needs one; the output is that of a complete run")
        return outcome, reason
    if not complete:
        remedy = f"send the complete output of {chosen.tool}, or set outcome to failed with a reason"
        raise _invalid("output", f"holds no result: {why}", remedy)
    return outcome, ""


def load_of(submitted: SubmittedOutput, *, threads: int | None, rate: float | None) -> tuple[int, float | None]:
    """Threads and rate from the output or as given. Raises Invalid when both are stated and differ."""
    threads = submitted.threads if threads is None else threads
    rate = submitted.rate if rate is None else rate
    if threads is None:
        raise _invalid("load_level.threads", "missing in both description and output", "state it")
    if submitted.threads is not None and threads != submitted.threads:
        raise _invalid(
            "load_level.threads", f"{threads} in the description, {submitted.threads} in the output", "omit it"
        )
    if submitted.is_rated and rate is None:
        raise _invalid("load_level.rate", "missing, but the output shows that a rate limited the load", "state it")
    if submitted.is_rated is False and rate is not None:
        raise _invalid("load_level.rate", f"{rate:g}/s in the description, no rate in the output", "omit it")
    # Only sysbench's header states the rate, or that there was none.
    if submitted.threads is not None and submitted.output.parser == formats.DEFAULT and rate != submitted.rate:
        text = "no rate" if submitted.rate is None else f"{submitted.rate:g}/s"
        described = "no rate" if rate is None else f"{rate:g}/s"
        raise _invalid("load_level.rate", f"{described} in the description, {text} in the output", "omit it")
    return int(threads), None if rate is None else float(rate)


def repetition_of(submitted: SubmittedOutput, *, repetition: int | None) -> int:
    """From the output or as given, else 1. Raises Invalid when both are stated and differ."""
    stated = submitted.repetition
    if repetition is not None and stated is not None and repetition != stated:
        raise _invalid("repetition", f"{repetition} in the description, {stated} in the output", "omit it")
    return repetition or stated or 1


def uid_of(
    *,
    system: System,
    workload: Workload,
    load_level: LoadLevel,
    started_at: datetime,
    repetition: int,
    output: bytes,
) -> UUID:
    """The uid of a run submitted without one: equal for equal content."""
    content = {
        "system": system.slug,
        "workload": workload.content_hash,
        "load_level": [load_level.threads, load_level.rate],
        "started_at": started_at.isoformat(),
        "repetition": repetition,
        "output": hashlib.sha256(output).hexdigest(),
    }
    return uuid5(SUBMISSIONS, canonical_json(content))


def submitted_before(uid: UUID, *, samples: Sequence[bytes] = ()) -> Run | None:
    """The run of that uid, locked; None: none, and until the transaction's end nobody else submits one of it.

    Raises Refused for samples that it could not have.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [uid.int >> 65])
    run = Run.objects.select_for_update().filter(uid=uid).first()
    if run is not None:
        submitted_samples.read(samples, uid=uid)
    return run


def submit(
    *,
    system: System,
    workload: Workload,
    load_level: LoadLevel,
    output: bytes,
    started_at: datetime,
    warmup: float | None,
    repetition: int = 1,
    tags: Sequence[str] = (),
    session: str = "",
    server_version: str = "",
    variables: Mapping[str, str] | None = None,
    defaults: Mapping[str, str] | None = None,
    command: str = "",
    host: Mapping[str, Any] | None = None,
    data_bytes: int | None = None,
    uid: UUID | None = None,
    outcome: str = Run.Outcome.SUCCEEDED,
    reason: str = "",
    chosen: Submitted = formats.SUBMITTED[formats.DEFAULT],
    series: bytes | None = None,
    samples: Sequence[bytes] = (),
) -> Run:
    """Creates a finished run from the tool's raw output; the caller then seals it. A repeated call with the same `uid`
    returns the same run. `warmup`: s; None: as the output says. `reason`: of a failed run. `series`: the tool's file of
    series. `samples`: batches of the run as agents send them, from number 0; they name `uid`.

    Raises Refused, Invalid, or OSError when storage fails.
    """
    uid = uid or uuid4()
    offset = submitted_samples.read(samples, uid=uid).offset or 0.0
    submitted = read(chosen=chosen, output=output, parameters=workload.parameters)
    files = {chosen.artifact: output, **_series(chosen, submitted, series)}
    if chosen.mapping is not None:
        files[formats.MAPPING] = chosen.mapping
        _state(submitted)
    _require(started_at.tzinfo is not None, "started_at", "must have a time zone, for example 2026-01-31T12:00:00Z")
    for tag in tags:
        _require(0 < len(tag) <= 60 and "\0" not in tag, "tags", "must each have 1 to 60 characters")
    _require(workload.tool == chosen.tool, "workload", f"is one of {workload.tool}, the output of {chosen.title}")
    if chosen.name in formats.FORMAT_OF.values():
        parsed = sysbench.parse(plain_text.of(output).content)
        warmup = output_checks.check_sysbench(parsed, workload=workload, load_level=load_level, warmup=warmup)
    else:
        warmup = output_checks.check_foreign(submitted, workload=workload, load_level=load_level, warmup=warmup)
    start, end = submitted.output.measured or (0.0, 0.0)
    hashes = {name: wire.checksum(content) for name, content in files.items()}
    with artifacts.atomic() as keep:
        quota.charge(sum(map(len, [*files.values(), *samples])))
        run = open_run(
            uid=uid,
            system=system,
            workload=workload,
            load_level=load_level,
            repetition=repetition,
            provenance=Run.Provenance.SUBMITTED,
            message=wire.RunMessage(
                job=0,
                attempt=0,
                load_level=wire.LoadLevelMessage(threads=load_level.threads, rate=load_level.rate),
                started_at=started_at.isoformat(),
                warmup=warmup,
                duration=round(end - start, 3),
                server_version=server_version,
                tool_version=submitted.output.tool_version[:120],
                command=command,
                host=dict(host or {}),
                nodes=_nodes(system, variables, defaults),
                data_bytes=data_bytes,
            ),
        )
        created = False
        if run.state == Run.State.OPEN:
            for sequence, payload in enumerate(samples):
                accept_batch(run=run, sequence=sequence, checksum=wire.checksum(payload), payload=payload)
        for name, content in files.items():
            held, created = Artifact.objects.get_or_create(
                run=run, name=name, defaults={"sha256": hashes[name], "size": len(content)}
            )
            field = {chosen.artifact: "output", formats.MAPPING: "mapping"}.get(name, "series")
            _require(held.sha256 == hashes[name], field, f"run {run.uid} was submitted with other {field}")
            keep(content)
        if created:
            Run.objects.filter(pk=run.pk).update(tags=sorted(set(tags)), session=session)
            record(Action.RUN_SUBMIT, f"run {run.pk} of {system.slug}", after=f"{outcome}, {chosen.title}")
        end_run(
            run=run,
            message=wire.RunEndMessage(
                outcome=outcome,
                reason=reason,
                ended_at=(started_at + timedelta(seconds=offset + end)).isoformat(),
                batches=len(samples),
                artifacts=[
                    wire.ArtifactMessage(name=name, sha256=hashes[name], size=len(content))
                    for name, content in files.items()
                ],
            ),
        )
    run.refresh_from_db()
    return run


def attach(*, run: Run, chosen: Attached, content: bytes) -> tuple[Artifact, bool]:
    """Attaches a file to a run, whose own numbers stay unchanged. False: already attached.

    Raises Refused, Invalid, or OSError when storage fails.
    """
    _require(bool(content.strip()), "file", f"is empty: send {chosen.made_by}")
    _require(
        len(content) <= limits.ATTACHED, "file", f"has {len(content)} bytes; it may have at most {limits.ATTACHED}"
    )
    _require_unpacked("file", content)
    _require_no_secret("file", content)
    try:
        chosen.read(content)
    except formats.NotThisFormat as error:
        raise Refused("file", f"is not an output of {chosen.title}: {error}") from error
    content = chosen.kept(content)
    sha256 = wire.checksum(content)
    with artifacts.atomic() as keep:
        quota.charge(len(content))
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        _require(locked.state == Run.State.SEALED, "run", f"run {run.pk} is not complete yet: attach it afterwards")
        held = [one for one in locked.artifacts.all() if formats.of_artifact(one.name) is chosen]
        same = next((one for one in held if one.sha256 == sha256), None)
        if same is not None:
            keep(content)  # it may be missing, or half-written
            return same, False
        most = limits.ATTACHED_FILES
        _require(len(held) < most, "file", f"exceeds the limit: a run holds {most} of {chosen.title}")
        number = f".{len(held) + 1}" if held else ""
        # A run is archived as a whole: one more file means archiving it again, which needs the samples.
        moved = Block.objects.filter(run=locked, data=None).exists()
        _require(not moved, "run", f"the samples of run {run.pk} are in the archive only: fetch them first")
        ArchivedRun.objects.filter(run=locked).delete()
        keep(content)
        made = Artifact.objects.create(
            run=locked,
            name=f"{chosen.name}{number}.{chosen.extension}",
            sha256=sha256,
            size=len(content),
            media_type="application/json" if chosen.extension == "json" else "text/plain",
        )
        record(Action.RUN_ATTACH, f"run {run.pk}", after=f"{made.name}, {len(content):,} bytes")
    return made, True


# ---------------------------------------------------------------- checks


def _require(holds: bool, field: str, message: str) -> None:
    if not holds:
        raise Refused(field, message)


def _require_no_secret(field: str, content: bytes) -> None:
    """In the file as it came, and in its plain text, in which a coding or colours hide none. Raises Refused."""
    for text in dict.fromkeys((content, plain_text.of(content).content)):
        once.held((require_no_secret, field, text), partial(require_no_secret, field, text))


def _require_unpacked(field: str, content: bytes) -> None:
    if name := plain_text.compression_of(content):
        raise _invalid(field, f"is {name}", "send it unpacked")


def _invalid(field: str, message: str, remedy: str = "") -> Invalid:
    return Invalid([FieldProblem(field=field, message=message, remedy=remedy)])


def _state(submitted: SubmittedOutput) -> None:
    """Raises Refused."""
    try:
        state_metrics(submitted.output.described)
    except InvalidField as error:
        raise Refused(f"mapping.{error.field}", error.message) from error


def _series(chosen: Submitted, submitted: SubmittedOutput, content: bytes | None) -> dict[str, bytes]:
    """Artifact name -> content of the file of series. Raises Refused, Invalid."""
    if content is None:
        return {}
    _require_unpacked("series", content)
    apart = formats.series_for(chosen)
    if apart is None:
        raise Refused("series", f"is not accepted: {chosen.title} has no separate series")
    try:
        found = read(chosen=apart, output=content)
    except Refused as error:
        raise Refused("series", error.message) from error
    if apart.counts_all:
        problem = foreign.lacking_transactions(submitted.output, found.output)
        _require(not problem, "series", problem)
    return {apart.artifact: content}


def _nodes(
    system: System, variables: Mapping[str, str] | None, defaults: Mapping[str, str] | None
) -> list[wire.RunNodeMessage]:
    """The writer with its variables."""
    if variables is None:
        return []
    writer = system.nodes.order_by("-role", "name").first()
    return [
        wire.RunNodeMessage(
            name=writer.name if writer else system.slug[:NAME_LIMIT],
            role=writer.role if writer else "writer",
            variables=dict(variables),
            defaults=None if defaults is None else dict(defaults),
        )
    ]
