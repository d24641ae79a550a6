"""Sign-in at the organisation's OpenID Connect provider."""

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.accounts import identities, provider, sign_ins

COOKIE = "splashboard_provider"
# Who is removed at the provider is out after so long; a password's session lasts longer.
SESSION_LASTS = 12 * 3600  # s


@login_not_required
@never_cache
@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    """By GET: a form's answer may not lead to another origin (Content-Security-Policy), and who follows a stranger's
    link is signed in as nobody but himself."""
    if not provider.is_offered():
        raise Http404("This server has no OpenID Connect provider.")
    callback = reverse("web:sign-in-provider-callback")
    stated = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(stated, {request.get_host()}, require_https=request.is_secure())
    try:
        address, attempt = provider.begin(
            redirect_uri=request.build_absolute_uri(callback), next_page=stated if is_ours else "/"
        )
    except provider.ProviderError as error:
        return _refused(request, str(error), status=502)
    answer = HttpResponseRedirect(address)
    answer.set_cookie(
        COOKIE,
        attempt.signed(),
        max_age=provider.ATTEMPT_LASTS,
        path=callback,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return answer


@login_not_required
@never_cache
@require_safe
def come_back(request: HttpRequest) -> HttpResponse:
    if not provider.is_offered():
        raise Http404("This server has no OpenID Connect provider.")
    attempt = provider.attempt_of(request.COOKIES.get(COOKIE, ""))
    if attempt is None or not constant_time_compare(request.GET.get("state", ""), attempt.state):
        return _refused(request, "This attempt was not begun in this browser within ten minutes.", status=400)
    if "code" not in request.GET:
        told = request.GET.get("error_description") or request.GET.get("error") or "no reason given"
        return _refused(request, f"{settings.OIDC_NAME} refused: {told[:200]}", status=403)
    try:
        claims = provider.claims_of(attempt, request.GET["code"])
        user = identities.person_of(claims)
    except provider.ProviderError as error:
        return _refused(request, str(error), status=502)
    except identities.NotAdmitted as refused:
        sign_ins.note_refusal(claims, str(refused))
        return _refused(request, str(refused), status=403)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.set_expiry(SESSION_LASTS)
    answer = HttpResponseRedirect(attempt.next)
    answer.delete_cookie(COOKIE, path=reverse("web:sign-in-provider-callback"))
    return answer


def _refused(request: HttpRequest, why: str, *, status: int) -> HttpResponse:
    return render(request, "web/accounts/not_admitted.html", {"why": why}, status=status)
