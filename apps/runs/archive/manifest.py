"""Manifest of an archived run: the list of its files, written last, so that its existence means completeness."""

from collections.abc import Iterator

import msgspec
from django.core.files.storage import Storage

from apps.runs.archive import store, tables
from apps.runs.archive.store import Stored
from apps.runs.archive.troubles import Damaged


class ManifestFile(msgspec.Struct, frozen=True, kw_only=True):
    """`size` in bytes."""

    path: str
    sha256: str
    size: int

    def stored(self) -> Stored:
        return Stored(self.path, self.sha256, self.size)


class TableFile(ManifestFile, frozen=True, kw_only=True):
    table: str
    rows: int


class ArtifactFile(ManifestFile, frozen=True, kw_only=True):
    name: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`sealed_at`: time of the archived seal, ISO 8601. `version`: that of the layout."""

    version: int
    run: str
    platform: str
    workload: str
    month: str
    sealed_at: str
    derivation: int
    tables: list[TableFile]
    artifacts: list[ArtifactFile]

    def table(self, name: str) -> TableFile | None:
        return next((one for one in self.tables if one.table == name), None)

    def files(self) -> list[ManifestFile]:
        return [*self.tables, *self.artifacts]

    def size(self) -> int:
        """Size of all files, bytes."""
        return sum(one.size for one in self.files())


def encoded(manifest: Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1)


def read(storage: Storage, path: str, *, sha256: str = "") -> Manifest:
    """Reads a manifest and verifies its `sha256`, if given. Raises Damaged, StoreUnreachable."""
    content = store.read(storage, path)
    if sha256 and store.digest(content) != sha256:
        raise Damaged(f"{path} of the archive differs from the manifest written: archive the run again")
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} of the archive is not a manifest ({error}): restore it from a backup") from error
    if manifest.version > tables.VERSION:
        raise Damaged(f"{path} is of layout {manifest.version}, this installation reads {tables.VERSION}: update it")
    return manifest


def paths(storage: Storage, *, platform: str = "", workload: str = "", month: str = "") -> Iterator[str]:
    """Paths of all manifests, or of those of a platform (slug), workload (name, or name of its folder) and month
    (2026-11). Raises StoreUnreachable."""
    wanted = {"platform": platform, "workload": workload, "month": month}
    yield from _below(storage, "manifests", wanted)


def uid_of(path: str) -> str:
    """The run's, of its manifest's path."""
    return path.rpartition("/")[2].removesuffix(".json")


def _below(storage: Storage, folder: str, wanted: dict[str, str]) -> Iterator[str]:
    folders, files = store.folders_and_files(storage, folder)
    yield from (f"{folder}/{name}" for name in files if name.endswith(".json") and not name.startswith("."))
    for name in folders:
        key, _, value = name.partition("=")
        asked = wanted.get(key, "")
        if not asked or value == asked or (key == "workload" and value.rpartition("-")[0] == tables.plain(asked)):
            yield from _below(storage, f"{folder}/{name}", wanted)
