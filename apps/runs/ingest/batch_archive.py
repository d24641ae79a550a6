"""Batches as received, packed into one file."""

import io
import tarfile
from collections.abc import Iterable, Iterator


def packed(batches: Iterable[tuple[str, bytes]]) -> bytes:
    """A tar of the path and content of each batch."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, payload in batches:
            entry = tarfile.TarInfo(f"{name}.ndjson.gz")
            entry.size = len(payload)
            archive.addfile(entry, io.BytesIO(payload))
    return buffer.getvalue()


def unpacked(archive: bytes) -> Iterator[tuple[int, bytes]]:
    """Sequence and content of each, in order, without those of samplers, which are in folders."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            content = None if "/" in member.name else tar.extractfile(member)
            if content is not None:
                yield int(member.name.partition(".")[0]), content.read()
