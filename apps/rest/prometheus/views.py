"""Prometheus' query API over the series of runs, read-only: what Grafana asks of a Prometheus data source.

Answers and errors have Prometheus' form. docs/howto/grafana.md says which part of PromQL is supported.
"""

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.http import HttpResponse, JsonResponse, QueryDict
from django.utils import timezone
from numpy.typing import NDArray
from rest_framework.parsers import FormParser
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.rest.framework.permissions import ReadersRead
from apps.rest.prometheus import run_series
from apps.rest.prometheus.evaluate import Evaluated, SelectedSeries, evaluate
from apps.rest.prometheus.labels import NAME, OF_RUN
from apps.rest.prometheus.promql import BadQuery, Expression, Matcher, Selection, parse, reach, selector
from apps.rest.prometheus.run_series import PrometheusSeries, TimeSpan
from apps.runs.pure import COUNTER

Floats = NDArray[np.float64]
MOST_POINTS = 11_000
# Of a query, points times series: each value of an answer is a text of its own.
MOST_VALUES = 500_000
# The version whose query API this is.
VERSION = "2.53.0"
LABEL_NAMES = (NAME, "device", "metric", "node", *OF_RUN)


class PrometheusView(APIView):
    """Answers `data` of a subclass."""

    schema = None
    parser_classes = [FormParser]
    permission_classes = [ReadersRead]

    def get(self, request: Request, **place: str) -> HttpResponse:
        try:
            data, warnings = self.data(request, **place)
        except BadQuery as error:
            return JsonResponse({"status": "error", "errorType": "bad_data", "error": str(error)}, status=400)
        more = {"warnings": warnings} if warnings else {}
        return JsonResponse({"status": "success", "data": data, **more})

    def post(self, request: Request, **place: str) -> HttpResponse:
        """As `get`, with the parameters as a form: how clients ask long queries. Nothing is written."""
        return self.get(request, **place)

    def data(self, request: Request, **place: str) -> tuple[Any, list[str]]:
        """The answer and warnings. Raises BadQuery."""
        raise NotImplementedError


class Query(PrometheusView):
    def data(self, request: Request, **_: str) -> tuple[Any, list[str]]:
        asked = _asked(request)
        at = _time(asked.get("time"), "time", default=timezone.now().timestamp())
        found = _evaluated(parse(asked.get("query", "")), np.array([at]))
        if found.number is not None:
            return {"resultType": "scalar", "result": [at, _text(found.number)]}, []
        rows: list[dict[str, Any]] = [{"metric": row.labels, "value": [at, _text(row.values[0])]} for row in found.rows]
        return {"resultType": "vector", "result": rows}, []


class QueryRange(PrometheusView):
    def data(self, request: Request, **_: str) -> tuple[Any, list[str]]:
        asked = _asked(request)
        start, end = (_time(asked.get(name), name) for name in ("start", "end"))
        step = _step(asked.get("step"))
        if end < start:
            raise BadQuery("end lies before start")
        if (end - start) / step > MOST_POINTS:
            raise BadQuery(
                f"exceeded maximum resolution of {MOST_POINTS:,} points per timeseries: ask with a longer step"
            )
        times: Floats = start + step * np.arange(math.floor((end - start) / step + 1e-9) + 1, dtype=np.float64)
        rows: list[dict[str, Any]]
        found = _evaluated(parse(asked.get("query", "")), times)
        if found.number is not None:
            rows = [{"metric": {}, "values": [[at, _text(found.number)] for at in times.tolist()]}]
        else:
            rows = [{"metric": row.labels, "values": _pairs(times, row.values)} for row in found.rows]
        return {"resultType": "matrix", "result": rows}, []


class Labels(PrometheusView):
    def data(self, request: Request, **_: str) -> tuple[Any, list[str]]:
        found, warnings = _matched(request)
        return sorted({label for each in found for label in each.labels} | {*LABEL_NAMES}), warnings


class LabelValues(PrometheusView):
    def data(self, request: Request, *, label: str = "", **_: str) -> tuple[Any, list[str]]:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", label):
            raise BadQuery(f"invalid label name: {label!r}")
        selectors = _selectors(request)
        if label in OF_RUN and all(matcher.label in OF_RUN for one in selectors for matcher in one):
            return _of_runs(request, label, selectors)
        found, warnings = _matched(request)
        return sorted({each.labels[label] for each in found if label in each.labels}), warnings


class SeriesList(PrometheusView):
    def data(self, request: Request, **_: str) -> tuple[Any, list[str]]:
        if not _selectors(request):
            raise BadQuery("no match[] parameter provided")
        found, warnings = _matched(request)
        return [each.labels for each in found], warnings


class Metadata(PrometheusView):
    def data(self, request: Request, **_: str) -> tuple[Any, list[str]]:
        runs = run_series.runs_of((), None, most=5)
        kinds = run_series.names(run_series.series_of(runs.runs))
        wanted = _asked(request).get("metric")
        return {
            name: [{"type": "counter" if kind == COUNTER else "gauge", "help": "", "unit": ""}]
            for name, kind in sorted(kinds.items())
            if wanted in (None, "", name)
        }, []


class BuildInfo(PrometheusView):
    def data(self, request: Request, **_: str) -> tuple[Any, list[str]]:  # noqa: ARG002
        return {"version": VERSION, "application": "Splashboard"}, []


def _asked(request: Request) -> QueryDict:
    """Parameters of the address and of the form."""
    asked = request.query_params.copy()
    if request.method == "POST" and isinstance(request.data, QueryDict):
        for name, values in request.data.lists():
            asked.setlist(name, values)
    return asked


def _evaluated(expression: Expression, times: Floats) -> Evaluated:
    span = TimeSpan(float(times[0]) - reach(expression), float(times[-1]))
    asked = 0

    def read(selection: Selection) -> Sequence[SelectedSeries]:
        nonlocal asked
        series = run_series.chosen(selection.matchers, span)
        asked += len(series) * len(times)
        if asked > MOST_VALUES:
            words = f"{asked:,} values are asked for, {len(times):,} points of each series, at most {MOST_VALUES:,}"
            raise BadQuery(f"{words}: ask with a longer step, or add a name or labels")
        found = run_series.samples_of(series, span)
        return [SelectedSeries(one.series.labels, one.at, one.values, _counts(one.series)) for one in found]

    return evaluate(expression, times, read)


def _counts(series: PrometheusSeries) -> bool:
    """Whether rates of it have a meaning. Of a series with a name of its own the kind may not be known."""
    return series.kind == COUNTER or series.key.startswith("prometheus.")


def _selectors(request: Request) -> list[tuple[Matcher, ...]]:
    return [selector(text) for text in _asked(request).getlist("match[]")]


def _matched(request: Request) -> tuple[list[PrometheusSeries], list[str]]:
    """Series that fit any selector, of the newest runs of the time."""
    selectors: list[tuple[Matcher, ...]] = _selectors(request) or [()]
    found: dict[tuple[int, str, str], PrometheusSeries] = {}
    left_out = False
    for matchers in selectors:
        runs = run_series.runs_of(matchers, _span(request), most=run_series.MOST_RUNS)
        left_out |= runs.left_out
        for each in run_series.series_of(runs.runs):
            if all(matcher.fits(each.labels) for matcher in matchers):
                found[each.run, each.key, each.node] = each
    words = f'only the newest {run_series.MOST_RUNS} runs of this time were looked at: choose with run="…"'
    return list(found.values()), [words] if left_out else []


def _of_runs(request: Request, label: str, selectors: Sequence[tuple[Matcher, ...]]) -> tuple[list[str], list[str]]:
    """Values of a label of runs: no series are looked at."""
    values: dict[str, None] = {}
    left_out = False
    for matchers in selectors or [()]:
        found = run_series.runs_of(matchers, _span(request), most=run_series.MOST_LISTED)
        left_out |= found.left_out
        values |= dict.fromkeys(run_series.labels_of_run(run)[label] for run in found.runs)
    words = f"only the newest {run_series.MOST_LISTED} runs of this time were looked at"
    # Runs by their number, the newest first: as they come.
    return list(values) if label == "run" else sorted(values), [words] if left_out else []


def _span(request: Request) -> TimeSpan | None:
    asked = _asked(request)
    if "start" not in asked and "end" not in asked:
        return None
    return TimeSpan(_time(asked.get("start"), "start", default=0.0), _time(asked.get("end"), "end", default=4e9))


def _time(text: str | None, name: str, default: float | None = None) -> float:
    """s since 1970. Raises BadQuery."""
    if not text:
        if default is None:
            raise BadQuery(f"invalid parameter {name!r}: it is missing")
        return default
    try:
        found = float(text)
    except ValueError:
        try:
            found = datetime.fromisoformat(text).timestamp()
        except (ValueError, OverflowError):
            found = math.nan
    if not abs(found) < 1e11:
        raise BadQuery(
            f"invalid parameter {name!r}: {text[:40]!r} is not a time: write seconds since 1970, or RFC 3339"
        )
    return found


DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?")


def _step(text: str | None) -> float:
    """s. Raises BadQuery."""
    parts = DURATION.fullmatch(text or "")
    try:
        found = float(text or "")
    except ValueError:
        hours, minutes, seconds, milliseconds = (int(each or 0) for each in parts.groups()) if parts else (0, 0, 0, 0)
        found = hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
    if not 0 < found < 1e9:
        raise BadQuery(f"invalid parameter 'step': {text!r} is no duration above 0: write seconds, or 15s")
    return found


def _pairs(times: Floats, values: Floats) -> list[list[float | str]]:
    seen = ~np.isnan(values)
    return [[at, _text(value)] for at, value in zip(times[seen].tolist(), values[seen].tolist(), strict=True)]


def _text(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(float(value)).removesuffix(".0")
