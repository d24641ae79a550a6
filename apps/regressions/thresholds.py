"""Smallest difference that is a finding, and margin of the release gate: as set by people, else the defaults.

Set for one workload and metric, for one of them alone, or for all; the most specific applies.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
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
MARGIN = (
    "share by which a row of the release gate may be worse, by its 95 % interval, and still pass: above 0, at most 1; "
    "without a metric: of the primary metric; null: that of the next more general threshold, else the gate's "
    "`tolerance`"
)
# Judged by counting: they pass unless more for certain.
WITHOUT_MARGIN = ("client.errors", "steadiness.hiccups")
Key = tuple[int | None, int | None]


@dataclass(frozen=True)
class Thresholds:
    """All thresholds, by ids of workload and metric (None: for all). `margins` of those that have one."""

    limits: Mapping[Key, ChangeLimits]
    margins: Mapping[Key, float] = field(default_factory=dict)

    def of(self, workload: int | None, metric: int | None) -> ChangeLimits:
        return self.limits[key] if (key := self.source(workload, metric)) is not None else DEFAULT_LIMITS

    def source(self, workload: int | None, metric: int | None) -> Key | None:
        """Key of the limits that apply; None: none is set."""
        return next((key for key in _keys(workload, metric) if key in self.limits), None)

    def is_like(self, other: "Thresholds") -> bool:
        """Whether the same limits apply everywhere; margins aside."""
        keys = [*self.limits, *other.limits, (0, 0)]  # 0: any that has none of its own
        places = product(*({key[place] for key in keys} for place in (0, 1)))
        return all(self.of(*each) == other.of(*each) for each in places)

    def margin(self, workload: int, metric: int, *, primary: bool = True) -> float | None:
        """None: none is set. Beside the primary metric only a margin that names the metric applies: there intervals
        are several times as wide."""
        keys = [key for key in _keys(workload, metric) if primary or key[1] is not None]
        return next((self.margins[key] for key in keys if key in self.margins), None)

    def instead(self, key: Key, limits: ChangeLimits | None) -> "Thresholds":
        """With these limits set for `key`; None: with none set."""
        others = {own: each for own, each in self.limits.items() if own != key}
        return Thresholds(others if limits is None else {**others, key: limits}, self.margins)


def _keys(workload: int | None, metric: int | None) -> tuple[Key, ...]:
    """The most specific first."""
    return (workload, metric), (workload, None), (None, metric), (None, None)


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
    margin: Annotated[float | None, MARGIN]
    by: str
    at: datetime


def of(workload: int, metric: int) -> ChangeLimits:
    """Limits that apply to a workload's metric, by their ids: `smallest` (share of the value) and `significant` (p in
    the trend). One query; use `every` for many."""
    return every().of(workload, metric)


def every() -> Thresholds:
    """One query."""
    rows = list(Threshold.objects.values_list("workload", "metric", "smallest", "significant", "margin"))
    return Thresholds(
        {(workload, metric): ChangeLimits(smallest, p) for workload, metric, smallest, p, _ in rows},
        {(workload, metric): margin for workload, metric, _, _, margin in rows if margin is not None},
    )


def stored() -> list[StoredThreshold]:
    """All thresholds, the most general first. One query."""
    rows = Threshold.objects.select_related("workload", "metric", "by")
    return sorted((_stored(row) for row in rows), key=lambda each: (each.workload_name, each.metric_name))


def limits(
    *, smallest: float, significant: float, margin: float | None = None, metric: str | None = None
) -> ChangeLimits:
    """Raises Invalid naming each field."""
    errors = []
    if not 0 < smallest < 1:
        errors.append(FieldProblem("smallest", "is a share above 0 and below 1", "0.02 ignores changes below 2 %"))
    if not MOST_SIGNIFICANT <= significant <= LEAST_SIGNIFICANT:
        problem = f"is a p from {MOST_SIGNIFICANT:g} to {LEAST_SIGNIFICANT:g}"
        errors.append(FieldProblem("significant", problem, f"the default is {DEFAULT_LIMITS.significant:g}"))
    if margin is not None and not 0 < margin <= 1:
        remedy = "0.05 lets rows pass that may be worse by up to 5 %"
        errors.append(FieldProblem("margin", "is a share above 0 and at most 1", remedy))
    elif margin is not None and metric in WITHOUT_MARGIN:
        errors.append(FieldProblem("margin", f"{metric} has none: it passes unless more for certain", "leave it out"))
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
def keep(
    *,
    workload: int | None,
    metric: str | None,
    smallest: float,
    significant: float,
    margin: float | None = None,
    by: User,
) -> StoredThreshold:
    """Set a threshold, replacing the previous one; its trends are analysed again. Of the margin alone nothing is:
    compared releases keep theirs. Raises Invalid."""
    wanted = limits(smallest=smallest, significant=significant, margin=margin, metric=metric)
    found, own = place(workload=workload, metric=metric)
    known = every()
    before = Threshold.objects.filter(workload=found, metric=own).first()
    row, _ = Threshold.objects.update_or_create(
        workload=found,
        metric=own,
        defaults={"smallest": wanted.smallest, "significant": wanted.significant, "margin": margin, "by": by},
    )
    _to_be_judged_anew(found, own, known)
    record(Action.THRESHOLD_SET, _named(row), before=_limits(before) if before else "", after=_limits(row))
    return _stored(row)


@transaction.atomic
def drop(threshold_id: int) -> bool:
    """Delete a threshold: the next more general one applies. False: there was none."""
    row = Threshold.objects.select_related("workload", "metric").filter(pk=threshold_id).first()
    if row is None:
        return False
    record(Action.THRESHOLD_DROP, _named(row), before=_limits(row))
    known = every()
    row.delete()
    _to_be_judged_anew(row.workload, row.metric, known)
    return True


def _named(row: Threshold) -> str:
    return f"threshold of {row.workload or 'all workloads'}, {row.metric.key if row.metric else 'all metrics'}"


def _limits(row: Threshold) -> str:
    margin = "" if row.margin is None else f", margin {row.margin:g}"
    return f"smallest {row.smallest:g}, p {row.significant:g}{margin}"


def trends(workload: int | None, metric: int | None) -> QuerySet[Trend]:
    """Trends to which a threshold of this workload and metric may apply."""
    own = Q() if workload is None else Q(workload=workload)
    return Trend.objects.filter(own if metric is None else own & Q(metric=metric))


def _to_be_judged_anew(workload: Workload | None, metric: Metric | None, known: Thresholds) -> None:
    """Unless all limits are as they were `known`."""
    if every().is_like(known):
        return
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
        margin=row.margin,
        by=row.by.username,
        at=row.at,
    )
