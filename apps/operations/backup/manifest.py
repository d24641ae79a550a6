"""What a backup consists of: `manifest.json` beside its parts. Pure."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

FORMAT = 1
FILE = "manifest.json"
DATABASE, ARTIFACTS, AGENT = "database.dump", "artifacts.tar.gz", "agent.tar.gz"
PARTS = (DATABASE, ARTIFACTS, AGENT)


class BadBackup(Exception):
    """The folder holds no backup, or another one than was written; the message has the remedy."""


class BackupPart(msgspec.Struct, frozen=True):
    """A file of the backup; `size` in bytes."""

    name: str
    sha256: str
    size: int


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`rows` by table; `migrations` as "app.name"; `artifact_list`: digest of the sorted hashes of all artifacts in it;
    `damaged`: of artifacts that rows name and the store did not have; `taken_at`: ISO 8601."""

    format: int
    taken_at: str
    postgres: int
    migrations: list[str]
    rows: dict[str, int]
    artifacts: int
    artifact_list: str
    damaged: list[str]
    parts: list[BackupPart]


def part_of(path: Path) -> BackupPart:
    return BackupPart(path.name, file_digest(path), path.stat().st_size)


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def list_digest(hashes: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def write(folder: Path, manifest: BackupManifest) -> None:
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    (folder / FILE).write_bytes(content + b"\n")


def read(folder: Path) -> BackupManifest:
    """Raises BadBackup."""
    try:
        found = msgspec.json.decode((folder / FILE).read_bytes(), type=BackupManifest)
    except FileNotFoundError as error:
        raise BadBackup(f"{folder} has no {FILE}: name the folder of a complete backup") from error
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadBackup(f"{folder / FILE} cannot be read ({error}): use another backup") from error
    if found.format != FORMAT:
        raise BadBackup(
            f"{folder} has format {found.format}, this release reads {FORMAT}: use the release that wrote it"
        )
    if tuple(part.name for part in found.parts) != PARTS:
        raise BadBackup(f"{folder / FILE} does not list {', '.join(PARTS)}: use another backup")
    return found
