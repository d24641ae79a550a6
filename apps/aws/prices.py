"""On-demand price of an instance class, from AWS's price list. Never a guess: two matching prices count as none."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from apps.aws.clients import client
from apps.aws.topology import IO_OPTIMIZED, Topology
from apps.catalog.api import prices as catalog_prices

# One of the few regions that serve the price list; it covers all regions.
SERVED_IN = "us-east-1"
ENGINES = {
    "aurora": "Aurora MySQL",
    "aurora-mysql": "Aurora MySQL",
    "aurora-postgresql": "Aurora PostgreSQL",
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "postgres": "PostgreSQL",
}


@dataclass(frozen=True)
class OnDemandPrice:
    usd_per_hour: Decimal
    source: str


def ask(instance_class: str, *, topology: Topology, region: str, today: date) -> OnDemandPrice | None:
    """None: the list has no matching price, or several. Raises AwsTrouble."""
    engine = ENGINES.get(topology.engine)
    if engine is None:
        return None
    wanted = {
        "instanceType": instance_class,
        "regionCode": region,
        "databaseEngine": engine,
        "deploymentOption": _deployment(topology),
    }
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in wanted.items()]
    with client("pricing", region=SERVED_IN) as pricing:
        pages = pricing.get_paginator("get_products").paginate(
            ServiceCode="AmazonRDS", FormatVersion="aws_v1", Filters=filters
        )
        products = [json.loads(entry) for page in pages for entry in page["PriceList"]]
    fitting = [each for each in products if _usage(each) == _usage_of(topology)]
    found = {(price, since) for each in fitting for price, since in _hourly(each)}
    if len({price for price, _ in found}) != 1:
        return None
    price, since = max(found, key=lambda each: each[1])
    return OnDemandPrice(price, f"{kind_of(topology, region=region)}, valid from {since}, read {today}")


def kind_of(topology: Topology, *, region: str) -> str:
    """The kind of price in the list that applies to a system."""
    engine = ENGINES.get(topology.engine, topology.engine)
    storage = ", I/O-Optimized" if topology.storage == IO_OPTIMIZED else ""
    return f"{catalog_prices.AWS_LIST}: {engine}{storage}, {_deployment(topology)}, {region}"


def _deployment(topology: Topology) -> str:
    return "Multi-AZ" if topology.multi_az else "Single-AZ"


def _usage_of(topology: Topology) -> str:
    kind = "Multi-AZUsage" if topology.multi_az else "InstanceUsage"
    return f"{kind}IOOptimized" if topology.storage == IO_OPTIMIZED else kind


def _usage(product: dict[str, Any]) -> str:
    """`EUW1-InstanceUsageIOOptimized:db.r6g.xl` without region and class, which is abbreviated."""
    usage = str(product.get("product", {}).get("attributes", {}).get("usagetype", "")).partition(":")[0]
    known = ("InstanceUsage", "InstanceUsageIOOptimized", "Multi-AZUsage", "Multi-AZUsageIOOptimized")
    return next((name for name in known if usage == name or usage.endswith(f"-{name}")), usage)


def _hourly(product: dict[str, Any]) -> Iterable[tuple[Decimal, str]]:
    """USD/h with the first day of validity."""
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term.get("priceDimensions", {}).values():
            usd = dimension.get("pricePerUnit", {}).get("USD")
            if usd is not None and dimension.get("unit") == "Hrs":
                yield Decimal(usd), str(term.get("effectiveDate", ""))[:10]
