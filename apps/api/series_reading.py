"""Reads series stretch by stretch, so that a whole run, or a hundred, passes through the memory of a few series."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Sum

from apps.api.problems import Problem
from apps.catalog.models import Metric
from apps.runs import queries
from apps.runs.models import Run, RunNode

# Samples that are read at once: a few tens of megabytes as arrays.
STRETCH = 2**19
# Part of every ETag; raise it when the same samples are written otherwise than before.
SHAPE = 1


@dataclass(frozen=True)
class Asked:
    """Series of `runs`: `metrics` by key (None: all that the runs have), and how the query layer shall read them."""

    runs: Sequence[Run]
    metrics: Sequence[str] | None
    options: dict[str, Any] = field(default_factory=dict)

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
    """Why there are no samples; `node` is empty when no node has any."""

    run_id: int
    metric: str
    node: str
    reason: str


class Reading:
    """One pass over the series asked for; what was not there or cannot be read is known after it."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.damaged: list[Absent] = []
        self._found: set[tuple[int, str]] = set()

    def stretches(self) -> Iterator[list[queries.SeriesValues]]:
        """The series by run and metric, some at a time. Raises Problem when a run was stored anew meanwhile."""
        for run_ids, metrics in _stretches(self.asked):
            found = queries.load_series(run_ids=run_ids, metrics=metrics, **self.asked.options)
            self._found.update((series.run_id, series.metric) for series in found)
            yield found
        sealed = [run for run in self.asked.runs if run.state == Run.State.SEALED]
        if _seals(sealed) != _seals(Run.objects.filter(pk__in=[run.pk for run in sealed])):
            detail = "A run was stored anew while it was read: ask again."
            raise Problem(status=503, kind="stored-anew", title="Changed while it was read", detail=detail)

    def missing(self) -> list[Absent]:
        """Of the metrics asked for by name, those without a series. One query, or none."""
        found = self._found | {(one.run_id, one.metric) for one in self.damaged}
        absent = [(run.pk, key) for run in self.asked.runs for key in self.asked.metrics or ()]
        absent = [place for place in absent if place not in found]
        known = set(Metric.objects.filter(key__in={key for _, key in absent}).values_list("key", flat=True))
        nodes = self.asked.options.get("nodes")
        where = f"on {', '.join(nodes)}" if nodes else "in this run"
        reasons = {True: f"not observed {where}", False: "no metric has this key; see /api/v1/metrics/"}
        return [Absent(run_id=pk, metric=key, node="", reason=reasons[key in known]) for pk, key in absent]


def _stretches(asked: Asked) -> Iterator[tuple[list[int], Sequence[str]]]:
    """Runs and metrics to be read at once. Of a live run everything is: its batches are decoded whole anyway."""
    sizes = dict(
        RunNode.objects.filter(run_id__in=[run.pk for run in asked.runs], run__state=Run.State.SEALED)
        .values_list("run_id")
        .annotate(Sum("samples"))
    )
    waiting: list[int] = []
    total = 0
    for run in asked.runs:
        metrics = asked.metrics if asked.metrics is not None else _all_metrics(run)
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


def _all_metrics(run: Run) -> list[str]:
    return list(dict.fromkeys(info.metric for info in queries.series_index(run.pk)))
