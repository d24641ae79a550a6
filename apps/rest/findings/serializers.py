"""Serializers of findings."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from apps.regressions.api import FindingRow, NamedSubject, filters
from apps.regressions.models import Change
from apps.rest.campaigns.campaigns import NamedSerializer, ProgressSerializer
from apps.rest.framework.fields import NumberField, WordsField


class MetricShownSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.CharField(help_text="which is better: higher, lower or neutral")


class ChangeSerializer(serializers.Serializer[Any]):
    """A change of `system` against `baseline`, or from `first_run` of a trend on, or a missing result."""

    id = serializers.IntegerField()
    kind = serializers.CharField(help_text=f"one of {', '.join(Change.Kind.values)}")
    verdict = serializers.CharField(help_text=f"one of {', '.join(Change.Verdict.values)}")
    words = WordsField(help_text="size, interval and values; of a missing result: why")
    workload = NamedSerializer()
    tool = serializers.CharField()
    load_level = serializers.CharField()
    metric = MetricShownSerializer(allow_null=True)
    system = NamedSerializer()
    baseline = NamedSerializer(allow_null=True, help_text="the system it is held against; null: along one history")
    history = serializers.IntegerField(allow_null=True, help_text="id")
    first_run = serializers.IntegerField(allow_null=True, help_text="id of the run it was first seen at")
    slot = serializers.IntegerField(allow_null=True, help_text="of a schedule")
    before = NumberField(allow_null=True, help_text="typical value in the metric's unit")
    after = NumberField(allow_null=True)
    ratio = NumberField(allow_null=True, help_text="after over before")
    low = NumberField(allow_null=True, help_text="of the ratio's 95 % interval; null: too few repetitions")
    high = NumberField(allow_null=True)
    p = NumberField(allow_null=True, help_text="corrected for all comparisons of the release")
    runs_before = serializers.ListField(child=serializers.IntegerField(), help_text="ids")
    runs_after = serializers.ListField(child=serializers.IntegerField(), help_text="ids")
    reason = serializers.CharField()
    found_at = serializers.DateTimeField()
    judged_at = serializers.DateTimeField()
    gone_at = serializers.DateTimeField(allow_null=True, help_text="since then newer runs do not bear it out")
    beneath = serializers.IntegerField(
        allow_null=True,
        help_text="id of the change between releases that tells of the same effect and is counted instead; null: none",
    )


class FindingSerializer(serializers.Serializer[Any]):
    """A group of related changes, with its review."""

    id = serializers.IntegerField()
    address = serializers.SerializerMethodField(help_text="of its page")
    kind = serializers.CharField(help_text=f"one of {', '.join(filters.KINDS)}")
    title = WordsField()
    platform = NamedSerializer(allow_null=True)
    hardware_class = NamedSerializer(allow_null=True)
    release = serializers.SerializerMethodField(help_text="version; null: of no release")
    baseline = serializers.SerializerMethodField(help_text="version of the release it is held against")
    schedule = NamedSerializer(allow_null=True)
    family = serializers.CharField(help_text="load tool of its workloads")
    part = serializers.IntegerField(help_text="above 0: split from another")
    verdict = serializers.CharField(help_text=f"of the changes that hold now: {', '.join(filters.VERDICTS)}")
    state = serializers.CharField(help_text=f"one of {', '.join(filters.STATES)}")
    largest = NumberField(allow_null=True, help_text="relative change furthest for the worse, else the better: 0.12")
    shown = ChangeSerializer(allow_null=True, help_text="the change that `largest` is of")
    changes_count = serializers.IntegerField(source="changes", help_text="each effect once: without those `beneath`")
    changes_holding = serializers.IntegerField(source="holding", help_text="of these, so many hold now")
    reason = serializers.CharField(help_text="why it was accepted or closed")
    accepted_until = serializers.DateField(allow_null=True, help_text="the last day of an acceptance")
    owner = serializers.CharField(help_text="user name; empty: nobody")
    due_on = serializers.DateField(allow_null=True)
    labels = serializers.ListField(child=serializers.CharField())
    comments = serializers.IntegerField(help_text="how many")
    merged_into = serializers.IntegerField(allow_null=True, help_text="id of the finding that has its changes now")
    seen = serializers.DateTimeField(help_text="send it with an action: it is refused when somebody was faster")
    found_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField()

    def get_address(self, row: FindingRow) -> str:
        request: Request = self.context["request"]
        return request.build_absolute_uri(reverse("web:finding", args=[row.id]))

    def get_release(self, row: FindingRow) -> str | None:
        return _version(row.release)

    def get_baseline(self, row: FindingRow) -> str | None:
        return _version(row.baseline)


def _version(release: NamedSubject | None) -> str | None:
    return release.slug if release else None


class NoteSerializer(serializers.Serializer[Any]):
    """An activity entry: an action or a comment; an empty `by` is the system."""

    id = serializers.IntegerField()
    what = serializers.CharField(help_text="found, state, owner, due, labels, comment, link, merged, split, …")
    by = serializers.CharField()
    at = serializers.DateTimeField()
    sentence = WordsField()
    text = serializers.CharField()
    detail = serializers.JSONField()
    mentions = serializers.ListField(child=serializers.CharField(), help_text="user names")


class LinkSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    url = serializers.CharField()
    title = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()


class RepetitionSerializer(serializers.Serializer[Any]):
    """A campaign that measures both sides again."""

    campaign = serializers.IntegerField(help_text="id")
    name = serializers.CharField()
    asked_by = serializers.CharField()
    asked_at = serializers.DateTimeField()
    progress = ProgressSerializer()


class FindingPartsSerializer(serializers.Serializer[Any]):
    changes = ChangeSerializer(many=True)
    notes = NoteSerializer(many=True, help_text="its whole history, in order")
    links = LinkSerializer(many=True)
    repetitions = RepetitionSerializer(many=True)
    merged = NamedSerializer(many=True, help_text="findings that were merged into it; `name`: their titles")
    next_states = serializers.ListField(child=serializers.CharField(), help_text="that PUT …/state takes now")
    may_accept = serializers.BooleanField()
    may_reopen = serializers.BooleanField()


class FindingDetailSerializer(FindingPartsSerializer, FindingSerializer):
    """A finding with all its parts."""


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
