"""Streams of samplers: join, accept batches, end, wait for the end, read when the run is sealed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Count, Max

from apps.core import binary_cursor
from apps.runs.ingest.clean_text import printable
from apps.runs.models import Run, Stream, StreamBatch
from apps.runs.samples.columns import CLIENT, SampledNode
from apps.runs.samples.decode import DecodedSamples, UnreadBatch, decoded
from workers.protocol import wire

# Deadline after the run's end: samplers poll the run's state every second, and then end their streams.
DEADLINE = timedelta(seconds=20)
LABEL_LIMIT = 200
_NEXT = (
    "SELECT sequence, payload FROM runs_streambatch WHERE stream_id = %s AND sequence > %s ORDER BY sequence LIMIT 16"
)


class Closed(Exception):
    """The stream does not accept this message; the text gives the reason."""


@dataclass(frozen=True)
class Read:
    """Samples of all streams of a run. `lost`: events about missing data."""

    nodes: list[SampledNode] = field(default_factory=list)
    events: list[wire.EventMessage] = field(default_factory=list)
    lost: list[wire.EventMessage] = field(default_factory=list)
    unread: list[tuple[str, bytes]] = field(default_factory=list)  # path and content of batches


def join(*, run: Run, agent: str, nodes: Sequence[str]) -> Stream | None:
    """The agent's stream, created on the first call. None: the run is no longer open."""
    known = Stream.objects.filter(run=run, agent=agent).first()
    if known is not None:
        return known
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state != Run.State.OPEN:
            return None
        taken = Stream.objects.filter(run=run).aggregate(last=Max("number"))["last"] or 0
        defaults = {"number": taken + 1, "nodes": list(nodes)}
        stream, _ = Stream.objects.get_or_create(run=run, agent=agent, defaults=defaults)
    return stream


def accept_batch(*, stream: Stream, sequence: int, checksum: str, payload: bytes) -> bool:
    """Stores a batch as received. False: a resend of a stored one. Raises Closed."""
    with transaction.atomic():
        # The run's lock keeps batches out of a run that is being sealed.
        Run.objects.select_for_update(no_key=True).only("pk").get(pk=stream.run_id)
        stream = Stream.objects.get(pk=stream.pk)
        known = StreamBatch.objects.filter(stream=stream, sequence=sequence).values_list("checksum", flat=True).first()
        if known is not None:
            if known != checksum:
                raise Closed(f"batch {sequence} of this stream is stored with other content")
            return False
        if stream.closed:
            raise Closed("the run was sealed without this stream after its deadline")
        if stream.batches_expected is not None and sequence >= stream.batches_expected:
            raise Closed(f"the stream ended with {stream.batches_expected} batches, numbered from 0")
        StreamBatch.objects.create(stream=stream, sequence=sequence, checksum=checksum, payload=payload)
    return True


def end(*, stream: Stream, batches: int) -> None:
    """Ends a stream with its number of batches; a repeated call changes nothing. Raises Closed."""
    if not Stream.objects.filter(pk=stream.pk, batches_expected=None, closed=False).update(batches_expected=batches):
        known = Stream.objects.get(pk=stream.pk)
        if known.batches_expected != batches:
            raise Closed("the stream has already ended, or its run was sealed without it after its deadline")


def wait_for(run: Run, *, now: datetime) -> None:
    """Sets the deadline of the streams of a run that has ended."""
    Stream.objects.filter(run=run, wait_until=None).update(wait_until=now + DEADLINE)


def awaited(run: Run, *, now: datetime) -> tuple[str, ...]:
    """Agents whose streams are incomplete and before their deadline. One query."""
    waiting = Stream.objects.filter(run=run, closed=False).annotate(held=Count("batches"))
    return tuple(
        stream.agent
        for stream in waiting
        if (stream.wait_until is None or stream.wait_until > now)
        and (stream.batches_expected is None or stream.held < stream.batches_expected)
    )


def close(run: Run) -> None:
    """Closes the streams, so that every accepted batch is part of the seal."""
    with transaction.atomic():
        Run.objects.select_for_update(no_key=True).only("pk").get(pk=run.pk)
        Stream.objects.filter(run=run).update(closed=True)


def read(run: Run) -> Read:
    """The samples of a run's closed streams; an unreadable stream does not affect the others."""
    found = Read()
    for stream in Stream.objects.filter(run=run):
        sampled = DecodedSamples()
        try:
            sampled = decoded(partial(_payloads, stream))
            held = StreamBatch.objects.filter(stream=stream).count()
            words = "; ".join(filter(None, [_missing(stream, held), *map(_unread, sampled.unread)]))
        except wire.BadBatch as error:
            words = f"its samples could not be read ({printable(str(error))})"
        for batch in sampled.unread:
            payload = StreamBatch.objects.get(stream=stream, sequence=batch.sequence).payload
            found.unread.append((_path(stream.number, batch.sequence), bytes(payload)))
        found.nodes.extend(node for node in sampled.nodes if node.name != CLIENT)
        found.events.extend(sampled.events)
        if words:
            found.lost.append(_lost(stream, sampled.nodes, words))
    return found


def _unread(batch: UnreadBatch) -> str:
    return f"batch {batch.sequence} could not be read ({printable(batch.reason)})"


def raw(run: Run) -> Iterator[tuple[str, bytes]]:
    """Path and content of each batch as received."""
    rows = StreamBatch.objects.filter(stream__run=run).order_by("stream__number", "sequence")
    for number, sequence, payload in rows.values_list("stream__number", "sequence", "payload").iterator(16):
        yield _path(number, sequence), bytes(payload)


def _path(number: int, sequence: int) -> str:
    return f"sampler-{number}/{sequence:06}"


def drop_batches(run: Run) -> None:
    StreamBatch.objects.filter(stream__run=run).delete()


def _payloads(stream: Stream) -> Iterator[tuple[int, bytes]]:
    """Batches before the first missing one; later ones cannot be decoded without it."""
    expected, last = 0, -1
    while rows := binary_cursor.fetch(_NEXT, [stream.pk, last]):
        for sequence, payload in rows:
            if sequence != expected:
                return
            yield sequence, payload
            expected += 1
        last = rows[-1][0]


def _missing(stream: Stream, held: int) -> str:
    """Description of the missing batches; empty: complete."""
    if stream.batches_expected is None:
        return f"its stream did not end; {held} batches had arrived"
    if held < stream.batches_expected:
        return f"{stream.batches_expected - held} of {stream.batches_expected} batches did not arrive in time"
    return ""


def _lost(stream: Stream, nodes: Sequence[SampledNode], words: str) -> wire.EventMessage:
    last = max((float(node.clock[-1]) for node in nodes if len(node.clock)), default=0.0)
    return wire.EventMessage(
        kind="sampler_error",
        label=f"sampler {stream.agent} of {', '.join(stream.nodes)}: {words}"[:LABEL_LIMIT],
        starts_at=round(last, 6),
        node=stream.nodes[0] if stream.nodes else "",
        detail={"agent": stream.agent, "nodes": stream.nodes, "reason": words},
    )
