"""Which tools bear out what is claimed of the sides of a comparison, as the API writes it."""

from typing import Any

from rest_framework import serializers

from apps.api.comparison_values import (
    CellSerializer,
    ComparedMetricSerializer,
    ComparedWorkloadSerializer,
    LevelSerializer,
)


class TestimonySerializer(serializers.Serializer[Any]):
    level = LevelSerializer()
    cell = CellSerializer(help_text="as of the matrix of all shared workloads")


class WitnessSerializer(serializers.Serializer[Any]):
    workload = ComparedWorkloadSerializer()
    program = serializers.CharField(help_text="that makes the load; witnesses of one program are one tool")
    metric = ComparedMetricSerializer()
    testimony = TestimonySerializer(many=True)
    says = serializers.CharField(help_text='better, worse, equivalent, "depends on the load", "cannot tell"')


class StatedWitnessSerializer(serializers.Serializer[Any]):
    says = serializers.CharField(help_text='better, worse, "cannot tell"')
    sentence = serializers.CharField(help_text="in the article's words; no interval is stated")
    workload = serializers.CharField()
    conditions = serializers.CharField()
    hardware = serializers.CharField()
    note = serializers.CharField()
    article = serializers.CharField(help_text="slug")
    by = serializers.CharField()
    published = serializers.CharField(help_text="YYYY, YYYY-MM or YYYY-MM-DD")


class ClaimSerializer(serializers.Serializer[Any]):
    side = serializers.CharField(help_text="slug of a system")
    kind = serializers.CharField(help_text="of load: reads, writes, mixed, ingest, tpcc, …")
    says = serializers.CharField(help_text='of the side: as a witness, or "contested"')
    alone = serializers.BooleanField(help_text="only one tool supports it")
    programs = serializers.ListField(child=serializers.CharField(), help_text="that support it")
    agree = WitnessSerializer(many=True)
    contradict = WitnessSerializer(many=True)
    cannot_tell = WitnessSerializer(many=True)
    stated = StatedWitnessSerializer(many=True, help_text="by articles: never counted")


class CorroborationSerializer(serializers.Serializer[Any]):
    claims = ClaimSerializer(many=True, help_text="about each side but the baseline")
    tests = serializers.IntegerField(help_text="comparisons for whose number the verdicts are corrected together")
    notes = serializers.ListField(child=serializers.CharField())
