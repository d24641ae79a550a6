"""API: what comparisons and their parts show beside the fields of their dataclasses."""

from rest_framework import serializers

from apps.comparison.api import Machines, Matrix, Measured, SideClaim, SideCost, SideMemory
from apps.comparison.pure import ACCEPTABLE, BlockingDifference, Comparison
from apps.rest.framework.derive import Answer
from apps.use_method.api import LevelUse
from apps.use_method.pure import INDICATORS, RESOURCE_OF, Reading


class ComparisonSerializer(Answer):
    of = Comparison
    also = ("withheld",)


class MatrixSerializer(Answer):
    """Adjusted p and verdicts are corrected over this whole table; all else is as in a comparison."""

    of = Matrix


class BlockingDifferenceSerializer(Answer):
    of = BlockingDifference
    names = {"fields": "differences"}
    group = serializers.ChoiceField(choices=[each.value for each in ACCEPTABLE], source="group.value")


class SideMemorySerializer(Answer):
    of = SideMemory
    also = ("memory_ratio", "pool_ratio")


class MeasuredSerializer(Answer):
    of = Measured
    also = ("is_relevant",)
    names = {"is_relevant": "relevant"}


class MachinesSerializer(Answer):
    of = Machines
    names = {"slug": "hardware_class"}


class SideCostSerializer(Answer):
    of = SideCost
    also = ("usd_per_month",)


class SideClaimSerializer(Answer):
    of = SideClaim
    also = ("alone",)


class UseReadingSerializer(Answer):
    of = Reading
    resource = serializers.SerializerMethodField()
    aspect = serializers.SerializerMethodField()
    unit = serializers.SerializerMethodField()

    def get_resource(self, reading: Reading) -> str:
        return RESOURCE_OF[reading.indicator].key if reading.indicator in RESOURCE_OF else ""

    def get_aspect(self, reading: Reading) -> str:
        return INDICATORS[reading.indicator].aspect if reading.indicator in INDICATORS else ""

    def get_unit(self, reading: Reading) -> str:
        return INDICATORS[reading.indicator].unit if reading.indicator in INDICATORS else ""


class LevelUseSerializer(Answer):
    of = LevelUse
    readings = UseReadingSerializer(
        many=True, source="typical.panel.readings", default=[], help_text="of a typical repetition"
    )
