"""Files attached to a run: upload, and the tables parsed from them."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, QueryDict
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.rest.framework.lists import NoParameters
from apps.rest.framework.messages import announced_length
from apps.rest.framework.problems import ApiProblem, conflict, invalid
from apps.runs.api import AttachedTable, Refused, attachments, submit
from apps.runs.models import Run
from apps.runs.pure import ATTACHED

AROUND_THE_FILE = 64 * 1024


class AttachedForm(serializers.Serializer[Any]):
    """multipart/form-data."""

    format = serializers.ChoiceField(choices=[(one.name, one.title) for one in ATTACHED.values()])
    file = serializers.FileField(help_text="exactly as it was printed")


class ColumnSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    unit = serializers.CharField(help_text="empty: text, or a plain count")


class TableSerializer(serializers.Serializer[AttachedTable]):
    artifact = serializers.CharField()
    format = serializers.SerializerMethodField()
    address = serializers.SerializerMethodField(help_text="of the file itself")
    title = serializers.CharField(source="table.title", default="")
    note = serializers.CharField(source="table.note", default="", help_text="what the rows cover")
    columns = ColumnSerializer(source="table.columns", many=True, default=())
    rows = serializers.SerializerMethodField(help_text="a list of cells each, the largest first; null: not reported")
    total = serializers.IntegerField(
        source="table.total", default=0, help_text="rows of the file; at most 200 are here"
    )
    unparsed_lines = serializers.SerializerMethodField()
    problem = serializers.CharField(help_text="why it cannot be read; else empty")

    def get_format(self, one: AttachedTable) -> str:
        return one.format.name

    def get_address(self, one: AttachedTable) -> str:
        address = reverse("api:artifact", args=[self.context["run_id"], one.artifact])
        return str(self.context["request"].build_absolute_uri(address))

    def get_rows(self, one: AttachedTable) -> list[list[Any]]:
        return [list(row) for row in one.table.rows] if one.table else []

    def get_unparsed_lines(self, one: AttachedTable) -> list[str]:
        return list(one.table.unparsed) if one.table else []


class FilesSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    files = TableSerializer(many=True)


class RunFiles(APIView):
    parser_classes = [MultiPartParser]

    @extend_schema(operation_id="list_files", responses=FilesSerializer)
    def get(self, request: Request, run_id: int) -> Response:
        """List the files attached to a run, as tables: statement digests, profiles."""
        NoParameters.read(request)
        _find(run_id)
        context = {"request": request, "run_id": run_id}
        files = [TableSerializer(one, context=context).data for one in attachments.tables(run_id)]
        return Response({"run": run_id, "files": files})

    @extend_schema(
        operation_id="attach_file",
        request={"multipart/form-data": AttachedForm},
        responses={
            201: TableSerializer,
            200: OpenApiResponse(TableSerializer, description="Already attached, identical"),
        },
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Attach a file to a complete run. The run's own numbers do not change."""
        run = _find(run_id)
        if announced_length(request.META) > submit.MAX_ATTACHED + AROUND_THE_FILE:
            raise _too_large()
        # Without a body, DRF provides no form.
        form = request.data if isinstance(request.data, QueryDict) else QueryDict()
        unknown = sorted(set(form) - {"format", "file"})
        if unknown:
            raise invalid(unknown[0], "unknown form field", "known here: format, file")
        chosen = ATTACHED.get(str(form.get("format", "")))
        if chosen is None:
            raise invalid("format", f"must be one of {', '.join(ATTACHED)}")
        file: Any = form.get("file")
        if not isinstance(file, UploadedFile):
            raise invalid("file", "must be a file, byte for byte", "-F file=@…, with the @")
        if (file.size or 0) > submit.MAX_ATTACHED:
            raise _too_large()
        try:
            artifact, created = submit.attach(run=run, chosen=chosen, content=file.read())
        except Refused as error:
            raise (conflict if error.field == "run" else invalid)(error.field, error.message) from error
        found = next(one for one in attachments.tables(run_id) if one.artifact == artifact.name)
        answer = TableSerializer(found, context={"request": request, "run_id": run_id}).data
        return Response(answer, status=201 if created else 200, headers={"Location": answer["address"]})


def _find(run_id: int) -> Run:
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        raise Http404(f"There is no run {run_id}.")
    return run


def _too_large() -> ApiProblem:
    detail = f"An attached file may have at most {submit.MAX_ATTACHED:,} bytes: shorten it, for example by --limit."
    return ApiProblem(status=413, kind="too-large", detail=detail)
