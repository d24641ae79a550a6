"""Raw files of runs in object storage (Django's default storage), under their SHA-256: `ab/abcdef…`."""

import os
from pathlib import Path

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage

from apps.runs.models import Artifact
from workers.protocol.wire import checksum


class DamagedArtifact(Exception):
    """An artifact is missing in storage or does not match its hash."""


def path_of(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def keep(content: bytes) -> str:
    """Stores `content` durably, once; returns its SHA-256. Raises OSError, for example when the disk is full."""
    sha256 = checksum(content)
    path = path_of(sha256)
    # A crash may have left a truncated file: compare the content.
    if default_storage.exists(path) and _read(path) == content:
        return sha256
    default_storage.save(path, ContentFile(content))
    _sync(path)
    return sha256


def open_artifact(artifact: Artifact) -> "File[bytes]":
    """The open file, to be closed by the caller. Raises DamagedArtifact when it is missing."""
    try:
        return default_storage.open(path_of(artifact.sha256), "rb")
    except FileNotFoundError as error:
        raise DamagedArtifact(
            f"artifact {artifact.name} of run {artifact.run_id} is not in storage: restore {path_of(artifact.sha256)}"
        ) from error


def read_artifact(artifact: Artifact) -> bytes:
    """The content, verified by its hash. Raises DamagedArtifact."""
    with open_artifact(artifact) as stored:
        content: bytes = stored.read()
    if checksum(content) != artifact.sha256:
        raise DamagedArtifact(
            f"artifact {artifact.name} of run {artifact.run_id} has changed: restore {path_of(artifact.sha256)}"
        )
    return content


def _read(path: str) -> bytes:
    with default_storage.open(path, "rb") as stored:
        content: bytes = stored.read()
    return content


def _sync(path: str) -> None:
    """Syncs a local file and its folder, which makes it durable; object stores do so themselves."""
    try:
        local = Path(default_storage.path(path))
    except NotImplementedError:
        return
    for target in (local, local.parent):
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
