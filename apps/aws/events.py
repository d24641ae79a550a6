"""Events of RDS: failovers, restarts and the like, from its own event log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.aws.clients import client
from apps.aws.places import AwsPlace
from apps.aws.topology import Topology

FAILOVER = "failover"


@dataclass(frozen=True)
class AwsEvent:
    """`source`: the cluster or instance concerned."""

    at: datetime
    source: str
    message: str
    categories: tuple[str, ...]

    @property
    def is_failover(self) -> bool:
        return FAILOVER in self.categories


def during(place: AwsPlace, topology: Topology, *, since: datetime, until: datetime) -> list[AwsEvent]:
    """In order of time. Raises AwsTrouble."""
    sources = [(each.name, "db-instance") for each in topology.instances]
    if place.is_cluster:
        sources.insert(0, (place.identifier, "db-cluster"))
    found = []
    with client("rds", region=place.region) as rds:
        for name, kind in sources:
            pages = rds.get_paginator("describe_events").paginate(
                SourceIdentifier=name, SourceType=kind, StartTime=since, EndTime=until
            )
            found += [_event(each) for page in pages for each in page["Events"]]
    # Some emulators of RDS ignore the times.
    return sorted((each for each in found if since <= each.at <= until), key=lambda each: (each.at, each.source))


def _event(found: dict[str, Any]) -> AwsEvent:
    return AwsEvent(
        at=found["Date"],
        source=found.get("SourceIdentifier", ""),
        message=found.get("Message", ""),
        categories=tuple(found.get("EventCategories", ())),
    )
