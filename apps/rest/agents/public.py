"""The agents and their state, for readers. The agents' own endpoints are in agents.py."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.dispatch.api import AgentRow, queries
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters, listing, whole


class Agents(APIView):
    @extend_schema(operation_id="list_agents", responses=listing(serializer_of(AgentRow), name="Agent"))
    def get(self, request: Request) -> Response:
        """Agents: live ones first, then by name."""
        NoParameters.read(request)
        return whole(queries.list_agents(now=timezone.now()), serializer=serializer_of(AgentRow))
