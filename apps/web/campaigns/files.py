"""The page that plans a campaign from a file; problems are listed above the text, with line numbers."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.current_user import writer
from apps.catalog.models import System
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.api import campaign_file as file
from apps.dispatch.api import queries
from apps.web.accounts.guards import writers_only
from apps.web.campaigns import presets
from apps.web.components.pages import file_or_text, render_page
from workers import tasks

EXAMPLE = """\
name: "flush at commit: 1 or 2"
systems: [mariadb-flush1, mariadb-flush2]
repetitions: 3
warmup: 2
duration: 10
workloads:
  - tool: sysbench_oltp
    parameters: {test: oltp_write_only, tables: 4, table_size: 10000}
    load_levels: [1, 4, 8]
  - tool: tpcc_like
    climb: {from: 1, to: 64, factor: 2}
"""


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def plan(request: HttpRequest) -> HttpResponse:
    """Accepts an uploaded file or text; the button `check` only validates it."""
    preset = (request.POST if request.method == "POST" else request.GET).get("preset", "")
    own = presets.articles_text(_reached()) if preset == presets.ARTICLES else ""
    if request.method != "POST":
        return _proposed(request, own) if own else _page(request, EXAMPLE, problems=_unknown(preset))
    content = file_or_text(request, largest=file.LARGEST)
    try:
        if "check" in request.POST:
            checked = file.check(content)
            return _page(request, _text(content), checked=checked, proposed=own)
        campaign = file.start(content, by=writer(request))
    except Invalid as refused:
        return _page(request, _text(content), problems=refused.errors, proposed=own, status=422)
    tasks.enqueue(tasks.match_jobs)
    return redirect("web:campaign", campaign.pk)


def _proposed(request: HttpRequest, text: str) -> HttpResponse:
    """The preset's text, checked; its problems are those of the systems reached."""
    try:
        return _page(request, text, checked=file.check(text.encode()), proposed=text)
    except Invalid as refused:
        return _page(request, text, problems=refused.errors, proposed=text)


def _unknown(preset: str) -> tuple[FieldProblem, ...]:
    if not preset:
        return ()
    return (FieldProblem("preset", f"there is no preset {preset[:60]!r} of a file", f"use {presets.ARTICLES}"),)


def _reached() -> list[System]:
    offered = list(System.objects.filter(archived_at=None).order_by("slug"))
    unreachable = queries.unreachable(offered, now=timezone.now())
    return [system for system in offered if system.slug not in unreachable]


def _text(content: bytes) -> str:
    return content[: file.LARGEST].decode(errors="replace")


def _page(
    request: HttpRequest,
    text: str,
    *,
    checked: file.Checked | None = None,
    problems: tuple[FieldProblem, ...] = (),
    proposed: str = "",
    status: int = 200,
) -> HttpResponse:
    """`proposed`: text of the chosen preset; empty: none is chosen."""
    context: dict[str, Any] = {
        "text": text,
        "checked": checked,
        "problems": problems,
        "preset": presets.ARTICLES if proposed else "",
        "is_changed": proposed and text.split() != proposed.split(),
    }
    status = 400 if problems and problems[0].field == "preset" else status
    return render_page(request, "web/campaigns/file.html", context, status=status)
