"""Saved comparisons: list, one with its snapshot, save, refresh; and pinned baselines."""

from dataclasses import replace
from operator import itemgetter
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.current_user import may_write, writer
from apps.catalog.models import System, Workload
from apps.comparison.api import baselines
from apps.comparison.pure import NotKept
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.saved import services
from apps.saved.services import Saved
from apps.web.accounts.guards import writers_only
from apps.web.compare.compare import TAB_TEMPLATE, level_of, page_context, part_context, tab_response
from apps.web.compare.parts import PARTS, rendered
from apps.web.compare.sections.load_levels import objective_of
from apps.web.compare.view import CompareAddress, CompareView, no_current_data
from apps.web.components.addresses import way_back
from apps.web.components.lists import cursor, page_of, typed
from apps.web.components.pages import is_partial, render_page, takes_only

PAGE = 50


# ---------------------------------------------------------------- the list


@require_safe
@takes_only("text", "before")
def show_all(request: HttpRequest) -> HttpResponse:
    text = typed(request, "text")
    found = services.rows(words=text.split(), limit=PAGE + 1, before=cursor(request))
    page = page_of(request, found, PAGE, key=itemgetter(0))
    context = {"rows": [row for _, row in page.rows], "text": text, "page": page}
    return render_page(request, "web/saved/list.html", context)


@require_safe
def standing(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether the newest snapshot is out of date, for a row of the list."""
    context = {"standing": services.standing(_load(slug, ""))}
    return render_page(request, "web/saved/standing_page.html", context, part="web/saved/standing.html")


# ---------------------------------------------------------------- one saved comparison


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
    if "edition" in request.GET:
        return _renamed_link(request)
    found = _load(slug, request.GET.get("snapshot", ""))
    if is_partial(request):
        return _tab(request, found)
    context = {
        "saved": found,
        # Who reads it by a shared link sees the snapshot alone.
        "standing": None if hasattr(request, "shared_link") else services.standing(found),
        "may_write": may_write(request),
        "may_delete": may_write(request) and services.may_delete(found.author, writer(request)),
        "live_url": CompareAddress.read(_asked(found)).url(),
        "snapshot_url": f"{reverse('web:saved', args=[slug])}?snapshot={found.snapshot.number}",
        "json_url": f"{reverse('api:saved-comparison', args=[slug])}?snapshot={found.snapshot.number}",
    }
    try:
        seen = _seen(request, found)
        with no_current_data(seen):
            context |= page_context(seen)
    except Invalid as error:
        raise Http404(str(error)) from error
    except NotKept as error:
        return render_page(request, "web/saved/older_form.html", context | {"problem": str(error)})
    return render_page(request, "web/compare/compare.html", context, part=TAB_TEMPLATE)


def _tab(request: HttpRequest, found: Saved) -> HttpResponse:
    """A tab of the page by itself, from the snapshot."""
    try:
        return tab_response(_seen(request, found))
    except (Invalid, NotKept) as error:
        raise Http404(str(error)) from error


@require_safe
def part(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """One part of the page by itself, from the snapshot."""
    chosen = next((each for each in PARTS if each.name == name), None)
    if chosen is None:
        raise Http404(f"Compare has no part {name!r}")
    context: dict[str, Any] = {"part": chosen}
    try:
        seen = _seen(request, _load(slug, request.GET.get("snapshot", "")))
        context["html"] = rendered(chosen, seen)
        context |= part_context(seen)
    except Invalid as error:
        raise Http404(str(error)) from error
    except NotKept as error:
        context["problems"] = [FieldProblem("", str(error))]
    return render_page(request, "web/compare/part_page.html", context, part="web/compare/part.html")


def _renamed_link(request: HttpRequest) -> HttpResponse:
    """Links of earlier releases, which called a snapshot an edition."""
    query = request.GET.copy()
    query.setlist("snapshot", query.pop("edition"))
    return redirect(f"{request.path}?{query.urlencode()}", permanent=True)


def _load(slug: str, snapshot: str) -> Saved:
    number = whole_number(snapshot, digits=4)
    if snapshot and number is None:
        raise Http404(f"There is no snapshot {snapshot[:40]!r}.")
    try:
        return services.load(slug, number)
    except services.NoSuchSnapshot as error:
        raise Http404(str(error)) from error


def _asked(found: Saved) -> QueryDict:
    query = QueryDict(mutable=True)
    for name, values in found.query.items():
        query.setlist(name, values)
    return query


def _seen(request: HttpRequest, found: Saved) -> CompareView:
    """The snapshot; view options (load level, options) are from the page's own address, else as saved.

    Raises NotKept for a snapshot in an older format, Invalid for unknown options.
    """
    if found.comparison is None:
        raise NotKept(found.problem)
    query = _asked(found)
    for name, values in request.GET.lists():
        if name not in services.QUESTION:
            query.setlist(name, values)
    address = replace(
        CompareAddress.read(query), at=reverse("web:saved", args=[found.slug]), snapshot=request.GET.get("snapshot", "")
    )
    return CompareView(found.comparison, address, level_of(found.comparison, address), request, kept=found.parts)


# ---------------------------------------------------------------- actions


@require_POST
@writers_only
def save(request: HttpRequest) -> HttpResponse:
    """`query`: query string of the comparison to save."""
    query = QueryDict(request.POST.get("query", ""))
    try:
        address = CompareAddress.read(query)
        # Invalid view options would make every snapshot fail.
        objective_of(address)
        asked = QueryDict(address.plain().query())
        row = services.save(
            query={name: asked.getlist(name) for name in asked},
            title=request.POST.get("title", ""),
            note=request.POST.get("note", ""),
            by=writer(request),
        )
    except Invalid as error:
        return _refused(request, error, back=f"{reverse('web:compare')}?{query.urlencode()}")
    return redirect("web:saved", row.slug)


@require_POST
@writers_only
def refresh(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        number, made = services.refresh(slug=slug, by=writer(request))
    except services.NoSuchSnapshot as error:
        raise Http404(str(error)) from error
    except Invalid as error:
        return _refused(request, error, back=reverse("web:saved", args=[slug]))
    text = f"Snapshot {number} shows the current result." if made else "Nothing has changed; no new snapshot was made."
    messages.info(request, text)
    return redirect("web:saved", slug)


@require_POST
@writers_only
def describe(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        services.describe(slug=slug, title=request.POST.get("title", ""), note=request.POST.get("note", ""))
    except services.NoSuchSnapshot as error:
        raise Http404(str(error)) from error
    except Invalid as error:
        return _refused(request, error, back=reverse("web:saved", args=[slug]))
    return redirect("web:saved", slug)


@require_POST
@writers_only
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    path = reverse("web:saved", args=[slug])
    try:
        services.delete(slug=slug, path=path, by=writer(request), now=timezone.now())
    except services.NoSuchSnapshot as error:
        raise Http404(str(error)) from error
    messages.info(request, f"The saved comparison {slug} is deleted.")
    return redirect("web:saved-list")


@require_POST
@writers_only
def pin(request: HttpRequest, workload_id: int) -> HttpResponse:
    """Pins `system` as the baseline of the workload; without one, removes the pin."""
    workload = get_object_or_404(Workload, pk=workload_id)
    back = way_back(request, usual=reverse("web:catalog"))
    slug = request.POST.get("system", "")
    if not slug:
        baselines.unpin(workload=workload)
        messages.info(request, f"{workload.name}: baseline unpinned.")
        return redirect(back)
    try:
        system = System.objects.filter(slug=slug).first()
        if system is None:
            raise Invalid([FieldProblem("system", f"there is no {slug[:80]!r}", "choose one from the list")])
        pinned = baselines.pin(workload=workload, system=system, note=request.POST.get("note", ""), by=writer(request))
    except Invalid as error:
        return _refused(request, error, back=back)
    messages.info(request, f"{pinned.system_name} is now the baseline of {workload.name}.")
    return redirect(back)


def _refused(request: HttpRequest, error: Invalid, *, back: str) -> HttpResponse:
    for problem in error.errors:
        messages.error(request, problem.sentence())
    return redirect(back)
