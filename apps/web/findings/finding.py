"""The page of one finding: the change, its evidence, its activity, and the available actions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.current_user import may_write, signed_in
from apps.accounts.models import User
from apps.catalog.models import Platform
from apps.comparison.pure import tones
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.api import (
    Cause,
    ChangeRow,
    Evidence,
    FindingDetail,
    FindingFilter,
    FindingRow,
    NoteRow,
    SideRun,
    activity,
    evidence,
    review,
    stored_checks,
    thresholds,
)
from apps.regressions.api import finding_queries as queries
from apps.regressions.detection import ChangeLimits
from apps.regressions.models import Change, Finding
from apps.runs.pure import title_of
from apps.web.compare.view import CompareAddress
from apps.web.components.pages import render_page
from apps.web.findings import findings
from apps.web.findings.chart import FindingChart, RunValue, SideValues, chart
from apps.web.findings.forms import unsent
from apps.web.findings.wording import STATE_BUTTONS, change_answer, lede, other_word

# Rows of each table that are shown.
SHOWN_AT_ONCE = 12
CAUSES_AT_ONCE = 5
SETTINGS_AT_ONCE = 40
# Kind of a cause -> beginning of its row's id, id of the section.
PLACES = {
    "resource": ("use", "use"),
    "work": ("work", "work"),
    "statement": ("statement", "statements"),
    "setting": ("setting", "differences"),
}
# Number of listed findings that this one may be merged into.
MOST_MERGEABLE = 50


@require_safe
def show(request: HttpRequest, finding_id: int) -> HttpResponse:
    return render_page(request, "web/findings/finding.html", context(request, finding_id))


def context(request: HttpRequest, finding_id: int) -> dict[str, Any]:
    """Raises Http404."""
    found = queries.load_finding(finding_id, now=timezone.now())
    if found is None:
        raise Http404(f"There is no finding {finding_id}.")
    change = _chosen(found, request.GET.get("change", ""))
    chosen, problems = _list(request)
    me = signed_in(request)
    before, after = queries.neighbours(finding_id, chosen, me=me)
    listed = findings.query(chosen)
    gathered = evidence.gather(change) if change else None
    limits = _limits(change) if change else None
    shades = _tones(found)
    drawn = _chart(gathered, limits, shades) if gathered else None
    causes = _causes(gathered) if gathered else []
    likely = [each for each in causes if each.cause.explains]
    return _review(request, found) | {
        "finding": found,
        "row": found.row,
        "lede": lede(found),
        "release_url": _release_url(found.row),
        "problems": problems,
        "change": change,
        "change_rows": _rows(found),
        "notes": _folded(found.notes),
        "change_answer": change_answer(change) if change else "",
        "other_word": _other_word(change) if change else "",
        "others": found.row.holding - 1 if change and change.holds else found.row.holding,
        "evidence": gathered,
        "chart": drawn,
        "tones": shades,
        "smallest": f"{limits.smallest * 100:g}\u00a0%" if limits else "",
        "causes": likely,
        "cause_slice": f":{CAUSES_AT_ONCE}",
        "other_causes": likely[CAUSES_AT_ONCE:],
        "besides": [each for each in causes if not each.cause.explains],
        "other_causes_from": CAUSES_AT_ONCE + 1,
        "nothing": _nothing(gathered) if gathered and gathered.runs else "",
        "time_word": "additional" if change and change.verdict != "better" else "saved",
        "row_slice": f":{SHOWN_AT_ONCE}",
        "setting_slice": f":{SETTINGS_AT_ONCE}",
        "use_rest": max(0, len(gathered.use.differences) - SHOWN_AT_ONCE) if gathered else 0,
        "compare_url": _compare_url(gathered) if gathered else "",
        "trend_url": _trend_url(change) if change else "",
        "state_buttons": [(state, STATE_BUTTONS[state]) for state in found.next_states],
        "may_write": may_write(request),
        "forms": unsent(found),
        "me": me,
        "today": timezone.localdate(),
        "list_query": listed,
        "list_url": f"{reverse('web:findings')}?{listed}" if listed else reverse("web:findings"),
        "previous_url": _beside(before, listed),
        "next_url": _beside(after, listed),
        "page_url": request.build_absolute_uri(reverse("web:finding", args=[finding_id])),
        "next": reverse("web:finding", args=[finding_id]) + (f"?{listed}" if listed else ""),
    }


@dataclass(frozen=True)
class LinkedCause:
    """`anchor`: id of its row on the page, or of the section where the row is not shown."""

    cause: Cause
    anchor: str


def _causes(gathered: Evidence) -> list[LinkedCause]:
    rows = {f"use-{each.key}@{each.where}" for each in gathered.use.differences[:SHOWN_AT_ONCE]}
    rows |= {f"work-{each.key}" for each in gathered.work[:SHOWN_AT_ONCE]}
    rows |= {f"statement-{each.key}" for each in gathered.statements[:SHOWN_AT_ONCE]}
    rows |= {f"setting-{each.field}" for each in gathered.shown_differences[:SETTINGS_AT_ONCE]}
    found = []
    for each in gathered.causes:
        prefix, section = PLACES[each.kind]
        row = f"{prefix}-{each.key}{f'@{each.where}' if each.where else ''}"
        found.append(LinkedCause(each, row if row in rows else section))
    return found


def _nothing(gathered: Evidence) -> str:
    """That no resource stands out, or cannot; empty: something that was observed points to a cause."""
    if any(each.is_indicated for each in gathered.causes):
        return ""
    text = gathered.use.nothing
    return f"{text[:1].upper()}{text[1:]}."


def _list(request: HttpRequest) -> tuple[FindingFilter, tuple[FieldProblem, ...]]:
    """The list that this page was opened from: its filters are in the query string."""
    given = request.GET.copy()
    given.pop("change", None)
    try:
        return findings.read(given)[0], ()
    except Invalid as error:
        return findings.read(type(given)())[0], error.errors


def _chosen(found: FindingDetail, asked: str) -> ChangeRow | None:
    """The change to show: the requested one, else the one that the title names."""
    if not asked:
        return found.changes[0] if found.changes else None
    for change in found.changes:
        if str(change.id) == asked:
            return change
    raise Http404(f"Finding {found.row.id} has no change {asked[:40]!r}.")


def _rows(found: FindingDetail) -> list[tuple[ChangeRow, list[ChangeRow]]]:
    """One row per effect: a change, with those in the trend that are the same effect."""
    alone = [change for change in found.changes if change.beneath is None]
    return [(change, [other for other in found.changes if other.beneath == change.id]) for change in alone]


def _folded(notes: Iterable[NoteRow]) -> list[NoteRow]:
    """Changes that were found one after another, by analyses of the same runs, are one entry."""
    folded: list[NoteRow] = []
    for note in notes:
        before = folded[-1] if folded else None
        if before and note.what == before.what == "found" and not note.by:
            detail: dict[str, object] = {"changes": [*_changes(before), *_changes(note)]}
            words = activity.sentence(what="found", by="", text="", detail=detail)
            folded[-1] = replace(before, detail=detail, sentence=words)
        else:
            folded.append(note)
    return folded


def _changes(note: NoteRow) -> list[object]:
    found = note.detail.get("changes")
    return list(found) if isinstance(found, list) else []


def _review(request: HttpRequest, found: FindingDetail) -> dict[str, Any]:
    """Choices of the forms, for users who may write."""
    if not may_write(request) or found.row.merged_into is not None:
        return {}
    offered: dict[str, Any] = {"people": _people(), "mergeable": _mergeable(found)}
    try:
        offered["plan"] = review.plan_of(found.row.id)
    except Invalid as error:
        offered["plan_problem"] = "; ".join(each.message for each in error.errors)
    return offered


def _mergeable(found: FindingDetail) -> list[tuple[str, str]]:
    """Other findings of the same kind on the same platform, most recently changed first."""
    platform = found.row.platform.id if found.row.platform else None
    others = Finding.objects.filter(kind=found.row.kind, platform=platform, merged_into=None).exclude(pk=found.row.id)
    rows = others.order_by("-changed_at").values_list("pk", "title")[:MOST_MERGEABLE]
    return [(str(pk), f"{pk}: {title}") for pk, title in rows]


def _people() -> list[tuple[str, str]]:
    people = User.objects.filter(is_active=True, role__in=[User.Role.ENGINEER, User.Role.ADMINISTRATOR])
    return [(name, name) for name in people.order_by("username").values_list("username", flat=True)]


def _beside(finding_id: int | None, listed: str) -> str:
    if finding_id is None:
        return ""
    address = reverse("web:finding", args=[finding_id])
    return f"{address}?{listed}" if listed else address


def _limits(change: ChangeRow) -> ChangeLimits | None:
    """The thresholds of the change. Two queries."""
    metric = Change.objects.values_list("metric", flat=True).get(pk=change.id)
    return thresholds.of(change.workload.id, metric) if metric is not None else None


def _other_word(change: ChangeRow) -> str:
    """Of the comparison of the releases on it; empty: it has none, or the same. Four queries."""
    stored = Change.objects.filter(pk=change.id).select_related("system")
    row = stored_checks.rows_of(stored).get(change.id)
    return other_word(change, row) if row and change.holds else ""


def _tones(found: FindingDetail) -> list[int]:
    """Places in the palette of what was before and after the change: tones of the finding's platform."""
    platform = found.row.platform
    color = Platform.objects.values_list("color", flat=True).get(pk=platform.id) if platform else None
    return tones([color, color])


def _chart(gathered: Evidence, limits: ChangeLimits | None, shades: list[int]) -> FindingChart | None:
    change = gathered.change
    if change.metric is None:
        return None
    return chart(
        _side(gathered.before, change.before, "before", shades[0]),
        _side(gathered.after, change.after, "after", shades[1]),
        metric=change.metric.name,
        unit=change.metric.unit,
        smallest=limits.smallest if limits else None,
    )


def _side(runs: tuple[SideRun, ...], level: float | None, word: str, tone: int) -> SideValues:
    named = list(dict.fromkeys(run.system_name for run in runs))
    title = named[0] if len(named) == 1 else f"{word}: {len(named)} systems" if named else f"{word}: no runs left"
    values = [RunValue(run.id, run.value, _note(run)) for run in runs if run.value is not None]
    return SideValues(title, tone, values, level)


def _note(run: SideRun) -> str:
    notes = ["excluded since"] if run.is_excluded else []
    notes += [f"failed: {', '.join(title_of(key) for key in run.failed_checks)}"] if run.failed_checks else []
    return "; ".join(notes)


def _compare_url(gathered: Evidence) -> str:
    """The comparison of these runs on the Compare page; empty: both sides are one system, or one was deleted."""
    if gathered.systems is None or gathered.systems[0] == gathered.systems[1] or gathered.problem:
        return ""
    return CompareAddress(
        sides=(gathered.systems[0][0], gathered.systems[1][0]),
        workload=gathered.change.workload.id,
        runs=gathered.compared_runs,
        level=gathered.level,
    ).url()


def _release_url(row: FindingRow) -> str:
    """The comparison of its whole release; empty: not of one release on one hardware class."""
    if row.platform is None or row.release is None or row.hardware_class is None:
        return ""
    path = reverse("web:release", args=[row.platform.slug, row.release.slug])
    return f"{path}?{urlencode({'hardware': row.hardware_class.slug})}"


def _trend_url(change: ChangeRow) -> str:
    """The address of its trend; empty: none."""
    return reverse("web:trend", args=[change.history]) if change.history else ""
