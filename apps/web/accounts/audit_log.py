"""The audit log, for administrators: filtered by who, action and days."""

from datetime import date

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_safe

from apps.core.audit.api import Action, AuditFilter, entries
from apps.core.problems import Invalid
from apps.core.query import Address
from apps.web.accounts.guards import administrators_only
from apps.web.components.lists import cursor, page_of
from apps.web.components.pages import render_page

PAGE = 50


@require_safe
@administrators_only
def show(request: HttpRequest) -> HttpResponse:
    try:
        chosen = _read(request.GET)
    except Invalid as error:
        refused = {"problems": error.errors, "page": request.path}
        return render_page(request, "web/refused.html", refused, status=400)
    found = entries(chosen)
    if (before := cursor(request)) is not None:
        found = found.filter(pk__lt=before)
    page = page_of(request, list(found[: PAGE + 1]), PAGE, key=lambda entry: entry.pk)
    context = {
        "page": page,
        "chosen": chosen,
        "actions": [(action.value, action.value) for action in Action],
        "is_filtered": chosen != AuditFilter(),
    }
    return render_page(request, "web/accounts/audit.html", context)


def _read(given: QueryDict) -> AuditFilter:
    """Raises Invalid."""
    address = Address(given, "who", "action", "since", "until", "before")
    address.number("before")
    found = AuditFilter(
        who=address.text("who"),
        action=address.choice("action", [action.value for action in Action]),
        since=_day(address, "since"),
        until=_day(address, "until"),
    )
    address.check()
    return found


def _day(address: Address, name: str) -> date | None:
    text = address.text(name)
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if text and day is None:
        address.refuse(name, f"{text!r:.40} is not a day", "write it as 2026-01-31")
    return day
