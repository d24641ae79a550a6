"""A person's sessions: since when, from where, with which browser; and their end."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.http import HttpRequest

from apps.accounts.credentials import digest_of
from apps.accounts.models import PersonSession, User
from apps.accounts.sessions.browsers import browser_name
from apps.core.audit.api import Action, record
from apps.core.client_address import client_address

SIGNED_IN = "signed_in"  # in a session's data
# Avoids one write per page.
SEEN_WRITTEN_EVERY = timedelta(minutes=1)
HANDLE_LENGTH = 16
MOST_LISTED = 100


@dataclass(frozen=True)
class SessionRow:
    """`handle` names the session on pages, which its key would open; `address` and `browser`: of its sign-in."""

    handle: str
    started_at: datetime
    last_seen_at: datetime
    address: str
    browser: str
    is_current: bool


def note_sign_in(request: HttpRequest, now: datetime) -> None:
    """Into the session that has just begun, for its row."""
    request.session[SIGNED_IN] = {
        "at": now.isoformat(),
        "address": client_address(request)[:45],
        "browser": browser_name(str(request.META.get("HTTP_USER_AGENT", ""))),
    }


def of_person(*, user: User, current: str | None, now: datetime) -> list[SessionRow]:
    """The last seen first. `current`: key of the request's own session."""
    found = user.sessions.filter(expire_date__gt=now).order_by("-last_seen_at")[:MOST_LISTED]
    return [
        SessionRow(
            handle=_handle(each),
            started_at=each.started_at,
            last_seen_at=each.last_seen_at,
            address=each.address,
            browser=each.browser,
            is_current=each.session_key == current,
        )
        for each in found
    ]


@transaction.atomic
def end(*, user: User, handle: str) -> bool:
    """False: the user has no such session."""
    found = next((each for each in user.sessions.all() if _handle(each) == handle), None)
    if found is None:
        return False
    found.delete()
    started = f"{found.started_at:%Y-%m-%d %H:%M} UTC"
    record(Action.SESSION_END, f"person {user.username}", before=f"{found.browser}, {found.address}, since {started}")
    return True


@transaction.atomic
def end_all(*, user: User, but: str | None = None) -> int:
    """How many were ended; `but`: key of a session that stays."""
    ended, _ = user.sessions.exclude(session_key=but).delete() if but else user.sessions.all().delete()
    if ended:
        whose = "all other sessions" if but else "all sessions"
        record(Action.SESSION_END, f"person {user.username}", before=f"{whose}: {ended}")
    return ended


def _handle(session: PersonSession) -> str:
    return digest_of(session.session_key)[:HANDLE_LENGTH]
