"""The Failovers page: an answer a side, the race of one fault and load, and a table of systems and faults."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.catalog.models import Workload
from apps.comparison.api import FAULTS, FailoverFilter, FailoverResults, FaultVerdict, TrialGroup, load_failovers
from apps.comparison.pure import PHASES, TrialSpread
from apps.core.problems import FieldProblem, Invalid
from apps.web.components.pages import refused_file, render_page
from apps.web.failovers import wording
from apps.web.failovers.address import FailoverAddress, rate_of
from apps.web.failovers.exports import comma_separated, markdown
from apps.web.failovers.race import SHOWN_COUNTS, race_of, run_address, short_loads


@dataclass(frozen=True)
class FaultRow:
    """A row of the table of systems and faults. `address`: of its race; `phases`: medians, in order, and rejoining;
    `counts`: key, range and how many trials were not read back."""

    group: TrialGroup
    load: str
    address: str
    is_chosen: bool
    downtime: str
    span: str
    phases: tuple[TrialSpread | None, ...]
    counts: tuple[tuple[str, tuple[int, int] | None, int], ...]


@dataclass(frozen=True)
class FaultAnswer:
    """What the systems' trials of a fault say of each other. `address`: of its race."""

    name: str
    words: tuple[str, ...]
    address: str
    is_chosen: bool
    origins: tuple[str, ...]


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    try:
        address = FailoverAddress.read(request.GET)
    except Invalid as error:
        return _refused(request, error.errors, load_failovers(FailoverFilter()))
    # The table has every fault and load; the race is one of them.
    found = load_failovers(address.without_race().filter())
    if problems := address.unknown(found):
        return _refused(request, problems, found)
    chosen = address.chosen(found)
    # Among the newest trials of all faults there may be few of the chosen one.
    groups = load_failovers(chosen.filter()).groups if found.has_more else found.groups
    racing = [group for group in groups if group.fault == chosen.fault and rate_of(group) == chosen.rate]
    context = {
        "address": chosen,
        "found": found,
        "answers": _answers(found, chosen),
        "race": race_of(racing, found.stated, fault=chosen.fault),
        "fault_name": FAULTS[chosen.fault],
        "loads": sorted({group.load for group in racing}),
        "rows": [
            _row(group, chosen, load) for group, load in zip(found.groups, short_loads(found.groups), strict=True)
        ],
        "plan_url": _plan_url(),
        "phases": [(key, name) for key, (_, _, name) in PHASES.items()],
        "count_heads": list(SHOWN_COUNTS.values()),
        "faults": FAULTS,
        "files": _files(chosen),
        "whole_csv": _files(chosen.without_race())[1][1],
    }
    return render_page(request, "web/failovers/failovers.html", context)


def _refused(request: HttpRequest, problems: Sequence[FieldProblem], found: FailoverResults) -> HttpResponse:
    context = {"problems": problems, "address": FailoverAddress(), "found": found, "faults": FAULTS}
    return render_page(request, "web/failovers/failovers.html", context, status=400)


def _files(address: FailoverAddress) -> list[tuple[str, str]]:
    """Names and addresses of the trials as files."""
    query = f"?{address.query()}"
    return [
        ("Markdown", reverse("web:failovers-export", args=["md"]) + query),
        ("CSV", reverse("web:failovers-export", args=["csv"]) + query),
        ("JSON", reverse("api:failovers") + query),
    ]


@require_safe
def export(request: HttpRequest, ending: str) -> HttpResponse:
    """The page's data as a file. Errors are plain text, since clients are programs."""
    try:
        address = FailoverAddress.read(request.GET)
    except Invalid as error:
        return refused_file(error)
    found = load_failovers(address.filter())
    if ending == "md":
        text, media_type = markdown(found, link=request.build_absolute_uri(address.url())), "text/markdown"
    else:
        text = comma_separated(found, link=lambda trial: request.build_absolute_uri(run_address(trial)))
        media_type = "text/csv"
    headers = {"Content-Disposition": f'attachment; filename="failovers.{ending}"'}
    return HttpResponse(text, content_type=f"{media_type}; charset=utf-8", headers=headers)


def _plan_url() -> str:
    """The form of a campaign, with a failover chosen where the catalog has one."""
    known = Workload.objects.filter(tool="failover").order_by("pk").values_list("pk", flat=True).first()
    return reverse("web:campaign-new") + (f"?workload={known}" if known else "")


def _answers(found: FailoverResults, chosen: FailoverAddress) -> list[FaultAnswer]:
    """One a fault and load, in the order of the table."""
    together: dict[tuple[str, str, tuple[str, ...]], list[FaultVerdict]] = defaultdict(list)
    for each in found.verdicts:
        together[each.fault, each.load, each.group.origins].append(each)
    faults = [fault for fault, _, _ in together]
    answers = []
    for (fault, _, origins), own in together.items():
        group = own[0].group
        load = f", {short_loads([group])[0]}" if faults.count(fault) > 1 else ""
        answers.append(
            FaultAnswer(
                name=f"{group.fault_name}{load}",
                words=tuple(wording.verdict(each) for each in own),
                address=replace(chosen, fault=fault, rate=rate_of(group)).url(),
                is_chosen=fault == chosen.fault and rate_of(group) == chosen.rate,
                origins=origins,
            )
        )
    return answers


def _row(group: TrialGroup, chosen: FailoverAddress, load: str) -> FaultRow:
    rate = rate_of(group)
    return FaultRow(
        group=group,
        load=load,
        address=replace(chosen, fault=group.fault, rate=rate).url(),
        is_chosen=group.fault == chosen.fault and rate == chosen.rate,
        downtime=wording.median(group.interruption),
        span=wording.span(group.interruption),
        phases=(*(group.phases[key] for key in PHASES), group.rejoin, group.rejoin_outage),
        counts=tuple((key, group.counts[key], group.unread[key]) for key in SHOWN_COUNTS),
    )
