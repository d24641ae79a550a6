"""A person's own account: the password, the sessions, and the tokens for the REST API."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts import people, shared_links, tokens
from apps.accounts.current_user import writer
from apps.accounts.models import ApiToken, User
from apps.accounts.sessions import sessions
from apps.web.accounts import share
from apps.web.accounts.guards import signed_in_only
from apps.web.accounts.sign_in import NO_PASSWORDS
from apps.web.components.forms import PageForm
from apps.web.components.pages import render_page

SCOPES = {"read": "Read", "submit": "Submit: also send runs and plan campaigns", "review": "Review: all of the role"}
DAYS = {"30": "30 days", "90": "90 days", "365": "365 days", "730": "730 days"}
NEVER = "never"
LONGEST_PASSWORD = 200


class PasswordForm(PageForm):
    """`old` stands only in the form of who has a password."""

    old = forms.CharField(label="Present password", strip=False)
    new = forms.CharField(label="New password", strip=False, max_length=LONGEST_PASSWORD)
    again = forms.CharField(label="New password again", strip=False)

    def __init__(self, *given: Any, user: User) -> None:
        super().__init__(*given)
        if not user.has_usable_password():
            del self.fields["old"]

    def clean(self) -> dict[str, Any]:
        stated = super().clean() or {}
        if "new" in stated and "again" in stated and stated["new"] != stated["again"]:
            self.add_error("again", "is not the same: type it twice")
        return stated


class TokenForm(PageForm):
    name = forms.CharField(label="Name", max_length=tokens.LONGEST_NAME)
    scope = forms.ChoiceField(label="Scope")
    days = forms.ChoiceField(label="Expires", initial=str(tokens.USUAL_DAYS))

    def __init__(self, *given: Any, user: User) -> None:
        super().__init__(*given)
        widest = tokens.widest_scope(user)
        scope, days = self.fields["scope"], self.fields["days"]
        assert isinstance(scope, forms.ChoiceField) and isinstance(days, forms.ChoiceField)  # noqa: S101, PT018  for mypy
        scope.choices = [(key, text) for key, text in SCOPES.items() if widest != "read" or key == "read"]
        days.choices = [*DAYS.items(), *([(NEVER, "Does not expire")] if user.is_administrator else [])]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in_only
def show(request: HttpRequest) -> HttpResponse:
    """POST: a new token, whose secret stands in this one answer."""
    user = writer(request)
    if request.method != "POST":
        return _page(request, TokenForm(user=user))
    form = TokenForm(request.POST, user=user)
    made = form.attempt(lambda: _create(user, form.cleaned_data))
    if made is None:
        return _page(request, form, status=422)
    token, secret = made
    return _page(request, TokenForm(user=user), made=token, secret=secret)


def _create(user: User, stated: dict[str, str]) -> tuple[ApiToken, str]:
    days = None if stated["days"] == NEVER else int(stated["days"])
    return tokens.create(user=user, name=stated["name"], scope=stated["scope"], days=days, now=timezone.now())


@never_cache
@require_POST
@signed_in_only
def change_password(request: HttpRequest) -> HttpResponse:
    """Ends every session; this browser gets a new one."""
    if not settings.PASSWORDS:
        raise PermissionDenied(NO_PASSWORDS)
    user = writer(request)
    form = PasswordForm(request.POST, user=user)

    def change() -> bool:
        people.change_password(user=user, old=form.cleaned_data.get("old", ""), new=form.cleaned_data["new"])
        return True

    if not form.attempt(change):
        return _page(request, TokenForm(user=user), status=422, password_form=form, password_problems=form.problems())
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    messages.success(request, "The password is set; all other sessions are ended.")
    return redirect("web:account")


def _page(request: HttpRequest, form: TokenForm, *, status: int = 200, **made: object) -> HttpResponse:
    user = writer(request)
    found = user.tokens.order_by("-id")[: tokens.MOST_LISTED]
    context = {
        "form": form,
        "problems": form.problems(),
        "sessions": sessions.of_person(user=user, current=request.session.session_key, now=timezone.now()),
        "rows": [(token, _state(token)) for token in found],
        "has_passwords": settings.PASSWORDS,
        "password_form": PasswordForm(user=user),
        "links": share.rows(shared_links.listed(user)),
        **made,
    }
    return render_page(request, "web/accounts/account.html", context, status=status)


def _state(token: ApiToken) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "expired" if token.has_expired(timezone.now()) else "valid"


@require_POST
@signed_in_only
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    token = writer(request).tokens.select_related("user").filter(pk=token_id).first()
    if token is None:
        raise Http404(f"You have no token {token_id}.")
    tokens.revoke(token=token, now=timezone.now())
    messages.success(request, f"Token “{token.name}” is revoked.")
    return redirect("web:account")
