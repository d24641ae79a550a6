"""Sharing one page by a link: made and withdrawn by writers, opened by whoever has it."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import Resolver404, ResolverMatch, resolve, reverse
from django.utils import timezone
from django.utils.encoding import escape_uri_path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import shared_links
from apps.accounts.current_user import writer
from apps.accounts.models import SharedLink
from apps.catalog.models import Release
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.regressions.models import Finding
from apps.saved import services as saved
from apps.web.accounts.guards import writers_only
from apps.web.components.addresses import way_back
from apps.web.components.forms import PageForm
from apps.web.components.pages import render_page

DAYS = {"7": "7 days", "30": "30 days", "90": "90 days"}


class ShareForm(PageForm):
    days = forms.ChoiceField(label="Works for", choices=list(DAYS.items()), initial=str(shared_links.USUAL_DAYS))


# ---------------------------------------------------------------- opening


@login_not_required
@never_cache
@require_safe
def open_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Leads to the page, with a cookie that opens it and is sent to no other."""
    link = shared_links.of_secret(secret, timezone.now())
    if link is None:
        return render(request, "web/accounts/shared_link_gone.html", status=410)
    response = redirect(shared_links.address(link.path, link.pinned))
    response.set_cookie(
        shared_links.cookie(link),
        secret,
        expires=link.expires_at,
        path=escape_uri_path(link.path),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response


# ---------------------------------------------------------------- making and withdrawing


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def show(request: HttpRequest) -> HttpResponse:
    """Links of the page at the address `page`. POST: a new one, which stands in this one answer."""
    given = request.POST if request.method == "POST" else request.GET
    try:
        page = _shareable(given.get("page", ""))
    except Invalid as error:
        context = {"problems": error.errors, "page": reverse("web:overview")}
        return render_page(request, "web/refused.html", context, status=400)
    if request.method != "POST":
        return _page(request, page, ShareForm())
    form = ShareForm(request.POST)
    by, now = writer(request), timezone.now()
    made = form.attempt(lambda: shared_links.create(by=by, days=int(form.cleaned_data["days"]), now=now, **page))
    if made is None:
        return _page(request, page, form, status=422)
    link, secret = made
    address = request.build_absolute_uri(reverse("web:shared", args=[secret]))
    return _page(request, page, ShareForm(), made=link, address=address)


@require_POST
@writers_only
def withdraw(request: HttpRequest, link_id: int) -> HttpResponse:
    link = shared_links.withdraw(link_id=link_id, by=writer(request), now=timezone.now())
    if link is None:
        raise Http404(f"You have no shared link {link_id}.")
    messages.success(request, f"The link to {link.title} no longer works.")
    return redirect(way_back(request, usual=reverse("web:account")))


def _page(
    request: HttpRequest, page: dict[str, Any], form: ShareForm, *, status: int = 200, **made: object
) -> HttpResponse:
    context = {
        "page": page,
        "back": shared_links.address(page["path"], page["query"]),
        "form": form,
        "problems": form.problems(),
        "links": rows(shared_links.listed(writer(request), page["path"])),
        **made,
    }
    return render_page(request, "web/accounts/share.html", context, status=status)


def rows(links: Any) -> list[tuple[SharedLink, str, str]]:
    """Link, address of its page, and state."""
    now = timezone.now()
    return [(link, shared_links.address(link.path, link.pinned), shared_links.state(link, now)) for link in links]


def _shareable(address: str) -> dict[str, Any]:
    """What `shared_links.create` takes of the page at this address of ours. Raises Invalid (`page`)."""
    parts = urlsplit(address)
    refused = FieldProblem("page", f"{address[:80]!r} is no page that can be shared", "open one and press Share")
    # As a request has it; NUL is in no page's address.
    path = "" if parts.netloc else unquote(parts.path)
    try:
        match = resolve("" if "\0" in path else path)
    except Resolver404 as error:
        raise Invalid([refused]) from error
    describe = _DESCRIBED.get(match.url_name or "") if match.namespace == "web" else None
    query = QueryDict(parts.query)
    found = describe(match, query) if describe else None
    if found is None:
        raise Invalid([refused])
    title, stated = found
    return {"view": match.url_name, "path": path, "query": stated, "title": title}


Found = tuple[str, dict[str, str]] | None


def _saved(match: ResolverMatch, query: QueryDict) -> Found:
    """Always one snapshot: what is made later is not shared."""
    try:
        found = saved.load(match.kwargs["slug"], whole_number(query.get("snapshot", ""), digits=4))
    except saved.NoSuchSnapshot:
        return None
    return f"{found.title}, snapshot {found.snapshot.number}", {"snapshot": str(found.snapshot.number)}


def _finding(match: ResolverMatch, _query: QueryDict) -> Found:
    found = Finding.objects.filter(pk=match.kwargs["finding_id"]).first()
    return (f"Finding {found.pk}: {found.title}", {}) if found else None


def _release(match: ResolverMatch, query: QueryDict) -> Found:
    known = Release.objects.select_related("platform")
    found = known.filter(platform__slug=match.kwargs["platform"], version=match.kwargs["version"]).first()
    stated = {name: str(query[name]) for name in shared_links.PINNED["release"] if query.get(name)}
    return (f"Release {found.platform.name} {found.version}", stated) if found else None


_DESCRIBED: dict[str, Callable[[ResolverMatch, QueryDict], Found]] = {
    "saved": _saved,
    "finding": _finding,
    "release": _release,
}
