"""Runs and series that a query may mean, found by its matchers and its time."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from apps.rest.prometheus.labels import NAME, OF_RUN, labels_of
from apps.rest.prometheus.promql import BadQuery, Matcher
from apps.runs.api import RATE, queries
from apps.runs.models import Run
from apps.runs.pure import COUNTER

Floats = NDArray[np.float64]
MOST_RUNS = 20  # of a query
MOST_LISTED = 500  # runs in the list of values of `run`
MOST_LOOKED_AT = 1_000  # runs of a time, the newest
MOST_SERIES = 500  # of a query
LONGEST = timedelta(days=7)  # of a run
RELATED = Run.objects.select_related("system__release__platform", "workload", "load_level")
_COLUMNS = {
    "system": "system__slug",
    "platform": "system__release__platform__slug",
    "release": "system__release__version",
    "workload": "workload__name",
}
_NUMBERS = re.compile(r"\(?\d{1,18}(?:\|\d{1,18})*\)?")


@dataclass(frozen=True)
class TimeSpan:
    """Of time, s since 1970."""

    start: float
    end: float


@dataclass(frozen=True)
class PrometheusSeries:
    """`kind`: counter or gauge; a counter's samples are totals."""

    run: int
    began: float
    key: str
    node: str
    kind: str
    labels: dict[str, str]


@dataclass(frozen=True)
class FoundRuns:
    """`left_out`: whether there were more."""

    runs: list[Run]
    left_out: bool


def runs_of(matchers: Sequence[Matcher], span: TimeSpan | None, *, most: int) -> FoundRuns:
    """Runs in `span` (None: of any time) that `matchers` allow, the newest first. One query."""
    rows = RELATED.all()
    for condition in _conditions(matchers):
        rows = rows.filter(condition)
    if span is not None:
        rows = _within(rows, span)
    # What the database cannot check, such as a regular expression, is checked on the labels.
    limit = MOST_LOOKED_AT if _has_more(matchers) else most + 1
    newest = list(rows.order_by("-started_at", "-id")[:limit])
    found = [run for run in newest if _fits(labels_of_run(run), matchers)]
    return FoundRuns(found[:most], len(found) > most or (limit > most + 1 and len(newest) == limit))


def _conditions(matchers: Iterable[Matcher]) -> Iterator[Q]:
    """Those that the database can check."""
    for matcher in matchers:
        if matcher.label == "run" and (matcher.op == "=" or _NUMBERS.fullmatch(matcher.value)) and matcher.op[0] == "=":
            numbers = re.findall(r"\d{1,18}", matcher.value)
            yield Q(pk__in=[int(number) for number in numbers])
        elif matcher.op == "=" and matcher.label in _COLUMNS:
            yield Q(**{_COLUMNS[matcher.label]: matcher.value})


def _has_more(matchers: Iterable[Matcher]) -> bool:
    """Whether others are about labels of runs."""
    return any(one.label in OF_RUN and one.op != "=" and one.value not in ("", ".*", ".+") for one in matchers)


def _within(rows: "QuerySet[Run]", span: TimeSpan) -> "QuerySet[Run]":
    start, end = (_moment(at) for at in (span.start, span.end))
    begun = rows.filter(started_at__lte=end, started_at__gte=start - LONGEST if start > EARLIEST else start)
    return begun.filter(Q(ended_at__isnull=True) | Q(ended_at__gte=start))


EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(3000, 1, 1, tzinfo=UTC)


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(min(max(at, EARLIEST.timestamp()), LATEST.timestamp()), UTC)


def labels_of_run(run: Run) -> dict[str, str]:
    release = run.system.release
    return {
        "run": str(run.pk),
        "system": run.system.slug,
        "platform": release.platform.slug,
        "release": release.version,
        "workload": run.workload.name,
        "threads": str(run.load_level.threads),
    }


def _fits(labels: dict[str, str], matchers: Iterable[Matcher]) -> bool:
    """Whether the matchers about labels of runs allow it."""
    return all(matcher.fits(labels) for matcher in matchers if matcher.label in labels)


def series_of(run: Run) -> Sequence[PrometheusSeries]:
    """All series of a run, by their names."""
    sealed = run.sealed_at.isoformat() if run.state == Run.State.SEALED and run.sealed_at else ""
    labels = tuple(labels_of_run(run).items())
    return _sealed(run.pk, run.started_at.timestamp(), labels, sealed) if sealed else _listed(run, labels)


@lru_cache(maxsize=64)
def _sealed(run: int, began: float, labels: tuple[tuple[str, str], ...], _sealed_at: str) -> Sequence[PrometheusSeries]:
    return _named(run, began, labels)


def _listed(run: Run, labels: tuple[tuple[str, str], ...]) -> Sequence[PrometheusSeries]:
    return _named(run.pk, run.started_at.timestamp(), labels)


def _named(run: int, began: float, labels: tuple[tuple[str, str], ...]) -> Sequence[PrometheusSeries]:
    found = []
    for info in queries.series_index(run):
        kind = COUNTER if info.kind == RATE and not info.metric.startswith("derived.") else "gauge"
        named = labels_of(info.metric, kind, node=info.node, of_run=dict(labels))
        found.append(PrometheusSeries(run, began, info.metric, info.node, kind, named))
    return tuple(found)


def chosen(matchers: Sequence[Matcher], span: TimeSpan) -> list[PrometheusSeries]:
    """The series that a selector means. Raises BadQuery where they are too many to be read."""
    runs = runs_of(matchers, span, most=MOST_RUNS)
    if runs.left_out:
        raise BadQuery(f'more than {MOST_RUNS} runs lie in this time: choose with run="…", or a shorter time')
    found = [each for run in runs.runs for each in series_of(run) if all(one.fits(each.labels) for one in matchers)]
    if len(found) > MOST_SERIES:
        raise BadQuery(f"{len(found):,} series are meant, at most {MOST_SERIES}: add a name, or labels")
    return found


def names(found: Iterable[PrometheusSeries]) -> dict[str, str]:
    """Name -> kind."""
    return {each.labels[NAME]: each.kind for each in found}


@dataclass(frozen=True)
class Samples:
    """Of one series, without gaps: times, s since 1970, and values."""

    series: PrometheusSeries
    at: Floats
    values: Floats


def samples_of(series: Sequence[PrometheusSeries], span: TimeSpan) -> list[Samples]:
    """Five queries a run."""
    by_run: dict[int, dict[tuple[str, str], PrometheusSeries]] = {}
    for each in series:
        by_run.setdefault(each.run, {})[each.key, each.node] = each
    found = []
    for run, wanted in by_run.items():
        began = next(iter(wanted.values())).began
        read = queries.load_series(
            run_ids=[run],
            metrics=list(dict.fromkeys(key for key, _ in wanted)),
            nodes=list(dict.fromkeys(node for _, node in wanted)),
            between=(span.start - began, span.end - began),
            raw=True,
        )
        for one in read:
            named = wanted.get((one.metric, one.node))
            if one.problem:
                raise BadQuery(one.problem)
            if named is not None:
                values = one.values.astype(np.float64)
                seen = ~np.isnan(values) if one.observed is None else one.observed
                found.append(Samples(named, one.at[seen] + began, values[seen]))
    return found
