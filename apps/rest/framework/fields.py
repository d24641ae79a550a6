"""Fields that format numbers and words uniformly across the API."""

from rest_framework import serializers

from apps.core.units import NBSP
from apps.rest.framework.digits import MILLISECONDS, significant


class NumberField(serializers.FloatField):
    """Six significant digits; infinity and NaN become null."""

    def to_representation(self, value: float) -> float | None:  # type: ignore[override]  # DRF: always a number
        return significant(value)


class SecondsField(serializers.FloatField):
    """A time or duration, s, to a millisecond."""

    def to_representation(self, value: float) -> float:  # type: ignore[override]  # DRF: a text
        return round(float(value), MILLISECONDS)


class WordsField(serializers.CharField):
    """A sentence also shown on a page, with ordinary instead of non-breaking spaces."""

    def to_representation(self, value: str) -> str:
        return str(value).replace(NBSP, " ")
