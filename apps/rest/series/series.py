"""Series of runs in JSON, CSV, Arrow and Parquet: their samples, and an index with statistics."""

from collections.abc import Sequence
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import ApiToken
from apps.core import limits
from apps.rest.framework import formats
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters
from apps.rest.framework.messages import AsItIs, read_body
from apps.rest.framework.problems import conflict, invalid
from apps.rest.runs.runs import find_run
from apps.rest.series import json_encoder, read, tables
from apps.rest.series.parameters import EVERY, IndexParameters, SeriesOfRunsParameters, SeriesParameters, options
from apps.rest.series.read import SeriesPass, SeriesRequest
from apps.runs.api import AttachedSeries, prometheus, queries
from apps.runs.models import Run
from workers import tasks

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="an ETag held; only complete runs have one"
)
NOT_MODIFIED = OpenApiResponse(description="Not modified: a complete run never changes")
TABLES: dict[Any, Any] = {
    (200, "text/csv"): OpenApiTypes.STR,
    (200, formats.Arrow.media_type): OpenApiTypes.BINARY,
    (200, formats.Parquet.media_type): OpenApiTypes.BINARY,
    304: NOT_MODIFIED,
}


class Tabular(APIView):
    """A response in the client's preferred format."""

    renderer_classes = formats.FORMATS
    content_negotiation_class = formats.ByQuality


class ReadSeries(Tabular):
    write_scope = ApiToken.Scope.SUBMIT

    parser_classes = [AsItIs]

    @extend_schema(
        operation_id="attach_series",
        request={"application/gzip": OpenApiTypes.BINARY},
        responses={
            201: serializer_of(AttachedSeries),
            200: OpenApiResponse(serializer_of(AttachedSeries), description="Attached before, identical"),
        },
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Attach series of Prometheus to a complete run: the file that `splashboard attach` sends.

        Names of node_exporter, mysqld_exporter and PMM become metrics of ours, which the USE panel is judged by anew;
        others keep their own. Series that the run has stay as they are.
        """
        NoParameters.read(request)
        run = find_run(run_id)
        content = read_body(request, limit=limits.ATTACHED)
        if not content:
            raise invalid("file", "is empty", "send the file that splashboard attach writes, as the body")
        try:
            done = prometheus.attach(run=run, content=content)
        except prometheus.NotNow as error:
            raise conflict("run", message=str(error)) from error
        if done.created:
            tasks.enqueue(tasks.judge_run, run_id=run.pk)
        answer = serializer_of(AttachedSeries)(done, context={"request": request}).data
        return Response(answer, status=201 if done.created else 200)

    @extend_schema(
        operation_id="read_series",
        parameters=[SeriesParameters, IF_NONE_MATCH],
        responses={(200, "application/json"): serializer_of(json_encoder.RunSeries), **TABLES},
    )
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Samples of the requested metrics, also of a live run; counters as rates since the previous sample.

        Metrics that the run does not have are listed in `missing` with the reason. CSV, Arrow and Parquet hold one row
        per sample, unrounded; JSON is rounded to six digits, except for totals of counters.
        """
        parameters = SeriesParameters.read(request)
        run = find_run(run_id)
        head = {"run": run.pk, "measured": json_encoder.measured(run)}
        return _samples(request, [run], parameters, head=head, filename=f"run-{run.pk}-series")


class ReadSeriesOfRuns(Tabular):
    @extend_schema(
        operation_id="read_series_of_runs",
        parameters=[SeriesOfRunsParameters, IF_NONE_MATCH],
        responses={(200, "application/json"): serializer_of(json_encoder.SeriesOfRuns), **TABLES},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Samples of several runs, as one table; in JSON each series includes its run."""
        parameters = SeriesOfRunsParameters.read(request)
        runs = _runs(list(dict.fromkeys(parameters["run"])))
        return _samples(
            request, runs, parameters, head={"runs": [json_encoder.described(run) for run in runs]}, filename="series"
        )


class ListSeries(Tabular):
    @extend_schema(
        operation_id="list_series",
        parameters=[IndexParameters, IF_NONE_MATCH],
        responses={(200, "application/json"): serializer_of(json_encoder.SeriesIndex), **TABLES},
    )
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Every series of the run, by metric and node, with its statistics over the measured phase."""
        IndexParameters.read(request)
        run = find_run(run_id)
        etag = read.etag_of([run], "index", request.accepted_renderer.media_type)
        if response := formats.unchanged(request, etag):
            return response
        index = queries.series_index(run.pk)
        if formats.is_json(request):
            pieces = json_encoder.index(run, index)
        else:
            table = tables.statistics(run.pk, index)
            pieces = formats.encoded(request.accepted_renderer, table.schema, [table])
        return formats.answer(request, pieces, etag=etag, filename=f"run-{run.pk}-series-index")


def _samples(
    request: Request, runs: Sequence[Run], parameters: dict[str, Any], *, head: dict[str, Any], filename: str
) -> HttpResponseBase:
    keys = parameters.get("metric")
    metrics = None if not keys or EVERY in keys else tuple(dict.fromkeys(keys))
    asked = SeriesRequest(runs=runs, metrics=metrics, options=options(parameters))
    etag = asked.etag(request.accepted_renderer.media_type, *head)
    if response := formats.unchanged(request, etag):
        return response
    reading = SeriesPass(asked)
    if formats.is_json(request):
        pieces = json_encoder.document(head, reading, runs="runs" in head)
    else:
        pieces = tables.samples(request.accepted_renderer, reading)
    return formats.answer(request, pieces, etag=etag, filename=filename, troubles=reading.troubles)


def _runs(ids: Sequence[int]) -> list[Run]:
    """In the order of `ids`. Raises ValidationError with the ids that do not exist."""
    found = Run.objects.in_bulk(list(ids))
    unknown = [str(pk) for pk in ids if pk not in found]
    if unknown:
        raise ValidationError({"run": [f"there is no run {', '.join(unknown)}"]})
    return [found[pk] for pk in ids]
