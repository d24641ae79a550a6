"""Smallest difference that is a finding: as set by people, else the detector's default limits.

Set for one workload and metric, for one of them alone, or for all; the most specific applies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.catalog.api import queries
from apps.catalog.models import Metric, Workload
from apps.core.answers import Hidden, component
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.detection import DEFAULT_LIMITS, LEAST_SIGNIFICANT, ChangeLimits
from apps.regressions.models import Threshold, Trend
from apps.regressions.releases import recheck_queue

# A smaller p than any test of a series yields is a typing error.
MOST_SIGNIFICANT = 1e-30
SMALLEST = "smallest difference, share of the value (0.02 for 2 %), above 0 and below 1"
SIGNIFICANT = "p of the test in the trend, 1e-30 to 1e-4"
Key = tuple[int | None, int | None]


@dataclass(frozen=True)
class Thresholds:
    """All thresholds, by ids of workload and metric (None: for all)."""

    limits: Mapping[Key, ChangeLimits]

    def of(self, workload: int | None, metric: int | None) -> ChangeLimits:
        return self.limits[key] if (key := self.source(workload, metric)) is not None else DEFAULT_LIMITS

    def source(self, workload: int | None, metric: int | None) -> Key | None:
        """Key of the limits that apply; None: none is set."""
        keys: tuple[Key, ...] = ((workload, metric), (workload, None), (None, metric), (None, None))
        return next((key for key in keys if key in self.limits), None)

    def instead(self, key: Key, limits: ChangeLimits | None) -> "Thresholds":
        """With these limits set for `key`; None: with none set."""
        others = {own: each for own, each in self.limits.items() if own != key}
        return Thresholds(others if limits is None else {**others, key: limits})


@component("Threshold")
@dataclass(frozen=True)
class StoredThreshold:
    """A stored threshold. `smallest`: share of the value."""

    id: int
    workload: Annotated[int | None, "null: all"]
    workload_name: Hidden[str]
    metric: Annotated[str | None, "null: all"]
    metric_name: Hidden[str]
    smallest: Annotated[float, SMALLEST]
    significant: Annotated[float, SIGNIFICANT]
    by: str
    at: datetime


def of(workload: int, metric: int) -> ChangeLimits:
    """Limits that apply to a workload's metric, by their ids: `smallest` (share of the value) and `significant` (p in
    the trend). One query; use `every` for many."""
    return every().of(workload, metric)


def every() -> Thresholds:
    """One query."""
    rows = Threshold.objects.values_list("workload", "metric", "smallest", "significant")
    return Thresholds({(workload, metric): ChangeLimits(smallest, p) for workload, metric, smallest, p in rows})


def stored() -> list[StoredThreshold]:
    """All thresholds, the most general first. One query."""
    rows = Threshold.objects.select_related("workload", "metric", "by")
    return sorted((_stored(row) for row in rows), key=lambda each: (each.workload_name, each.metric_name))


def limits(*, smallest: float, significant: float) -> ChangeLimits:
    """Raises Invalid naming each field."""
    errors = []
    if not 0 < smallest < 1:
        errors.append(FieldProblem("smallest", "is a share above 0 and below 1", "0.02 ignores changes below 2 %"))
    if not MOST_SIGNIFICANT <= significant <= LEAST_SIGNIFICANT:
        problem = f"is a p from {MOST_SIGNIFICANT:g} to {LEAST_SIGNIFICANT:g}"
        errors.append(FieldProblem("significant", problem, f"the default is {DEFAULT_LIMITS.significant:g}"))
    if errors:
        raise Invalid(errors)
    return ChangeLimits(smallest, significant)


def place(*, workload: int | None, metric: str | None) -> tuple[Workload | None, Metric | None]:
    """Subject of a threshold, by a workload's id and a metric's key. Raises Invalid if one of these does not exist."""
    errors = []
    found = Workload.objects.filter(pk=workload).first() if workload is not None else None
    if workload is not None and found is None:
        errors.append(FieldProblem("workload", f"there is no workload {workload}", "choose one of the catalog's"))
    own = Metric.objects.filter(key=metric).first() if metric else None
    if metric and own is None:
        remedy = queries.choose_metrics([metric])[metric]
        errors.append(FieldProblem("metric", f"there is no metric {metric[:80]!r}", remedy))
    if errors:
        raise Invalid(errors)
    return found, own


@transaction.atomic
def keep(*, workload: int | None, metric: str | None, smallest: float, significant: float, by: User) -> StoredThreshold:
    """Set a threshold, replacing the previous one; its trends are analysed again. Raises Invalid."""
    wanted = limits(smallest=smallest, significant=significant)
    found, own = place(workload=workload, metric=metric)
    before = Threshold.objects.filter(workload=found, metric=own).first()
    row, _ = Threshold.objects.update_or_create(
        workload=found,
        metric=own,
        defaults={"smallest": wanted.smallest, "significant": wanted.significant, "by": by},
    )
    _to_be_judged_anew(found, own)
    record(Action.THRESHOLD_SET, _named(row), before=_limits(before) if before else "", after=_limits(row))
    return _stored(row)


@transaction.atomic
def drop(threshold_id: int) -> bool:
    """Delete a threshold: the next more general one applies. False: there was none."""
    row = Threshold.objects.select_related("workload", "metric").filter(pk=threshold_id).first()
    if row is None:
        return False
    record(Action.THRESHOLD_DROP, _named(row), before=_limits(row))
    row.delete()
    _to_be_judged_anew(row.workload, row.metric)
    return True


def _named(row: Threshold) -> str:
    return f"threshold of {row.workload or 'all workloads'}, {row.metric.key if row.metric else 'all metrics'}"


def _limits(row: Threshold) -> str:
    return f"smallest {row.smallest:g}, p {row.significant:g}"


def trends(workload: int | None, metric: int | None) -> QuerySet[Trend]:
    """Trends to which a threshold of this workload and metric may apply."""
    own = Q() if workload is None else Q(workload=workload)
    return Trend.objects.filter(own if metric is None else own & Q(metric=metric))


def _to_be_judged_anew(workload: Workload | None, metric: Metric | None) -> None:
    trends(workload.pk if workload else None, metric.pk if metric else None).update(past_hash="")
    recheck_queue.add_all()


def _stored(row: Threshold) -> StoredThreshold:
    return StoredThreshold(
        id=row.pk,
        workload=row.workload_id,
        workload_name=str(row.workload) if row.workload else "",
        metric=row.metric.key if row.metric else None,
        metric_name=row.metric.name if row.metric else "",
        smallest=row.smallest,
        significant=row.significant,
        by=row.by.username,
        at=row.at,
    )
