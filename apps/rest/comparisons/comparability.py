"""API: blocking differences and who accepted them; memory relative to data, and the buffer pools."""

from typing import Any

from rest_framework import serializers

from apps.comparison.pure import ACCEPTABLE


class AcceptedSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="of the acknowledgement")
    by = serializers.CharField()
    at = serializers.DateTimeField()
    reason = serializers.CharField()


class ObstacleSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    group = serializers.ChoiceField(choices=[each.value for each in ACCEPTABLE], source="group.value")
    differences = serializers.ListField(
        source="fields",
        child=serializers.ListField(child=serializers.CharField()),
        help_text="of each field its label, the side's value, the baseline's",
    )
    fingerprint = serializers.CharField(help_text="of what is accepted: the group, both systems and their values")
    accepted = AcceptedSerializer(allow_null=True, help_text="null: nobody did, and verdicts on this side are withheld")


class SpreadSerializer(serializers.Serializer[Any]):
    median = serializers.FloatField()
    minimum = serializers.FloatField()
    maximum = serializers.FloatField()
    runs = serializers.IntegerField(help_text="how many runs tell it")


class PoolSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField(help_text="id of a load level")
    runs = serializers.IntegerField(help_text="how many runs count there")
    filled_first = SpreadSerializer(allow_null=True, help_text="%, at the first sample of the measured phase")
    filled_last = SpreadSerializer(allow_null=True, help_text="%, at its last sample")
    dirty_first = SpreadSerializer(allow_null=True)
    dirty_last = SpreadSerializer(allow_null=True)
    hits_first = SpreadSerializer(allow_null=True, help_text="% of reads that found their page in the pool")
    hits_last = SpreadSerializer(allow_null=True)


class MemorySerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    memory = serializers.FloatField(allow_null=True, help_text="of the writer's machine, bytes; null: not known")
    # DRF's metaclass removes it from the class.
    data = SpreadSerializer(  # type: ignore[assignment]
        allow_null=True, help_text="the workload's tables with their indexes when the runs began, bytes"
    )
    memory_ratio = serializers.FloatField(allow_null=True, help_text="memory by data")
    pool = SpreadSerializer(allow_null=True, help_text="size of the writer's buffer pool, bytes")
    pool_ratio = serializers.FloatField(allow_null=True, help_text="pool by data; from 1 on all of the data fits")
    pools = PoolSerializer(many=True)
