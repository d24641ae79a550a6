"""Sign-in with a password or a one-time link, and sign-out."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts import provider, services

NO_PASSWORDS = "Passwords are switched off on this server: sign in at the provider."


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    template_name = "web/accounts/sign_in.html"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(
            is_public=settings.SPLASHBOARD_PUBLIC_READ,
            has_passwords=settings.PASSWORDS,
            provider_name=settings.OIDC_NAME if provider.is_offered() else "",
            **context,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.PASSWORDS:
            raise PermissionDenied(NO_PASSWORDS)
        return super().post(request, *args, **kwargs)


def locked_out(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """After too many failures of one name from one address."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    return render(request, "web/accounts/locked_out.html", {"minutes": minutes}, status=429)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Signs in by POST only: link scanners (mail filters, previews) would use up a GET or HEAD."""
    now = timezone.now()
    if request.method == "POST":
        user = services.use_sign_in_link(secret=secret, now=now)
        if user is not None:
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return HttpResponseRedirect("/")
    else:
        user = services.owner_of_sign_in_link(secret=secret, now=now)
    return render(request, "web/accounts/sign_in_link.html", {"owner": user}, status=200 if user else 410)


@login_not_required
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("web:overview")
