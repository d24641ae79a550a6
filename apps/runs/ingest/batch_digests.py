"""One checksum of all batches of a run, which outlives them: the seal deletes the batches."""

from collections.abc import Iterable

from apps.runs.models import Batch, Run
from workers.protocol import wire


def of_run(run: Run) -> str:
    """Of its own batches, without those of samplers, while they are stored."""
    return _joint(Batch.objects.filter(run=run).order_by("sequence").values_list("checksum", flat=True))


def of_payloads(payloads: Iterable[bytes]) -> str:
    return _joint(map(wire.checksum, payloads))


def _joint(checksums: Iterable[str]) -> str:
    return wire.checksum("".join(checksums).encode())
