"""Runs and series that a query may mean, found by its matchers and its time."""

import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from apps.rest.prometheus.labels import NAME, OF_RUN, labels_of
from apps.rest.prometheus.promql import BadQuery, Matcher
from apps.runs.api import RATE, SeriesInfo, queries
from apps.runs.models import Run
from apps.runs.pure import COUNTER

Floats = NDArray[np.float64]
MOST_RUNS = 20  # of a query
MOST_LISTED = 500  # runs in the list of values of `run`
MOST_LOOKED_AT = 1_000  # runs of a time, the newest
MOST_SERIES = 500  # of a query
MOST_KEPT = 64  # sealed runs whose series are known
LONGEST = timedelta(days=7)  # of a run
RELATED = Run.objects.select_related("system__release__platform", "workload", "load_level")
_COLUMNS = {
    "system": "system__slug",
    "platform": "system__release__platform__slug",
    "release": "system__release__version",
    "workload": "workload__name",
    "threads": "load_level__threads",
}
_THREADS = re.compile(r"[1-9]\d{0,8}")
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
    return (found for found in map(_condition, matchers) if found is not None)


def _condition(matcher: Matcher) -> Q | None:
    if matcher.label == "run" and (matcher.op == "=" or _NUMBERS.fullmatch(matcher.value)) and matcher.op[0] == "=":
        return Q(pk__in=[int(number) for number in re.findall(r"\d{1,18}", matcher.value)])
    is_exact = matcher.op == "=" and matcher.label in _COLUMNS
    if not is_exact or (matcher.label == "threads" and not _THREADS.fullmatch(matcher.value)):
        return None
    return Q(**{_COLUMNS[matcher.label]: matcher.value})


def _has_more(matchers: Iterable[Matcher]) -> bool:
    """Whether others are about labels of runs."""
    left = [one for one in matchers if one.label in OF_RUN and _condition(one) is None]
    return any(one.op == "=" or one.value not in ("", ".*", ".+") for one in left)


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


class _SealedSeries:
    """Series of sealed runs, by what they and their labels depend on; the last few are kept. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Sequence[PrometheusSeries]] = OrderedDict()

    def get(self, key: Hashable) -> Sequence[PrometheusSeries] | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Hashable, found: Sequence[PrometheusSeries]) -> None:
        with self._lock:
            self._kept[key] = found
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


_sealed = _SealedSeries()


def series_of(runs: Sequence[Run]) -> list[PrometheusSeries]:
    """All series of the runs, by their names. Four queries, or none where all are known."""
    keys = {run.pk: _key(run) for run in runs}
    found = {run_id: _sealed.get(key) for run_id, key in keys.items() if key is not None}
    missing = [run for run in runs if found.get(run.pk) is None]
    indexes = queries.series_indexes([run.pk for run in missing]) if missing else {}
    for run in missing:
        found[run.pk] = named = _named(run, indexes[run.pk])
        if keys[run.pk] is not None:
            _sealed.keep(keys[run.pk], named)
    return [each for run in runs for each in found[run.pk] or ()]


def _key(run: Run) -> Hashable | None:
    """None: it may get more."""
    if run.state != Run.State.SEALED or not run.sealed_at:
        return None
    return run.pk, run.started_at, run.sealed_at, tuple(labels_of_run(run).items())


def _named(run: Run, index: Iterable[SeriesInfo]) -> Sequence[PrometheusSeries]:
    began, of_run, found = run.started_at.timestamp(), labels_of_run(run), []
    for info in index:
        kind = COUNTER if info.kind == RATE and not info.metric.startswith("derived.") else "gauge"
        named = labels_of(info.metric, kind, node=info.node, of_run=of_run)
        found.append(PrometheusSeries(run.pk, began, info.metric, info.node, kind, named))
    return tuple(found)


def chosen(matchers: Sequence[Matcher], span: TimeSpan) -> list[PrometheusSeries]:
    """The series that a selector means. Raises BadQuery where they are too many to be read."""
    runs = runs_of(matchers, span, most=MOST_RUNS)
    if runs.left_out:
        raise BadQuery(f'more than {MOST_RUNS} runs lie in this time: choose with run="…", or a shorter time')
    found = [each for each in series_of(runs.runs) if all(one.fits(each.labels) for one in matchers)]
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
    """Five queries, of however many runs."""
    if not series:
        return []
    wanted = {(each.run, each.key, each.node): each for each in series}
    began = {each.run: each.began for each in series}
    read = queries.load_series(
        run_ids=list(began),
        metrics=list(dict.fromkeys(each.key for each in series)),
        nodes=list(dict.fromkeys(each.node for each in series)),
        between={run: (span.start - start, span.end - start) for run, start in began.items()},
        raw=True,
    )
    found = []
    for one in read:
        named = wanted.get((one.run_id, one.metric, one.node))
        if one.problem and (named is not None or not one.node):
            raise BadQuery(one.problem)
        if named is not None:
            values = one.values.astype(np.float64)
            seen = ~np.isnan(values) if one.observed is None else one.observed
            found.append(Samples(named, one.at[seen] + named.began, values[seen]))
    return found
