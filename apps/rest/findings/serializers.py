"""Serializers of findings."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from apps.regressions.api import (
    ChangeRow,
    FindingDetail,
    FindingRow,
    NamedSubject,
    NoteRow,
    RepetitionRow,
    filters,
)
from apps.regressions.models import Change
from apps.rest.framework.derive import Answer, AnyField


class ChangeSerializer(Answer):
    """A change of `system` against `baseline`, or from `first_run` of a trend on, or a missing result."""

    of = ChangeRow
    also = ("words",)
    kind = serializers.CharField(help_text=f"one of {', '.join(Change.Kind.values)}")
    verdict = serializers.CharField(help_text=f"one of {', '.join(Change.Verdict.values)}")


class FindingSerializer(Answer):
    """A group of related changes, with its review."""

    of = FindingRow
    names = {"changes": "changes_count", "holding": "changes_holding"}
    address = serializers.SerializerMethodField(help_text="of its page")
    kind = serializers.CharField(help_text=f"one of {', '.join(filters.KINDS)}")
    release = serializers.SerializerMethodField(help_text="version; null: of no release")
    baseline = serializers.SerializerMethodField(help_text="version of the release it is compared with")
    verdict = serializers.CharField(help_text=f"of the changes that hold now: {', '.join(filters.VERDICTS)}")
    state = serializers.CharField(help_text=f"one of {', '.join(filters.STATES)}")

    seen = serializers.DateTimeField(help_text="send it with an action: it is refused when somebody was faster")

    def get_address(self, row: FindingRow) -> str:
        request: Request = self.context["request"]
        return request.build_absolute_uri(reverse("web:finding", args=[row.id]))

    def get_release(self, row: FindingRow) -> str | None:
        return _version(row.release)

    def get_baseline(self, row: FindingRow) -> str | None:
        return _version(row.baseline)


def _version(release: NamedSubject | None) -> str | None:
    return release.slug if release else None


class NoteSerializer(Answer):
    """An activity entry: an action or a comment; an empty `by` is the system."""

    of = NoteRow


class RepetitionSerializer(Answer):
    """A campaign that measures both sides again."""

    of = RepetitionRow


class FindingPartsSerializer(Answer):
    of = FindingDetail


class FindingDetailSerializer(FindingSerializer):
    """A finding with all its parts."""

    def get_fields(self) -> dict[str, AnyField]:
        return super().get_fields() | FindingPartsSerializer().get_fields()


class CommentedSerializer(FindingDetailSerializer):
    """The finding after a comment."""

    not_told = serializers.ListField(
        child=serializers.CharField(), help_text="names that the comment mentions and nobody has"
    )


class PlannedAgainSerializer(serializers.Serializer[Any]):
    workload = serializers.CharField(source="workload.name")
    systems = serializers.SerializerMethodField(help_text="slugs")
    load_levels = serializers.SerializerMethodField()
    warmup = serializers.FloatField(help_text="s")
    duration = serializers.FloatField(help_text="s")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_systems(self, entry: Any) -> list[str]:
        return [system.slug for system in entry.systems]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_load_levels(self, entry: Any) -> list[str]:
        return [str(level) for level in entry.load_levels]


class PlanAgainSerializer(serializers.Serializer[Any]):
    """Plan of a repeated, interleaved measurement."""

    repetitions = serializers.IntegerField()
    why = serializers.CharField(help_text="why so many")
    entries = PlannedAgainSerializer(many=True)
    jobs = serializers.IntegerField(source="size.jobs")
    runs = serializers.IntegerField(source="size.runs")
    seconds = serializers.FloatField(source="size.seconds", help_text="when its jobs run one after another")
    under_way = serializers.IntegerField(allow_null=True, help_text="id of the campaign that does so already")
