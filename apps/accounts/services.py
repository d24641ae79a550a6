"""Tokens for the REST API and links that sign their owner in once."""

from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import Q

from apps.accounts.credentials import digest_of, new_secret
from apps.accounts.models import ApiToken, SignInLink, User
from apps.core.problems import FieldProblem, Invalid

SIGN_IN_LINK_LASTS = timedelta(hours=1)
# A busy script must not cost a write per request.
LAST_USED_WRITTEN_EVERY = timedelta(minutes=1)
PREFIX_LENGTH = 8


def create_token(*, user: User, name: str) -> tuple[ApiToken, str]:
    """The token and its secret, which cannot be read again later."""
    secret = new_secret()
    token = ApiToken.objects.create(user=user, name=name, prefix=secret[:PREFIX_LENGTH], digest=digest_of(secret))
    return token, secret


def user_of_token(secret: str, now: datetime) -> User | None:
    """None when the secret is unknown or revoked, or its owner is no longer active."""
    tokens = ApiToken.objects.filter(digest=digest_of(secret), revoked_at=None, user__is_active=True)
    token = tokens.select_related("user").first()
    if token is None:
        return None
    unwritten = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_WRITTEN_EVERY)
    ApiToken.objects.filter(unwritten, pk=token.pk).update(last_used_at=now)
    return token.user


def named(username: str) -> User:
    """Of that name; somebody of another installation is made known here, and cannot sign in."""
    nobody = {"role": User.Role.READER, "is_active": False, "password": make_password(None)}
    return User.objects.get_or_create(username=username, defaults=nobody)[0]


def revoke_token(*, token: ApiToken, now: datetime) -> bool:
    """False: it was revoked before."""
    return ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now) == 1


def create_sign_in_link(*, user: User, now: datetime) -> str:
    """The link's secret; it works once, within an hour."""
    secret = new_secret()
    SignInLink.objects.create(user=user, digest=digest_of(secret), expires_at=now + SIGN_IN_LINK_LASTS)
    return secret


def owner_of_sign_in_link(*, secret: str, now: datetime) -> User | None:
    """Whom the link would sign in; None when it is unknown, used or too old. Uses nothing up."""
    links = SignInLink.objects.filter(
        digest=digest_of(secret), used_at=None, expires_at__gt=now, user__is_active=True
    ).select_related("user")
    link = links.first()
    return link.user if link else None


def use_sign_in_link(*, secret: str, now: datetime) -> User | None:
    """Signs nobody in by itself: returns whose link it was, once; None when it is unknown, used or too old."""
    user = owner_of_sign_in_link(secret=secret, now=now)
    won = SignInLink.objects.filter(digest=digest_of(secret), used_at=None, expires_at__gt=now).update(used_at=now)
    return user if won == 1 else None


def first_administrator() -> User:
    """The oldest active administrator; made as "admin", without a password, where there is none.

    Raises Invalid when the name is taken by somebody who is no active administrator.
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
    except IntegrityError:  # made at this moment by another process, or the name belongs to someone else
        other = administrators.filter(username="admin").first()
        if other is None:
            remedy = "name an active user, or make that one an administrator"
            raise Invalid([FieldProblem("username", "'admin' is taken, but no active administrator", remedy)]) from None
        return other
    return user
