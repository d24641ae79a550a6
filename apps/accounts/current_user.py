"""The user of a request, on pages and in the REST API."""

from typing import Any, Protocol

from apps.accounts.models import ApiToken, User


class HasUser(Protocol):
    """A request of Django or of Django REST Framework."""

    @property
    def user(self) -> Any: ...


def signed_in(request: HasUser) -> User | None:
    return request.user if isinstance(request.user, User) else None


def may_write(request: HasUser) -> bool:
    """By the role, and by the scope of a token: who may not change what has a secret may not read the secret."""
    user, token = signed_in(request), getattr(request, "auth", None)
    is_within_scope = not isinstance(token, ApiToken) or token.allows(ApiToken.Scope.REVIEW)
    return user is not None and user.may_write and is_within_scope


def administrator(request: HasUser) -> User | None:
    user = signed_in(request)
    return user if user is not None and user.is_administrator else None


def writer(request: HasUser) -> User:
    """The user, in a view whose permissions admit only writers."""
    user = signed_in(request)
    assert user is not None, "a permission admitted an anonymous user"  # noqa: S101
    return user
