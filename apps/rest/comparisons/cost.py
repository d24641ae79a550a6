"""API: cost of the sides of a comparison, and gains of larger hardware."""

from typing import Any

from rest_framework import serializers

from apps.rest.comparisons.values import BoundField, CellSerializer, ComparedMetricSerializer, RatioSerializer


class MachinesSerializer(serializers.Serializer[Any]):
    hardware_class = serializers.CharField(source="slug")
    name = serializers.CharField()
    count = serializers.IntegerField()
    roles = serializers.ListField(child=serializers.CharField())
    vcpu = serializers.IntegerField(allow_null=True, help_text="of one machine")
    usd_per_hour = serializers.FloatField(allow_null=True, help_text="of one machine; null: not stated")
    price_source = serializers.CharField()
    price_date = serializers.DateField(allow_null=True, help_text="the day on which the source stated it")


class SideCostSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    machines = MachinesSerializer(many=True, help_text="of the whole system, without load generators")
    nodes = serializers.IntegerField()
    vcpu = serializers.IntegerField(allow_null=True, help_text="of all nodes")
    usd_per_hour = serializers.FloatField(allow_null=True, help_text="of all nodes; null: one has no price")
    usd_per_month = serializers.FloatField(allow_null=True, help_text="730 hours")
    unpriced = serializers.ListField(child=serializers.CharField(), help_text="machines without a price")


class GainSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField(allow_null=True, help_text="id; null: each side at the level where it did most")
    levels = serializers.ListField(child=serializers.IntegerField(), help_text="of the smaller, of the larger")
    throughput = RatioSerializer(help_text="larger over smaller")
    per_price = RatioSerializer(allow_null=True, help_text="the same of throughput per USD; null: a price is missing")
    per_vcpu = RatioSerializer(allow_null=True, help_text="the same of throughput per vCPU")
    words = serializers.CharField(help_text="verdict on `per_price`")
    vcpu_words = serializers.CharField(help_text="verdict on `per_vcpu`")


class StepUpSerializer(serializers.Serializer[Any]):
    small = serializers.CharField(help_text="a side")
    large = serializers.CharField(help_text="the same on larger hardware")
    price = BoundField(allow_null=True, help_text="how many times the price; exact")
    vcpu = BoundField(allow_null=True, help_text="how many times the vCPU; exact")
    gains = GainSerializer(many=True)


class OtherSizeSerializer(serializers.Serializer[Any]):
    of = serializers.CharField(help_text="a side")
    system = serializers.CharField(help_text="slug of a system that is the same on other hardware")
    name = serializers.CharField()
    hardware = serializers.CharField()


class CostSerializer(serializers.Serializer[Any]):
    work = serializers.CharField(help_text="a million of which the cells are the cost of")
    rate = ComparedMetricSerializer(help_text="how fast that is done")
    metric = ComparedMetricSerializer()
    sides = SideCostSerializer(many=True)
    cells = CellSerializer(many=True, help_text="USD per million")
    steps = StepUpSerializer(many=True, help_text="pairs of sides that are the same on other hardware")
    others = OtherSizeSerializer(many=True, help_text="systems with runs of this workload that would make one more")
