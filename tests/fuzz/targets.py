"""What reads bytes from outside: a name, the function that reads, and the only exceptions that bytes may cause."""

import dataclasses
import gzip
import io
import lzma
import math
import struct
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from rest_framework.exceptions import ValidationError

from apps.catalog.services import KEY
from apps.core import yaml_text
from apps.core.problems import Invalid
from apps.dispatch.schedules import cron
from apps.published import parse as published
from apps.published.format import MalformedFile
from apps.rest.framework.bodies import InvalidJson
from apps.rest.prometheus.promql import BadQuery
from apps.runs import tool_output
from apps.runs.archive import exports, manifest, samples
from apps.runs.archive.troubles import ArchiveTrouble
from apps.runs.ingest.accept import Refused
from apps.runs.ingest.prometheus.lay import Misplaced
from apps.runs.ingest.prometheus.payload import BadPayload
from apps.runs.samples import batches, columns, histograms
from apps.runs.storage import codec
from apps.runs.tool_output import formats
from apps.runs.tool_output.formats import NotThisFormat
from apps.runs.tool_output.values import Output
from tests.fuzz import arrivals, rows
from tests.fuzz.rows import PARTED
from workers.agent.prometheus.source import PrometheusTrouble
from workers.agent.samplers import SourceFailed
from workers.protocol import secrets, wire
from workers.protocol.wire import BadBatch

Read = Callable[[bytes], object]
# Of the text of a refusal.
LONGEST = 2_000


@dataclass(frozen=True)
class Target:
    """`refusals`: the exceptions with which bytes may be refused. `database`: needs one, in a transaction."""

    read: Read
    refusals: tuple[type[Exception], ...] = ()
    database: bool = False


def attempt(target: Target, content: bytes) -> object:
    """What was read; None: refused, in a text that can be shown. Everything else is a defect."""
    refusal: Exception | None = None
    found: object = None
    try:
        found = target.read(content)
    except target.refusals as error:
        refusal = error
    if refusal is not None:
        assert 0 < len(str(refusal)) <= LONGEST, f"{len(str(refusal))} characters of {type(refusal).__name__}"
        storable(str(refusal))
    storable(found)
    return found


def storable(value: object) -> None:
    """Texts that PostgreSQL and JSON hold: no NUL, no half of a character."""
    if isinstance(value, str):
        assert "\0" not in value, f"NUL in {value[:80]!r}"
        value.encode()
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            storable(key)
            storable(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            storable(inner)
    elif isinstance(value, msgspec.Struct):
        storable(msgspec.structs.asdict(value))
    elif dataclasses.is_dataclass(value):
        storable([getattr(value, field.name) for field in dataclasses.fields(value)])


# ---------------------------------------------------------------- outputs of tools

STARTED = datetime(2026, 11, 20, 10, tzinfo=UTC)


def _check(output: Output, content: bytes) -> None:
    for headline in output.headlines:
        assert math.isfinite(headline.value), headline
        assert 0 <= headline.byte_start <= headline.byte_end <= len(content), headline
    for found in output.distributions:
        assert 0 <= found.byte_start <= found.byte_end <= len(content), found
        assert found.distribution.quantiles
    if output.measured:
        assert 0 <= output.measured[0] <= output.measured[1] < math.inf, output.measured
    assert all(math.isfinite(second) for second in output.intervals)
    columns.client_of(output.intervals, offset=0.5)
    columns.events_of(output.events)
    assert all(KEY.match(key) and len(key) <= 160 for key in output.metrics()), output.metrics()
    assert all(KEY.match(key) and len(key) <= 160 for row in output.intervals.values() for key in row)


def _submitted(chosen: formats.Submitted, content: bytes) -> object:
    found = chosen.read(content)
    _check(found.output, content)
    return found


def _own(content: bytes) -> object:
    """A mapping, a line of dashes, and the file."""
    mapping, _, file = content.partition(b"\n---\n")
    chosen = formats.mapped(yaml_text.load_with_lines(mapping, aliases=False)[0], STARTED)
    assert formats.mapped_again(chosen.mapping or b"").mapping == chosen.mapping
    return _submitted(chosen, file)


def _report(content: bytes) -> object:
    found = tool_output.read("failover", content)
    _check(found, content)
    return found


def _live(content: bytes) -> object:
    return tool_output.live(content.decode("utf-8", "replace"))


# ---------------------------------------------------------------- what agents send

MESSAGES = (
    *(wire.HelloMessage, wire.HelloAnswer, wire.JobMessage, wire.RenewMessage, wire.RenewAnswer, wire.RunMessage),
    *(wire.SamplingMessage, wire.SamplingAnswer, wire.StreamEndMessage, wire.EventMessage, wire.RunEndMessage),
    *(wire.FailoverMessage, wire.FailoverAnswer, wire.JobEndMessage, wire.ClockMessage),
)


def _messages(content: bytes) -> object:
    """As each kind of message; one that was read is written and read again, equal."""
    for kind in MESSAGES:
        try:
            message: object = wire.from_json(kind, content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            storable(str(error))
            continue
        assert wire.from_json(kind, wire.to_json(message)) == message
    return None


def _batches(content: bytes) -> object:
    """Batches before they were compressed; all columns come back from their blocks."""
    decoder = batches.Decoder()
    for part in content.split(PARTED):
        decoder.feed(gzip.compress(part, compresslevel=1, mtime=0))
        for node in decoder.take():
            for key in (*node.changing, *node.constants):
                column = node.column(key)
                assert column is not None
                assert len(column) == len(node.clock)
                encoded = codec.encode(column)
                assert codec.decode(encoded.data, encoded.base).same_as(column)
    return columns.events_of(decoder.events)


# ---------------------------------------------------------------- stored and handed in


def _block(content: bytes) -> object:
    """A block with a right checksum: what the checksum keeps out is not worth a search."""
    tag, body = content[:1], content[1:]
    block = tag + struct.pack("<I", zlib.crc32(body, zlib.crc32(tag))) + body
    row = np.zeros(64, np.float64)
    try:
        codec.decode_into(row, block)
    except codec.BadBlock as error:
        storable(str(error))
    found = codec.decode(block, -1)
    assert len(found.values) == len(found.observed)
    return None


def _archive(suffix: str, content: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"runs{suffix}"
        path.write_bytes(lzma.compress(content, preset=0) if suffix == exports.COMPACT_SUFFIX else content)
        with exports.unpacked(path) as storage:
            return [manifest.read(storage, each) for each in manifest.paths(storage)]


def _samples(content: bytes) -> object:
    """Each series fits a block."""
    for _, _, column in samples.series_of(io.BytesIO(content)):
        if column is not None:
            codec.encode(column)
    return None


# ---------------------------------------------------------------- texts


def _yaml(content: bytes) -> object:
    for aliases in (True, False):
        _, lines = yaml_text.load_with_lines(content, aliases=aliases)
    return lines


def _secrets(content: bytes) -> object:
    """The server finds no secret in what the agent hid, and none stays behind a known option."""
    assert secrets.first_secret(secrets.without_secrets_in(content)) is None
    text = content.decode("utf-8", "replace")
    secret = "S3CR3T7"
    assert secret not in secrets.without_secret_options(f"{text} --password={secret} ")
    assert secret not in str(
        secrets.without_secrets({"wsrep_provider_options": f"{text};socket.ssl_password={secret}"})
    )
    return None


def _grid(content: bytes) -> object:
    """A grid, and counts in its outer buckets."""
    grid = histograms.grid_of(content.decode("utf-8", "replace"))
    last = grid.size - 1
    for bucket in {0, last // 2, last}:
        low, high = grid.bounds(bucket)
        assert low < high
        assert low <= grid.value(bucket) + 0.0005  # as it is printed
    assert histograms.HistogramCounts(grid, tuple({0: 1, last: 1}), tuple({0: 1, last: 1}.values())).quantiles
    return None


def _cron(content: bytes) -> object:
    cron.check(content.decode("utf-8", "replace"))
    return None


TARGETS: dict[str, Target] = {
    **{name: Target(partial(_submitted, chosen), (NotThisFormat,)) for name, chosen in formats.SUBMITTED.items()},
    **{name: Target(chosen.read, (NotThisFormat,)) for name, chosen in formats.ATTACHED.items()},
    "own": Target(_own, (NotThisFormat, formats.BadMapping, yaml_text.NotYaml)),
    "report": Target(_report),
    "live": Target(_live),
    "messages": Target(_messages),
    "gzip": Target(wire.read_lines, (BadBatch,)),
    "batches": Target(_batches, (BadBatch,)),
    "block": Target(_block, (codec.BadBlock,)),
    "zip": Target(partial(_archive, ".zip"), (ArchiveTrouble, OSError)),
    "tar": Target(partial(_archive, exports.COMPACT_SUFFIX), (ArchiveTrouble, OSError)),
    "parquet": Target(_samples, (ArchiveTrouble,)),
    "yaml": Target(_yaml, (yaml_text.NotYaml,)),
    "published": Target(partial(published.read, "fuzz.yaml"), (MalformedFile,)),
    "secrets": Target(_secrets),
    "json": Target(arrivals.json_body, (InvalidJson, ValidationError)),
    "form": Target(arrivals.form, arrivals.REFUSED_FORMS),
    "promql": Target(arrivals.query, (BadQuery,)),
    "prometheus": Target(arrivals.series, (BadPayload, Misplaced)),
    "batch-files": Target(arrivals.batch_files, (BadBatch,)),
    "haproxy-answer": Target(arrivals.haproxy_answer, (SourceFailed,)),
    "psql-answer": Target(arrivals.psql_answer, (SourceFailed,)),
    "prometheus-answers": Target(arrivals.prometheus_answers, (PrometheusTrouble, BadPayload)),
    "grid": Target(_grid, (histograms.UnknownGrid,)),
    "cron": Target(_cron, (cron.NoCron,)),
    "campaign": Target(rows.campaign, (Invalid,), database=True),
    "run": Target(rows.run, (Refused, msgspec.DecodeError, UnicodeDecodeError), database=True),
    "seal": Target(rows.sealed, (Refused,), database=True),
    "article": Target(rows.article, (MalformedFile,), database=True),
    "restore": Target(rows.restored, (ArchiveTrouble,), database=True),
}
