"""Runs: the list, one run with the provenance of its numbers, submitting a finished one, its raw files."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import ApiToken
from apps.core import limits
from apps.core.problems import FieldProblem, Invalid
from apps.rest.catalog.known import require_known
from apps.rest.framework.bodies import StrictMultiPartParser
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, next_page
from apps.rest.framework.messages import announced_length
from apps.rest.framework.problems import ApiProblem, invalid
from apps.rest.framework.strict import MultipleChoiceField, SlugField
from apps.rest.runs.description import RunForm, read_description
from apps.rest.runs.serializers import RunDetailSerializer, RunSerializer, SubmittedRun, SubmittedRunSerializer
from apps.rest.runs.submission import Submission, submit
from apps.runs.api import QUALITIES, artifacts, queries
from apps.runs.models import Artifact, Run


class RunParameters(Parameters):
    platform = serializers.ListField(child=SlugField(), required=False, max_length=100)
    release = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID), required=False, max_length=100
    )
    hardware = serializers.ListField(
        child=serializers.CharField(max_length=80),
        required=False,
        max_length=100,
        help_text="slugs of hardware classes",
    )
    system = serializers.ListField(
        child=serializers.CharField(max_length=80), required=False, max_length=100, help_text="slugs"
    )
    workload = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID), required=False, max_length=100
    )
    threads = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        required=False,
        max_length=100,
        help_text="of the load level, at any rate",
    )
    state = MultipleChoiceField(choices=Run.State.values, required=False)
    outcome = MultipleChoiceField(choices=Run.Outcome.values, required=False)
    provenance = MultipleChoiceField(choices=Run.Provenance.values, required=False)
    quality = MultipleChoiceField(
        choices=list(QUALITIES), required=False, help_text="that failed a check, or that a person left out"
    )
    tag = serializers.ListField(
        child=serializers.CharField(max_length=60), required=False, max_length=50, help_text="a run needs all of them"
    )
    since = serializers.DateTimeField(required=False, help_text="started then or later; ISO 8601")
    until = serializers.DateTimeField(required=False, help_text="started before then")
    q = serializers.CharField(required=False, max_length=200, help_text="words in names, versions, tags, or an id")
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=500, help_text="entries a page")
    cursor = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="where the page begins: taken from `next`"
    )


def find_run(run_id: int) -> Run:
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        raise Http404(f"There is no run {run_id}.")
    return run


def _require_begin(cursor: int) -> None:
    """Raises Invalid: a list that goes on after a run that was deleted would look like one that is at its end."""
    if not Run.objects.filter(pk=cursor).exists():
        raise Invalid([FieldProblem("cursor", f"there is no run {cursor}, or no longer", "begin the list anew")])


def _filter(parameters: dict[str, Any]) -> queries.RunFilter:
    return queries.RunFilter(
        platforms=tuple(parameters.get("platform", ())),
        releases=tuple(parameters.get("release", ())),
        hardware=tuple(parameters.get("hardware", ())),
        systems=tuple(parameters.get("system", ())),
        workloads=tuple(parameters.get("workload", ())),
        threads=tuple(parameters.get("threads", ())),
        states=tuple(sorted(parameters.get("state", ()))),
        outcomes=tuple(sorted(parameters.get("outcome", ()))),
        provenances=tuple(sorted(parameters.get("provenance", ()))),
        tags=tuple(parameters.get("tag", ())),
        quality=tuple(sorted(parameters.get("quality", ()))),
        since=parameters.get("since"),
        until=parameters.get("until"),
        text=parameters.get("q", ""),
    )


class Runs(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    parser_classes = [StrictMultiPartParser]

    @extend_schema(operation_id="list_runs", parameters=[RunParameters], responses=listing(RunSerializer, name="Run"))
    def get(self, request: Request) -> Response:
        """List runs, newest first. A parameter given several times means any of its values; tags mean all."""
        parameters = RunParameters.read(request)
        require_known(parameters)
        limit = parameters["limit"]
        rows = queries.list_runs(_filter(parameters), limit=limit + 1, before=parameters.get("cursor"))
        if not rows and "cursor" in parameters:
            _require_begin(parameters["cursor"])
        cursor = rows[limit - 1].id if len(rows) > limit else None
        page = RunSerializer(rows[:limit], many=True, context={"request": request})
        return Response({"next": next_page(request, cursor=cursor), "results": page.data})

    @extend_schema(
        operation_id="submit_run",
        request={"multipart/form-data": RunForm},
        responses={
            201: SubmittedRunSerializer,
            200: OpenApiResponse(SubmittedRunSerializer, description="Already stored, identical"),
        },
    )
    def post(self, request: Request) -> Response:
        """Submit a finished run: the tool's output, and a description of what it does not contain. No agent is needed.

        Resending returns the same run. An output without the tool's final report is refused unless the description has
        outcome `failed`.
        """
        form = _form(request)
        series = _file(form, "series") if "series" in form else None
        done = submit(
            output=_file(form, "output"),
            description=read_description(form),
            series=series,
            samples=[_read_file("samples", each) for each in form.getlist("samples")],
        )
        answer = _submitted(request, done)
        return Response(answer, status=201 if done.created else 200, headers={"Location": answer["api"]})


def _form(request: Request) -> QueryDict:
    """Raises ApiProblem, 413 before reading more than may be stored, or ParseError."""
    if announced_length(request.META) > limits.ARTIFACT + limits.AROUND_A_FILE:
        raise _too_large()
    form = request.data
    # Without a body, DRF provides no form.
    return form if isinstance(form, QueryDict) else QueryDict()


def _file(form: QueryDict, name: str) -> bytes:
    files: list[Any] = form.getlist(name)
    if len(files) != 1:
        raise invalid(name, f"is given {len(files)} times", f"send it once: -F {name}=@sysbench.txt")
    return _read_file(name, files[0])


def _read_file(name: str, file: Any) -> bytes:
    if not isinstance(file, UploadedFile):
        raise invalid(name, "must be a file, byte for byte", f"-F {name}=@sysbench.txt, with the @")
    if (file.size or 0) > limits.ARTIFACT:
        raise _too_large()
    content: bytes = file.read()
    if not content.strip():
        raise invalid(name, "is empty", "send what the tool printed")
    return content


def _too_large() -> ApiProblem:
    detail = f"An output may have at most {limits.ARTIFACT:,} bytes: raise sysbench's --report-interval."
    return ApiProblem(status=413, kind="too-large", detail=detail)


def _submitted(request: Request, done: Submission) -> dict[str, Any]:
    detail = queries.load_run(done.run_id)
    submitted = SubmittedRun(detail, done.chosen.name, len(detail.unparsed_lines), tuple(done.warnings))
    return SubmittedRunSerializer(submitted, context={"request": request}).data


class OneRun(APIView):
    @extend_schema(operation_id="read_run", responses=RunDetailSerializer)
    def get(self, request: Request, run_id: int) -> Response:
        """A run: system and workload, measurements with their provenance, events, nodes and raw files."""
        NoParameters.read(request)
        try:
            detail = queries.load_run(run_id)
        except Run.DoesNotExist as error:
            raise Http404(f"There is no run {run_id}.") from error
        return Response(RunDetailSerializer(detail, context={"request": request}).data)


class ArtifactDownload(APIView):
    @extend_schema(
        operation_id="read_artifact",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, description="as the run's `artifacts` name it"),
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="an ETag held"),
        ],
        responses={
            (200, "*/*"): OpenApiTypes.BINARY,
            304: OpenApiResponse(description="Not modified: its ETag is the SHA-256"),
        },
    )
    def get(self, request: Request, run_id: int, name: str) -> HttpResponseBase:
        """A raw file of a run, byte for byte as received, with its media type."""
        NoParameters.read(request)
        artifact = None if "\0" in name else Artifact.objects.filter(run_id=run_id, name=name).first()
        if artifact is None:
            raise Http404(f"Run {run_id} has no artifact {name!r}; see {reverse('api:run', args=[run_id])}.")
        etag = f'"{artifact.sha256}"'
        if unchanged := get_conditional_response(request._request, etag=etag):
            return unchanged
        return _raw(artifact, etag)


def _raw(artifact: Artifact, etag: str) -> FileResponse:
    try:
        stored = artifacts.open_artifact(artifact)
    except artifacts.DamagedArtifact as error:
        raise ApiProblem(status=503, kind="artifact-lost", detail=f"{error}.") from error
    # Uploaded content: must never run as a page of this site.
    headers = {
        "ETag": etag,
        "Content-Length": str(artifact.size),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "no-cache",
    }
    response = FileResponse(stored, content_type=artifact.media_type, headers=headers)
    inline = artifact.media_type.startswith("text/plain")
    file_name = f"run-{artifact.run_id}-{artifact.name}"
    response["Content-Disposition"] = f'{"inline" if inline else "attachment"}; filename="{file_name}"'
    return response
