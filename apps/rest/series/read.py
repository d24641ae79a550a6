"""Reads series in chunks, so that a whole run, or a hundred, needs the memory of a few series."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import Sum
from numpy.typing import NDArray

from apps.catalog.api import queries as catalog
from apps.catalog.models import Metric
from apps.catalog.pure import derived_metrics
from apps.rest.framework.problems import ApiProblem
from apps.runs.api import SeriesValues, queries
from apps.runs.models import Run, RunNode

# Samples read at once: a few tens of megabytes as arrays.
STRETCH = 2**19
# Part of every ETag; raise it when the same samples are encoded differently.
SHAPE = 3


@dataclass(frozen=True)
class SeriesRequest:
    """Series of `runs`: `metrics` by key (None: all of the runs'), and `options` of the query layer."""

    runs: Sequence[Run]
    metrics: Sequence[str] | None
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def keys(self) -> dict[int, Sequence[str]]:
        """The metrics to read, by run id."""
        if self.metrics is not None:
            return {run.pk: self.metrics for run in self.runs}
        indexes = ((run.pk, queries.series_index(run.pk)) for run in self.runs)
        return {pk: list(dict.fromkeys(info.metric for info in index)) for pk, index in indexes}

    def etag(self, *parts: object) -> str | None:
        """None: a run may still change."""
        return etag_of(self.runs, self.metrics, sorted(self.options.items()), *parts)


def etag_of(runs: Sequence[Run], *parts: object) -> str | None:
    if any(run.state != Run.State.SEALED for run in runs):
        return None
    text = repr((SHAPE, _seals(runs), *parts))
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def _seals(runs: Iterable[Run]) -> list[tuple[Any, ...]]:
    return sorted((run.pk, str(run.uid), run.state, run.sealed_at, run.derivation) for run in runs)


@dataclass(frozen=True)
class Absent:
    """Why there are no samples; an empty `node`: on none."""

    run_id: int
    metric: str
    node: str
    reason: str


class SeriesPass:
    """One pass over the requested series. `troubles`, complete after it: stored series that cannot be read."""

    def __init__(self, asked: SeriesRequest) -> None:
        self.asked = asked
        self.troubles: list[Absent] = []
        self._answered: set[tuple[int, str]] = set()

    def stretches(self) -> Iterator[list[SeriesValues]]:
        """The series by run and metric, in chunks. Raises ApiProblem when a run was stored again meanwhile."""
        for run_ids, metrics in _stretches(self.asked):
            if troubled := next((one for one in self.troubles if [one.run_id] == run_ids and not one.node), None):
                # No samples of this run can be read: do not try again.
                self.troubles += [replace(troubled, metric=key) for key in metrics]
                continue
            found = queries.load_series(run_ids=run_ids, metrics=metrics, **self.asked.options)
            self._answered.update((series.run_id, series.metric) for series in found)
            self.troubles += [
                Absent(series.run_id, series.metric, series.node, series.problem) for series in found if series.problem
            ]
            yield [series for series in found if not series.problem]
        sealed = [run for run in self.asked.runs if run.state == Run.State.SEALED]
        if _seals(sealed) != _seals(Run.objects.filter(pk__in=[run.pk for run in sealed])):
            detail = "A run was replaced while it was read: repeat the request."
            raise ApiProblem(status=503, kind="stored-anew", title="Changed while it was read", detail=detail)

    def absent(self) -> list[Absent]:
        """Metrics requested by key without a series, and all unreadable series. At most one query."""
        asked = [(run.pk, key) for run in self.asked.runs for key in self.asked.metrics or ()]
        unanswered = [place for place in asked if place not in self._answered]
        known = set(Metric.objects.filter(key__in={key for _, key in unanswered}).values_list("key", flat=True))
        known |= {key for _, key in unanswered if derived_metrics.find(key)}
        nodes = self.asked.options.get("nodes")
        where = f"on {', '.join(nodes)}" if nodes else "in this run"
        strange = catalog.choose_metrics([key for _, key in unanswered if key not in known])
        reasons = {key: f"no metric has this key: {remedy}" for key, remedy in strange.items()}
        absent = [Absent(pk, key, "", reasons.get(key, f"not observed {where}")) for pk, key in unanswered]
        return absent + self.troubles


def _stretches(asked: SeriesRequest) -> Iterator[tuple[list[int], Sequence[str]]]:
    """Runs and metrics to read together. Of a live run all metrics: its batches are decoded whole anyway."""
    sizes = dict(
        RunNode.objects.filter(run_id__in=[run.pk for run in asked.runs], run__state=Run.State.SEALED)
        .values_list("run_id")
        .annotate(Sum("samples"))
    )
    waiting: list[int] = []
    total = 0
    for run in asked.runs:
        metrics = asked.keys[run.pk]
        size = max(sizes.get(run.pk, 0), 1)
        if waiting and (asked.metrics is None or total + size * len(metrics) > STRETCH):
            yield waiting, metrics
            waiting, total = [], 0
        if asked.metrics is not None and size * len(metrics) <= STRETCH:
            waiting.append(run.pk)
            total += size * len(metrics)
            continue
        step = max(STRETCH // size, 1)
        for start in range(0, len(metrics), step):
            yield [run.pk], metrics[start : start + step]
    if waiting:
        yield waiting, asked.metrics or ()


def as_float(series: SeriesValues) -> NDArray[np.float64]:
    """Values as float64, NaN where nothing was observed."""
    values = series.values.astype(np.float64)
    return values if series.observed is None else np.where(series.observed, values, np.nan)
