"""Health of the server for programs: the API's answer, the probes /livez and /readyz, and /metrics."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiResponse, extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.answers import component
from apps.core.text import and_list
from apps.operations.api import BROKER, DATABASE, MIGRATIONS, exposition, missing_services
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters

PLAIN = "text/plain; charset=utf-8"


@component("Part")
@dataclass(frozen=True)
class ServicePart:
    ok: bool
    message: Annotated[str, "what is wrong and what to do; empty: nothing is"]


@component("Health")
@dataclass(frozen=True)
class ServiceHealth:
    ok: bool
    at: datetime
    database: ServicePart
    broker: ServicePart
    migrations: ServicePart


class Health(APIView):
    authentication_classes: list[Any] = []
    permission_classes = [AllowAny]
    throttle_classes = []  # supervisors and proxies ask it, also while Valkey hangs

    @extend_schema(
        operation_id="read_health",
        responses={
            200: serializer_of(ServiceHealth),
            503: OpenApiResponse(serializer_of(ServiceHealth), description="A required service is missing"),
        },
    )
    def get(self, request: Request) -> Response:
        """Whether database and broker answer and all migrations are applied. 503 if not, with the reason."""
        NoParameters.read(request)
        missing = missing_services()
        parts = [ServicePart(key not in missing, missing.get(key, "")) for key in (DATABASE, BROKER, MIGRATIONS)]
        answer = serializer_of(ServiceHealth)(ServiceHealth(not missing, timezone.now(), *parts)).data
        return Response(answer, status=503 if missing else 200, headers={"Cache-Control": "no-store"})


class ServerMetrics(APIView):
    """For Prometheus, at /metrics: with a token of scope read where reading needs one."""

    throttle_classes = []

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        NoParameters.read(request)
        return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


@require_safe
@never_cache
@login_not_required
def live(_request: HttpRequest) -> HttpResponse:
    """The process answers; whatever it needs may be missing."""
    return HttpResponse("ok\n", content_type=PLAIN)


@require_safe
@never_cache
@login_not_required
def ready(_request: HttpRequest) -> HttpResponse:
    """200 "ok", or 503 with the names of what is missing and nothing else: anyone may ask."""
    missing = missing_services()
    text = f"missing: {and_list(list(missing))}" if missing else "ok"
    return HttpResponse(f"{text}\n", content_type=PLAIN, status=503 if missing else 200)
