"""The agents and their state, for readers. The agents' own endpoints are in agents.py."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.dispatch.api import queries
from apps.rest.campaigns.campaigns import JobSerializer
from apps.rest.framework.lists import NoParameters, listing, whole


class AgentSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    version = serializers.CharField()
    is_alive = serializers.BooleanField(help_text="it was heard of lately and is not revoked")
    last_seen_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    labels = serializers.ListField(child=serializers.CharField())
    systems = serializers.ListField(child=serializers.CharField(), help_text="slugs of those it can reach")
    job = JobSerializer(allow_null=True, help_text="what it is doing now")
    spool_messages = serializers.IntegerField(allow_null=True, help_text="waiting to be uploaded; null: not said")
    spool_bytes = serializers.IntegerField(allow_null=True)
    refused_messages = serializers.IntegerField(allow_null=True)
    free_disk_bytes = serializers.IntegerField(allow_null=True)


class Agents(APIView):
    @extend_schema(operation_id="list_agents", responses=listing(AgentSerializer, name="Agent"))
    def get(self, request: Request) -> Response:
        """Agents: live ones first, then by name."""
        NoParameters.read(request)
        return whole(queries.list_agents(now=timezone.now()), serializer=AgentSerializer)
