"""Anyone may read (unless SPLASHBOARD_PUBLIC_READ is off); engineers and administrators write; agents report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.accounts.models import User
from apps.dispatch.models import Agent

if TYPE_CHECKING:  # Avoids a circular import: DRF's views import this module.
    from rest_framework.views import APIView


class ReadersReadEngineersWrite(BasePermission):
    message = "This needs the role engineer or administrator."

    def has_permission(self, request: Request, _view: APIView) -> bool:
        user = request.user
        if request.method in SAFE_METHODS:
            return bool(settings.SPLASHBOARD_PUBLIC_READ or user.is_authenticated)
        return isinstance(user, User) and user.may_write


class IsAgent(BasePermission):
    message = "Only an agent may do this: send 'Authorization: Agent <secret>'."

    def has_permission(self, request: Request, _view: APIView) -> bool:
        return isinstance(request.auth, Agent)
