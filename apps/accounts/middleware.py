"""Pages are public unless SPLASHBOARD_PUBLIC_READ is off; then all but the sign-in page require a signed-in user, or
the shared link of that page."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect

from apps.accounts import shared_links


class ReadingMayNeedSignIn(LoginRequiredMiddleware):
    """Leaves the REST API to its own permissions: DRF's views opt out."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., Any],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        if settings.SPLASHBOARD_PUBLIC_READ:
            return None
        if not request.user.is_authenticated and request.resolver_match:
            link = shared_links.opened(request, request.resolver_match.url_name or "", timezone.now())
            if link is not None:
                request.shared_link = link  # type: ignore[attr-defined]  # for templates
                return None
        return super().process_view(request, view_func, view_args, view_kwargs)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Opens the sign-in page as a page of its own: htmx would follow the redirect and put it in place of the part
        that it asked for. Afterwards the page that asked is shown again."""
        headers = request.headers
        if headers.get("HX-Request") != "true" or headers.get("HX-History-Restore-Request") == "true":
            return response
        if not isinstance(response, HttpResponseRedirectBase) or not _is_sign_in(response.url):
            return response
        sign_in = redirect_to_login(_own_path(request, headers.get("HX-Current-URL", "")))
        return HttpResponseClientRedirect(sign_in.url)


def _is_sign_in(address: str) -> bool:
    return urlsplit(address).path == resolve_url(settings.LOGIN_URL)


def _own_path(request: HttpRequest, address: str) -> str:
    """Path and query of an `address` of this server; "/" for any other."""
    if not url_has_allowed_host_and_scheme(address, {request.get_host()}):
        return "/"
    parts = urlsplit(address)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return path if url_has_allowed_host_and_scheme(path, None) else "/"
