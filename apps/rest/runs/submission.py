"""Turns a description and the output of a load tool into a sealed run, without any agent."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.catalog.api import services as catalog
from apps.catalog.models import LoadLevel, System, Workload
from apps.rest.catalog import systems
from apps.rest.framework.problems import conflict, invalid
from apps.runs.api import Refused, reading_once, submitted_samples
from apps.runs.api import submit as ingest_submit
from apps.runs.models import Run
from apps.runs.pure import DEFAULT, Submitted, SubmittedOutput
from workers import tasks
from workers.protocol.secrets import value_without_secrets, without_secret_options, without_secrets


@dataclass(frozen=True)
class Submission:
    """`created` False: the same run was submitted before."""

    run_id: int
    created: bool
    chosen: Submitted
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """Objects named by a description, looked up or created."""

    system: System
    workload: Workload
    load_level: LoadLevel
    warnings: tuple[str, ...] = ()


@reading_once()
def submit(
    *, description: dict[str, Any], output: bytes, series: bytes | None = None, samples: Sequence[bytes] = ()
) -> Submission:
    """`description`: a valid RunDescription. Stores all of it or nothing; the run is sealed on return, or soon after.

    Raises ApiProblem or Invalid: 422 with the field, 409 with what differs from the run that has the uid.
    """
    chosen = _mapped(ingest_submit.format_of(description.get("format"), output=output), description)
    said = _read(chosen, output)
    outcome, reason = ingest_submit.outcome_of(
        said, chosen=chosen, outcome=description["outcome"], reason=description["reason"]
    )
    level = description["load_level"]
    description["repetition"] = ingest_submit.repetition_of(said, repetition=description["repetition"])
    threads, rate = ingest_submit.load_of(said, threads=level.get("threads"), rate=level.get("rate", said.rate))
    with transaction.atomic():
        parts = _parts(description, chosen, said, threads=threads, rate=rate)
        uid = description.get("uid") or ingest_submit.uid_of(
            system=parts.system,
            workload=parts.workload,
            load_level=parts.load_level,
            started_at=description["started_at"],
            repetition=description["repetition"],
            output=output,
        )
        try:
            held = ingest_submit.submitted_before(uid, samples=samples)
            if held is not None:
                files = {"output": output, "series": series, "mapping": chosen.mapping}
                _refuse_another(held, description, chosen, parts, files=files, samples=samples)
                return Submission(run_id=held.pk, created=False, chosen=chosen, warnings=parts.warnings)
            run = ingest_submit.submit(
                system=parts.system,
                workload=parts.workload,
                load_level=parts.load_level,
                output=output,
                started_at=description["started_at"],
                warmup=description["warmup"],
                repetition=description["repetition"],
                tags=description["tags"],
                session=description["session"],
                server_version=description["server_version"],
                variables=description["variables"],
                defaults=description["defaults"],
                command=description["command"],
                host=description["host"],
                data_bytes=description["data_bytes"],
                uid=uid,
                outcome=outcome,
                reason=reason,
                chosen=chosen,
                series=series,
                samples=samples,
            )
        except Refused as error:
            raise invalid(error.field, error.message) from error
    tasks.seal_at_once(run.pk)
    return Submission(run_id=run.pk, created=True, chosen=chosen, warnings=parts.warnings)


def _mapped(chosen: Submitted, description: dict[str, Any]) -> Submitted:
    try:
        return ingest_submit.mapped(chosen, description["mapping"], started_at=description["started_at"])
    except Refused as error:
        raise invalid(error.field, error.message) from error


def _read(chosen: Submitted, output: bytes) -> SubmittedOutput:
    try:
        return ingest_submit.read(chosen=chosen, output=output)
    except Refused as error:
        raise invalid(
            error.field, error.message, f"send {chosen.made_by}, of one run, or name the format that it is"
        ) from error


def _parts(
    description: dict[str, Any], chosen: Submitted, said: SubmittedOutput, *, threads: int, rate: float | None
) -> Parts:
    system, warnings = _system(description["system"])
    try:
        level = catalog.load_level_for(threads=threads, rate=rate)
    except catalog.InvalidField as error:
        raise invalid(f"load_level.{error.field}", error.message) from error
    workload = _workload(description["workload"], chosen, said)
    return Parts(system=system, workload=workload, load_level=level, warnings=warnings)


def _system(stated: str | dict[str, Any]) -> tuple[System, tuple[str, ...]]:
    if isinstance(stated, dict):
        registered = systems.register(stated, at="system.")
        return registered.system, tuple(registered.warnings)
    system = System.objects.filter(slug=stated).first()
    if system is None:
        raise invalid("system", f"there is no system {stated!r}", "describe it here, or see /api/v1/systems/")
    return system, ()


def _workload(stated: int | dict[str, Any], chosen: Submitted, said: SubmittedOutput) -> Workload:
    if isinstance(stated, dict):
        tool = stated["tool"] or chosen.tool
        if tool != chosen.tool:
            raise invalid("workload.tool", f"is {tool}, but {chosen.title} is the output of {chosen.tool}")
        try:
            return ingest_submit.workload_of(said, chosen=chosen, parameters=stated["parameters"], name=stated["name"])
        except catalog.InvalidField as error:
            raise invalid(f"workload.{error.field}", error.message) from error
        except Refused as error:
            raise invalid(error.field, error.message) from error
    workload = Workload.objects.filter(pk=stated).first()
    if workload is None:
        raise invalid("workload", f"there is no workload {stated}", "give its parameters, or see /api/v1/workloads/")
    if workload.tool != chosen.tool:
        raise invalid("workload", f"is one of {workload.tool}", f"{chosen.title} is the output of {chosen.tool}")
    return workload


def _refuse_another(
    held: Run,
    description: dict[str, Any],
    chosen: Submitted,
    parts: Parts,
    *,
    files: dict[str, bytes | None],
    samples: Sequence[bytes],
) -> None:
    """Raises ApiProblem, 409 with the fields that differ."""
    differing = list(_differences(held, description, chosen, parts, files))
    if not submitted_samples.are_those_of(held, samples):
        differing.append("samples")
    if not differing:
        return
    if "uid" in description:
        origin, uid = "was submitted under this uid", "another uid"
    else:
        origin, uid = "has the same system, workload, load level, start, repetition and output", "a uid of your own"
    message = f"not as in run {held.pk}, which {origin}"
    raise conflict(*differing, message=message, remedy=f"runs do not change: to store another run, give {uid}")


def _differences(
    held: Run, description: dict[str, Any], chosen: Submitted, parts: Parts, files: dict[str, bytes | None]
) -> Iterator[str]:
    kept = set(held.artifacts.values_list("sha256", flat=True))
    stated = description["variables"]
    same = {
        "system": held.system_id == parts.system.pk,
        "workload": held.workload_id == parts.workload.pk,
        "load_level": held.load_level_id == parts.load_level.pk,
        "started_at": held.started_at == description["started_at"],
        # Other tools' outputs contain it.
        "warmup": description["warmup"] in (None, held.warmup) or chosen.name != DEFAULT,
        "repetition": held.repetition == description["repetition"],
        "tags": sorted(held.tags) == description["tags"],
        "session": held.session == description["session"],
        "server_version": held.server_version == description["server_version"],
        # The seal calls a run failed for a check in its report.
        "outcome": held.told.get("outcome", held.outcome) == description["outcome"],
        "command": held.command == without_secret_options(description["command"]),
        "host": held.host == value_without_secrets(description["host"]),
        "data_bytes": held.data_bytes == description["data_bytes"],
        "variables": _variables(held) == (stated and without_secrets(stated)),
        **{name: content is None or hashlib.sha256(content).hexdigest() in kept for name, content in files.items()},
    }
    yield from (name for name, equal in same.items() if not equal)


def _variables(run: Run) -> dict[str, str] | None:
    node = run.nodes.select_related("configuration").exclude(configuration=None).first()
    return None if node is None or node.configuration is None else dict(node.configuration.variables)
