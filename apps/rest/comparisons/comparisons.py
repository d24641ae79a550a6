"""Comparisons: the values of the Compare page, computed once, in the server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import (
    FEWEST_SIDES,
    MOST_SIDES,
    ComparedCost,
    ComparedSteadiness,
    ComparedWork,
    Everything,
    Finishing,
    Growing,
    SideMemory,
    ToolAgreement,
    all_metrics,
    claims,
    compare,
    cost,
    memory,
    steadiness,
    time_to_finish,
    work,
)
from apps.comparison.pure import PERCENTILES, Comparison, LimitedClaims, SectionSource, limited_claims
from apps.core.problems import FieldProblem, Invalid
from apps.rest.comparisons.latency import LevelLatency, latencies
from apps.rest.comparisons.load_levels import LoadLevels, growth, load_levels
from apps.rest.framework.derive import Answer, serializer_of
from apps.rest.framework.lists import LARGEST_ID, Parameters
from apps.rest.framework.strict import ChoiceField
from apps.use_method.api import ComparedUse, limits
from apps.use_method.pure import INDICATORS, RESOURCE_OF, Reading


class UseReadingSerializer(Answer):
    # A reading does not know the table of indicators.
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


@dataclass(frozen=True)
class Included:
    """An optional part of a comparison: `compute(source, parameters)` returns what `serializer` writes."""

    compute: Callable[[SectionSource, Mapping[str, Any]], Any]
    serializer: type[serializers.BaseSerializer[Any]]
    many: bool = False


# Field of the response -> its part.
INCLUDES: dict[str, Included] = {
    "memory": Included(lambda source, _: source.read(memory.SECTION), serializer_of(SideMemory), many=True),
    "ladder": Included(load_levels, serializer_of(LoadLevels), many=True),
    "finishing": Included(lambda source, _: source.read(time_to_finish.SECTION), serializer_of(Finishing)),
    "growth": Included(lambda source, _: growth(source), serializer_of(Growing), many=True),
    "latency": Included(lambda source, _: latencies(source), serializer_of(LevelLatency), many=True),
    "steadiness": Included(lambda source, _: source.read(steadiness.SECTION), serializer_of(ComparedSteadiness)),
    "everything": Included(lambda source, _: source.read(all_metrics.SECTION), serializer_of(Everything)),
    "work": Included(lambda source, _: source.read(work.SECTION), serializer_of(ComparedWork), many=True),
    "corroboration": Included(lambda source, _: source.read(claims.SECTION), serializer_of(ToolAgreement)),
    "cost": Included(lambda source, _: source.read(cost.SECTION), serializer_of(ComparedCost)),
    "use": Included(lambda source, _: source.read(limits.SECTION), serializer_of(ComparedUse)),
}
INCLUDE_HELP = "more of the comparison, separated by commas: " + (", ".join(INCLUDES) or "nothing yet")


class PercentileField(ChoiceField):
    """Accepts `95` or `p95`."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(str(data).removeprefix("p"))


class MillisecondsField(serializers.FloatField):
    """Accepts a decimal point or comma, as the page does."""

    def to_internal_value(self, data: Any) -> float:
        return super().to_internal_value(str(data).replace(",", "."))


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
        help_text="changes nothing any more: a difference is accepted by `POST acknowledgements/`, with a reason",
    )
    include = serializers.CharField(required=False, help_text=INCLUDE_HELP)
    objective = MillisecondsField(
        required=False, min_value=1e-6, max_value=1e9, help_text="with include=ladder: latency to keep, ms"
    )
    percentile = PercentileField(
        required=False,
        choices=[f"{each:g}" for each in PERCENTILES],
        help_text="with include=ladder: which percentile is to keep the objective (95)",
    )
    level = serializers.CharField(required=False, help_text="of the page's charts; changes nothing here")
    series = serializers.CharField(required=False, help_text="of the page's charts; changes nothing here")
    clock = serializers.CharField(required=False, help_text="of the page's charts; changes nothing here")
    per = serializers.CharField(required=False, help_text="of the page's work; here all of it is given")
    show = serializers.CharField(required=False, help_text="of the page's tables; here everything is given")
    variables = serializers.CharField(required=False, help_text="of the page's tables; here everything is given")


def _parts() -> dict[str, serializers.BaseSerializer[Any]]:
    return {
        name: more.serializer(many=more.many, required=False, allow_null=True, help_text=f"with include={name}")
        for name, more in INCLUDES.items()
    }


# The schema of INCLUDES: in a comparison, and in a snapshot.
LimitedSerializer = serializer_of(LimitedClaims)
LIMITS_HELP = "what failed quality checks make of the verdicts"
ComparedSerializer = type(
    "ComparedSerializer",
    (serializer_of(Comparison),),
    {
        "claim_limits": LimitedSerializer(many=True, help_text=LIMITS_HELP),
        **_parts(),
    },
)
PartsSerializer = type("PartsSerializer", (serializers.Serializer,), _parts())


class Comparisons(APIView):
    @extend_schema(operation_id="compare", parameters=[ComparisonParameters], responses=ComparedSerializer)
    def get(self, request: Request) -> Response:
        """Compare two to four sides under one workload: values, ratios to the first side with intervals, verdicts."""
        parameters = ComparisonParameters.read(request)
        comparison = compare.compare(
            sides=parameters["side"],
            workload_id=parameters["workload"],
            campaign=parameters.get("campaign"),
            runs=[int(run) for run in parameters["runs"].split(",")] if "runs" in parameters else None,
        )
        answer = dict(serializer_of(Comparison)(comparison).data)
        answer["claim_limits"] = LimitedSerializer(limited_claims(comparison), many=True).data
        for name in _included(parameters.get("include", "")):
            answer[name] = included(name, SectionSource(comparison), parameters)
        return Response(answer)


def included(name: str, source: SectionSource, parameters: Mapping[str, Any]) -> Any:
    """Raises NotKept."""
    more = INCLUDES[name]
    found = more.compute(source, parameters)
    return None if found is None else more.serializer(found, many=more.many).data


def _included(text: str) -> list[str]:
    """Raises Invalid with the first unknown name."""
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in INCLUDES:
            known = ", ".join(INCLUDES) or "none"
            raise Invalid([FieldProblem("include", f"{name[:40]!r} is not known", f"choose from: {known}")])
    return names
