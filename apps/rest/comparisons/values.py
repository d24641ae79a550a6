"""API: values shared by comparisons and their parts."""

import math
from typing import Any

from rest_framework import serializers


class BoundField(serializers.FloatField):
    """Infinity becomes null, because JSON has no infinity."""

    def to_representation(self, value: float) -> float | None:  # type: ignore[override]  # DRF: always a number
        return value if math.isfinite(value) else None


class ComparedWorkloadSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    tool = serializers.CharField()
    name = serializers.CharField()
    parameters = serializers.DictField()


class SideSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="key of the side in this comparison")
    system = serializers.CharField(help_text="slug of its system")
    workload = ComparedWorkloadSerializer()
    name = serializers.CharField()
    position = serializers.IntegerField(help_text="0 is the baseline")
    platform = serializers.CharField()
    release = serializers.CharField()
    hardware = serializers.CharField()
    runs = serializers.IntegerField(help_text="how many of its runs count")


class ComparedCampaignSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()


class LevelSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    threads = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True, help_text="1/s; null: as fast as it goes")


class ComparedMetricSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.CharField()
    resolution = serializers.FloatField(help_text="relative step of the grid from which values are read; 0: none")
    single_events = serializers.BooleanField(help_text="a run's value is one event; told by the median")
    primary = serializers.BooleanField(help_text="the metric by which the workload is judged first")


class SummarySerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    value = serializers.FloatField()
    kind = serializers.CharField(help_text="geometric mean, or median of single events and where a run is not positive")
    minimum = serializers.FloatField()
    maximum = serializers.FloatField()
    variation = serializers.FloatField(allow_null=True, help_text="run-to-run coefficient of variation")


class RatioSerializer(serializers.Serializer[Any]):
    verdict = serializers.CharField(source="verdict.value", help_text="of the values; `words` of the cell judges them")
    value = BoundField(allow_null=True)
    low = BoundField(allow_null=True, help_text="lower end of the 95 % interval; null: there is none")
    high = BoundField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    cautious_p = serializers.FloatField(
        allow_null=True, help_text="p with fewer degrees of freedom, which is what the table's correction takes"
    )
    adjusted_p = serializers.FloatField(allow_null=True, help_text="Benjamini-Hochberg over the table, of cautious_p")
    delta = serializers.FloatField(allow_null=True, help_text="Cliff's delta, -1 to 1")
    needed = serializers.IntegerField(
        allow_null=True, help_text="repetitions of each side that are likely (80 %) to tell; 1001: more than 1,000"
    )
    systematic = serializers.FloatField(
        help_text="part of the interval's half width, of logarithms, that no repetition makes narrower"
    )
    few_runs = serializers.BooleanField(help_text="the spread is judged from these runs alone")
    reason = serializers.CharField()


class ReplicateSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    value = serializers.FloatField()


class MoreSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    runs = serializers.IntegerField()


class CellSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    level = serializers.IntegerField(help_text="id of a load level")
    metric = serializers.CharField()
    replicates = ReplicateSerializer(many=True)
    summary = SummarySerializer(allow_null=True)
    history = serializers.IntegerField(help_text="earlier runs that the spread rests on")
    ratio = RatioSerializer(allow_null=True, help_text="to the baseline; null for the baseline itself")
    words = serializers.CharField(help_text='the verdict: better, worse, "too few repetitions", …')
    more = MoreSerializer(many=True, help_text="runs that each side still lacks for an answer")


class DifferenceSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF's metaclass removes it
    weight = serializers.CharField(source="weight.value")
    group = serializers.CharField(source="group.value", help_text="what the field is about")
    values = serializers.ListField(child=serializers.CharField(), help_text="in the order of the sides")
    marks = serializers.ListField(
        child=serializers.CharField(allow_blank=True), help_text='on the values, for example "default"'
    )
    hidden = serializers.CharField(help_text="why pages do not show it at first; empty: they do")


class ComparedRunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    side = serializers.CharField()
    level = serializers.IntegerField()
    repetition = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    provenance = serializers.CharField()
    values = serializers.DictField(child=serializers.FloatField())
    left_out = serializers.CharField(help_text="why it does not count; empty: it counts")
    failed_checks = serializers.ListField(
        child=serializers.CharField(), help_text="keys of the quality checks it failed"
    )
