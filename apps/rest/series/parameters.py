"""Query parameters of series."""

import math
from typing import Any

from rest_framework import serializers

from apps.rest.framework.formats import format_field
from apps.rest.framework.lists import LARGEST_ID, Parameters
from apps.rest.framework.strict import ChoiceField, FiniteField
from apps.runs.api import queries
from apps.runs.pure import KIND_LIMIT, LABEL_LIMIT

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
    to = FiniteField(required=False, help_text="samples up to then, s on the clock chosen")
    align = ChoiceField(
        choices=["run", "measured", "event"],
        required=False,
        help_text="where the clock begins: at the start of the run, of its measured phase, or of its first `event`",
    )
    event = serializers.CharField(required=False, max_length=KIND_LIMIT, help_text="kind of an event, to align to")
    event_label = serializers.CharField(required=False, max_length=LABEL_LIMIT, help_text="only events called so")
    over_nodes = ChoiceField(
        choices=["sum", "mean"], required=False, help_text="one series over the nodes; left out: one for each"
    )
    raw = serializers.BooleanField(
        required=False, help_text="the samples as they were taken: of counters, their totals"
    )
    format = format_field()

    def get_fields(self) -> dict[str, Any]:
        """Adds `from`, which is a reserved word in Python."""
        since = FiniteField(required=False, help_text="samples from then on, s on the clock chosen")
        return {**super().get_fields(), "from": since}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("from", -math.inf) > attrs.get("to", math.inf):
            raise serializers.ValidationError({"to": "must not lie before `from`"})
        if (attrs.get("align") == "event") != ("event" in attrs):
            raise serializers.ValidationError({"event": "goes with align=event: the kind of event to align to"})
        if "event_label" in attrs and "event" not in attrs:
            raise serializers.ValidationError({"event_label": "goes with `event`"})
        if attrs.get("raw") and "over_nodes" in attrs:
            raise serializers.ValidationError({"over_nodes": "there is no sum or mean of raw samples"})
        return attrs


def options(parameters: dict[str, Any]) -> dict[str, Any]:
    """Options of the query layer."""
    since, until = parameters.get("from"), parameters.get("to")
    align = queries.Alignment(
        to=parameters.get("align", "run"), kind=parameters.get("event", ""), label=parameters.get("event_label", "")
    )
    return {
        "nodes": parameters.get("node"),
        "points": parameters.get("points"),
        "between": None
        if since is None and until is None
        else (-math.inf if since is None else since, math.inf if until is None else until),
        "align": align,
        "over_nodes": parameters.get("over_nodes"),
        "raw": parameters.get("raw", False),
    }


class SeriesOfRunsParameters(SeriesParameters):
    run = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        min_length=1,
        max_length=MOST_RUNS,
        help_text="id of a run; once for each",
    )


class IndexParameters(Parameters):
    format = format_field()
