"""Serializers of runs; every number has its unit, every headline value its provenance."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from apps.rest.catalog.catalog import HardwareClassSerializer
from apps.rest.framework.derive import Answer, serializer_of
from apps.runs.api import (
    CheckDetail,
    EventDetail,
    ExclusionDetail,
    MeasurementDetail,
    NodeDetail,
    RunDetail,
    RunRow,
    SystemDetail,
)
from apps.runs.models import Run, RunCheck


class RunWorkloadSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="workload_id")
    tool = serializers.CharField(source="workload_tool")
    name = serializers.CharField(source="workload_name")


class RunLoadLevelSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(source="load_level")
    threads = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True, help_text="1/s; null: as fast as it goes")


class RunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    address = serializers.SerializerMethodField(help_text="of its page")
    api = serializers.SerializerMethodField(help_text="of its description here")
    started_at = serializers.DateTimeField()
    platform = serializers.CharField(source="platform_slug")
    platform_name = serializers.CharField()
    release = serializers.CharField()
    release_id = serializers.IntegerField()
    hardware = serializers.CharField(source="hardware_slug")
    hardware_name = serializers.CharField(source="hardware")
    system = serializers.CharField(source="system_slug")
    system_name = serializers.CharField()
    workload = RunWorkloadSerializer(source="*")
    load_level = RunLoadLevelSerializer(source="*")
    repetition = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Run.State.values)
    outcome = serializers.CharField(help_text="succeeded, failed, cancelled; empty: it still runs")
    reason = serializers.CharField(help_text="why it failed")
    provenance = serializers.ChoiceField(choices=Run.Provenance.values)
    tags = serializers.ListField(child=serializers.CharField())
    failed_checks = serializers.ListField(
        child=serializers.CharField(), help_text="keys of the quality checks it failed"
    )
    is_excluded = serializers.BooleanField(help_text="a person left it out of all comparisons")
    campaign_id = serializers.IntegerField(allow_null=True)
    campaign_name = serializers.CharField(allow_null=True)
    throughput = serializers.FloatField(allow_null=True, help_text="null: not measured")
    throughput_unit = serializers.CharField()
    p95 = serializers.FloatField(allow_null=True, help_text="null: not measured")
    p95_unit = serializers.CharField()

    def get_address(self, row: RunRow) -> str:
        return _absolute(self, reverse("web:run", args=[row.id]))

    def get_api(self, row: RunRow) -> str:
        return _absolute(self, reverse("api:run", args=[row.id]))


def _absolute(serializer: serializers.BaseSerializer[Any], path: str) -> str:
    request: Request = serializer.context["request"]
    return request.build_absolute_uri(path)


class MeasurementSerializer(Answer):
    """A headline value with its provenance: bytes [byte_start, byte_end) of the artifact."""

    of = MeasurementDetail


class ArtifactSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    address = serializers.CharField()
    sha256 = serializers.CharField()
    size = serializers.IntegerField(help_text="bytes")
    media_type = serializers.CharField()


class CheckSerializer(Answer):
    """A quality check: question, evidence, and limits."""

    of = CheckDetail
    status = serializers.ChoiceField(choices=RunCheck.Status.values)


class ExclusionSerializer(Answer):
    """An exclusion of the run from all comparisons by a person."""

    of = ExclusionDetail


class RunSystemSerializer(Answer):
    of = SystemDetail
    names = {"platform_slug": "platform"}
    hardware = HardwareClassSerializer()


class RunDetailSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="row.id")
    uid = serializers.UUIDField()
    address = serializers.SerializerMethodField(help_text="of its page")
    api = serializers.SerializerMethodField(help_text="of its description here")
    state = serializers.ChoiceField(choices=Run.State.values, source="row.state")
    outcome = serializers.CharField(source="row.outcome")
    reason = serializers.CharField(source="row.reason")
    provenance = serializers.ChoiceField(choices=Run.Provenance.values, source="row.provenance")
    system = RunSystemSerializer()
    workload = RunWorkloadSerializer(source="row")
    parameters = serializers.DictField()
    load_level = RunLoadLevelSerializer(source="row")
    repetition = serializers.IntegerField(source="row.repetition")
    tags = serializers.ListField(child=serializers.CharField(), source="row.tags")
    failed_checks = serializers.ListField(child=serializers.CharField(), source="row.failed_checks")
    is_excluded = serializers.BooleanField(source="row.is_excluded")
    checks = CheckSerializer(many=True, help_text="in the order of the checklist; none before the run is complete")
    exclusions = ExclusionSerializer(many=True, help_text="the latest first")
    campaign_id = serializers.IntegerField(source="row.campaign_id", allow_null=True)
    campaign_name = serializers.CharField(source="row.campaign_name", allow_null=True)
    job_id = serializers.IntegerField(allow_null=True)
    attempt = serializers.IntegerField(allow_null=True)
    started_at = serializers.DateTimeField(source="row.started_at", help_text="second 0 of the run's clock")
    ended_at = serializers.DateTimeField(allow_null=True)
    sealed_at = serializers.DateTimeField(allow_null=True)
    warmup = serializers.FloatField(help_text="planned, s")
    duration = serializers.FloatField(allow_null=True, help_text="planned length of the measured phase, s")
    measured_from = serializers.FloatField(allow_null=True, help_text="s on the run's clock")
    measured_to = serializers.FloatField(allow_null=True)
    server_version = serializers.CharField()
    tool_version = serializers.CharField()
    command = serializers.CharField(help_text="without secrets")
    host = serializers.DictField(help_text="the load generator's machine")
    primary_metric = serializers.CharField()
    measurements = MeasurementSerializer(many=True)
    events = serializer_of(EventDetail)(many=True)
    nodes = serializer_of(NodeDetail)(many=True)
    artifacts = serializers.SerializerMethodField()
    unparsed_lines = serializers.ListField(child=serializers.CharField(), help_text="what no parser understood")

    def get_address(self, detail: RunDetail) -> str:
        return _absolute(self, reverse("web:run", args=[detail.row.id]))

    def get_api(self, detail: RunDetail) -> str:
        return _absolute(self, reverse("api:run", args=[detail.row.id]))

    @extend_schema_field(ArtifactSerializer(many=True))
    def get_artifacts(self, detail: RunDetail) -> list[dict[str, Any]]:
        return [
            {
                "name": artifact.name,
                "address": _absolute(self, reverse("api:artifact", args=[detail.row.id, artifact.name])),
                "sha256": artifact.sha256,
                "size": artifact.size,
                "media_type": artifact.media_type,
            }
            for artifact in detail.artifacts
        ]


class SubmittedRunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    uid = serializers.UUIDField()
    address = serializers.CharField(help_text="of its page")
    api = serializers.CharField()
    state = serializers.ChoiceField(choices=Run.State.values, help_text="sealed: its numbers are there")
    outcome = serializers.CharField()
    reason = serializers.CharField()
    measurements = MeasurementSerializer(many=True)
    unparsed_lines = serializers.IntegerField(help_text="how many lines no parser understood; the run shows them")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="what was added to the catalog")
