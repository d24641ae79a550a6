"""Health of the server: its database, its broker."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.answers import component
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters

log = logging.getLogger(__name__)

BROKER_ANSWERS_WITHIN = timedelta(seconds=1)


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


def database_answers() -> None:
    """Raises DatabaseError if the database does not answer or migrations are missing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM catalog_platform")


def broker_answers() -> None:
    """Raises redis.RedisError if the broker does not answer."""
    seconds = BROKER_ANSWERS_WITHIN.total_seconds()
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=seconds, socket_connect_timeout=seconds)
    try:
        client.ping()
    finally:
        client.close()


class Health(APIView):
    authentication_classes: list[Any] = []
    permission_classes = [AllowAny]
    throttle_classes = []  # supervisors and proxies ask it, also while Valkey hangs

    @extend_schema(
        operation_id="read_health",
        responses={
            200: serializer_of(ServiceHealth),
            503: OpenApiResponse(serializer_of(ServiceHealth), description="A required service does not answer"),
        },
    )
    def get(self, request: Request) -> Response:
        """Whether database and broker answer. 503 if one does not, with the reason."""
        NoParameters.read(request)
        database = _part(database_answers, "the database does not answer; see DATABASE_URL and the server's log")
        broker = _part(broker_answers, "the broker does not answer; see REDIS_URL. Reading works, dispatch waits")
        found = ServiceHealth(database.ok and broker.ok, timezone.now(), database, broker)
        answer = serializer_of(ServiceHealth)(found).data
        return Response(answer, status=200 if found.ok else 503, headers={"Cache-Control": "no-store"})


def _part(check: Callable[[], None], message: str) -> ServicePart:
    try:
        check()
    except (DatabaseError, redis.RedisError) as error:
        log.warning("health: %s: %s", message, error)
        return ServicePart(ok=False, message=message)
    return ServicePart(ok=True, message="")
