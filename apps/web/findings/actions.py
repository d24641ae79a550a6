"""Actions on a finding, from its page and from the list: one POST address for each.

Without JavaScript the response redirects to the originating page; htmx on the list gets the updated row. A refused
action changes nothing, gives the reason, and the page keeps the input.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.accounts.current_user import writer
from apps.accounts.models import User
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.dispatch.api import unreachable
from apps.regressions.api import FindingChanged, NoSuchFinding, review
from apps.regressions.api import finding_queries as queries
from apps.web.accounts import writers_only
from apps.web.components.pages import is_partial, render_page
from apps.web.findings import finding, findings


class ActionForm:
    """A submitted form about one finding."""

    def __init__(self, request: HttpRequest, finding_id: int) -> None:
        self.form: QueryDict = request.POST
        self.by = writer(request)
        self.finding_id = finding_id

    def text(self, name: str) -> str:
        return str(self.form.get(name, "")).strip()

    @property
    def seen(self) -> datetime | None:
        """When the finding had last changed as the page was rendered. Raises Invalid."""
        text = self.text("seen")
        try:
            found = parse_datetime(text) if text else None
        except ValueError:
            found = None
        if text and (found is None or timezone.is_naive(found)):
            raise Invalid([FieldProblem("seen", f"{text[:40]!r} is not a time", "load the page again")])
        return found

    def day(self, name: str, *, needed: bool) -> date | None:
        """Raises Invalid."""
        text = self.text(name)
        try:
            found = parse_date(text) if text else None
        except ValueError:
            found = None
        if found is None and (text or needed):
            problem = f"{text[:40]!r} is not a date" if text else "is missing"
            raise Invalid([FieldProblem(name, problem, "write it as 2026-12-31")])
        return found

    def number(self, name: str) -> int:
        """Raises Invalid."""
        text = self.text(name).removeprefix("#")
        if whole_number(text, digits=9) is None:
            raise Invalid([FieldProblem(name, f"{text[:40]!r} is not a number", "write it in digits")])
        return int(text)

    @property
    def common(self) -> dict[str, Any]:
        return {"finding_id": self.finding_id, "by": self.by, "seen": self.seen}


def _assign(given: ActionForm) -> str:
    name = given.text("owner")
    owner = User.objects.filter(username=name).first() if name.isprintable() and name else None
    if name and owner is None:
        raise Invalid([FieldProblem("owner", f"there is no user {name[:80]!r}", "choose one from the list")])
    review.assign(**given.common, owner=owner)
    if owner is None:
        return "Owner removed."
    return "Assigned to you." if owner == given.by else f"Assigned to {owner.username}."


def _state(given: ActionForm) -> str:
    state = given.text("state")
    review.set_state(**given.common, state=state, reason=given.text("reason"))
    return {
        "new": "State: new.",
        "not reproducible": "Dismissed as not reproducible.",
        "fixed": "Marked as fixed.",
    }.get(state, f"State: {state}.")


def _accept(given: ActionForm) -> str:
    until = given.day("until", needed=True)
    assert until is not None, "needed"  # noqa: S101
    review.accept(**given.common, reason=given.text("reason"), until=until, today=timezone.localdate())
    return f"Accepted until {until}. After that day it becomes new again."


def _reopen(given: ActionForm) -> str:
    review.reopen(**given.common, reason=given.text("reason"))
    return "Re-opened."


def _due(given: ActionForm) -> str:
    day = given.day("due_on", needed=False)
    review.set_due(**given.common, due_on=day, today=timezone.localdate())
    return f"Due on {day}." if day else "Due date removed."


def _labels(given: ActionForm) -> str:
    review.set_labels(**given.common, labels=given.text("labels").split(","))
    return "Labels saved."


def _comment(given: ActionForm) -> str:
    made = review.comment(finding_id=given.finding_id, by=given.by, text=given.text("text"))
    unknown = [f"There is no user @{name} to notify." for name in review.unknown_mentions(made)]
    return " ".join(["Comment saved.", *unknown])


def _link(given: ActionForm) -> str:
    url, title = given.text("url"), given.text("title")
    review.link(finding_id=given.finding_id, by=given.by, url=url, title=title)
    return "Link saved."


def _unlink(given: ActionForm) -> str:
    review.unlink(finding_id=given.finding_id, by=given.by, link_id=given.number("link"))
    return "Link removed."


def _merge(given: ActionForm) -> str:
    wanted = given.number("into")
    if not queries.load_rows([wanted]):
        raise Invalid([FieldProblem("into", f"there is no finding {wanted}", "choose one from the list")])
    into = review.merge(**given.common, into_id=wanted)
    return f"Merged into finding {into.pk}."


def _split(given: ActionForm) -> str:
    ids = [text for text in given.form.getlist("change") if whole_number(text) is not None]
    made = review.split(**given.common, change_ids=[int(text) for text in ids])
    return f"The changes you chose are now finding {made.pk}."


def _repeat(given: ActionForm) -> str:
    wanted = given.number("repetitions") if given.text("repetitions") else None
    campaign = review.repeat(**given.common, repetitions=wanted)
    unreached = unreachable(campaign.systems.all(), now=timezone.now())
    waits = f" No live agent can reach {', '.join(sorted(unreached))}: their jobs wait for one." if unreached else ""
    return f"Campaign {campaign.pk} measures again; the finding is updated as runs arrive.{waits}"


ACTIONS: Mapping[str, Callable[[ActionForm], str]] = {
    "assign": _assign,
    "state": _state,
    "accept": _accept,
    "reopen": _reopen,
    "due": _due,
    "labels": _labels,
    "comment": _comment,
    "link": _link,
    "unlink": _unlink,
    "merge": _merge,
    "split": _split,
    "repeat": _repeat,
}


@require_POST
@writers_only
def act(request: HttpRequest, finding_id: int, action: str) -> HttpResponse:
    """Raises Http404 for an unknown finding or action."""
    done = ACTIONS.get(action)
    if done is None:
        raise Http404(f"Findings have no action {action!r}.")
    said, status = "", 200
    problems: tuple[FieldProblem, ...] = ()
    try:
        said = done(ActionForm(request, finding_id))
    except NoSuchFinding as error:
        raise Http404(str(error)) from error
    except Invalid as error:
        problems, status = error.errors, 400
    except FindingChanged as error:
        problems, status = (FieldProblem("", str(error)),), 409
    if is_partial(request):
        # htmx ignores error responses: the row shows the problem instead.
        row = findings.table_context(request, finding_id) | {"said": said, "row_problems": problems}
        return render(request, "web/findings/row.html", row)
    if problems:
        refused = {action: {"given": request.POST, "errors": {each.field: [each.text()] for each in problems}}}
        kept = finding.context(request, finding_id) | {"problems": problems, "refused": refused}
        return render_page(request, "web/findings/finding.html", kept, status=status)
    messages.success(request, said)
    return redirect(_back(request, finding_id))


def _back(request: HttpRequest, finding_id: int) -> str:
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        return back
    return reverse("web:finding", args=[finding_id])
