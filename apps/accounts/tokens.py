"""REST API tokens: made with a scope and an end, found by their secret, revoked."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from apps.accounts.credentials import digest_of, new_secret
from apps.accounts.models import ApiToken, User
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid

Scope = ApiToken.Scope
# Avoids one write per request of a busy script.
LAST_USED_WRITTEN_EVERY = timedelta(minutes=1)
PREFIX_LENGTH = 8
LONGEST_NAME = 100
USUAL_DAYS, MOST_DAYS = 365, 730
MOST_LISTED = 200


class TokenExpired(Exception):
    """The secret is a token's that has expired."""

    def __init__(self, token: ApiToken) -> None:
        super().__init__(f"The token {token.name!r} expired on {token.expires_at:%Y-%m-%d at %H:%M} UTC.")


def widest_scope(user: User) -> Scope:
    """More than this no token of the user may do."""
    return Scope.REVIEW if user.may_write else Scope.READ


@transaction.atomic
def create(*, user: User, name: str, scope: str, days: int | None, now: datetime) -> tuple[ApiToken, str]:
    """The token and its secret, which is not stored. `days` None: it does not expire, for administrators alone.

    Raises Invalid (`name`, `scope`, `days`).
    """
    name = " ".join(name.split())
    problems = _problems(user, name, scope, days)
    if problems:
        raise Invalid(problems)
    secret = new_secret()
    expires_at = None if days is None else now + timedelta(days=days)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=scope,
        expires_at=expires_at,
        prefix=secret[:PREFIX_LENGTH],
        digest=digest_of(secret),
    )
    end = "does not expire" if expires_at is None else f"until {expires_at:%Y-%m-%d}"
    record(Action.TOKEN_CREATE, _named(token), after=f"scope {scope}, {end}")
    return token, secret


def of_secret(secret: str, now: datetime) -> ApiToken | None:
    """The token, noted as used; None when it is unknown or revoked, or its user inactive. Raises TokenExpired."""
    tokens = ApiToken.objects.filter(digest=digest_of(secret), revoked_at=None, user__is_active=True)
    token = tokens.select_related("user").first()
    if token is None:
        return None
    if token.has_expired(now):
        raise TokenExpired(token)
    unwritten = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_WRITTEN_EVERY)
    ApiToken.objects.filter(unwritten, pk=token.pk).update(last_used_at=now)
    return token


@transaction.atomic
def revoke(*, token: ApiToken, now: datetime) -> bool:
    """False: already revoked."""
    won = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now) == 1
    if won:
        record(Action.TOKEN_REVOKE, _named(token), before=f"scope {token.scope}")
    return won


def _named(token: ApiToken) -> str:
    return f"token {token.name} ({token.prefix}…) of {token.user.username}"


def _problems(user: User, name: str, scope: str, days: int | None) -> list[FieldProblem]:
    problems = []
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        problem = f"must have 1 to {LONGEST_NAME} printable characters"
        problems.append(FieldProblem("name", problem, "describe the token's use, for example nightly import"))
    elif user.tokens.filter(name=name, revoked_at=None).exists():
        problems.append(FieldProblem("name", f"{user.username} already has a token {name!r}", "choose another name"))
    if scope not in Scope.values:
        problems.append(FieldProblem("scope", f"{scope[:20]!r} is not a scope", f"use {', '.join(Scope.values)}"))
    elif scope != Scope.READ and not user.may_write:
        problem = f"{user.username} has the role {user.role}, which may only read"
        problems.append(FieldProblem("scope", problem, f"use {Scope.READ}"))
    if days is None and not user.is_administrator:
        remedy = f"choose 1 to {MOST_DAYS} days"
        problems.append(FieldProblem("days", "only an administrator's token may have no end", remedy))
    elif days is not None and not 1 <= days <= MOST_DAYS:
        problems.append(FieldProblem("days", f"{days} is out of range", f"use 1 to {MOST_DAYS} days"))
    return problems
