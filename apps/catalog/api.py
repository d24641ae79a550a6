"""The app's public interface; everything else is private. Tables are in models."""

from apps.catalog import prices, queries, services
from apps.catalog.services import InvalidField, load_level_for, metrics_for, name_metrics, register_system, workload_for

__all__ = [
    "InvalidField",
    "load_level_for",
    "metrics_for",
    "name_metrics",
    "prices",
    "queries",
    "register_system",
    "services",
    "workload_for",
]
