"""Limits of requests a minute: of a token, a person, an agent, or an address that sends none of their credentials.

Requests with unknown credentials never get here; `problems` counts them for their address.
"""

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.accounts.current_user import signed_in
from apps.accounts.models import ApiToken
from apps.core import limits
from apps.dispatch.models import Agent
from apps.rest.framework import problems, request_counts


class RequestsPerMinute(BaseThrottle):
    def allow_request(self, request: Request, _view: Any) -> bool:
        """Raises ApiProblem (429) beyond the limit."""
        user = signed_in(request)
        match request.auth:
            case ApiToken() as token:
                _check(f"token:{token.pk}", limits.REQUESTS, f"the token {token.name!r}")
            case Agent() as agent:
                _check(f"agent:{agent.pk}", limits.AGENT_REQUESTS, f"the agent {agent.name!r}")
            case _ if user is not None:
                _check(f"person:{user.pk}", limits.REQUESTS, f"the account {user.get_username()!r}")
            case _:
                problems.count_unknown(request)
        return True


def _check(caller: str, limit: int, sender: str) -> None:
    if wait := request_counts.counter.wait(caller, limit=limit):
        raise problems.too_many(f"{limit:,} requests a minute of {sender}", wait=wait)
