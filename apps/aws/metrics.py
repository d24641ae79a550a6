"""CloudWatch metrics of a time span. Missing values stay unknown: never zero."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from apps.aws.clients import AwsTrouble, client
from apps.aws.places import AwsPlace
from apps.aws.topology import Topology
from apps.catalog.pure import PUBLISHED, CloudWatchMetric

NAMESPACE = "AWS/RDS"
# Limit of one request.
QUERIES_AT_ONCE = 500
LONGEST_PERIOD = max(each.period for each in PUBLISHED.values())
CLUSTER = "cluster"
# Separate nodes beside those sampled once a second by an agent: other times, another observer.
NODE = "cloudwatch:{}"
# Exist for burstable classes only.
CREDITS = "CPUCredit"
COMPLETE, PARTIAL = "Complete", "PartialData"


@dataclass(frozen=True)
class Observed:
    """One node's metrics: key -> {end of the value's period, s since 1970: value}. An empty dictionary: nothing was
    observed."""

    name: str
    role: str
    values: Mapping[str, Mapping[float, float]] = field(default_factory=dict)

    def times(self) -> list[float]:
        return sorted({at for points in self.values.values() for at in points})

    def missing(self) -> list[str]:
        """Keys without any value."""
        return sorted(key for key, points in self.values.items() if not points)

    def awaited(self, *, until: float) -> list[str]:
        """Keys with values, but none yet for the period that contains `until`."""
        return sorted(
            key for key, points in self.values.items() if points and max(points) < end_of_period(until, key=key)
        )


@dataclass(frozen=True)
class _Query:
    node: str
    published: CloudWatchMetric
    dimension: str
    identifier: str


def end_of_period(moment: float, *, key: str) -> float:
    """End of the period that contains the time just before `moment`, s since 1970."""
    period = PUBLISHED[key].period
    return -(-moment // period) * period


def observe(place: AwsPlace, topology: Topology, *, since: datetime, until: datetime) -> list[Observed]:
    """Metrics of the cluster and each instance, for every period that overlaps the span. Raises AwsTrouble."""
    queries = list(_queries(place, topology))
    points: dict[tuple[str, str], dict[float, float]] = {(each.node, each.published.key): {} for each in queries}
    first, last = since.timestamp(), until.timestamp()
    # Aligned to period boundaries, as CloudWatch's periods are.
    start = first // LONGEST_PERIOD * LONGEST_PERIOD
    end = -(-last // LONGEST_PERIOD) * LONGEST_PERIOD
    with client("cloudwatch", region=place.region) as cloudwatch:
        for place_in_line in range(0, len(queries), QUERIES_AT_ONCE):
            part = queries[place_in_line : place_in_line + QUERIES_AT_ONCE]
            for query, began, value in _ask(cloudwatch, part, place=place, start=start, end=end):
                ended = began + query.published.period
                if ended > first and began < last:
                    points[query.node, query.published.key][ended] = value
    roles = {CLUSTER: CLUSTER, **{each.name: each.role for each in topology.instances}}
    return [
        Observed(
            name=NODE.format(node),
            role=roles[node],
            values={key: found for (owner, key), found in points.items() if owner == node},
        )
        for node in dict.fromkeys(each.node for each in queries)
    ]


def _queries(place: AwsPlace, topology: Topology) -> Iterator[_Query]:
    of = ("instance", "aurora" if topology.is_aurora else "rds")
    for published in PUBLISHED.values():
        if published.of == CLUSTER and place.is_cluster:
            yield _Query(CLUSTER, published, "DBClusterIdentifier", place.identifier)
    for instance in topology.instances:
        for published in PUBLISHED.values():
            if published.of in of and (instance.is_burstable or not published.name.startswith(CREDITS)):
                yield _Query(instance.name, published, "DBInstanceIdentifier", instance.name)


def _ask(
    cloudwatch: Any, queries: Sequence[_Query], *, place: AwsPlace, start: float, end: float
) -> Iterator[tuple[_Query, float, float]]:
    """Query, start of the period (s since 1970) and value; CloudWatch may split one metric over several pages."""
    asked = [
        {
            "Id": f"m{number}",
            "MetricStat": {
                "Metric": {
                    "Namespace": NAMESPACE,
                    "MetricName": query.published.name,
                    "Dimensions": [{"Name": query.dimension, "Value": query.identifier}],
                },
                "Period": query.published.period,
                "Stat": query.published.statistic,
            },
        }
        for number, query in enumerate(queries)
    ]
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=asked,
        StartTime=datetime.fromtimestamp(start, UTC),
        EndTime=datetime.fromtimestamp(end, UTC),
        ScanBy="TimestampAscending",
    )
    for page in pages:
        for result in page["MetricDataResults"]:
            query = queries[int(result["Id"].removeprefix("m"))]
            if result.get("StatusCode", COMPLETE) not in (COMPLETE, PARTIAL):
                words = "; ".join(str(message.get("Value", "")) for message in result.get("Messages", []))
                raise AwsTrouble(
                    f"CloudWatch in {place.region} did not give {query.published.name} of {query.identifier} "
                    f"({result['StatusCode']}{': ' if words else ''}{words})",
                    passes=result["StatusCode"] == "InternalError",
                    code=result["StatusCode"],
                )
            for began, value in zip(result["Timestamps"], result["Values"], strict=True):
                yield query, began.timestamp(), value
