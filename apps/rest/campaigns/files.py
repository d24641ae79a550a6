"""Campaigns from files: the format is described in docs/howto/campaigns.md and by a JSON Schema."""

from typing import Any

from django.db import transaction
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import ApiToken
from apps.dispatch.api import campaign_file as file
from apps.rest.campaigns.campaigns import CampaignDetailSerializer, detail_of, person_of
from apps.rest.framework.lists import NoParameters
from apps.rest.framework.messages import AsItIs, read_body
from workers import tasks

FILE = {"type": "object", "description": "as the schema at campaigns/file-schema/ says"}


class CampaignFiles(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    parser_classes = [AsItIs]

    @extend_schema(
        operation_id="start_campaign_file",
        request={"application/yaml": FILE, "application/json": FILE},
        responses={201: CampaignDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        """Plan the campaign of a file, sent as the body; sent again, it plans another one.

        All problems are listed at once: `field` is a path in the file, the message begins with the line number.
        """
        content = read_body(request, limit=file.LARGEST)
        with transaction.atomic():
            campaign = file.start(content, by=person_of(request))
            answer = detail_of(request, campaign.pk)
        tasks.enqueue(tasks.match_jobs)
        return Response(answer, status=201, headers={"Location": reverse("api:campaign", args=[campaign.pk])})


class CampaignFileSchema(APIView):
    @extend_schema(
        operation_id="read_campaign_file_schema",
        responses=OpenApiResponse(description="A JSON Schema.", response={"type": "object"}),
    )
    def get(self, request: Request) -> Response:
        """The JSON Schema of campaign files, for editors."""
        NoParameters.read(request)
        schema: dict[str, Any] = file.SCHEMA
        return Response(schema)
