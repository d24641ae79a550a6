"""The quality of a run: excluding it from comparisons."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import writer
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters
from apps.rest.framework.strict import Strict
from apps.rest.runs.runs import find_run
from apps.runs.api import ExclusionDetail, exclusion

ExclusionSerializer = serializer_of(ExclusionDetail)


class ExclusionDescription(Strict):
    reason = serializers.CharField(max_length=exclusion.MOST_CHARACTERS, help_text="why; others read it beside the run")


class RunExclusion(APIView):
    @extend_schema(operation_id="list_exclusions", responses=ExclusionSerializer(many=True))
    def get(self, request: Request, run_id: int) -> Response:
        """List the run's exclusions from comparisons, latest first. One without an end is in effect."""
        NoParameters.read(request)
        return Response(_exclusions(find_run(run_id).pk))

    @extend_schema(
        operation_id="exclude_run",
        request=ExclusionDescription,
        responses={
            201: ExclusionSerializer,
            200: OpenApiResponse(ExclusionSerializer, description="Already excluded, for the reason given then"),
        },
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Exclude a complete run from all comparisons; it stays readable, with your name and reason."""
        stated = ExclusionDescription(data=request.data)
        stated.is_valid(raise_exception=True)
        run = find_run(run_id)
        done = exclusion.exclude(run=run, reason=stated.validated_data["reason"], by=writer(request))
        return Response(_exclusions(run.pk)[0], status=201 if done else 200)

    @extend_schema(operation_id="count_run_again", request=None, responses={200: ExclusionSerializer(many=True)})
    def delete(self, request: Request, run_id: int) -> Response:
        """End the exclusion: the run counts again; the exclusion stays in its history. Idempotent."""
        NoParameters.read(request)
        run = find_run(run_id)
        exclusion.count_again(run=run, by=writer(request))
        return Response(_exclusions(run.pk))


def _exclusions(run_id: int) -> list[dict[str, Any]]:
    return list(ExclusionSerializer(exclusion.history(run_id), many=True).data)
