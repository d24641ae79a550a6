"""REST API tokens, one-time sign-in links and saved filters."""

from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import Q

from apps.accounts.credentials import digest_of, new_secret
from apps.accounts.models import ApiToken, SavedFilter, SignInLink, User
from apps.core.problems import FieldProblem, Invalid

SIGN_IN_LINK_LASTS = timedelta(hours=1)
# Avoids one write per request of a busy script.
LAST_USED_WRITTEN_EVERY = timedelta(minutes=1)
PREFIX_LENGTH = 8
LONGEST_NAME, LONGEST_QUERY = 60, 2000  # of a saved filter, characters
MOST_FILTERS = 30


def create_token(*, user: User, name: str) -> tuple[ApiToken, str]:
    """The token and its secret, which is not stored."""
    secret = new_secret()
    token = ApiToken.objects.create(user=user, name=name, prefix=secret[:PREFIX_LENGTH], digest=digest_of(secret))
    return token, secret


def user_of_token(secret: str, now: datetime) -> User | None:
    """The token's user; None when the token is unknown or revoked, or the user is inactive."""
    tokens = ApiToken.objects.filter(digest=digest_of(secret), revoked_at=None, user__is_active=True)
    token = tokens.select_related("user").first()
    if token is None:
        return None
    unwritten = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_WRITTEN_EVERY)
    ApiToken.objects.filter(unwritten, pk=token.pk).update(last_used_at=now)
    return token.user


def named(username: str) -> User:
    """The user of this name. An unknown name, from another installation, is created as a user who cannot sign in."""
    nobody = {"role": User.Role.READER, "is_active": False, "password": make_password(None)}
    return User.objects.get_or_create(username=username, defaults=nobody)[0]


def revoke_token(*, token: ApiToken, now: datetime) -> bool:
    """False: already revoked."""
    return ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now) == 1


def create_sign_in_link(*, user: User, now: datetime) -> str:
    """The link's secret, valid once within an hour."""
    secret = new_secret()
    SignInLink.objects.create(user=user, digest=digest_of(secret), expires_at=now + SIGN_IN_LINK_LASTS)
    return secret


def owner_of_sign_in_link(*, secret: str, now: datetime) -> User | None:
    """The link's user; None when the link is unknown, used or expired. Does not use the link."""
    links = SignInLink.objects.filter(
        digest=digest_of(secret), used_at=None, expires_at__gt=now, user__is_active=True
    ).select_related("user")
    link = links.first()
    return link.user if link else None


def use_sign_in_link(*, secret: str, now: datetime) -> User | None:
    """Marks the link as used and returns its user, whom the caller signs in; None: unknown, used or expired."""
    user = owner_of_sign_in_link(secret=secret, now=now)
    won = SignInLink.objects.filter(digest=digest_of(secret), used_at=None, expires_at__gt=now).update(used_at=now)
    return user if won == 1 else None


def first_administrator() -> User:
    """The oldest active administrator; without one, a new user "admin" without a password.

    Raises Invalid when "admin" exists but is not an active administrator.
    """
    administrators = User.objects.filter(role=User.Role.ADMINISTRATOR, is_active=True)
    user = administrators.order_by("pk").first()
    if user is not None:
        return user
    user = User(username="admin", role=User.Role.ADMINISTRATOR)
    user.set_unusable_password()
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:  # created by another process at this moment, or the name is taken
        other = administrators.filter(username="admin").first()
        if other is None:
            remedy = "name an active user, or make that one an administrator"
            raise Invalid([FieldProblem("username", "'admin' is taken, but no active administrator", remedy)]) from None
        return other
    return user


def filters_of(user: User) -> list[SavedFilter]:
    return list(user.saved_filters.all())


def save_filter(*, user: User, name: str, query: str) -> SavedFilter:
    """Replaces the user's filter of this name. Raises Invalid."""
    name = name.strip()
    problems = []
    if not name or not name.isprintable():
        problems.append(FieldProblem("name", "is empty", "give the filter a name, for example nightly failures"))
    elif len(name) > LONGEST_NAME:
        problems.append(FieldProblem("name", f"has {len(name)} characters", f"use at most {LONGEST_NAME}"))
    if not query:
        problems.append(FieldProblem("filters", "none is set", "choose a filter or an order first"))
    elif len(query) > LONGEST_QUERY:
        problems.append(FieldProblem("filters", "are too many to be saved", "choose fewer values"))
    others = user.saved_filters.exclude(name=name)
    if not problems and others.count() >= MOST_FILTERS:
        problems.append(FieldProblem("name", f"you have {MOST_FILTERS} saved filters", "remove one first"))
    if problems:
        raise Invalid(problems)
    return SavedFilter.objects.update_or_create(user=user, name=name, defaults={"query": query})[0]


def remove_filter(*, user: User, name: str) -> bool:
    """False: the user has none of this name."""
    return user.saved_filters.filter(name=name).delete()[0] > 0
