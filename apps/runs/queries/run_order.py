"""The list of runs in the order of any of its columns, page by page."""

from typing import Any

from django.db.models import F, FilteredRelation, Q

from apps.catalog.models import Metric
from apps.runs.models import Run
from apps.runs.queries.headlines import P95, THROUGHPUT

NEWEST = "-started"
# Column -> what it is ordered by; of METRICS the run's own value of the metric.
PATHS = {
    "run": "pk",
    "started": "started_at",
    "system": "system__short_name",
    "workload": "workload__name",
    "load": "load_level__threads",
    "repetition": "repetition",
    "outcome": "outcome",
    "origin": "provenance",
}
METRICS = {"throughput": THROUGHPUT, "p95": P95}
# Of each column both ways: "load" ascending, "-load" descending.
ORDERS = tuple(f"{sign}{column}" for column in (*PATHS, *METRICS) for sign in ("", "-"))


def ordered(runs: Any, order: str, *, after: int | None) -> Any:
    """`runs` by one of ORDERS, missing values last and equal ones newest first; `after`: only those after this run.

    One query more with `after`, one or two for metrics. None match if the run `after` does not exist.
    """
    column, descending = order.removeprefix("-"), order.startswith("-")
    if after is not None:
        key = _keyed(Run.objects.order_by(), column).filter(pk=after).values_list("order_key", flat=True)[:1]
        runs = _keyed(runs, column).filter(_after(list(key), after, descending))
    else:
        runs = _keyed(runs, column)
    by = F("order_key")
    return runs.order_by(by.desc(nulls_last=True) if descending else by.asc(nulls_last=True), "-pk")


def _keyed(runs: Any, column: str) -> Any:
    if column not in METRICS:
        return runs.annotate(order_key=F(PATHS[column]))
    metric = Metric.objects.filter(key=METRICS[column]).values_list("pk", flat=True).first() or 0
    own = FilteredRelation("measurements", condition=Q(measurements__metric=metric))
    return runs.annotate(own=own).annotate(order_key=F("own__value"))


def _after(keys: list[Any], run: int, descending: bool) -> Q:
    """Where runs come after `run`, whose key is the only one of `keys`; no keys: there is no such run."""
    if not keys:
        return Q(pk__in=())
    (key,) = keys
    if key is None:
        return Q(order_key=None, pk__lt=run)
    beyond = Q(order_key__lt=key) if descending else Q(order_key__gt=key)
    return beyond | Q(order_key=key, pk__lt=run) | Q(order_key=None)
