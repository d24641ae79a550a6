"""Actions on a finding, from its page and from the list: one POST address for each.

Without JavaScript the response redirects to the originating page; htmx on the list gets the updated row. A refused
action changes nothing, gives the reason, and the page keeps the input.
"""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.accounts.current_user import writer
from apps.regressions.api import FindingChanged, NoSuchFinding
from apps.web.accounts.guards import writers_only
from apps.web.components.pages import is_partial, render_page
from apps.web.findings import finding, findings
from apps.web.findings.forms import ACTIONS, sent


@require_POST
@writers_only
def act(request: HttpRequest, finding_id: int, action: str) -> HttpResponse:
    """Raises Http404 for an unknown finding or action."""
    if action not in ACTIONS:
        raise Http404(f"Findings have no action {action!r}.")
    form, by, status = sent(action, request.POST), writer(request), 400
    try:
        done = form.attempt(lambda: form.act(finding_id=finding_id, by=by))
    except NoSuchFinding as error:
        raise Http404(str(error)) from error
    except FindingChanged as error:
        form.add_error(None, str(error))
        done, status = None, 409
    if is_partial(request):
        # htmx ignores error responses: the row shows the problem instead.
        row = findings.table_context(request, finding_id) | {"done": done, "row_problems": form.problems()}
        return render(request, "web/findings/row.html", row)
    if done is None:
        kept = finding.context(request, finding_id)
        kept |= {"problems": form.problems(), "refused": action, "forms": kept["forms"] | {action: form}}
        return render_page(request, "web/findings/finding.html", kept, status=status)
    messages.success(request, done)
    return redirect(_back(request, finding_id))


def _back(request: HttpRequest, finding_id: int) -> str:
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        return back
    return reverse("web:finding", args=[finding_id])
