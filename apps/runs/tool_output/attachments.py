"""Tables parsed from the files attached to runs."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from apps.core.answers import Hidden, Inline, Name, Shown, component
from apps.runs.models import Artifact
from apps.runs.storage import artifacts as storage_artifacts
from apps.runs.tool_output import formats
from apps.runs.tool_output.formats import Attached, NotThisFormat
from apps.runs.tool_output.parsers.attachments.statements import StatementCounts
from apps.runs.tool_output.parsers.parsed_output import OutputTable

# Of a file of statements that is compared: 50 statements of each node have about 60 KB.
MOST_BYTES = 2**20
UNREADABLE = OutputTable(title="", columns=(), rows=(), total=0)


@component("Table")
@dataclass(frozen=True)
class AttachedTable:
    """`problem`: why `table` is empty."""

    run: Hidden[int]
    artifact: str
    format: Hidden[Attached]
    table: Annotated[OutputTable, Inline()]
    problem: Annotated[str, "why it cannot be read; else empty"] = ""

    @property
    def format_name(self) -> Annotated[Shown[str], Name("format")]:
        return self.format.name


def tables(run_id: int) -> list[AttachedTable]:
    artifacts = Artifact.objects.filter(run_id=run_id).order_by("pk")
    return [_read(one, chosen) for one in artifacts if (chosen := formats.of_artifact(one.name))]


def statements(runs: Collection[int]) -> dict[int, tuple[StatementCounts, ...]]:
    """Run -> its statements, the longest-running first: of the agent's file, else of one attached, up to MOST_BYTES.
    Unreadable files are left out. One query; each content is read once."""
    listing = [f"{one.name}.{one.extension}" for one in formats.ATTACHED.values() if one.parse_statements]
    found: dict[int, tuple[StatementCounts, ...]] = {}
    artifacts = Artifact.objects.filter(run_id__in=runs, name__in=listing, size__lte=MOST_BYTES).order_by("name")
    for artifact in artifacts:
        if artifact.run_id not in found and (chosen := formats.of_artifact(artifact.name)):
            with suppress(NotThisFormat, storage_artifacts.DamagedArtifact):
                found[artifact.run_id] = _statements(_ByContent(artifact), chosen.name)
    return found


def _read(artifact: Artifact, chosen: Attached) -> AttachedTable:
    try:
        return AttachedTable(artifact.run_id, artifact.name, chosen, _table(artifact, chosen))
    except (NotThisFormat, storage_artifacts.DamagedArtifact) as error:
        return AttachedTable(artifact.run_id, artifact.name, chosen, UNREADABLE, str(error))


class _ByContent:
    """An artifact as a cache key: equal when the content is equal."""

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact

    def __hash__(self) -> int:
        return hash(self.artifact.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and other.artifact.sha256 == self.artifact.sha256


def _table(artifact: Artifact, chosen: Attached) -> OutputTable:
    return _parsed(_ByContent(artifact), chosen.name)


@lru_cache(maxsize=64)
def _parsed(held: _ByContent, name: str) -> OutputTable:
    return formats.ATTACHED[name].read(storage_artifacts.read_artifact(held.artifact))


@lru_cache(maxsize=128)
def _statements(held: _ByContent, name: str) -> tuple[StatementCounts, ...]:
    return formats.ATTACHED[name].statements(storage_artifacts.read_artifact(held.artifact))
