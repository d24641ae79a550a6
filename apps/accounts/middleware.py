"""Pages are public unless SPLASHBOARD_PUBLIC_READ is off; then all but the sign-in page require a signed-in user, or
the shared link of that page."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

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
