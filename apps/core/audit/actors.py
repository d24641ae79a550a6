"""Who acts now: the person, token or agent of the request that this thread answers, or else a command."""

import getpass
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import HttpRequest

from apps.core.audit.models import AuditEntry
from apps.core.client_address import client_address

Kind = AuditEntry.Kind
# Set by the middleware. DRF stores whom it authenticated in Django's request too.
current_request: ContextVar[HttpRequest | None] = ContextVar("current_request", default=None)


@dataclass(frozen=True)
class Actor:
    """`credential`: name of the token; empty: a session. `address`: of the client; empty: on the server itself."""

    kind: str
    who: str
    credential: str = ""
    address: str = ""


def current_actor() -> Actor:
    request = current_request.get()
    if request is None:
        return Actor(Kind.COMMAND, _command())
    address = client_address(request)
    # request.auth is DRF's: an ApiToken or an Agent, which this layer does not know but by their `audit_kind`.
    credential: Any = getattr(request, "auth", None)
    kind = getattr(credential, "audit_kind", None)
    if kind == Kind.AGENT:
        return Actor(Kind.AGENT, credential.name, address=address)
    user: Any = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return Actor(Kind.NOBODY, "", address=address)
    if kind == Kind.TOKEN:
        return Actor(Kind.TOKEN, user.get_username(), credential=credential.name, address=address)
    return Actor(Kind.PERSON, user.get_username(), address=address)


def _command() -> str:
    """For example "create_token by root"; a Celery task: "task by splashboard"."""
    is_manage = Path(sys.argv[0]).name == "manage.py" and len(sys.argv) > 1
    name = sys.argv[1] if is_manage else "task"
    try:
        return f"{name} by {getpass.getuser()}"
    except (KeyError, OSError):  # an account without a name, as in some containers
        return name
