"""Writes of incoming data, stored before they are acknowledged; messages may arrive twice and in any order.

`seal` (apps.runs.seal) then turns them into series and measurements.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Max, Sum
from django.utils import timezone

from apps.catalog.models import LoadLevel, System, Workload
from apps.core import binary_cursor, limits
from apps.core.canonical import canonical_hash
from apps.core.units import format_bytes
from apps.runs.ingest import quota, seal_queue, streams
from apps.runs.ingest.clean_text import has_nul
from apps.runs.ingest.prometheus import files as prometheus
from apps.runs.models import Artifact, Batch, Configuration, Run, RunNode
from apps.runs.samples.columns import CLIENT, NAME_LIMIT, ROLE_LIMIT
from apps.runs.seal import RESERVED, seal
from apps.runs.storage import artifacts as storage_artifacts
from workers.protocol import wire
from workers.protocol.secrets import (
    first_secret,
    text_without_secrets,
    value_without_secrets,
    without_secret_options,
    without_secrets,
)

__all__ = [
    "Refused",
    "StoredBatch",
    "accept_artifact",
    "accept_batch",
    "accept_batch_of",
    "end_run",
    "is_seconds",
    "open_run",
    "seal",
]

SHA256 = re.compile(r"[0-9a-f]{64}\Z")
ARTIFACT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}\Z")
# Of a run's host: how far its clock is ahead of the server's, and how well that is known, s.
CLOCK_FACTS = ("clock_ahead_seconds", "clock_uncertainty_seconds")
FAR = 1e10  # s: clocks that were never set are decades off
MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(?:;.*)?\Z")


class Refused(Exception):
    """Input that no retry will make acceptable. `field`: the invalid field; `message`: the rule it breaks."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


@transaction.atomic
def open_run(
    *,
    uid: UUID,
    system: System,
    workload: Workload,
    load_level: LoadLevel,
    repetition: int,
    provenance: str,
    message: wire.RunMessage,
    session: str = "",
) -> Run:
    """Opens a run; a repeated call with the same `uid` returns the same run, unchanged. `session`: as of models.Run.
    Raises Refused."""
    _check_run_message(message)
    run, created = Run.objects.get_or_create(
        uid=uid,
        defaults={
            "system": system,
            "workload": workload,
            "load_level": load_level,
            "repetition": repetition,
            "provenance": provenance,
            "session": session,
            "started_at": _moment("started_at", message.started_at),
            "warmup": message.warmup,
            "duration": message.duration,
            "server_version": message.server_version,
            "tool_version": message.tool_version,
            "command": without_secret_options(message.command),
            "host": value_without_secrets(message.host),
            "data_bytes": message.data_bytes,
        },
    )
    if not created:
        wanted = (system.pk, workload.pk, load_level.pk, repetition)
        if (run.system_id, run.workload_id, run.load_level_id, run.repetition) != wanted:
            raise Refused("uid", f"run {uid} was opened for another system, workload, load level or repetition")
        return run
    free = 1
    for node in message.nodes:
        number = 0 if node.name == CLIENT else free
        free += number > 0
        RunNode.objects.create(
            run=run,
            number=number,
            name=node.name,
            role=node.role,
            configuration=_configuration(node.variables),
            defaults=_configuration(node.defaults),
        )
    return run


# One statement, thus one transaction, because agents send batches all the time. The lock keeps batches out of a run
# that is being sealed; the run's state is read once the lock is held. `waiting` repeats seal_queue.begin_again.
_RUN = "SELECT r.id, r.uid, r.state, r.batches_expected FROM runs_run r WHERE r.id = %(run)s"
_STORE_BATCH = """
FOR NO KEY UPDATE OF r),
stored AS (
  INSERT INTO runs_batch (run_id, sequence, checksum, payload, received_at)
  SELECT id, %(sequence)s, %(checksum)s, %(payload)b, %(now)s FROM run
  WHERE state <> 'sealed' AND %(sequence)s < coalesce(batches_expected, 2147483648)
  ON CONFLICT (run_id, sequence) DO NOTHING RETURNING run_id
),
waiting AS (
  UPDATE runs_run SET seal_attempts = 0, seal_due_at = %(seal_due)s
  FROM run JOIN stored ON stored.run_id = run.id WHERE runs_run.id = run.id AND run.state = 'ended'
)
SELECT id, uid, state, batches_expected, EXISTS (SELECT FROM stored) FROM run
"""


@dataclass(frozen=True)
class StoredBatch:
    """`state`: the run's, under the lock. `is_new` is False for a resend of a stored batch."""

    run: int
    state: str
    is_new: bool


def accept_batch(*, run: Run, sequence: int, checksum: str, payload: bytes) -> StoredBatch:
    """Stores a batch as received. Raises Refused."""
    stored = accept_batch_of(_RUN, {"run": run.pk}, sequence=sequence, checksum=checksum, payload=payload)
    if stored is None:
        raise Run.DoesNotExist(f"run {run.pk} was deleted")
    return stored


def accept_batch_of(
    which: LiteralString, parameters: Mapping[str, object], *, sequence: int, checksum: str, payload: bytes
) -> StoredBatch | None:
    """Stores a batch of the run that `which` finds: a query like _RUN. None: it finds none. Raises Refused."""
    _require(len(payload) <= limits.BATCH, "payload", f"has {len(payload)} bytes; a batch has at most {limits.BATCH}")
    _require(0 <= sequence < 2**31, "sequence", "must be a whole number from 0")
    _require(wire.checksum(payload) == checksum, "checksum", "is not the SHA-256 of what arrived: send it again")
    now = timezone.now()
    batch = {
        "sequence": sequence,
        "checksum": checksum,
        "payload": payload,
        "now": now,
        "seal_due": now + seal_queue.OWN_TASK_FIRST,
    }
    found = binary_cursor.fetch("WITH run AS (" + which + _STORE_BATCH, {**parameters, **batch}, prepare=True)
    if not found:
        return None
    run, uid, state, expected, is_new = found[0]
    if not is_new:
        known = Batch.objects.filter(run=run, sequence=sequence).values_list("checksum", flat=True).first()
        if known is not None:
            _require(known == checksum, "checksum", f"batch {sequence} of run {uid} is stored with other content")
        elif expected is not None and sequence >= expected:
            raise Refused("sequence", f"run {uid} ended with {expected} batches, numbered from 0")
    return StoredBatch(run, state, is_new)


def accept_artifact(*, run: Run, name: str, sha256: str, content: bytes, media_type: str = "text/plain") -> bool:
    """Stores a raw file. False: a resend of a stored one. Sets `run.state` to the state under the lock.

    Raises Refused, or OSError when storage fails.
    """
    _require(bool(ARTIFACT_NAME.match(name)), "name", "must be 1 to 120 letters, digits, dots, dashes or underscores")
    _require(name not in RESERVED, "name", f"{name} is reserved: choose another")
    _require(
        len(content) <= limits.ARTIFACT, "content", f"has {len(content)} bytes; a file has at most {limits.ARTIFACT}"
    )
    _require(wire.checksum(content) == sha256, "sha256", "is not the SHA-256 of what arrived: send it again")
    if not prometheus.NAME.fullmatch(name):  # which is compressed: what looks like one in it is none
        require_no_secret("content", content)
    _require(
        len(media_type) <= 80 and bool(MEDIA_TYPE.match(media_type)),
        "media_type",
        "must be a media type of at most 80 characters, for example text/plain",
    )
    with storage_artifacts.atomic() as keep:
        quota.charge(len(content))
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        run.state = locked.state
        known = Artifact.objects.filter(run=run, name=name).values_list("sha256", flat=True).first()
        if known is not None:
            _require(known == sha256, "sha256", f"artifact {name} of run {run.uid} is stored with other content")
            keep(content)  # it may be missing, or half-written
            return False
        _require(run.state != Run.State.SEALED, "name", f"run {run.uid} is complete and accepts no further artifact")
        announced = {entry["name"]: entry["sha256"] for entry in locked.artifacts_expected}
        held = Artifact.objects.filter(run=run).aggregate(number=Count("id"), size=Sum("size", default=0))
        full = (
            f"run {run.uid} has {held['number']} artifacts of {format_bytes(held['size'])}: as many as a run may have"
        )
        has_room = held["number"] < limits.ARTIFACTS and held["size"] + len(content) <= limits.ARTIFACT_BYTES
        _require(has_room, "name", full)
        contradicts = name in announced and announced[name] != sha256
        _require(not contradicts, "sha256", f"the end of run {run.uid} announced {name} with other content")
        keep(content)
        Artifact.objects.create(run=run, name=name, sha256=sha256, size=len(content), media_type=media_type)
        if run.state == Run.State.ENDED:
            seal_queue.begin_again(run)
    return True


@transaction.atomic
def end_run(*, run: Run, message: wire.RunEndMessage) -> None:
    """Ends a run; a repeated call changes nothing. Raises Refused when the message contradicts earlier ones."""
    _check_end_message(message)
    ended_at = _moment("ended_at", message.ended_at)
    artifacts = [{"name": entry.name, "sha256": entry.sha256, "size": entry.size} for entry in message.artifacts]
    run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if run.state != Run.State.OPEN:
        _require_same_end(run, message, artifacts)
        return
    held = Batch.objects.filter(run=run).aggregate(number=Count("id"), last=Max("sequence"))
    beyond = held["last"] is not None and held["last"] >= message.batches and message.outcome == Run.Outcome.SUCCEEDED
    if beyond or held["number"] > message.batches:
        raise Refused("batches", f"is {message.batches}, but batch {held['last']} of run {run.uid} was stored")
    for name, sha256 in Artifact.objects.filter(run=run).values_list("name", "sha256"):
        found = next((entry for entry in artifacts if entry["name"] == name), None)
        _require(found is None or found["sha256"] == sha256, f"artifacts.{name}", "is stored with other content")
    run.state = Run.State.ENDED
    run.outcome = message.outcome
    run.reason = text_without_secrets(message.reason)
    run.ended_at = max(ended_at, run.started_at)  # the agent's clock may have been set back
    run.measured_from, run.measured_to = message.measured_from, message.measured_to
    run.batches_expected = message.batches
    run.artifacts_expected = artifacts
    run.save()
    streams.wait_for(run, now=timezone.now())
    seal_queue.begin_again(run)


# ---------------------------------------------------------------- checks


def _require(holds: bool, field: str, message: str) -> None:
    if not holds:
        raise Refused(field, message)


def require_no_secret(field: str, content: bytes) -> None:
    """Raises Refused, without showing the secret. An agent writes `*` before it sends."""
    line = first_secret(content)
    message = f"shows what may be a password in line {line}: write * in its place, since raw files are kept and shown"
    _require(line is None, field, message)


def _moment(field: str, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refused(field, "must be ISO 8601, for example 2026-01-31T12:00:00Z") from error
    _require(moment.tzinfo is not None, field, "must have a time zone, for example 2026-01-31T12:00:00Z")
    span = f"must lie in {limits.EARLIEST.year} or later and before {limits.LATEST.year}: set the clock of this host"
    _require(limits.EARLIEST <= moment < limits.LATEST, field, span)
    return moment


def is_seconds(value: object) -> bool:
    """None: not stated."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < FAR)


def _check_run_message(message: wire.RunMessage) -> None:
    for field in ("server_version", "tool_version"):
        _require(len(getattr(message, field)) <= 120, field, "must have at most 120 characters")
    _require_no_nul("server_version", message.server_version)
    _require_no_nul("tool_version", message.tool_version)
    _require_no_nul("command", message.command)
    length = len(message.command)
    _require(length <= limits.COMMAND, "command", f"has {length} characters; it may have at most {limits.COMMAND}")
    _require_no_nul("host", message.host)
    for fact in CLOCK_FACTS:
        _require(is_seconds(message.host.get(fact)), f"host.{fact}", "must be a number of seconds, or left out")
    _require(message.warmup >= 0, "warmup", "must be 0 or more seconds")
    _require(message.duration >= 0, "duration", "must be 0 or more seconds")
    size = message.data_bytes
    _require(size is None or 0 <= size < 2**63, "data_bytes", "must be a whole number of bytes from 0")
    _require(len(message.nodes) <= limits.NODES, "nodes", f"a run has at most {limits.NODES}")
    names = [node.name for node in message.nodes]
    _require(len(set(names)) == len(names), "nodes", "must have different names")
    for number, node in enumerate(message.nodes):
        _require(0 < len(node.name) <= NAME_LIMIT, f"nodes.{number}.name", f"must have 1 to {NAME_LIMIT} characters")
        _require(len(node.role) <= ROLE_LIMIT, f"nodes.{number}.role", f"must have at most {ROLE_LIMIT} characters")
        _require_no_nul(f"nodes.{number}", [node.name, node.role, node.variables, node.defaults])


def _check_end_message(message: wire.RunEndMessage) -> None:
    outcomes = Run.Outcome.values
    _require(message.outcome in outcomes, "outcome", f"must be one of {', '.join(outcomes)}")
    failed = message.outcome == Run.Outcome.FAILED
    _require(not failed or bool(message.reason.strip()), "reason", "must state why the run failed")
    _require_no_nul("reason", message.reason)
    _require(0 <= message.batches < 2**31, "batches", "must be a whole number from 0")
    start, end = message.measured_from, message.measured_to
    _require((start is None) == (end is None), "measured_to", "requires measured_from, and the reverse")
    _require(start is None or end is None or start <= end, "measured_to", "must not be before measured_from")
    _require(len(message.artifacts) <= limits.ARTIFACTS, "artifacts", f"a run has at most {limits.ARTIFACTS}")
    for number, entry in enumerate(message.artifacts):
        _require(bool(ARTIFACT_NAME.match(entry.name)), f"artifacts.{number}.name", "is not an artifact's name")
        _require(bool(SHA256.match(entry.sha256)), f"artifacts.{number}.sha256", "must be 64 hexadecimal digits")
    names = [entry.name for entry in message.artifacts]
    _require(len(set(names)) == len(names), "artifacts", "must have different names")


def _require_same_end(run: Run, message: wire.RunEndMessage, artifacts: list[dict[str, Any]]) -> None:
    if run.batches_expected != message.batches:
        raise Refused("batches", f"run {run.uid} ended with {run.batches_expected}, not {message.batches}")
    _require(run.artifacts_expected == artifacts, "artifacts", f"run {run.uid} ended with others")
    # A seal may have turned a success into a failure.
    same = run.outcome == message.outcome or (run.state == Run.State.SEALED and run.outcome == Run.Outcome.FAILED)
    _require(same, "outcome", f"run {run.uid} ended as {run.outcome}, not {message.outcome}")


def _require_no_nul(field: str, value: Any) -> None:
    _require(not has_nul(value), field, "must not hold the character NUL")


def _configuration(variables: Mapping[str, str] | None) -> Configuration | None:
    if variables is None:
        return None
    variables = without_secrets(variables)
    row, _ = Configuration.objects.get_or_create(
        content_hash=canonical_hash(variables), defaults={"variables": variables}
    )
    return row
