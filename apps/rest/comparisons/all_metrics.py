"""API: all metrics of a comparison."""

from typing import Any

from rest_framework import serializers

from apps.rest.comparisons.values import CellSerializer, ComparedMetricSerializer


class MeasuredSerializer(serializers.Serializer[Any]):
    metric = ComparedMetricSerializer()
    baseline = CellSerializer()
    cell = CellSerializer()
    answered = serializers.BooleanField(help_text="part of the answer, whose verdict it keeps")
    relevant = serializers.BooleanField(source="is_relevant", help_text="a difference")


class EverythingSerializer(serializers.Serializer[Any]):
    measured = MeasuredSerializer(many=True, help_text="by significance")
    tests = serializers.IntegerField(
        help_text="for so many comparisons the metrics beyond the answer's are corrected: a table of their own"
    )
    meanings = serializers.DictField(child=serializers.CharField(), help_text="of each metric, by key")
