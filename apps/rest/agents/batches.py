"""The only way in for agents' batches: a WSGI application before Django's.

Nearly all requests of agents are batches. Django's handler, middleware and views take more time than storing one, and
would miss the bar for live batches (docs/why/uploads.md). StoreBatch documents the address and answers refusals.
"""

import json
import re
from collections.abc import Iterable
from math import ceil
from typing import Any
from uuid import UUID

from django.core.signals import request_started
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import APIException, NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.credentials import digest_of
from apps.core import limits
from apps.core.server import measures, space
from apps.dispatch import api as dispatch
from apps.rest.agents.agents import BINARY, CHECKSUM, STORED, AgentView, checksum_of, seal_after_commit
from apps.rest.agents.buckets import UploadBuckets
from apps.rest.framework import problems
from apps.rest.framework.authentication import secret_of
from apps.rest.framework.messages import length_within
from apps.runs.api import accept
from apps.runs.models import Run

# As many digits as Python converts; Django finds no view for longer ones.
BATCH = re.compile(r"/api/v1/agent/runs/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/batches/([0-9]{1,4300})")
# Of a sampler: Django's view stores it, which is fast enough for one of them.
OF_SAMPLER = re.compile(r"/api/v1/agent/runs/[0-9a-f-]{36}/streams/[0-9]+/batches/[0-9]+")
REFUSAL = "splashboard.refusal"
NAME = "api:agent-batch"


class BatchDoor:
    """Stores batches, and passes all other requests to `django`; batches of samplers take from the same buckets."""

    def __init__(self, django: Any, *, buckets: UploadBuckets | None = None) -> None:
        self._django = django
        self._buckets = buckets or UploadBuckets()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        place = BATCH.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "PUT" else None
        if place is not None:
            environ[measures.ROUTE] = NAME
            # As Django does, so that its connections are managed.
            request_started.send(sender=type(self), environ=environ)
            try:
                if shortage := space.gate.shortage():
                    raise problems.disk_full(shortage)
                stored = self._store(environ, UUID(place[1]), int(place[2]))
            except _TooMuch as refused:
                # Here: an answer of Django's would take more time than storing the batch.
                return _refuse(refused.problem, start_response)
            except Exception as error:  # StoreBatch raises it
                environ[REFUSAL] = error
            else:
                body = b'{"run":%d}' % stored.run
                headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
                start_response("201 Created" if stored.is_new else "200 OK", headers)
                return [body]
        elif environ["REQUEST_METHOD"] == "PUT" and OF_SAMPLER.fullmatch(environ["PATH_INFO"]):
            try:
                self._take(environ)
            except _TooMuch as refused:
                return _refuse(refused.problem, start_response)
            except APIException:
                pass  # Django's view finds the same, and answers it
        answer: Iterable[bytes] = self._django(environ, start_response)
        return answer

    def _take(self, environ: dict[str, Any]) -> tuple[str, int]:
        """The sender's secret and the body's length, for which there was room in the sender's bucket."""
        secret = secret_of(environ, "Agent")
        if not secret:
            raise NotAuthenticated
        size = length_within(environ, limit=limits.BATCH)
        if wait := self._buckets.take(digest_of(secret), size):
            raise _TooMuch(ceil(wait))
        return secret, size

    def _store(self, environ: dict[str, Any], uid: UUID, sequence: int) -> accept.StoredBatch:
        secret, size = self._take(environ)
        stored = dispatch.store_batch(
            secret=secret,
            uid=uid,
            sequence=sequence,
            payload=environ["wsgi.input"].read(size),
            checksum=checksum_of(environ),
            now=timezone.now(),
        )
        if not stored:
            raise NotAuthenticated
        if stored.state == Run.State.ENDED:  # this may be its last missing piece
            seal_after_commit(stored.run)
        return stored


class _TooMuch(Exception):
    def __init__(self, wait: int) -> None:
        what = f"{limits.BATCHES:,} batches or {limits.BATCH_BYTES:,} bytes a minute of this agent"
        self.problem = problems.too_many(what, wait=wait)


def _refuse(problem: problems.ApiProblem, start_response: Any) -> list[bytes]:
    body = json.dumps(problems.body(problem)).encode()
    headers = [("Content-Type", problems.MEDIA_TYPE), ("Content-Length", str(len(body)))]
    start_response("429 Too Many Requests", [*headers, ("Retry-After", str(problem.wait))])
    return [body]


class StoreBatch(AgentView):
    @extend_schema(
        operation_id="agent_store_batch",
        tags=["agent"],
        parameters=[CHECKSUM],
        request={"application/gzip": BINARY},
        responses=STORED,
    )
    def put(self, request: Request, uid: UUID, sequence: int) -> Response:  # noqa: ARG002
        """Store one batch of samples: gzip of JSON lines, at most 8 MB."""
        raise request.META[REFUSAL]
