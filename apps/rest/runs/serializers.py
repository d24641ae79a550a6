"""Serializers of runs: their dataclasses, with addresses."""

from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Inline
from apps.rest.catalog.catalog import HardwareClassSerializer
from apps.rest.framework.derive import Answer, serializer_of
from apps.rest.framework.fields import AddressField
from apps.runs.api import ArtifactDetail, RunDetail, RunRow, SystemDetail


class RunSerializer(Answer):
    of = RunRow
    address = AddressField("web:run", "id", help_text="of its page")
    api = AddressField("api:run", "id", help_text="of its description here")


class ArtifactSerializer(Answer):
    of = ArtifactDetail
    address = AddressField("api:artifact", "run", "name")


class RunSystemSerializer(Answer):
    of = SystemDetail
    hardware = HardwareClassSerializer()


RunDetailSerializer = serializer_of(RunDetail)

SUBMITTED = ("id", "uid", "address", "api", "system", "workload", "state", "outcome", "reason", "measurements")


@dataclass(frozen=True)
class SubmittedRun:
    detail: Annotated[RunDetail, Inline(*SUBMITTED)]
    format: Annotated[str, "what the output was read as: as stated, or as recognised by its content"]
    unparsed_lines: Annotated[int, "how many lines no parser understood; the run shows them"]
    warnings: Annotated[tuple[str, ...], "what was added to the catalog"]


SubmittedRunSerializer = serializer_of(SubmittedRun)
