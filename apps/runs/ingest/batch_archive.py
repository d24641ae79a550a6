"""Batches as received, packed into one file."""

import io
import re
import tarfile
from collections.abc import Iterable, Iterator

from workers.protocol.wire import BadBatch

NAME = re.compile(r"([0-9]{1,9})\.ndjson\.gz")


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
    """Sequence and content of each, in order, without those of samplers, which are in folders. Raises BadBatch.

    It may come from an archive that somebody handed in: not compressed again, and no file twice or with holes.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for member in tar:
                if "/" in member.name:
                    continue
                content = None if member.issparse() or not member.isfile() else tar.extractfile(member)
                name = NAME.fullmatch(member.name)
                if content is None or name is None:
                    raise BadBatch(f"the file of this run's batches holds {member.name[:80]!r}, which is none")
                yield int(name[1]), content.read()
    except BadBatch:
        raise
    except (tarfile.TarError, EOFError, OSError, ValueError, OverflowError) as error:
        raise BadBatch(f"the file of this run's batches cannot be read: {error!s:.200}") from error
