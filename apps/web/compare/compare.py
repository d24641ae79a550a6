"""The Compare page: two to four sides, the answer first."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from apps.accounts.current_user import may_write
from apps.comparison.api import (
    FEWEST_SIDES,
    MOST_SIDES,
    UnknownSide,
    baselines,
    check_systems,
    choices,
    compare,
    system_slug,
)
from apps.comparison.pure import MARGIN, NO_VALUES, ComparedRun, Comparison, Level
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.runs.pure import Amount
from apps.saved.services import LONGEST_TITLE
from apps.web.compare.charts import chart_metrics, charts, curve_metrics
from apps.web.compare.parts import PARTS, common, panel, rendered, tabs
from apps.web.compare.verdicts import also_differing, grounds, ribbons, verdicts
from apps.web.compare.view import ALL, FIRST_TAB, CompareAddress, CompareView
from apps.web.components.addresses import matrix_address
from apps.web.components.pages import is_partial, render_page, status_of

TAB_TEMPLATE = "web/compare/panel.html"


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    try:
        address = CompareAddress.read(request.GET)
    except Invalid as error:
        return _choose(request, CompareAddress(), problems=error.errors, status=400)
    if address.runs and not address.sides:
        return _from_runs(request, address)
    if len(address.sides) < FEWEST_SIDES:
        return _too_few(request, address)
    return _compare(request, address)


@require_safe
def part(request: HttpRequest, name: str) -> HttpResponse:
    """One part of the page: as an htmx fragment, or as a page of its own without scripts."""
    chosen = next((each for each in PARTS if each.name == name), None)
    if chosen is None:
        raise Http404(f"Compare has no part {name!r}")
    try:
        address = CompareAddress.read(request.GET)
        seen = seen_at(request, address)
        context: dict[str, Any] = {
            "html": rendered(chosen, seen),
            **part_context(seen),
        }
        status = 200
    except Invalid as error:
        context = {"problems": error.errors}
        # htmx ignores error responses; status 200 makes the sentence visible.
        status = 200 if is_partial(request) else status_of(error)
    context["part"] = chosen
    return render_page(request, "web/compare/part_page.html", context, part="web/compare/part.html", status=status)


def _compare(request: HttpRequest, address: CompareAddress) -> HttpResponse:
    if address.workload is None:
        shared = choices.workloads([system_slug(side) for side in address.sides])
        if shared and shared[0].sides >= FEWEST_SIDES:
            return HttpResponseRedirect(replace(address, workload=shared[0].id).url())
    try:
        seen = seen_at(request, address)
        if is_partial(request):
            return tab_response(seen)
    except Invalid as error:
        status = status_of(error)
        return _choose(request, address, problems=error.errors, status=status)
    if not seen.comparison.counted:
        problem = FieldProblem("", _nothing(seen.comparison, address), "choose another workload or campaign")
        return _choose(request, address, problems=[problem], status=404)
    chosen_runs = address.campaign is not None or address.runs is not None
    picker = _picker(address, () if chosen_runs else seen.comparison.runs)
    pin = baselines.pins([seen.comparison.workload.id]).get(seen.comparison.workload.id)
    context = page_context(seen) | picker | {"pin": pin, "may_write": may_write(request), "default_title": title(seen)}
    return render_page(request, "web/compare/compare.html", context, part=TAB_TEMPLATE)


def tab_response(seen: CompareView) -> HttpResponse:
    """The tab of the address by itself, which the page fetches before it is opened."""
    parts = panel(seen, seen.address.tab, at_once=True)
    return render_page(seen.request, TAB_TEMPLATE, {"parts": parts}, part=TAB_TEMPLATE)


def part_context(seen: CompareView) -> dict[str, Any]:
    """Context of the page of one part beside its HTML."""
    return {
        "comparison": seen.comparison,
        "back_url": seen.address.url(),
        "charts": charts(seen.comparison, seen.level),
    }


def _too_few(request: HttpRequest, address: CompareAddress) -> HttpResponse:
    """A single side is compared with the pinned baseline; without one, or without a side, others are chosen."""
    try:
        check_systems([system_slug(side) for side in address.sides])
    except Invalid as error:
        return _choose(request, address, problems=error.errors, status=status_of(error))
    pinned = _against_pinned(address)
    return HttpResponseRedirect(pinned.url()) if pinned else _choose(request, address)


def _against_pinned(address: CompareAddress) -> CompareAddress | None:
    """Adds the pinned baseline of the workload to a single side; None if there is none."""
    if len(address.sides) != 1 or address.workload is None:
        return None
    pin = baselines.pins([address.workload]).get(address.workload)
    if pin is None or pin.system == address.sides[0]:
        return None
    return replace(address, sides=(pin.system, *address.sides))


def seen_at(request: HttpRequest, address: CompareAddress) -> CompareView:
    """Raises Invalid for missing objects, or an invalid comparison."""
    comparison = compare.compare(
        sides=address.sides,
        workload_id=_workload(address),
        campaign=address.campaign,
        runs=address.runs,
    )
    return CompareView(comparison, address, level_of(comparison, address), request)


def _workload(address: CompareAddress) -> int:
    if address.workload is None:
        systems = [system_slug(side) for side in address.sides]
        shared = choices.workloads(systems)
        if shared and shared[0].sides >= FEWEST_SIDES:
            raise Invalid([FieldProblem("workload", "is missing", "name the workload under which the sides ran")])
        check_systems(systems)
        raise UnknownSide([FieldProblem("side", "no two of these sides ran the same workload", "choose others")])
    return address.workload


def level_of(comparison: Comparison, address: CompareAddress) -> Level | None:
    """The load level whose seconds are drawn: the requested one, else the highest that every side ran, without a fixed
    rate if there is one: at a fixed rate all do the same work."""
    if address.level:
        for level in comparison.levels:
            if level.key == address.level:
                return level
        raise UnknownSide([FieldProblem("level", f"no side ran at {address.level!r}", "choose one of the levels")])
    ran = {level: {run.side for run in comparison.counted if run.level == level.id} for level in comparison.levels}
    order = {level: place for place, level in enumerate(comparison.levels)}
    return max(ran, key=lambda level: (len(ran[level]), level.rate is None, order[level]), default=None)


def _nothing(comparison: Comparison, address: CompareAddress) -> str:
    """Why there is nothing to compare."""
    where = f" in campaign {address.campaign}" if address.campaign is not None else ""
    left_out = sum((amount for _, amount in _left_out(comparison)), Amount())
    kept_out = f": the {left_out} runs there are did not succeed or are not complete" if left_out.runs else ""
    return f"none of these sides has a complete run of {comparison.workload.name}{where}{kept_out}"


def _from_runs(request: HttpRequest, address: CompareAddress) -> HttpResponse:
    """Redirects to the comparison of the chosen runs, whose sides follow from the runs."""
    sides, workloads = choices.sides_of(address.runs or ())
    problem = None
    if len(workloads) > 1:
        problem = FieldProblem("runs", "these runs are of different workloads", "choose runs of one workload")
    elif not FEWEST_SIDES <= len(sides) <= MOST_SIDES:
        named = counted(len(sides), "system")
        problem = FieldProblem("runs", f"these runs are of {named}", "choose runs of two to four systems")
    if problem:
        return _choose(request, CompareAddress(), problems=[problem], status=400)
    ordered = baselines.first(sides, baselines.pins(workloads).get(workloads[0]))
    return HttpResponseRedirect(replace(address, sides=ordered, workload=workloads[0]).url())


def _choose(
    request: HttpRequest, address: CompareAddress, *, problems: Sequence[FieldProblem] = (), status: int = 200
) -> HttpResponse:
    """The page without a comparison: problems, the picker, and suggestions."""
    context = {
        "problems": problems,
        "suggestions": [
            {
                "value": each,
                "url": CompareAddress(sides=tuple(slug for slug, _ in each.sides), workload=each.workload).url(),
            }
            for each in choices.suggestions()
        ],
    }
    return render_page(request, "web/compare/choose.html", context | _picker(address), status=status)


def _picker(address: CompareAddress, compared: Sequence[ComparedRun] = ()) -> dict[str, Any]:
    """`compared`: runs of all campaigns; their campaigns become the choices, newest first."""
    named = [run.campaign for run in reversed(compared) if run.campaign and not run.left_out]
    systems, workloads = choices.picker()
    chosen = [*address.sides, *[""] * MOST_SIDES][:MOST_SIDES]
    return {
        "address": address,
        "systems": systems,
        "slots": [
            {"number": place, "slug": system_slug(key), "own": key.partition(":")[2]}
            for place, key in enumerate(chosen)
        ],
        "workloads": workloads,
        "campaigns": list(dict.fromkeys(named))
        or choices.campaigns(sides=[system_slug(side) for side in address.sides], workload=address.workload),
    }


def title(seen: CompareView) -> str:
    """Default title of a saved comparison."""
    baseline, *others = (side.name for side in seen.comparison.sides)
    return f"{', '.join(others)} against {baseline}, {seen.comparison.workload.name}"[:LONGEST_TITLE]


def page_context(seen: CompareView) -> dict[str, Any]:
    """Context of the page for a current or saved comparison. Raises NotKept."""
    comparison, address, level = seen.comparison, seen.address, seen.level
    threads_only = all(each.rate is None for each in comparison.levels)
    return {
        **common(seen),
        "tabs": tabs(seen),
        "verdicts": verdicts(comparison, level),
        "ribbons": ribbons(comparison, level),
        "grounds": grounds(comparison, level),
        "differing": also_differing(comparison),
        "rebases": [
            (side, address.live().with_baseline(side.slug).url())
            for side in comparison.sides[1:]
            if len(comparison.sides) > FEWEST_SIDES
        ],
        "loads": [
            (each, f"{each.threads:,}" if threads_only else each.text, replace(address, level=each.key).url())
            for each in comparison.levels
        ],
        "threads_only": threads_only,
        "main_metric": next(iter(chart_metrics(comparison)), None),
        "curves": curve_metrics(comparison),
        "left_out": _left_out(comparison),
        "runs_tab_url": address.with_tab("runs").url(),
        "differences_tab_url": address.with_tab("differences").url(),
        "limits_url": address.with_tab("limits").url(),
        "all_tabs_url": address.with_tab(FIRST_TAB if address.tab == ALL else ALL).url(),
        "shows_all": address.tab == ALL,
        "all_runs_url": replace(address.live(), runs=None).url(),
        "api_query": address.plain().query(),
        "matrix_url": matrix_address(comparison),
        "charts": charts(comparison, level),
        "margin": MARGIN,
    }


def _left_out(comparison: Comparison) -> list[tuple[str, Amount]]:
    """Short reasons ("failed") with the number of runs that each excludes, including older unlisted runs."""
    found: dict[str, Amount] = defaultdict(Amount)
    for run in comparison.left_out:
        if run.left_out == NO_VALUES:
            found[NO_VALUES] += Amount(1)
    for tally in comparison.tallies:
        if tally.left_out:
            found[tally.left_out] += tally.amount
    return sorted(found.items(), key=lambda item: -item[1].runs)
