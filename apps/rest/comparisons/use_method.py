"""API: what limits the sides of a comparison, by the USE method."""

from typing import Any

from rest_framework import serializers

from apps.rest.framework.fields import NumberField, WordsField
from apps.use_method.pure import INDICATORS, RESOURCE_OF, Kind, Reading, UseLevel


class UseReadingSerializer(serializers.Serializer[Any]):
    indicator = serializers.CharField(help_text="key in GET use-method/")
    resource = serializers.SerializerMethodField()
    aspect = serializers.SerializerMethodField()
    node = serializers.CharField()
    level = serializers.ChoiceField(choices=[level.value for level in UseLevel])
    value = NumberField(allow_null=True, help_text="null: not observable, `words` says why")
    unit = serializers.SerializerMethodField()
    words = WordsField(help_text="the evidence, or why nothing was observed")
    metric = serializers.CharField(help_text="key of the series to look at; empty where there is none")

    def get_resource(self, reading: Reading) -> str:
        return RESOURCE_OF[reading.indicator].key if reading.indicator in RESOURCE_OF else ""

    def get_aspect(self, reading: Reading) -> str:
        return INDICATORS[reading.indicator].aspect if reading.indicator in INDICATORS else ""

    def get_unit(self, reading: Reading) -> str:
        return INDICATORS[reading.indicator].unit if reading.indicator in INDICATORS else ""


class ShareSerializer(serializers.Serializer[Any]):
    saturated = serializers.IntegerField(help_text="repetitions in which it is saturated")
    judged = serializers.IntegerField(help_text="of so many")


class OnsetSerializer(serializers.Serializer[Any]):
    resource = serializers.CharField()
    threads = serializers.IntegerField(help_text="from this level on it is saturated in most repetitions")
    holds = serializers.IntegerField(
        allow_null=True, help_text="threads from which on throughput does not grow; null: it grows to the highest level"
    )
    grew = NumberField(allow_null=True, help_text="throughput at `holds` over that at `threads`")
    share = ShareSerializer()
    watched = serializers.IntegerField(help_text="threads from which on it was at least at watch")
    nodes = serializers.ListField(child=serializers.CharField(), help_text="where it is saturated")
    others = serializers.ListField(child=serializers.CharField(), help_text="nodes that were seen and are not")
    reading = UseReadingSerializer(help_text="the evidence")


class FoundSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=[kind.value for kind in Kind])
    first = OnsetSerializer(many=True, help_text="what is named: several saturate at the same level")
    onsets = OnsetSerializer(many=True, help_text="of all resources that saturate")
    unseen = serializers.ListField(child=serializers.CharField(), help_text="resources that could not be observed")
    stands = serializers.IntegerField(
        allow_null=True, help_text="threads from which on throughput does not grow with nothing saturated"
    )


class StepSerializer(serializers.Serializer[Any]):
    resource = serializers.CharField()
    level = serializers.ChoiceField(choices=[level.value for level in UseLevel], help_text="as most repetitions say")
    share = ShareSerializer()


class LevelUseSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField(help_text="id of a load level")
    runs = serializers.IntegerField(help_text="that count")
    judged = serializers.IntegerField(help_text="of them have a panel")
    steps = StepSerializer(many=True, help_text="utilization and saturation of each resource")
    readings = UseReadingSerializer(
        many=True, source="typical.panel.readings", default=[], help_text="of a typical repetition"
    )


class SideUseSerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    headline = WordsField(help_text="what limits the side")
    evidence = serializers.ListField(child=WordsField())
    throughput = WordsField(help_text="what it did there; empty: not told")
    notes = serializers.ListField(child=WordsField())
    found = FoundSerializer()
    levels = LevelUseSerializer(many=True)


class StatedLimitSerializer(serializers.Serializer[Any]):
    article = serializers.CharField()
    platform = serializers.CharField(help_text="slug")
    side = serializers.CharField(help_text="as the article names it")
    workload = serializers.CharField()
    conditions = serializers.CharField()
    saturated = serializers.ListField(child=serializers.CharField())


class UseSerializer(serializers.Serializer[Any]):
    sides = SideUseSerializer(many=True)
    pending = serializers.IntegerField(help_text="runs that count and are still to be judged: ask again")
    stated = StatedLimitSerializer(many=True, help_text="what articles say of these platforms; not measured here")
