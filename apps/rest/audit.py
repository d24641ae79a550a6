"""The audit log, for administrators."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.answers import OneOf
from apps.core.audit.api import Action, AuditFilter, entries
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import PageParameters, listing, page_of
from apps.rest.framework.permissions import IsAdministrator
from apps.rest.framework.strict import ChoiceField


@dataclass(frozen=True)
class AuditRow:
    id: int
    at: datetime
    kind: Annotated[str, OneOf(("person", "token", "agent", "command", "nobody"))]
    who: Annotated[str, "person, agent or command; empty: nobody was signed in"]
    credential: Annotated[str, "name of the token; empty: none was used"]
    address: Annotated[str, "of the client; empty: on the server itself"]
    action: str
    subject: str
    before: str
    after: str


class AuditParameters(PageParameters):
    who = serializers.CharField(required=False, max_length=150, help_text="user, agent or command, exactly")
    action = ChoiceField(choices=[action.value for action in Action], required=False)
    since = serializers.DateField(required=False, help_text="first day, UTC")
    until = serializers.DateField(required=False, help_text="last day, UTC")


class AuditLog(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(
        operation_id="read_audit_log",
        parameters=[AuditParameters],
        responses=listing(serializer_of(AuditRow), name="Audit"),
    )
    def get(self, request: Request) -> Response:
        """The audit log, newest first; for administrators."""
        asked = AuditParameters.read(request)
        chosen = AuditFilter(
            who=asked.get("who", ""),
            action=asked.get("action", ""),
            since=asked.get("since"),
            until=asked.get("until"),
        )
        return page_of(self, request, entries(chosen), key="-id", serializer=serializer_of(AuditRow))
