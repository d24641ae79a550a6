"""Compares a backup with its manifest, byte by byte. Needs neither database nor store."""

import hashlib
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from apps.operations.backup import manifest
from apps.operations.backup.manifest import BackupManifest, BadBackup

_UNREADABLE = (tarfile.TarError, EOFError, OSError, zlib.error)


def verify(folder: Path) -> BackupManifest:
    """Raises BadBackup."""
    found = manifest.read(folder)
    for part in found.parts:
        path = folder / part.name
        if not path.is_file():
            raise BadBackup(f"{path} is missing: use another backup")
        if path.stat().st_size != part.size or manifest.file_digest(path) != part.sha256:
            raise BadBackup(f"{path} has changed since it was written: use another backup")
    hashes = [name for name, _ in contents(folder / manifest.ARTIFACTS)]
    if len(hashes) != found.artifacts or manifest.list_digest(hashes) != found.artifact_list:
        raise BadBackup(f"{folder / manifest.ARTIFACTS} has other artifacts than its manifest: use another backup")
    return found


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Hash and content of each artifact. Raises BadBackup."""
    for name, content in files(path):
        if hashlib.sha256(content).hexdigest() != name:
            raise BadBackup(f"{name} in {path} does not match its hash: use another backup")
        yield name, content


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of a part; nothing is unpacked to a path that it names. Raises BadBackup."""
    try:
        with tarfile.open(path, "r:gz") as tar:
            for entry in tar:
                file = tar.extractfile(entry)
                if file is None or "/" in entry.name:
                    raise BadBackup(f"{path} holds {entry.name!r}, which is no file of a backup: use another backup")
                yield entry.name, file.read()
    except _UNREADABLE as error:
        raise BadBackup(f"{path} cannot be read ({error}): use another backup") from error
