"""The file of a run's raw batches, which an archive from elsewhere may have brought."""

import gzip
import io
import tarfile

import pytest

from apps.runs.ingest import batch_archive
from workers.protocol.wire import BadBatch

BATCHES = [("000000", b"one"), ("000001", b"two"), ("sampler/000000", b"three")]


def a_tar(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def linked() -> bytes:
    """A file, and a second name of it: each would cost its length again."""
    link = tarfile.TarInfo("000001.ndjson.gz")
    link.type, link.linkname = tarfile.LNKTYPE, "000000.ndjson.gz"
    return a_tar((tarfile.TarInfo("000000.ndjson.gz"), b"one"), (link, b""))


def with_holes() -> bytes:
    """A file that says it is 10 GB long, of which nothing is stored."""
    header = bytearray(tarfile.TarInfo("000000.ndjson.gz").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[483:495] = b"%011o\0" % 10_000_000_000  # its length with the holes
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * 32 + sum(header[156:512]))
    return bytes(header) + bytes(1024)


def test_batches_are_unpacked_in_order_without_those_of_samplers() -> None:
    assert list(batch_archive.unpacked(batch_archive.packed(BATCHES))) == [(0, b"one"), (1, b"two")]


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"no tar" * 200,
        gzip.compress(batch_archive.packed(BATCHES)),
        a_tar((tarfile.TarInfo("notes.txt"), b"text")),
        linked(),
        with_holes(),
    ],
)
def test_what_is_no_file_of_batches_is_refused_in_a_sentence(archive: bytes) -> None:
    with pytest.raises(BadBatch, match="the file of this run's batches"):
        list(batch_archive.unpacked(archive))
