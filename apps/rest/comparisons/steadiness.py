"""API: steadiness of the sides of a comparison."""

from typing import Any

from rest_framework import serializers

from apps.rest.comparisons.values import CellSerializer, ComparedMetricSerializer


class BoxSerializer(serializers.Serializer[Any]):
    least = serializers.FloatField()
    p5 = serializers.FloatField()
    p25 = serializers.FloatField()
    p50 = serializers.FloatField()
    p75 = serializers.FloatField()
    p95 = serializers.FloatField()
    greatest = serializers.FloatField()


class StretchSerializer(serializers.Serializer[Any]):
    start = serializers.FloatField(help_text="s from the start of the measured phase")
    end = serializers.FloatField()


class OneSteadinessSerializer(serializers.Serializer[Any]):
    step = serializers.FloatField(help_text="usual length of an interval, s")
    count = serializers.IntegerField(help_text="intervals")
    observed = serializers.FloatField(help_text="all of them together, s")
    box = BoxSerializer(help_text="how their values are spread")
    mean = serializers.FloatField()
    variation = serializers.FloatField(allow_null=True, help_text="coefficient of variation; 1 is 100 %")
    hiccups = serializers.FloatField(
        allow_null=True, help_text="share of the time in intervals below half the median; null: the median is zero"
    )
    longest = StretchSerializer(allow_null=True, help_text="the longest time in which such intervals follow each other")
    worst = serializers.FloatField(allow_null=True, help_text="the lowest interval over the median")
    worst_at = serializers.FloatField(help_text="when it ended, s from the start of the measured phase")


class RunSteadinessSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    side = serializers.CharField()
    level = serializers.IntegerField()
    repetition = serializers.IntegerField()
    steadiness = OneSteadinessSerializer()


class SideBoxSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    level = serializers.IntegerField()
    runs = serializers.IntegerField(help_text="whose intervals are in the box: not how sure anything is")
    box = BoxSerializer()


class SteadinessSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField(help_text="key of what is looked at by the interval")
    unit = serializers.CharField()
    step = serializers.FloatField(help_text="length of the intervals, s")
    metrics = ComparedMetricSerializer(many=True)
    cells = CellSerializer(many=True, help_text="as those of the comparison, corrected for their own number")
    runs = RunSteadinessSerializer(many=True)
    boxes = SideBoxSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())
