"""Who may open a page: views are decorated with the role that they need."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from apps.accounts.models import User

View = Callable[..., HttpResponse]


def signed_in_only(view: View) -> View:
    """Redirects anonymous users to sign-in."""
    return _guarded(view, lambda _user: True, "")


def writers_only(view: View) -> View:
    """Redirects anonymous users to sign-in; raises PermissionDenied for readers."""
    return _guarded(view, lambda user: user.may_write, "This needs the role engineer or administrator.")


def administrators_only(view: View) -> View:
    """Redirects anonymous users to sign-in; raises PermissionDenied for others."""
    return _guarded(view, lambda user: user.is_administrator, "This needs the role administrator.")


def _guarded(view: View, admits: Callable[[User], bool], refusal: str) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        user = request.user
        if not isinstance(user, User):
            return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")
        if not admits(user):
            raise PermissionDenied(refusal)
        return view(request, *args, **kwargs)

    return guarded
