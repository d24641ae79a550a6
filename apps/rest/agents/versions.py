"""Which agents get jobs: those whose version of the protocol this server still serves."""

from rest_framework.request import Request

from apps.rest.framework import problems
from workers.protocol import versions

TOO_OLD = {"426": "The agent is too old to get jobs from this server: install a newer one"}


def problem_of(request: Request) -> problems.ApiProblem | None:
    """None: the agent gets jobs. A newer agent than the server is served too. Raises ApiProblem (422)."""
    stated = versions.version_of(request.headers.get(versions.HEADER))
    if stated is None:
        raise problems.invalid(versions.HEADER, "is no version of the protocol", f"state {versions.VERSION}")
    if stated >= versions.OLDEST:
        return None
    return problems.ApiProblem(
        status=426,
        kind="agent-too-old",
        title="Agent too old",
        detail=f"This agent speaks version {stated} of the protocol, and this server gives jobs to agents from version "
        f"{versions.OLDEST} on. Install the agent of this server's release; what was measured is still accepted.",
    )
