"""Samples that come with a submitted run: read before they are stored, compared when the run is sent again."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from apps.core import limits
from apps.runs.ingest import batch_digests
from apps.runs.ingest.accept import Refused
from apps.runs.models import Run
from apps.runs.samples.decode import DecodedSamples, decoded
from workers.protocol import wire


def read(samples: Sequence[bytes], *, uid: UUID) -> DecodedSamples:
    """Raises Refused for batches that cannot be read, or are of another run."""
    for number, payload in enumerate(samples):
        _require(len(payload) <= limits.BATCH, f"batch {number} has more than {limits.BATCH} bytes")
    try:
        found = decoded(lambda: enumerate(samples))
    except wire.BadBatch as error:
        raise Refused("samples", f"cannot be read: {error}") from error
    # One of these is the remark on those left out.
    events = len(found.events) - 1 + found.left_out
    _require(not found.left_out, f"have {events:,} events; a run keeps {limits.EVENTS:,}, and a few more of rare kinds")
    for batch in found.unread:
        raise Refused("samples", f"batch {batch.sequence} cannot be read: {batch.reason}")
    for number, payload in enumerate(samples):
        own, head = {"run": str(uid), "sequence": number}, wire.read_lines(payload)[0]
        begins = head[:80].decode(errors="replace")
        _require(_decoded(head) == own, f"batch {number} begins with {begins}, not {own}: send them in order")
    return found


def _decoded(head: bytes) -> dict[str, Any] | None:
    try:
        return wire.from_json(dict[str, Any], head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def are_those_of(run: Run, samples: Sequence[bytes]) -> bool:
    """Whether `run`, which the caller has locked, has exactly these batches."""
    if run.batches_expected != len(samples):
        return False
    sent = batch_digests.of_payloads(samples)
    if run.state != Run.State.SEALED:
        return sent == batch_digests.of_run(run)
    # A run that was sealed before digests were kept has only their number.
    return run.told.get("batches") in (None, sent)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise Refused("samples", message)
