"""Endpoints for samplers: the server's clock, the runs to sample, and their streams.

As in agents.py every request may be resent. 409: the stream is closed.
"""

import time
from functools import partial
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core import limits
from apps.dispatch import api as dispatch
from apps.rest.agents.agents import BINARY, CHECKSUM, STORED, AgentView, checksum_of
from apps.rest.framework import problems
from apps.rest.framework.messages import answer, answer_of, body_of, read_body, read_message
from apps.runs.api import streams
from apps.runs.models import Run, Stream
from workers import tasks
from workers.protocol import wire


class ServerClockView(AgentView):
    @extend_schema(
        operation_id="agent_clock", tags=["agent"], responses={200: answer_of(wire.ClockMessage, "The server's clock.")}
    )
    def get(self, _request: Request) -> HttpResponse:
        """The server's clock, by which agents measure their clock offsets."""
        return answer(wire.ClockMessage(now=time.time()))


class RunsToSample(AgentView):
    @extend_schema(
        operation_id="agent_sampling",
        tags=["agent"],
        request=body_of(wire.SamplingMessage),
        responses={200: answer_of(wire.SamplingAnswer, "The runs that are measured now on these systems.")},
    )
    def post(self, request: Request) -> HttpResponse:
        """List the runs, driven by other agents, that this agent should sample; polled every second."""
        message = read_message(request, wire.SamplingMessage)
        return answer(dispatch.sampled_runs(agent=self.agent, message=message))


class StreamView(AgentView):
    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, streams.Closed):
            exc = problems.ApiProblem(status=409, kind="stream-closed", title="Stream closed", detail=str(exc))
        return super().handle_exception(exc)

    def stream(self, uid: UUID, number: int) -> Stream:
        return dispatch.stream_of(agent=self.agent, uid=uid, number=number)


class StoreStreamBatch(StreamView):
    @extend_schema(
        operation_id="agent_store_stream_batch",
        tags=["agent"],
        parameters=[CHECKSUM],
        request={"application/gzip": BINARY},
        responses=STORED,
    )
    def put(self, request: Request, uid: UUID, number: int, sequence: int) -> Response:
        """Store one batch of a sampler's stream: gzip of JSON lines, at most 8 MB."""
        payload, checksum = read_body(request, limit=limits.BATCH), checksum_of(request.META)
        if sequence >= 2**31:
            raise problems.invalid("sequence", "must be a whole number from 0, of at most 31 bits")
        if wire.checksum(payload) != checksum:
            raise problems.invalid("checksum", "is not the SHA-256 of what arrived: send it again")
        stream = self.stream(uid, number)
        new = streams.accept_batch(stream=stream, sequence=sequence, checksum=checksum, payload=payload)
        _seal_after_commit(stream)
        return Response({"run": stream.run_id}, status=201 if new else 200)


class EndStream(StreamView):
    @extend_schema(
        operation_id="agent_end_stream",
        tags=["agent"],
        request=body_of(wire.StreamEndMessage),
        responses={200: OpenApiResponse(description="Ended; the run is sealed once all of it is here.")},
    )
    def post(self, request: Request, uid: UUID, number: int) -> Response:
        """State the total number of batches of the stream."""
        message, stream = read_message(request, wire.StreamEndMessage), self.stream(uid, number)
        streams.end(stream=stream, batches=message.batches)
        _seal_after_commit(stream)
        return Response({"run": stream.run_id})


def _seal_after_commit(stream: Stream) -> None:
    """Seal the run if it has ended and awaits no other stream."""
    run = Run.objects.only("state").get(pk=stream.run_id)
    if run.state == Run.State.ENDED and not streams.awaited(run, now=timezone.now()):
        transaction.on_commit(partial(tasks.enqueue, tasks.seal_run, run_id=run.pk))
