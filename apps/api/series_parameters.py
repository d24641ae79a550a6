"""What can be asked of series, and the shapes of the answers in JSON."""

from rest_framework import serializers

from apps.api.formats import format_field
from apps.api.lists import LARGEST_ID, Parameters

MOST_METRICS = 50
MOST_RUNS = 100
EVERY = "*"


class SeriesParameters(Parameters):
    metric = serializers.ListField(
        child=serializers.CharField(max_length=160),
        required=False,
        max_length=MOST_METRICS,
        help_text="key of a metric; once for each. Left out, or *: every series",
    )
    node = serializers.ListField(
        child=serializers.CharField(max_length=80), required=False, max_length=MOST_METRICS, help_text="left out: all"
    )
    points = serializers.IntegerField(
        required=False,
        min_value=50,
        max_value=5000,
        help_text="thinned to about so many, with every minimum and maximum; left out: all samples",
    )
    format = format_field()


class SeriesOfRunsParameters(SeriesParameters):
    run = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        min_length=1,
        max_length=MOST_RUNS,
        help_text="id of a run; once for each",
    )


class IndexParameters(Parameters):
    format = format_field()
