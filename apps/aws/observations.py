"""Refreshes a system's observation from AWS; fills in unset fields of its hardware classes."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet

from apps.aws import hardware, prices, topology
from apps.aws.clients import AwsTrouble
from apps.aws.models import Observation
from apps.aws.places import AwsPlace, place_of
from apps.aws.topology import Topology
from apps.catalog.models import HardwareClass, System

LOOK_EVERY = timedelta(minutes=10)
PRICE_LASTS = timedelta(days=7)


def due(*, now: datetime) -> list[int]:
    """Systems at AWS not refreshed within LOOK_EVERY."""
    stale = Q(observation=None)
    stale |= Q(observation__tried_at__lt=now - LOOK_EVERY) | Q(observation__tried_at__gt=now)  # the clock was set back
    return list(System.objects.filter(stale, archived_at=None).exclude(aws_region="").values_list("pk", flat=True))


def look(*, system_id: int, now: datetime) -> bool:
    """Query AWS and store the answer. False: no answer (the earlier description is kept, with the problem), or the
    system was queried within LOOK_EVERY."""
    system = System.objects.get(pk=system_id)
    place = place_of(system)
    if place is None:
        return False
    _, is_new = Observation.objects.get_or_create(
        system=system, defaults={"tried_at": now, "problem": "AWS has not answered yet"}
    )
    kept = Observation.objects.filter(system=system)
    # The first to set the time queries AWS; concurrent workers would only repeat it.
    stale = Q(tried_at__lt=now - LOOK_EVERY) | Q(tried_at__gt=now)
    if not is_new and not kept.filter(stale).update(tried_at=now):
        return False
    try:
        found = topology.describe(place)
    except AwsTrouble as trouble:
        kept.update(problem=str(trouble))
        return False
    problems: list[str] = []
    costs = _prices(found, place, system.aws_prices, now=now, problems=problems)
    _describe_classes(found, place, problems=problems)
    System.objects.filter(pk=system_id).update(aws_prices=costs)
    kept.update(
        seen_at=now,
        problem="; ".join(dict.fromkeys(problems)),
        engine=found.engine[:60],
        engine_version=found.engine_version[:80],
        status=found.status[:60],
        endpoint=found.endpoint[:255],
        storage=found.storage[:40],
        instances=[asdict(each) for each in found.instances],
    )
    return True


def _classes(found: Topology) -> list[str]:
    return sorted({each.hardware_class for each in found.instances if each.hardware_class})


def _prices(
    found: Topology, place: AwsPlace, known: Mapping[str, Any], *, now: datetime, problems: list[str]
) -> dict[str, Any]:
    """Prices of every class; those at most a week old are reused."""
    costs: dict[str, Any] = {}
    for name in _classes(found):
        # The price depends on the kind of storage and on a standby.
        kind = prices.kind_of(found, region=place.region)
        before = known.get(name)
        fresh = before and datetime.fromisoformat(before["asked_at"]) > now - PRICE_LASTS and before["kind"] == kind
        if before and fresh:
            costs[name] = before
            continue
        try:
            price = prices.ask(name, topology=found, region=place.region, today=now.date())
        except AwsTrouble as trouble:
            problems.append(str(trouble))
            if before:
                costs[name] = before
            continue
        costs[name] = {
            "kind": kind,
            "asked_at": now.isoformat(),
            "usd_per_hour": str(price.usd_per_hour) if price else None,
            "source": price.source if price else "",
        }
        if price:
            _keep_price(name, price, kind=kind, region=place.region, today=now.date())
    return costs


def _keep_price(name: str, price: prices.OnDemandPrice, *, kind: str, region: str, today: date) -> None:
    """Set if the catalog has no price, or one from the same list; a manually entered one is kept."""
    ours = Q(price_per_hour=None) | Q(price_source__startswith=kind)
    _rows(name).filter(ours, region__in=("", region)).update(
        price_per_hour=price.usd_per_hour.quantize(Decimal("0.00001")),
        price_source=price.source[:200],
        price_date=today,
        region=region,
    )


def _describe_classes(found: Topology, place: AwsPlace, *, problems: list[str]) -> None:
    """Fill in unset fields."""
    for name in _classes(found):
        if not _rows(name).filter(Q(vcpu=None) | Q(memory_bytes=None)).exists():
            continue
        try:
            described = hardware.describe(name, region=place.region)
        except AwsTrouble as trouble:
            problems.append(str(trouble))
            continue
        for field, value in asdict(described).items() if described else ():
            if value:
                _rows(name).filter(**{field: None}).update(**{field: value})


def _rows(name: str) -> QuerySet[HardwareClass]:
    return HardwareClass.objects.filter(Q(slug=name) | Q(instance_type=name))
