"""The page People: an administrator invites, changes roles, disables, and makes new sign-in links."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts import identities, people, services
from apps.accounts.models import User
from apps.core.problems import FieldProblem, Invalid
from apps.web.accounts.guards import administrators_only
from apps.web.components.forms import PageForm
from apps.web.components.pages import render_page


class InvitationForm(PageForm):
    username = forms.CharField(label="User name", max_length=150)
    email = forms.EmailField(label="E-mail address", required=False)
    role = forms.ChoiceField(label="Role", choices=User.Role.choices)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def show(request: HttpRequest) -> HttpResponse:
    """POST: an invitation, whose link stands in this one answer."""
    if request.method != "POST":
        return _page(request, InvitationForm())
    form = InvitationForm(request.POST)
    made = form.attempt(lambda: people.invite(**form.cleaned_data, now=timezone.now()))
    if made is None:
        return _page(request, form, status=422)
    user, secret = made
    return _page(
        request, InvitationForm(), invited=user, link=_link(request, secret), days=people.INVITATION_LASTS.days
    )


@require_POST
@administrators_only
def change(request: HttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    role = request.POST.get("role")
    if role is not None and role not in User.Role.values:
        return _page(request, InvitationForm(), status=400, refused=[FieldProblem("role", f"{role!r:.40} is no role")])
    is_active = request.POST["active"] == "yes" if "active" in request.POST else None
    try:
        people.change(user=user, role=role, is_active=is_active)
    except Invalid as refused:
        return _page(request, InvitationForm(), status=409, refused=refused.errors)
    state = "" if user.is_active else ", disabled"
    messages.success(request, f"{user.username} is {user.get_role_display().lower()}{state}.")
    return redirect("web:people")


@never_cache
@require_POST
@administrators_only
def link(request: HttpRequest, user_id: int) -> HttpResponse:
    """A new link for somebody who lost the password; it stands in this one answer."""
    user = get_object_or_404(User, pk=user_id, is_active=True)
    secret = services.create_sign_in_link(user=user, now=timezone.now())
    return _page(request, InvitationForm(), invited=user, link=_link(request, secret))


@require_POST
@administrators_only
def unbind(request: HttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    if identities.unbind(user=user):
        messages.success(request, f"{user.username} is bound anew at the next sign-in with the provider.")
    return redirect("web:people")


def _link(request: HttpRequest, secret: str) -> str:
    return request.build_absolute_uri(reverse("web:sign-in-link", kwargs={"secret": secret}))


def _page(request: HttpRequest, form: InvitationForm, *, status: int = 200, **made: object) -> HttpResponse:
    context = {
        "form": form,
        "problems": form.problems(),
        "rows": people.list_people(now=timezone.now()),
        "roles": User.Role.choices,
        **made,
    }
    return render_page(request, "web/accounts/people.html", context, status=status)
