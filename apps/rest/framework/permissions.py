"""Anyone may read (unless SPLASHBOARD_PUBLIC_READ is off); engineers and administrators write; agents report.

A token needs the scope of the endpoint too: a view's `write_scope`, without one `review`. docs/reference/api.md has the
table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.accounts.current_user import administrator
from apps.accounts.models import ApiToken, User
from apps.dispatch.models import Agent

if TYPE_CHECKING:  # Avoids a circular import: DRF's views import this module.
    from rest_framework.views import APIView


class WithinScope(BasePermission):
    """Of a token. A person who is signed in has none, and is bound by the role alone."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        token = request.auth
        if not isinstance(token, ApiToken) or request.method in SAFE_METHODS:
            return True
        needed = getattr(view, "write_scope", ApiToken.Scope.REVIEW)
        self.message = f"This needs a token of the scope {needed}; {token.name!r} has the scope {token.scope}."
        return token.allows(needed)


class ReadersReadEngineersWrite(BasePermission):
    message = "This needs the role engineer or administrator."

    def has_permission(self, request: Request, _view: APIView) -> bool:
        user = request.user
        if request.method in SAFE_METHODS:
            return bool(settings.SPLASHBOARD_PUBLIC_READ or user.is_authenticated)
        return isinstance(user, User) and user.may_write


class ReadersRead(BasePermission):
    """Of views that only read, whatever the method: a query may be sent as a form."""

    message = "This needs an account."

    def has_permission(self, request: Request, _view: APIView) -> bool:
        return bool(settings.SPLASHBOARD_PUBLIC_READ or request.user.is_authenticated)


class IsAdministrator(BasePermission):
    message = "This needs the role administrator."

    def has_permission(self, request: Request, _view: APIView) -> bool:
        return administrator(request) is not None


class IsAgent(BasePermission):
    message = "Only an agent may do this: send 'Authorization: Agent <secret>'."

    def has_permission(self, request: Request, _view: APIView) -> bool:
        return isinstance(request.auth, Agent)
