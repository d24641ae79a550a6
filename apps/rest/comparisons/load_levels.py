"""API: load levels of the sides of a comparison, with the scalability fit."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.comparison.api import Growing, load_level_data, table_growth
from apps.comparison.pure import Fit, SectionSource, ladder
from apps.rest.comparisons.values import BoundField, CellSerializer, ComparedMetricSerializer, RatioSerializer

USUAL_PERCENTILE = 95.0


def ladders(source: SectionSource, parameters: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Each side's load levels (`rungs`), with fit, collapse, saturation and reach."""
    found = source.read(load_level_data.READING)
    if found is None:
        return None
    percent = float(parameters.get("percentile", USUAL_PERCENTILE))
    answer = []
    for climb in found.climbs:
        one = ladder(climb, percent=percent, limit=parameters.get("objective"))
        fit = one.fit if isinstance(one.fit, Fit) else None
        refused = "" if isinstance(one.fit, Fit) else one.fit.reason
        answer.append({"metric": found.metric, "rungs": climb.rungs, "ladder": one, "fit": fit, "refused": refused})
    return answer


class EstimateSerializer(serializers.Serializer[Any]):
    value = BoundField(allow_null=True, help_text="null: endless")
    low = BoundField(help_text="lower end of the 95 % interval")
    high = BoundField(allow_null=True, help_text="null: endless")


class FitSerializer(serializers.Serializer[Any]):
    levels = serializers.IntegerField()
    runs = serializers.IntegerField()
    one_thread = EstimateSerializer(help_text="throughput of one thread")
    contention = EstimateSerializer(help_text="share of the work that waits for its turn")
    coherency = EstimateSerializer(help_text="cost of threads agreeing with each other")
    knee = EstimateSerializer(help_text="threads from which on 1 % more bring less than 0.5 % more throughput")
    peak = EstimateSerializer(help_text="threads of the greatest throughput")
    peak_throughput = EstimateSerializer(allow_null=True)
    few_runs = serializers.BooleanField(help_text="the intervals hold only where all levels are equally noisy")
    deviation = serializers.FloatField(help_text="greatest relative distance of a level from the curve")
    deviates_at = serializers.IntegerField(help_text="threads of that level")
    misfit_p = serializers.FloatField(
        allow_null=True, help_text="chance that runs' noise alone moves the levels so far off; null: one run a level"
    )


class RungQuantileSerializer(serializers.Serializer[Any]):
    percent = serializers.FloatField()
    value = serializers.FloatField(allow_null=True, help_text="ms, of all requests together; null: no histograms")
    low = serializers.FloatField(allow_null=True, help_text="lower bound of its bucket")
    high = BoundField(allow_null=True)
    runs = serializers.ListField(child=serializers.FloatField(), help_text="that of each run, ms")


class RungSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField(help_text="id of a load level")
    threads = serializers.IntegerField()
    throughput = serializers.ListField(child=serializers.FloatField(), help_text="of each run")
    response = serializers.ListField(child=serializers.FloatField(), help_text="mean response time of each run, ms")
    quantiles = RungQuantileSerializer(many=True)


class SaturationSerializer(serializers.Serializer[Any]):
    threads = serializers.IntegerField()
    base_threads = serializers.IntegerField()
    ratio = RatioSerializer(help_text="mean response time over that at `base_threads`")


class CollapseSerializer(serializers.Serializer[Any]):
    best_threads = serializers.IntegerField()
    threads = serializers.IntegerField()
    ratio = EstimateSerializer(help_text="throughput over that of the best level")
    p = serializers.FloatField(help_text="before it is multiplied by the number of pairs of levels")


class RestedSerializer(serializers.Serializer[Any]):
    threads = serializers.IntegerField()
    held = serializers.CharField(source="held.value")
    value = serializers.FloatField(allow_null=True)
    interval = EstimateSerializer(allow_null=True, help_text="of a typical run's percentile, ms")


class ReachSerializer(serializers.Serializer[Any]):
    percent = serializers.FloatField()
    limit = serializers.FloatField(help_text="ms")
    levels = RestedSerializer(many=True)
    last_within = serializers.IntegerField(allow_null=True, help_text="threads up to which every level surely keeps it")
    first_beyond = serializers.IntegerField(allow_null=True, help_text="threads of the first that surely does not")


class LadderSerializer(serializers.Serializer[Any]):
    side = serializers.CharField(source="ladder.side")
    metric = ComparedMetricSerializer(help_text="of the throughput")
    rungs = RungSerializer(many=True, help_text="load levels without a fixed rate")
    best_threads = serializers.IntegerField(source="ladder.best_threads", allow_null=True)
    fit = FitSerializer(allow_null=True, help_text="Universal Scalability Law; null: see `refused`")
    refused = serializers.CharField(help_text="why there is no fit")
    collapse = CollapseSerializer(source="ladder.collapse", allow_null=True, help_text="null: none is certain")
    saturation = SaturationSerializer(source="ladder.saturation", many=True)
    by_littles_law = serializers.BooleanField(
        source="ladder.by_littles_law", help_text="mean response times are threads over throughput"
    )
    reach = ReachSerializer(source="ladder.reach", allow_null=True, help_text="null: no objective was given")


class FinishingSerializer(serializers.Serializer[Any]):
    amount = serializers.IntegerField()
    counts = serializers.CharField(help_text="metric that counts the work")
    metric = ComparedMetricSerializer()
    cells = CellSerializer(many=True, help_text="s from the start of the load")
    unfinished = serializers.IntegerField(help_text="runs that ended before the work was done")


class GrowthStretchSerializer(serializers.Serializer[Any]):
    start = serializers.FloatField(help_text="rows inserted")
    end = serializers.FloatField()
    rate = serializers.FloatField(help_text="rows/s over the whole of it")
    slowest = serializers.FloatField(help_text="rows/s of the slowest interval that touches it")
    fastest = serializers.FloatField()


class RunGrowthSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    side = serializers.CharField()
    rows = serializers.FloatField()
    stretches = GrowthStretchSerializer(many=True)


class GrowingSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField(help_text="id of a load level")
    shared = serializers.FloatField(help_text="rows that every run inserted")
    metrics = ComparedMetricSerializer(many=True)
    cells = CellSerializer(many=True, help_text="how long these rows took, and how fast their last tenth came")
    runs = RunGrowthSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


def growth(source: SectionSource) -> list[Growing]:
    """Table growth at every load level at which tables grew."""
    found = [source.read(table_growth.READING, level) for level in source.comparison.levels]
    return [each for each in found if each is not None]
