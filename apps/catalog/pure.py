"""Interface of this app for other apps, as far as it needs no database. Pure."""

from apps.catalog.glossary import rewritten
from apps.catalog.metrics import counter_rules, derived_metrics, formula, work
from apps.catalog.metrics.cloudwatch import PUBLISHED, CloudWatchMetric, period_of
from apps.catalog.metrics.counter_rules import MetricSpec
from apps.catalog.metrics.derived_metrics import DerivedSpec
from apps.catalog.metrics.standard import CURATED
from apps.catalog.metrics.work import BY_KEY, MACHINE, WorkSpec
from apps.catalog.metrics.workloads import is_single_event
from apps.catalog.short_names import LONGEST as LONGEST_SHORT_NAME

__all__ = [
    "BY_KEY",
    "CURATED",
    "LONGEST_SHORT_NAME",
    "MACHINE",
    "PUBLISHED",
    "CloudWatchMetric",
    "DerivedSpec",
    "MetricSpec",
    "WorkSpec",
    "counter_rules",
    "derived_metrics",
    "formula",
    "is_single_event",
    "period_of",
    "rewritten",
    "work",
]
