"""What an agent says to the server, over HTTP."""

from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import request_started
from django.db import close_old_connections
from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler
from django.utils import timezone

from apps.dispatch.jobs import leases
from apps.dispatch.models import Agent
from apps.rest.agents.batches import BatchDoor
from tests.support.builders import an_agent
from workers.protocol import wire

SECRET = "the-agents-secret"
V1 = "/api/v1/agent"


class DoorHandler(ClientHandler):
    """The test client's way into Django, with the door for batches before it as in config/wsgi.py."""

    def __call__(self, environ: dict[str, Any]) -> Any:
        answered: list[Any] = []
        begun: list[Any] = []

        def django(passed: dict[str, Any], _: Any) -> list[bytes]:
            answered.append(super(DoorHandler, self).__call__(passed))
            return []

        request_started.disconnect(close_old_connections)
        try:
            body = BatchDoor(django)(environ, lambda *head: begun.append(head))
        finally:
            request_started.connect(close_old_connections)
        if answered:
            return answered[0]
        status, headers = begun[0]
        response = HttpResponse(b"".join(body), status=int(status.split()[0]), headers=dict(headers))
        response.wsgi_request = WSGIRequest(environ)  # type: ignore[attr-defined]  # the client wants it
        return response


class Talk:
    """An agent's side of the conversation."""

    def __init__(self, client: Client, secret: str = SECRET) -> None:
        self.client = client
        client.handler = DoorHandler(client.handler.enforce_csrf_checks)
        self.headers = {"Authorization": f"Agent {secret}"}

    def say(self, method: str, path: str, message: Any = None, **headers: str) -> Any:
        body = message if isinstance(message, bytes) else wire.to_json({} if message is None else message)
        kind = "application/json" if not isinstance(message, bytes) else "application/octet-stream"
        return self.client.generic(method, f"{V1}/{path}", body, content_type=kind, headers={**self.headers, **headers})

    def put_bytes(self, path: str, content: bytes, checksum: str = "") -> Any:
        return self.say("PUT", path, content, **{"X-Checksum": checksum or wire.checksum(content)})

    def claim(self) -> wire.JobMessage:
        leases.match_jobs(now=timezone.now())
        answer = self.say("POST", "claim")
        assert answer.status_code == 200, answer.content
        return wire.from_json(wire.JobMessage, answer.content)


def the_agent(*systems: Any) -> Agent:
    return an_agent(*systems, secret=SECRET, last_seen_at=timezone.now())


def a_run_message(job: wire.JobMessage, number: int = 0) -> wire.RunMessage:
    return wire.RunMessage(
        job=job.id,
        attempt=job.attempt,
        load_level=job.runs[number].load_level,
        started_at="2026-01-01T12:00:00+00:00",
        warmup=job.warmup,
        duration=job.duration,
        nodes=[
            wire.RunNodeMessage(name="client"),
            wire.RunNodeMessage(name="db1", role="writer", variables={"a": "1"}),
        ],
    )


def an_end(outcome: str = "succeeded", *, batches: int = 1, reason: str = "") -> wire.RunEndMessage:
    return wire.RunEndMessage(
        outcome=outcome,
        reason=reason,
        ended_at="2026-01-01T12:00:05+00:00",
        measured_from=0.0,
        measured_to=5.0,
        batches=batches,
    )


def a_batch(uid: str) -> bytes:
    encoder = wire.BatchEncoder(run=uid)
    encoder.add_sample(node="db1", role="writer", t=1.0, values={"mysql.status.Queries": 5})
    return encoder.flush()[1]
