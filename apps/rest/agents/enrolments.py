"""A new agent fetches its secret with a one-time code."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.core.problems import Invalid
from apps.dispatch import api as dispatch
from apps.rest.agents.agents import AgentView
from apps.rest.framework import problems
from apps.rest.framework.authentication import secret_of
from apps.rest.framework.messages import answer, answer_of
from workers.protocol.enrolment import SCHEME, EnrolAnswer


class EnrolAgent(AgentView):
    """Whoever has the code may: it is the only credential."""

    authentication_classes = []
    permission_classes = []

    @extend_schema(
        operation_id="agent_enrol",
        tags=["agent"],
        request=None,
        auth=[],
        responses={201: answer_of(EnrolAnswer, "Enrolled; the secret is shown this once.")},
    )
    def post(self, request: Request, name: str) -> HttpResponse:
        """Enrol as the agent of this name, with the header `Authorization: Code <code>`; the code works once."""
        code = secret_of(request.META, SCHEME)
        try:
            enrolled = dispatch.enrol(code=code, name=name, now=timezone.now()) if code else None
        except Invalid as refused:
            error = refused.errors[0]
            raise problems.invalid(error.field, error.message, error.remedy) from refused
        if enrolled is None:
            raise AuthenticationFailed(
                "This code is unknown, used or older than an hour. An administrator makes one on the page Agents."
            )
        agent, secret = enrolled
        return answer(EnrolAnswer(agent=agent.name, secret=secret), status=201)
