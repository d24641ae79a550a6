"""From a description and the output of a load tool to a sealed run, without any agent."""

import hashlib
import logging
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.api import systems
from apps.api.problems import conflict, invalid
from apps.catalog import services as catalog
from apps.catalog.models import LoadLevel, System, Workload
from apps.core.canonical import canonical_json
from apps.runs import ingest
from apps.runs.models import Run
from apps.runs.outputs import sysbench as reading
from apps.runs.parsers import sysbench
from workers import tasks

log = logging.getLogger(__name__)

# Names the uid of a run that was submitted without one, so that sending the same again is no second run.
SUBMISSIONS = uuid.UUID("6f3d1a52-0f0e-5d0c-9c55-6d1c6f0a7d11")


@dataclass(frozen=True)
class Submission:
    """`created` False: the same run was sent before."""

    run_id: int
    created: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """What a description names, looked up or created."""

    system: System
    workload: Workload
    load_level: LoadLevel
    warnings: tuple[str, ...] = ()


def submit(*, description: dict[str, Any], output: bytes) -> Submission:
    """`description`: a valid RunDescription. Stores all of it or nothing; the run is sealed when this returns, or soon.

    Raises Problem: 422 naming the field, 409 when the uid is that of another run.
    """
    parsed = sysbench.parse(output)
    outcome, reason = _outcome(description, parsed)
    threads, rate = _load(description["load_level"], parsed)
    with transaction.atomic():
        parts = _parts(description, threads=threads, rate=rate)
        uid = description.get("uid") or _uid_of(description, parts, output)
        held = Run.objects.select_for_update().filter(uid=uid).first()
        if held is not None:
            _refuse_another(held, description, parts, output)
            return Submission(run_id=held.pk, created=False, warnings=parts.warnings)
        try:
            run = ingest.submit(
                system=parts.system,
                workload=parts.workload,
                load_level=parts.load_level,
                output=output,
                started_at=description["started_at"],
                warmup=description["warmup"],
                repetition=description["repetition"],
                tags=description["tags"],
                server_version=description["server_version"],
                variables=description["variables"],
                uid=uid,
                outcome=outcome,
                reason=reason,
            )
        except ingest.Refused as error:
            raise invalid(error.field, error.message) from error
    _seal(run.pk)
    return Submission(run_id=run.pk, created=True, warnings=parts.warnings)


def _outcome(description: dict[str, Any], parsed: sysbench.Parsed) -> tuple[str, str]:
    """Outcome and reason. A run without its totals is no result: only a failed one may lack them."""
    fatal = parsed.fatal()
    why = f"sysbench says: {fatal}" if fatal else "the final report of an OLTP test is missing or cut off"
    if description["outcome"] == "failed":
        reason = description["reason"] or ("" if reading.has_totals(parsed) else why)
        if not reason:
            raise invalid("reason", "a failed run needs one; the output is that of a complete run")
        return "failed", reason
    if not reading.has_totals(parsed):
        raise invalid(
            "output", f"holds no result: {why}", "send all that sysbench printed, or say outcome failed with a reason"
        )
    return "succeeded", ""


def _load(stated: dict[str, Any], parsed: sysbench.Parsed) -> tuple[int, float | None]:
    threads, rate = stated.get("threads", parsed.threads), stated.get("rate", parsed.rate)
    if threads is None:
        raise invalid("load_level.threads", "neither the description nor the output says it", "state it")
    if parsed.threads is not None and threads != parsed.threads:
        raise invalid(
            "load_level.threads", f"{threads} in the description, {parsed.threads} in the output", "leave it out"
        )
    # Without its header the output does not say that there was no rate.
    if parsed.threads is not None and rate != parsed.rate:
        said = "no rate" if parsed.rate is None else f"{parsed.rate:g}/s"
        described = "no rate" if rate is None else f"{rate:g}/s"
        raise invalid("load_level.rate", f"{described} in the description, {said} in the output", "leave it out")
    return int(threads), None if rate is None else float(rate)


def _parts(description: dict[str, Any], *, threads: int, rate: float | None) -> Parts:
    system, warnings = _system(description["system"])
    try:
        level = catalog.load_level_for(threads=threads, rate=rate)
    except catalog.InvalidParameters as error:
        raise invalid(f"load_level.{error.field}", error.message) from error
    return Parts(system=system, workload=_workload(description["workload"]), load_level=level, warnings=warnings)


def _system(stated: str | dict[str, Any]) -> tuple[System, tuple[str, ...]]:
    if isinstance(stated, dict):
        registered = systems.register(stated, at="system.")
        return registered.system, tuple(registered.warnings)
    system = System.objects.filter(slug=stated).first()
    if system is None:
        raise invalid("system", f"there is no system {stated!r}", "describe it here, or see /api/v1/systems/")
    return system, ()


def _workload(stated: int | dict[str, Any]) -> Workload:
    if isinstance(stated, dict):
        try:
            return catalog.workload_for(**stated)
        except catalog.InvalidParameters as error:
            raise invalid(f"workload.{error.field}", error.message) from error
    workload = Workload.objects.filter(pk=stated).first()
    if workload is None:
        raise invalid("workload", f"there is no workload {stated}", "give its parameters, or see /api/v1/workloads/")
    if workload.tool != "sysbench":
        raise invalid("workload", f"is one of {workload.tool}", "only sysbench's output can be submitted")
    return workload


def _uid_of(description: dict[str, Any], parts: Parts, output: bytes) -> uuid.UUID:
    content = {
        "system": parts.system.slug,
        "workload": parts.workload.content_hash,
        "load_level": [parts.load_level.threads, parts.load_level.rate],
        "started_at": description["started_at"].isoformat(),
        "repetition": description["repetition"],
        "output": hashlib.sha256(output).hexdigest(),
    }
    return uuid.uuid5(SUBMISSIONS, canonical_json(content))


def _refuse_another(held: Run, description: dict[str, Any], parts: Parts, output: bytes) -> None:
    differing = list(_differences(held, description, parts, output))
    if differing:
        message = f"run {held.pk} was submitted under this uid with another {', '.join(differing)}"
        raise conflict(differing[0] if "uid" not in description else "uid", message)


def _differences(held: Run, description: dict[str, Any], parts: Parts, output: bytes) -> Iterator[str]:
    same = {
        "system": held.system_id == parts.system.pk,
        "workload": held.workload_id == parts.workload.pk,
        "load_level": held.load_level_id == parts.load_level.pk,
        "started_at": held.started_at == description["started_at"],
        "warmup": held.warmup == description["warmup"],
        "repetition": held.repetition == description["repetition"],
        "tags": sorted(held.tags) == description["tags"],
        "server_version": held.server_version == description["server_version"],
        "outcome": held.outcome == description["outcome"],
        "variables": _variables(held) == description["variables"],
        "output": held.artifacts.filter(sha256=hashlib.sha256(output).hexdigest()).exists(),
    }
    yield from (name for name, equal in same.items() if not equal)


def _variables(run: Run) -> dict[str, str] | None:
    node = run.nodes.select_related("configuration").exclude(configuration=None).first()
    return None if node is None or node.configuration is None else dict(node.configuration.variables)


def _seal(run_id: int) -> None:
    """At once, so that the page that the answer names shows numbers."""
    try:
        sealed = ingest.seal(run_id=run_id)
    except Exception:
        # The run is stored and acknowledged all the same; the task tries again and the sweep after it.
        log.exception("run %s could not be sealed in its request", run_id)
        sealed = False
    if not sealed:
        tasks.enqueue(tasks.seal_run, run_id=run_id)
