"""Composition of a cluster or an instance, as described by RDS."""

from dataclasses import dataclass
from typing import Any

from apps.aws.clients import LOOK_AT_PLACE, AwsTrouble, client
from apps.aws.places import AwsPlace

IO_OPTIMIZED = "aurora-iopt1"


@dataclass(frozen=True)
class Instance:
    """`zone` of a Multi-AZ instance: both zones, the standby's last."""

    name: str
    role: str  # writer, reader
    zone: str
    hardware_class: str
    status: str

    @property
    def is_burstable(self) -> bool:
        return self.hardware_class.startswith("db.t")


@dataclass(frozen=True)
class Topology:
    """`instances`: the writer first, then by name. `storage` in RDS's terms, empty if not reported."""

    engine: str
    engine_version: str
    status: str
    endpoint: str
    storage: str
    multi_az: bool
    instances: tuple[Instance, ...]

    @property
    def writer(self) -> Instance | None:
        return next((each for each in self.instances if each.role == "writer"), None)

    @property
    def is_aurora(self) -> bool:
        return self.engine.startswith("aurora")


def describe(place: AwsPlace) -> Topology:
    """As described by RDS now. Raises AwsTrouble."""
    with client("rds", region=place.region) as rds:
        return _cluster(rds, place) if place.is_cluster else _instance(rds, place)


def _cluster(rds: Any, place: AwsPlace) -> Topology:
    (cluster,) = _one(rds.describe_db_clusters(DBClusterIdentifier=place.identifier)["DBClusters"], place)
    members = {
        member["DBInstanceIdentifier"]: bool(member.get("IsClusterWriter"))
        for member in cluster.get("DBClusterMembers", [])
    }
    pages = rds.get_paginator("describe_db_instances").paginate(
        Filters=[{"Name": "db-cluster-id", "Values": [place.identifier]}]
    )
    found = [each for page in pages for each in page["DBInstances"]]
    instances = [_of(each, is_writer=members.get(each["DBInstanceIdentifier"], False)) for each in found]
    return Topology(
        engine=cluster["Engine"],
        engine_version=cluster.get("EngineVersion", ""),
        status=cluster.get("Status", ""),
        endpoint=cluster.get("Endpoint", ""),
        storage=cluster.get("StorageType", ""),
        multi_az=False,
        instances=tuple(sorted(instances, key=lambda each: (each.role != "writer", each.name))),
    )


def _instance(rds: Any, place: AwsPlace) -> Topology:
    (found,) = _one(rds.describe_db_instances(DBInstanceIdentifier=place.identifier)["DBInstances"], place)
    return Topology(
        engine=found["Engine"],
        engine_version=found.get("EngineVersion", ""),
        status=found.get("DBInstanceStatus", ""),
        endpoint=found.get("Endpoint", {}).get("Address", ""),
        storage=found.get("StorageType", ""),
        multi_az=bool(found.get("MultiAZ")),
        instances=(_of(found, is_writer="ReadReplicaSourceDBInstanceIdentifier" not in found),),
    )


def _one(found: list[dict[str, Any]], place: AwsPlace) -> list[dict[str, Any]]:
    if len(found) != 1:
        raise AwsTrouble(f"RDS in {place.region} has no {place}: {LOOK_AT_PLACE}")
    return found


def _of(found: dict[str, Any], *, is_writer: bool) -> Instance:
    zones = [found.get("AvailabilityZone", ""), found.get("SecondaryAvailabilityZone", "")]
    return Instance(
        name=found["DBInstanceIdentifier"],
        role="writer" if is_writer else "reader",
        zone=", ".join(zone for zone in zones if zone),
        hardware_class=found.get("DBInstanceClass", ""),
        status=found.get("DBInstanceStatus", ""),
    )
