"""Comparability of the sides: blocking differences with their acceptances, and memory relative to data."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.accounts.current_user import may_write, writer
from apps.comparison.api import RunSpread, SideMemory, acknowledgements, baselines, compare, memory
from apps.comparison.pure import NOT_KNOWN, TITLES, BlockingDifference, FieldGroup, Level, NotKept, Side
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import and_list, counted
from apps.core.units import format_bytes, format_number
from apps.web.accounts.guards import writers_only
from apps.web.compare.view import CompareAddress, CompareView

POOL_WORDS = {
    "filled": "pages of the writer's buffer pool in use",
    "dirty": "changed pages not yet written",
    "hits": "reads that found their page in the pool, each over one interval between samples",
}


@dataclass(frozen=True)
class SideBlocked:
    """A side with blocking differences, open or accepted."""

    side: Side
    differences: tuple[BlockingDifference, ...]


@dataclass(frozen=True)
class Fill:
    """A quantity of the buffer pool at the first and last sample of the measured phase; text if unknown."""

    label: str
    meaning: str
    text: str
    title: str


@dataclass(frozen=True)
class MemoryRow:
    """A side's memory in words; no `fills` if the pool's content is unknown. `has_data`: the data's size is known, so
    that memory and pool have a ratio to it."""

    side: Side
    memory: str
    data: str
    data_title: str
    ratio: str
    pool: str
    pool_ratio: str
    has_data: bool
    fills: tuple[Fill, ...]


def context(seen: CompareView) -> dict[str, Any]:
    comparison = seen.comparison
    level = seen.level or next(iter(comparison.levels), None)
    open_ones = [each for each in comparison.obstacles if each.accepted is None]
    sides = {side.slug: side for side in comparison.sides}
    return {
        "warned": [
            SideBlocked(sides[slug], tuple(own))
            for slug, own in groupby(comparison.obstacles, key=lambda each: each.side)
        ],
        "open": [(each, sides[each.side]) for each in open_ones],
        "open_titles": and_list(list(dict.fromkeys(each.title for each in open_ones))),
        "withheld_from": and_list([sides[slug].name for slug in dict.fromkeys(each.side for each in open_ones)]),
        "titles": and_list(list(dict.fromkeys(each.title for each in comparison.obstacles))),
        "may_accept": seen.kept is None and may_write(seen.request),
        "is_now": seen.kept is None,
        "asks_by_address": bool(seen.address.acknowledged) and bool(open_ones),
        "longest_reason": acknowledgements.LONGEST_REASON,
        "memories": _memories(seen, level),
        "memory_level": level,
        "baseline_urls": [(side, seen.address.live().with_baseline(side.slug).url()) for side in comparison.sides],
        "pin": seen.kept is None and baselines.pins([comparison.workload.id]).get(comparison.workload.id),
    }


def _memories(seen: CompareView, level: Level | None) -> list[MemoryRow]:
    """Empty for a snapshot without this section."""
    try:
        known = seen.read(memory.SECTION)
    except NotKept:
        return []
    return [_memory(side, found, level) for side, found in zip(seen.comparison.sides, known, strict=True)]


def _memory(side: Side, found: SideMemory, level: Level | None) -> MemoryRow:
    pool = found.at(level.id) if level else None
    nothing: tuple[RunSpread | None, RunSpread | None] = (None, None)
    ends = {
        "filled": (pool.filled_first, pool.filled_last) if pool else nothing,
        "dirty": (pool.dirty_first, pool.dirty_last) if pool else nothing,
        "hits": (pool.hits_first, pool.hits_last) if pool else nothing,
    }
    return MemoryRow(
        side=side,
        memory=NOT_KNOWN if found.memory is None else format_bytes(found.memory),
        data=NOT_KNOWN if found.data is None else format_bytes(found.data.median),
        data_title="" if found.data is None else _range(found.data, format_bytes),
        ratio=_times(found.memory_ratio),
        pool=NOT_KNOWN if found.pool is None else format_bytes(found.pool.median),
        pool_ratio=_fits(found.pool_ratio),
        has_data=found.data is not None,
        fills=tuple(_fill(label, *each) for label, each in ends.items()) if any(map(any, ends.values())) else (),
    )


def _times(ratio: float | None) -> str:
    return NOT_KNOWN if ratio is None else f"{format_number(ratio)}\u00a0×"


def _fits(ratio: float | None) -> str:
    if ratio is None:
        return NOT_KNOWN
    # The size is that at the start of the runs: a load that inserts may outgrow the pool.
    return f"{_times(ratio)}: all of it fitted" if ratio >= 1 else f"{_times(ratio)}: it did not fit"


def _fill(label: str, first: RunSpread | None, last: RunSpread | None) -> Fill:
    """For example "12 % → 98 %"; hits get more digits, since misses determine the cost."""
    ends = [NOT_KNOWN if each is None else _percent(each.median, hits=label == "hits") for each in (first, last)]
    text = NOT_KNOWN if first is None and last is None else " → ".join(ends)
    titles = [
        f"{name}: {_range(each, lambda value: _percent(value, hits=label == 'hits'))}"
        for name, each in (("first sample", first), ("last sample", last))
        if each is not None
    ]
    return Fill(label, POOL_WORDS[label], text, "; ".join(titles))


def _percent(value: float, *, hits: bool = False) -> str:
    return f"{value:.2f}\u00a0%" if hits else f"{value:.0f}\u00a0%"


def _range(spread: RunSpread, formatted: Callable[[float], str]) -> str:
    runs = counted(spread.runs, "run")
    return f"{formatted(spread.minimum)} to {formatted(spread.maximum)}, median of {runs}"


# ---------------------------------------------------------------- actions


@require_POST
@writers_only
def acknowledge(request: HttpRequest) -> HttpResponse:
    """`query`: query string of the comparison; `accept`: fingerprints of the differences to accept."""
    query = QueryDict(request.POST.get("query", ""))
    back = f"{reverse('web:compare')}?{query.urlencode()}"
    try:
        address = CompareAddress.read(query)
        back = f"{address.with_tab('differences').url()}#comparability"
        if address.workload is None:
            raise Invalid([FieldProblem("workload", "is missing", "open the comparison and accept it there")])
        comparison = compare.compare(
            sides=address.sides, workload_id=address.workload, campaign=address.campaign, runs=address.runs
        )
        wanted = set(request.POST.getlist("accept"))
        found = [each for each in comparison.obstacles if each.fingerprint in wanted]
        made = acknowledgements.acknowledge(
            differences=found, by=writer(request), reason=request.POST.get("reason", "").replace("\r\n", "\n")
        )
    except Invalid as error:
        for problem in error.errors:
            messages.error(request, problem.sentence())
        return redirect(back)
    groups = and_list(list(dict.fromkeys(TITLES[FieldGroup(each.group)] for each in made)))
    message = f"Recorded: the difference in {groups} is accepted." if made else "This is already accepted."
    messages.info(request, message)
    return redirect(back)


@require_POST
@writers_only
def withdraw(request: HttpRequest, acknowledgement_id: int) -> HttpResponse:
    """`next`: the page to return to."""
    ended = acknowledgements.withdraw(acknowledgement=acknowledgement_id, by=writer(request), now=timezone.now())
    messages.info(request, "The verdict is withheld again." if ended else "Already withdrawn.")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = reverse("web:compare")
    return redirect(back)
