"""Interface of this app for other apps. pure has what needs no database, models the tables; the rest is internal."""

from apps.catalog import prices, queries, services
from apps.catalog.services import InvalidField, load_level_for, metrics_for, name_metrics, workload_for

__all__ = [
    "InvalidField",
    "load_level_for",
    "metrics_for",
    "name_metrics",
    "prices",
    "queries",
    "services",
    "workload_for",
]
