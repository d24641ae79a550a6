"""Files attached to a run: upload, and the tables parsed from them."""

from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, QueryDict
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import ApiToken
from apps.core import limits
from apps.core.answers import component
from apps.rest.framework.bodies import StrictMultiPartParser
from apps.rest.framework.derive import Answer, serializer_of
from apps.rest.framework.fields import AddressField
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


class TableSerializer(Answer):
    of = AttachedTable
    address = AddressField("api:artifact", "run", "artifact", help_text="of the file itself")


@component("Files")
@dataclass(frozen=True)
class AttachedFiles:
    run: int
    files: list[AttachedTable]


class RunFiles(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    parser_classes = [StrictMultiPartParser]

    @extend_schema(operation_id="list_files", responses=serializer_of(AttachedFiles))
    def get(self, request: Request, run_id: int) -> Response:
        """List the files attached to a run, as tables: statement digests, profiles."""
        NoParameters.read(request)
        _find(run_id)
        found = AttachedFiles(run_id, attachments.tables(run_id))
        return Response(serializer_of(AttachedFiles)(found, context={"request": request}).data)

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
        if announced_length(request.META) > limits.ATTACHED + AROUND_THE_FILE:
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
        if (file.size or 0) > limits.ATTACHED:
            raise _too_large()
        try:
            artifact, created = submit.attach(run=run, chosen=chosen, content=file.read())
        except Refused as error:
            if error.field == "run":
                raise conflict("run", message=error.message) from error
            raise invalid(error.field, error.message) from error
        found = next(one for one in attachments.tables(run_id) if one.artifact == artifact.name)
        answer = TableSerializer(found, context={"request": request}).data
        return Response(answer, status=201 if created else 200, headers={"Location": answer["address"]})


def _find(run_id: int) -> Run:
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        raise Http404(f"There is no run {run_id}.")
    return run


def _too_large() -> ApiProblem:
    detail = f"An attached file may have at most {limits.ATTACHED:,} bytes: shorten it, for example by --limit."
    return ApiProblem(status=413, kind="too-large", detail=detail)
