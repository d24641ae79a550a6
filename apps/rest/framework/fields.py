"""Fields that write numbers and words as the rest of the API does."""

from rest_framework import serializers

from apps.core.units import NBSP
from apps.rest.framework.digits import MILLISECONDS, significant


class NumberField(serializers.FloatField):
    """Six significant digits; what is endless or no number is null."""

    def to_representation(self, value: float) -> float | None:  # type: ignore[override]  # DRF: always a number
        return significant(value)


class SecondsField(serializers.FloatField):
    """A moment or a length of time, s, to a millisecond."""

    def to_representation(self, value: float) -> float:  # type: ignore[override]  # DRF: a text
        return round(float(value), MILLISECONDS)


class WordsField(serializers.CharField):
    """A sentence that a page shows too, with ordinary spaces."""

    def to_representation(self, value: str) -> str:
        return str(value).replace(NBSP, " ")
