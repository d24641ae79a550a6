"""Failover on request: Aurora's to a reader, or a Multi-AZ instance's to its standby."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from apps.aws import topology
from apps.aws.clients import ONCE, AwsTrouble, client
from apps.aws.places import AwsPlace
from apps.aws.topology import Topology


@dataclass(frozen=True)
class FailoverRequest:
    """An accepted failover: `writer` before it, requested `target` if any; AWS reports no more until it is done. Times
    of `clock` just before and after the request."""

    writer: str
    target: str
    status: str
    asked_at: datetime
    answered_at: datetime


def ask(place: AwsPlace, *, target: str = "", clock: Callable[[], datetime] = timezone.now) -> FailoverRequest:
    """Request a failover once: a retry after a lost response could cause a second failover.

    `target`: a reader of the cluster; empty: AWS chooses. Raises AwsTrouble, also if no failover is possible.
    """
    found = topology.describe(place)
    _require_possible(place, found, target)
    with client("rds", region=place.region, config=ONCE) as rds:
        asked_at = clock()
        if place.is_cluster:
            chosen = {"TargetDBInstanceIdentifier": target} if target else {}
            answer = rds.failover_db_cluster(DBClusterIdentifier=place.identifier, **chosen)
            status = answer["DBCluster"].get("Status", "")
        else:
            answer = rds.reboot_db_instance(DBInstanceIdentifier=place.identifier, ForceFailover=True)
            status = answer["DBInstance"].get("DBInstanceStatus", "")
    return FailoverRequest(
        writer=found.writer.name if found.writer else "",
        target=target,
        status=status,
        asked_at=asked_at,
        answered_at=clock(),
    )


def _require_possible(place: AwsPlace, found: Topology, target: str) -> None:
    readers = [each.name for each in found.instances if each.role == "reader"]
    if place.is_cluster and not readers:
        raise AwsTrouble(f"{place} has no reader to fail over to: add one, in another zone")
    if place.is_cluster and target and target not in readers:
        raise AwsTrouble(f"{target!r} is not a reader of {place}: name one of {', '.join(readers)}, or none")
    if not place.is_cluster and target:
        raise AwsTrouble(f"{place} fails over to its standby only: name no target")
    if not place.is_cluster and not found.multi_az:
        raise AwsTrouble(f"{place} has no standby: make it Multi-AZ, or test a restart instead")
