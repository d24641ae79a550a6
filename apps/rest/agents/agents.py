"""Endpoints for agents. Every request is idempotent and may be resent.

409: the attempt no longer belongs to this agent; 410: there is no such job; 404: no such run. None of these should be
retried.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from msgspec import structs
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.aws import collection
from apps.aws import queries as aws_queries
from apps.aws import services as aws
from apps.aws.clients import AwsTrouble
from apps.core import limits
from apps.core.server.repeated_warnings import RepeatedWarnings
from apps.dispatch import api as dispatch
from apps.dispatch.models import Agent
from apps.rest.agents import versions
from apps.rest.framework import problems
from apps.rest.framework.authentication import AgentAuthentication
from apps.rest.framework.messages import answer, answer_of, body_of, read_body, read_message
from apps.rest.framework.permissions import IsAgent
from apps.runs.api import accept
from apps.runs.models import Run
from workers import tasks
from workers.protocol import wire

STORED = {
    201: OpenApiResponse(description="Stored."),
    200: OpenApiResponse(description="Already stored; nothing changed."),
}
CHECKSUM = OpenApiParameter(
    "X-Checksum", location="header", required=True, description="SHA-256 of the body, 64 hexadecimal digits."
)
warnings = RepeatedWarnings(logging.getLogger(__name__))
BINARY = {"type": "string", "format": "binary"}


class AlwaysJSON(DefaultContentNegotiation):
    """Always JSON, whatever the Accept header: agents support nothing else and send many requests."""

    def select_renderer(
        self, _request: Request, renderers: Iterable[BaseRenderer], _format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class AgentView(APIView):
    content_negotiation_class = AlwaysJSON
    authentication_classes = [AgentAuthentication]
    permission_classes = [IsAgent]

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, dispatch.NoSuchRun | dispatch.NoSuchJob):
            name = type(self).__name__
            warnings.warn((self.agent.pk, name), "agent %s was refused (%s): %s", self.agent.name, name, exc)
        return super().handle_exception(_as_problem(exc))

    @property
    def agent(self) -> Agent:
        agent = self.request.auth
        assert isinstance(agent, Agent), "IsAgent admitted a caller that is no agent"  # noqa: S101  for mypy
        return agent


NO_SUCH_JOB = {"410": "There is no such job: end what was begun for it"}


def _as_problem(error: Exception) -> Exception:
    match error:
        case dispatch.LeaseLost():
            return problems.ApiProblem(status=409, kind="lease-lost", title="Lease lost", detail=str(error))
        case dispatch.NoSuchJob():
            return problems.ApiProblem(status=410, kind="no-such-job", title="No such job", detail=str(error))
        case dispatch.NoSuchRun():
            return problems.ApiProblem(status=404, kind="no-such-run", title="No such run", detail=str(error))
        case AwsTrouble():
            return problems.ApiProblem(
                status=502 if error.passes else 409, kind="aws", title="AWS refused", detail=str(error)
            )
        case accept.Refused():
            return problems.invalid(error.field, error.message)
    return error


class Hello(AgentView):
    further_problems = versions.TOO_OLD

    @extend_schema(
        operation_id="agent_hello",
        tags=["agent"],
        request=body_of(wire.HelloMessage),
        responses={200: answer_of(wire.HelloAnswer, "Accepted; `warnings` are for the agent's log.")},
    )
    def post(self, request: Request) -> HttpResponse:
        """Report the systems that the agent can reach and its health: at start and every minute."""
        message = read_message(request, wire.HelloMessage)
        if problem := versions.problem_of(request):
            dispatch.withdraw(agent=self.agent, version=message.version, now=timezone.now())
            raise problem
        said = dispatch.hello(agent=self.agent, message=message, now=timezone.now())
        transaction.on_commit(partial(tasks.enqueue, tasks.match_jobs))
        known = aws_queries.warnings_for(system.slug for system in message.systems if system.aws)
        return answer(structs.replace(said, warnings=[*said.warnings, *known]))


class ClaimJob(AgentView):
    further_problems = versions.TOO_OLD

    @extend_schema(
        operation_id="agent_claim",
        tags=["agent"],
        request=None,
        responses={
            200: answer_of(wire.JobMessage, "The job to start now; its lease has begun."),
            204: OpenApiResponse(description="No job available."),
        },
    )
    def post(self, request: Request) -> HttpResponse:
        """Begin the job that was matched to this agent."""
        if problem := versions.problem_of(request):
            raise problem
        job = dispatch.claim(agent=self.agent, now=timezone.now())
        return HttpResponse(status=204) if job is None else answer(job)


class RenewLease(AgentView):
    further_problems = NO_SUCH_JOB

    @extend_schema(
        operation_id="agent_renew_lease",
        tags=["agent"],
        request=body_of(wire.RenewMessage),
        responses={200: answer_of(wire.RenewAnswer, "The lease is renewed.")},
    )
    def post(self, request: Request, job_id: int) -> HttpResponse:
        """Renew the lease and report the agent's current step."""
        message = read_message(request, wire.RenewMessage)
        return answer(
            dispatch.renew(
                agent=self.agent,
                job_id=job_id,
                attempt=message.attempt,
                progress=message.progress,
                now=timezone.now(),
            )
        )


class EndJob(AgentView):
    further_problems = NO_SUCH_JOB

    @extend_schema(
        operation_id="agent_end_job",
        tags=["agent"],
        request=body_of(wire.JobEndMessage),
        responses={200: OpenApiResponse(description="Ended.")},
    )
    def post(self, request: Request, job_id: int) -> Response:
        """End the attempt. A failed job is attempted up to three times."""
        message = read_message(request, wire.JobEndMessage)
        _one_of("outcome", message.outcome)
        dispatch.end_job(agent=self.agent, job_id=job_id, message=message, now=timezone.now())
        transaction.on_commit(partial(tasks.enqueue, tasks.match_jobs))
        return Response({})


class FailOver(AgentView):
    further_problems = {"502": "AWS does not answer, or not now: send the same again"}

    @extend_schema(
        operation_id="agent_fail_over",
        tags=["agent"],
        request=body_of(wire.FailoverMessage),
        responses={200: answer_of(wire.FailoverAnswer, "AWS accepted the failover.")},
    )
    def post(self, request: Request, slug: str) -> HttpResponse:
        """Request from AWS a failover of the system on which this agent runs a job. Resend only when refused."""
        message = read_message(request, wire.FailoverMessage)
        job = dispatch.job_on(agent=self.agent, slug=slug)
        return answer(aws.fail_over(system=job.system, run=dispatch.open_run_of(job), target=message.target))


class OpenRunView(AgentView):
    further_problems = NO_SUCH_JOB

    @extend_schema(operation_id="agent_open_run", tags=["agent"], request=body_of(wire.RunMessage), responses=STORED)
    def put(self, request: Request, uid: UUID) -> Response:
        """Open a run under the uid from the claim."""
        message = read_message(request, wire.RunMessage)
        known = Run.objects.filter(uid=uid).exists()
        run = dispatch.open_run(agent=self.agent, uid=uid, message=message, now=timezone.now())
        collection.announce(run)
        return Response({"run": run.pk}, status=200 if known else 201)


class StoreArtifact(AgentView):
    @extend_schema(
        operation_id="agent_store_artifact",
        tags=["agent"],
        parameters=[CHECKSUM],
        request={"*/*": BINARY},
        responses=STORED,
    )
    def put(self, request: Request, uid: UUID, name: str) -> Response:
        """Store a raw file of the run, at most 64 MB, with its media type."""
        content = read_body(request, limit=limits.ARTIFACT)
        run = dispatch.run_of(agent=self.agent, uid=uid, now=timezone.now())
        new = accept.accept_artifact(
            run=run,
            name=name,
            sha256=checksum_of(request.META),
            content=content,
            media_type=request.content_type or "application/octet-stream",
        )
        if run.state == Run.State.ENDED:  # this may be its last missing piece
            seal_after_commit(run.pk)
        return Response({"run": run.pk}, status=201 if new else 200)


class EndRun(AgentView):
    @extend_schema(
        operation_id="agent_end_run",
        tags=["agent"],
        request=body_of(wire.RunEndMessage),
        responses={200: OpenApiResponse(description="Ended; sealed once all batches and artifacts are here.")},
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """End the run and state the number of its batches and the names of its artifacts."""
        message = read_message(request, wire.RunEndMessage)
        run = dispatch.run_of(agent=self.agent, uid=uid, now=timezone.now())
        dispatch.end_run(agent=self.agent, run=run, message=message, now=timezone.now())
        collection.expect(run)
        seal_after_commit(run.pk)
        return Response({"run": run.pk})


def seal_after_commit(run_id: int) -> None:
    enqueue: Callable[[], Any] = partial(tasks.enqueue, tasks.seal_run, run_id=run_id)
    transaction.on_commit(enqueue)


def checksum_of(meta: Mapping[str, Any]) -> str:
    checksum: str = meta.get("HTTP_X_CHECKSUM", "").strip().lower()
    if not checksum:
        raise problems.invalid("X-Checksum", "the header is missing", "send the SHA-256 of the body")
    return checksum


def _one_of(field: str, value: str) -> None:
    outcomes = [str(outcome) for outcome in Run.Outcome.values]
    if value not in outcomes:
        raise problems.invalid(field, f"{value!r} is not an outcome", f"use one of {', '.join(outcomes)}")
