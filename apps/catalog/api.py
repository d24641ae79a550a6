"""Interface of this app for other apps. pure has what needs no database, models the tables; the rest is internal."""

from apps.catalog import prices, queries, removal, services
from apps.catalog.own_metrics import state_metrics
from apps.catalog.services import (
    InvalidField,
    load_level_for,
    metrics_for,
    name_metrics,
    workload_for,
)
from apps.catalog.systems import contradiction, labels_of, new_short_name, set_short_name

__all__ = [
    "InvalidField",
    "contradiction",
    "labels_of",
    "load_level_for",
    "metrics_for",
    "name_metrics",
    "new_short_name",
    "prices",
    "queries",
    "removal",
    "services",
    "set_short_name",
    "state_metrics",
    "workload_for",
]
