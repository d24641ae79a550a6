"""API: work per transaction of the sides of a comparison."""

from typing import Any

from rest_framework import serializers

from apps.rest.comparisons.values import CellSerializer, ComparedMetricSerializer


class NodeWorkSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    level = serializers.IntegerField()
    node = serializers.CharField()
    role = serializers.CharField()
    metric = serializers.CharField()
    value = serializers.FloatField(help_text="for each transaction of the whole load; geometric mean of the runs")
    runs = serializers.IntegerField()


class NotObservedSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    metric = serializers.CharField()
    reason = serializers.CharField()


class WorkSerializer(serializers.Serializer[Any]):
    per = serializers.CharField(help_text="what the work is divided by: transaction, query or row")
    metrics = ComparedMetricSerializer(many=True)
    resources = serializers.DictField(child=serializers.CharField(), help_text="by key of a metric")
    meanings = serializers.DictField(child=serializers.CharField())
    formulas = serializers.DictField(child=serializers.CharField(), help_text="over mean rates of the run's counters")
    cells = CellSerializer(many=True, help_text="as those of the comparison, corrected for their own number")
    nodes = NodeWorkSerializer(many=True, help_text="of sides with several nodes")
    not_observed = NotObservedSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())
