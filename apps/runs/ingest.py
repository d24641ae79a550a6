"""Writes of the warehouse: everything is stored before it is acknowledged, and may arrive twice and in any order.

`seal` (see sealing.py) then turns what arrived into series and measurements.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone

from apps.catalog.models import LoadLevel, System, Workload
from apps.core.canonical import canonical_hash
from apps.runs import binary, pending, storage
from apps.runs.models import Artifact, Batch, Configuration, Run, RunNode
from apps.runs.outputs import sysbench as reading
from apps.runs.parsers import sysbench
from apps.runs.sampled import CLIENT, NAME_LIMIT, ROLE_LIMIT
from apps.runs.sealing import RAW_BATCHES, output_name, seal
from apps.runs.text import has_nul
from workers import wire

__all__ = [
    "Refused",
    "accept_artifact",
    "accept_batch",
    "end_run",
    "open_run",
    "seal",
    "submit",
]

MAX_BATCH = 8 * 1024 * 1024
MAX_ARTIFACT = 64 * 1024 * 1024
# What the statements of sysbench's tests are, and the options that leave some of them out of oltp_read_write.
READ_TESTS = ("oltp_point_select", "oltp_read_only")
WRITE_TESTS = ("oltp_write_only", "oltp_insert", "oltp_update_index")
BOTH_TEST = "oltp_read_write"
MIX_OPTIONS = {
    *("point_selects", "range_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges"),
    *("index_updates", "non_index_updates", "delete_inserts"),
}
SHA256 = re.compile(r"[0-9a-f]{64}\Z")
ARTIFACT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}\Z")
MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(?:;.*)?\Z")


class Refused(Exception):
    """Input that will never be taken as it is. `field` names what is wrong, `message` what it must be."""

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
) -> Run:
    """Opens a run; again with the same `uid`, it is the same run and nothing changes. Raises Refused."""
    _check_run_message(message)
    run, created = Run.objects.get_or_create(
        uid=uid,
        defaults={
            "system": system,
            "workload": workload,
            "load_level": load_level,
            "repetition": repetition,
            "provenance": provenance,
            "started_at": _moment("started_at", message.started_at),
            "warmup": message.warmup,
            "duration": message.duration,
            "server_version": message.server_version,
            "tool_version": message.tool_version,
            "command": message.command,
            "host": message.host,
        },
    )
    if not created:
        told = (system.pk, workload.pk, load_level.pk, repetition)
        if (run.system_id, run.workload_id, run.load_level_id, run.repetition) != told:
            raise Refused("uid", f"run {uid} was opened for another system, workload, load level or repetition")
        return run
    free = 1
    for node in message.nodes:
        number = 0 if node.name == CLIENT else free
        free += number > 0
        RunNode.objects.create(
            run=run, number=number, name=node.name, role=node.role, configuration=_configuration(node.variables)
        )
    return run


# One statement and so its own transaction, since agents send batches all the time. The lock keeps a batch from
# slipping in behind a seal; what the run is, is read after the wait for it. The last part is pending.begin_again.
_STORE_BATCH = """
WITH run AS (SELECT id, state, batches_expected FROM runs_run WHERE id = %(run)s FOR NO KEY UPDATE),
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
SELECT state, batches_expected, EXISTS (SELECT FROM stored) FROM run
"""


def accept_batch(*, run: Run, sequence: int, checksum: str, payload: bytes) -> bool:
    """Stores a batch as it came. False: a resend of one that is already held. `run.state` is then what it was under the
    lock. Raises Refused."""
    _require(len(payload) <= MAX_BATCH, "payload", f"has {len(payload)} bytes; a batch has at most {MAX_BATCH}")
    _require(0 <= sequence < 2**31, "sequence", "must be a whole number from 0")
    _require(wire.checksum(payload) == checksum, "checksum", "is not the SHA-256 of what arrived: send it again")
    now = timezone.now()
    batch = {
        "run": run.pk,
        "sequence": sequence,
        "checksum": checksum,
        "payload": payload,
        "now": now,
        "seal_due": now + pending.OWN_TASK_FIRST,
    }
    found = binary.fetch(_STORE_BATCH, batch, prepare=True)
    if not found:
        raise Run.DoesNotExist(f"run {run.pk} was deleted")
    run.state, expected, stored = found[0]
    if stored:
        return True
    known = Batch.objects.filter(run=run, sequence=sequence).values_list("checksum", flat=True).first()
    if known is not None:
        _require(known == checksum, "checksum", f"batch {sequence} of run {run.uid} is held with other content")
    elif expected is not None and sequence >= expected:
        raise Refused("sequence", f"run {run.uid} ended with {expected} batches, numbered from 0")
    return False


def accept_artifact(*, run: Run, name: str, sha256: str, content: bytes, media_type: str = "text/plain") -> bool:
    """Stores a raw file. False: a resend of one that is already held. `run.state` is then what it was under the lock.

    Raises Refused, or OSError when storage fails.
    """
    _require(bool(ARTIFACT_NAME.match(name)), "name", "must be 1 to 120 letters, digits, dots, dashes or underscores")
    _require(name != RAW_BATCHES, "name", f"{RAW_BATCHES} is the server's own: choose another")
    _require(len(content) <= MAX_ARTIFACT, "content", f"has {len(content)} bytes; a file has at most {MAX_ARTIFACT}")
    _require(wire.checksum(content) == sha256, "sha256", "is not the SHA-256 of what arrived: send it again")
    _require(
        len(media_type) <= 80 and bool(MEDIA_TYPE.match(media_type)),
        "media_type",
        "must be a media type of at most 80 characters, for example text/plain",
    )
    storage.keep(content)
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        run.state = locked.state
        known = Artifact.objects.filter(run=run, name=name).values_list("sha256", flat=True).first()
        if known is not None:
            _require(known == sha256, "sha256", f"artifact {name} of run {run.uid} is held with other content")
            return False
        _require(run.state != Run.State.SEALED, "name", f"run {run.uid} is complete and takes no artifact any more")
        announced = {entry["name"]: entry["sha256"] for entry in locked.artifacts_expected}
        contradicts = name in announced and announced[name] != sha256
        _require(not contradicts, "sha256", f"the end of run {run.uid} announced {name} with other content")
        Artifact.objects.create(run=run, name=name, sha256=sha256, size=len(content), media_type=media_type)
        if run.state == Run.State.ENDED:
            pending.begin_again(run)
    return True


@transaction.atomic
def end_run(*, run: Run, message: wire.RunEndMessage) -> None:
    """Ends a run; said again it changes nothing. Raises Refused for what contradicts what was said before."""
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
        told = next((entry for entry in artifacts if entry["name"] == name), None)
        _require(told is None or told["sha256"] == sha256, f"artifacts.{name}", "is held with other content")
    run.state = Run.State.ENDED
    run.outcome = message.outcome
    run.reason = message.reason
    run.ended_at = ended_at
    run.measured_from, run.measured_to = message.measured_from, message.measured_to
    run.batches_expected = message.batches
    run.artifacts_expected = artifacts
    run.save()
    pending.begin_again(run)


def submit(
    *,
    system: System,
    workload: Workload,
    load_level: LoadLevel,
    output: bytes,
    started_at: datetime,
    warmup: float,
    repetition: int = 1,
    tags: Sequence[str] = (),
    server_version: str = "",
    variables: Mapping[str, str] | None = None,
    uid: UUID | None = None,
    outcome: str = Run.Outcome.SUCCEEDED,
    reason: str = "",
) -> Run:
    """A finished run from the tool's raw output, without an agent; the caller then seals it. Again with the same
    `uid`, it is the same run. `reason`: of a failed run. Raises Refused, or OSError when storage fails."""
    _require(bool(output.strip()), "output", "is empty: send what sysbench printed")
    _require(len(output) <= MAX_ARTIFACT, "output", f"has {len(output)} bytes; it may have at most {MAX_ARTIFACT}")
    _require(started_at.tzinfo is not None, "started_at", "must have a time zone, for example 2026-01-31T12:00:00Z")
    for tag in tags:
        _require(0 < len(tag) <= 60 and "\0" not in tag, "tags", "must each have 1 to 60 characters")
    parsed = sysbench.parse(output)
    _check_output(parsed, workload=workload, load_level=load_level, warmup=warmup)
    covered = reading.measured_phase(parsed)
    start, end = covered or (0.0, 0.0)
    sha256 = storage.keep(output)
    with transaction.atomic():
        run = open_run(
            uid=uid or uuid4(),
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
                tool_version=parsed.version[:120],
                nodes=_submitted_nodes(system, variables),
            ),
        )
        name = output_name(run)
        known, created = Artifact.objects.get_or_create(
            run=run, name=name, defaults={"sha256": sha256, "size": len(output)}
        )
        _require(known.sha256 == sha256, "output", f"run {run.uid} was submitted with other output")
        if created:
            Run.objects.filter(pk=run.pk).update(tags=sorted(set(tags)))
        end_run(
            run=run,
            message=wire.RunEndMessage(
                outcome=outcome,
                reason=reason,
                ended_at=(started_at + timedelta(seconds=end)).isoformat(),
                batches=0,
                artifacts=[wire.ArtifactMessage(name=name, sha256=sha256, size=len(output))],
            ),
        )
    run.refresh_from_db()
    return run


# ---------------------------------------------------------------- checks


def _require(holds: bool, field: str, message: str) -> None:
    if not holds:
        raise Refused(field, message)


def _moment(field: str, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refused(field, "must be ISO 8601, for example 2026-01-31T12:00:00Z") from error
    _require(moment.tzinfo is not None, field, "must have a time zone, for example 2026-01-31T12:00:00Z")
    return moment


def _check_run_message(message: wire.RunMessage) -> None:
    for field in ("server_version", "tool_version"):
        _require(len(getattr(message, field)) <= 120, field, "must have at most 120 characters")
    _require_no_nul("server_version", message.server_version)
    _require_no_nul("tool_version", message.tool_version)
    _require_no_nul("command", message.command)
    _require_no_nul("host", message.host)
    _require(message.warmup >= 0, "warmup", "must be 0 or more seconds")
    _require(message.duration >= 0, "duration", "must be 0 or more seconds")
    names = [node.name for node in message.nodes]
    _require(len(set(names)) == len(names), "nodes", "must have different names")
    for number, node in enumerate(message.nodes):
        _require(0 < len(node.name) <= NAME_LIMIT, f"nodes.{number}.name", f"must have 1 to {NAME_LIMIT} characters")
        _require(len(node.role) <= ROLE_LIMIT, f"nodes.{number}.role", f"must have at most {ROLE_LIMIT} characters")
        _require_no_nul(f"nodes.{number}", [node.name, node.role, node.variables])


def _check_end_message(message: wire.RunEndMessage) -> None:
    outcomes = Run.Outcome.values
    _require(message.outcome in outcomes, "outcome", f"must be one of {', '.join(outcomes)}")
    failed = message.outcome == Run.Outcome.FAILED
    _require(not failed or bool(message.reason.strip()), "reason", "must say why the run failed")
    _require_no_nul("reason", message.reason)
    _require(0 <= message.batches < 2**31, "batches", "must be a whole number from 0")
    start, end = message.measured_from, message.measured_to
    _require((start is None) == (end is None), "measured_to", "comes together with measured_from")
    _require(start is None or end is None or start <= end, "measured_to", "must not be before measured_from")
    for number, entry in enumerate(message.artifacts):
        _require(bool(ARTIFACT_NAME.match(entry.name)), f"artifacts.{number}.name", "is no name of an artifact")
        _require(bool(SHA256.match(entry.sha256)), f"artifacts.{number}.sha256", "must be 64 hexadecimal digits")
    names = [entry.name for entry in message.artifacts]
    _require(len(set(names)) == len(names), "artifacts", "must have different names")


def _require_same_end(run: Run, message: wire.RunEndMessage, artifacts: list[dict[str, Any]]) -> None:
    if run.batches_expected != message.batches:
        raise Refused("batches", f"run {run.uid} ended with {run.batches_expected}, not {message.batches}")
    _require(run.artifacts_expected == artifacts, "artifacts", f"run {run.uid} ended with others")
    # A seal may have found that a success was none.
    same = run.outcome == message.outcome or (run.state == Run.State.SEALED and run.outcome == Run.Outcome.FAILED)
    _require(same, "outcome", f"run {run.uid} ended as {run.outcome}, not {message.outcome}")


def _check_output(parsed: sysbench.Parsed, *, workload: Workload, load_level: LoadLevel, warmup: float) -> None:
    """What the output says of itself wins over its description: a contradiction is refused."""
    if parsed.threads is not None and parsed.threads != load_level.threads:
        raise Refused("load_level.threads", f"is {load_level.threads}, but the output says {parsed.threads}")
    if parsed.threads is not None and parsed.rate != load_level.rate:
        raise Refused("load_level.rate", f"is {load_level.rate}, but the output says {parsed.rate}")
    remedy = f"run sysbench with --report-checkpoints={warmup:g}, or say 0"
    cut = bool(parsed.checkpoints) or not parsed.complete
    _require(warmup == 0 or cut, "warmup", f"is {warmup:g} s, but the totals cover it too: {remedy}")
    begin = parsed.checkpoints[-1].second if parsed.checkpoints else warmup
    _require(
        abs(begin - warmup) <= 1, "warmup", f"is {warmup:g} s, but the totals begin at the checkpoint at {begin} s"
    )
    _check_mix(parsed, workload.parameters)


def _check_mix(parsed: sysbench.Parsed, parameters: Mapping[str, Any]) -> None:
    """A test that only reads has no writes in its totals, and so on; a test not known here may have any mix."""
    if not {"reads", "writes", "transactions"} <= parsed.totals.keys():
        return
    test = str(parameters.get("test"))
    reads, writes = (int(parsed.totals[name].value) for name in ("reads", "writes"))
    said = f"is {test}, but the output counts {reads:,} reads and {writes:,} writes"
    remedy = "name the test that printed it, or send the output of this one"
    ran_both = (
        bool(reads and writes) or not parsed.totals["transactions"].value or bool(MIX_OPTIONS & parameters.keys())
    )
    possible = {**dict.fromkeys(READ_TESTS, not writes), **dict.fromkeys(WRITE_TESTS, not reads), BOTH_TEST: ran_both}
    _require(possible.get(test, True), "workload.parameters.test", f"{said}: {remedy}")


def _require_no_nul(field: str, value: Any) -> None:
    _require(not has_nul(value), field, "must not hold the character NUL")


def _configuration(variables: Mapping[str, str] | None) -> Configuration | None:
    if variables is None:
        return None
    row, _ = Configuration.objects.get_or_create(
        content_hash=canonical_hash(variables), defaults={"variables": dict(variables)}
    )
    return row


def _submitted_nodes(system: System, variables: Mapping[str, str] | None) -> list[wire.RunNodeMessage]:
    """Nobody sampled the nodes; what is known of the writer is its variables."""
    if variables is None:
        return []
    writer = system.nodes.order_by("-role", "name").first()
    return [
        wire.RunNodeMessage(
            name=writer.name if writer else system.slug[:NAME_LIMIT],
            role=writer.role if writer else "writer",
            variables=dict(variables),
        )
    ]
