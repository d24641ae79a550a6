"""The app's public interface; everything else is private. Tables are in models."""

from apps.catalog import prices, queries, services
from apps.catalog.glossary import rewritten
from apps.catalog.metrics import counter_rules, derived, formula, work
from apps.catalog.metrics.cloudwatch import PUBLISHED, CloudWatchMetric, period_of
from apps.catalog.metrics.counter_rules import MetricSpec
from apps.catalog.metrics.curated import CURATED
from apps.catalog.metrics.derived import DerivedSpec
from apps.catalog.metrics.work import BY_KEY, MACHINE, WorkSpec
from apps.catalog.metrics.workloads import is_single_event
from apps.catalog.services import InvalidField, load_level_for, metrics_for, name_metrics, register_system, workload_for

__all__ = [
    "BY_KEY",
    "CURATED",
    "MACHINE",
    "PUBLISHED",
    "CloudWatchMetric",
    "DerivedSpec",
    "InvalidField",
    "MetricSpec",
    "WorkSpec",
    "counter_rules",
    "derived",
    "formula",
    "is_single_event",
    "load_level_for",
    "metrics_for",
    "name_metrics",
    "period_of",
    "prices",
    "queries",
    "register_system",
    "rewritten",
    "services",
    "work",
    "workload_for",
]
