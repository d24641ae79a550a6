"""Sign-ins, failed ones, lock-outs and changed passwords, as Django and axes signal them: for the audit log, and for
the person's sessions."""

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.provider import ProviderClaims
from apps.accounts.sessions import sessions
from apps.core.audit.api import Action, record

UNKNOWN = "an unknown name"


def connect() -> None:
    user_logged_in.connect(_signed_in, dispatch_uid="audit")
    user_logged_out.connect(_signed_out, dispatch_uid="audit")
    user_login_failed.connect(_failed, dispatch_uid="audit")
    user_locked_out.connect(_locked_out, dispatch_uid="audit")


class RecordedPassword:
    """A validator for the call that Django makes after a password was changed."""

    def validate(self, password: str, user: User | None = None) -> None: ...

    def get_help_text(self) -> str:
        return ""

    def password_changed(self, _password: str, user: User | None = None) -> None:
        if user is not None:
            record(Action.PERSON_PASSWORD, f"person {user.get_username()}")
            sessions.end_all(user=user)


def note_refusal(claims: ProviderClaims, why: str) -> None:
    """Somebody whom the provider vouched for and this installation did not admit."""
    record(Action.SIGN_IN_FAILED, UNKNOWN, after=f"{claims.issuer}: {claims.subject}. {why}")


def _signed_in(*, user: User, request: HttpRequest, **_: Any) -> None:
    sessions.note_sign_in(request, timezone.now())
    record(Action.SIGN_IN, f"person {user.get_username()}")


def _signed_out(*, user: User | None, **_: Any) -> None:
    if user is not None:
        record(Action.SIGN_OUT, f"person {user.get_username()}")


def _failed(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """One that was locked out already is not tried, so it is no failure."""
    if not getattr(request, "axes_locked_out", False):
        record(Action.SIGN_IN_FAILED, _named(credentials.get("username")))


def _locked_out(*, username: str, **_: Any) -> None:
    record(Action.SIGN_IN_LOCKED, _named(username))


def _named(username: str | None) -> str:
    """Not what was typed unless a person has this name: it may be a password in the wrong field."""
    known = User.objects.filter(username=username or "").exists()
    return f"person {username}" if known else UNKNOWN
