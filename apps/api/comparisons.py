"""Comparisons: the same values as the Compare page shows, computed once, in the server."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.lists import LARGEST_ID, Parameters
from apps.comparison import queries
from apps.comparison.sides import FEWEST_SIDES, MOST_SIDES
from apps.comparison.values import Comparison
from apps.core.problems import FieldProblem, Invalid


@dataclass(frozen=True)
class Included:
    """More of a comparison, computed when it is asked for: `compute(comparison, parameters)` gives what `serializer`
    writes."""

    compute: Callable[[Comparison, Mapping[str, Any]], Any]
    serializer: type[serializers.BaseSerializer[Any]]
    many: bool = False


# Field of the answer -> what it takes.
INCLUDES: dict[str, Included] = {}
INCLUDE_HELP = "more of the comparison, separated by commas: " + (", ".join(INCLUDES) or "nothing yet")


class ComparisonParameters(Parameters):
    side = serializers.ListField(
        child=serializers.CharField(max_length=100),
        min_length=FEWEST_SIDES,
        max_length=MOST_SIDES,
        help_text="slug of a system, or slug:id of a workload of its own; once a side, the first is the baseline",
    )
    workload = serializers.IntegerField(min_value=1, max_value=LARGEST_ID, help_text="id of a workload")
    campaign = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="only runs of this campaign count"
    )
    runs = serializers.RegexField(
        r"^\d{1,18}(,\d{1,18})*$", required=False, help_text="ids of runs, separated by commas: only these count"
    )
    acknowledged = serializers.ListField(
        child=serializers.CharField(max_length=80),
        required=False,
        help_text='"hardware": give verdicts although the hardware differs',
    )
    include = serializers.CharField(required=False, help_text=INCLUDE_HELP)
    level = serializers.CharField(required=False, help_text="of the page's charts; changes nothing here")
    series = serializers.CharField(required=False, help_text="of the page's charts; changes nothing here")


class BoundField(serializers.FloatField):
    """Null for what is endless, because JSON has no infinity."""

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
    primary = serializers.BooleanField(help_text="differences in other metrics are corrected for their number")


class SummarySerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    value = serializers.FloatField()
    kind = serializers.CharField(help_text="what the value is: geometric mean, or median where a run is not positive")
    minimum = serializers.FloatField()
    maximum = serializers.FloatField()
    variation = serializers.FloatField(allow_null=True, help_text="run-to-run coefficient of variation")


class RatioSerializer(serializers.Serializer[Any]):
    verdict = serializers.CharField(source="verdict.value", help_text="of the values; `words` of the cell judges them")
    value = BoundField(allow_null=True)
    low = BoundField(allow_null=True, help_text="lower end of the 95 % interval; null: there is none")
    high = BoundField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    adjusted_p = serializers.FloatField(allow_null=True, help_text="Benjamini-Hochberg; null for the primary metric")
    delta = serializers.FloatField(allow_null=True, help_text="Cliff's delta, -1 to 1")
    needed = serializers.IntegerField(
        allow_null=True, help_text="repetitions of each side that are likely (80 %) to tell; 1001: more than 1,000"
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
    label = serializers.CharField()  # type: ignore[assignment]  # the metaclass takes it out of the class
    weight = serializers.CharField(source="weight.value")
    values = serializers.ListField(child=serializers.CharField(), help_text="in the order of the sides")


class ComparedRunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    side = serializers.CharField()
    level = serializers.IntegerField()
    repetition = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    provenance = serializers.CharField()
    values = serializers.DictField(child=serializers.FloatField())
    left_out = serializers.CharField(help_text="why it does not count; empty: it counts")


class ComparisonSerializer(serializers.Serializer[Any]):
    workload = ComparedWorkloadSerializer()
    campaign = ComparedCampaignSerializer(allow_null=True)
    sides = SideSerializer(many=True)
    levels = LevelSerializer(many=True)
    metrics = ComparedMetricSerializer(many=True)
    cells = CellSerializer(many=True)
    differences = DifferenceSerializer(many=True)
    withheld = serializers.ListField(
        child=serializers.CharField(), help_text="differences for which verdicts are withheld until acknowledged"
    )
    runs = ComparedRunSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class Comparisons(APIView):
    @extend_schema(operation_id="compare", parameters=[ComparisonParameters], responses=ComparisonSerializer)
    def get(self, request: Request) -> Response:
        """Two to four sides under one workload: values, ratios to the first side with their intervals, verdicts."""
        parameters = ComparisonParameters.read(request)
        comparison = queries.compare(
            sides=parameters["side"],
            workload_id=parameters["workload"],
            campaign=parameters.get("campaign"),
            runs=[int(run) for run in parameters["runs"].split(",")] if "runs" in parameters else None,
            acknowledged=parameters.get("acknowledged", ()),
        )
        answer = dict(ComparisonSerializer(comparison).data)
        for name in _included(parameters.get("include", "")):
            more = INCLUDES[name]
            answer[name] = more.serializer(more.compute(comparison, parameters), many=more.many).data
        return Response(answer)


def _included(text: str) -> list[str]:
    """Raises Invalid naming the first that is not known."""
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in INCLUDES:
            known = ", ".join(INCLUDES) or "none"
            raise Invalid([FieldProblem("include", f"{name[:40]!r} is not known", f"choose from: {known}")])
    return names
