"""Serializers of findings: their dataclasses, with address and versions."""

from dataclasses import dataclass
from typing import Annotated

from rest_framework import serializers

from apps.core.answers import Inline, component
from apps.regressions.api import FindingDetail, FindingRow
from apps.rest.framework.derive import Answer, serializer_of
from apps.rest.framework.fields import AddressField


class FindingSerializer(Answer):
    of = FindingRow
    address = AddressField("web:finding", "id", help_text="of its page")
    release = serializers.CharField(source="release.slug", allow_null=True, help_text="version; null: of no release")
    baseline = serializers.CharField(
        source="baseline.slug", allow_null=True, help_text="version of the release it is compared with"
    )
    seen = serializers.DateTimeField(help_text="send it with an action: it is refused when somebody was faster")


FindingDetailSerializer = serializer_of(FindingDetail)


@component(text="The finding after a comment.")
@dataclass(frozen=True)
class Commented:
    finding: Annotated[FindingDetail, Inline()]
    not_told: Annotated[list[str], "names that the comment mentions and nobody has"]


CommentedSerializer = serializer_of(Commented)
