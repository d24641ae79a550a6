"""Choices for a comparison: sides, workloads and campaigns with runs that count."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max, QuerySet

from apps.catalog.models import System, Workload
from apps.comparison.selection import baselines
from apps.comparison.selection.runs import MOST_RUNS
from apps.comparison.selection.sides import FEWEST_SIDES, MOST_SIDES
from apps.comparison.values import ComparedCampaign
from apps.core.names import with_tool
from apps.runs.api import RunPlace, places
from apps.runs.models import COUNTED, Run
from apps.runs.pure import Amount

MOST_SUGGESTIONS = 16
MOST_CAMPAIGNS = 200
# Runs of each side considered for campaigns, the newest.
MOST_LOOKED_AT = 300


@dataclass(frozen=True)
class SystemChoice:
    slug: str
    name: str
    title: str
    platform: str
    release: str
    hardware: str
    amount: Amount


@dataclass(frozen=True)
class WorkloadChoice:
    """`sides`: number of the chosen sides with runs of it."""

    id: int
    text: str
    amount: Amount
    sides: int


@dataclass(frozen=True)
class Suggestion:
    """Systems that ran the same workload: the pinned baseline first, the others by name. `amount`: of their runs."""

    workload: int
    workload_text: str
    sides: tuple[tuple[str, str], ...]
    amount: Amount
    newest: datetime


def picker() -> tuple[list[SystemChoice], list[WorkloadChoice]]:
    """All systems that are not archived, those with runs that count first, by name; and the workloads with runs that
    count, by the number of systems that share them, descending."""
    rows = list(System.objects.select_related("release__platform", "hardware_class").order_by("short_name"))
    ran = places.counted(systems=[row.pk for row in rows], by_level=False, most=MOST_RUNS)
    amounts = _summed((place.system, place) for place in ran)
    found = [
        SystemChoice(
            slug=row.slug,
            name=row.short_name,
            title=row.name,
            platform=row.release.platform.name,
            release=row.release.version,
            hardware=row.hardware_class.name,
            amount=amounts[row.pk],
        )
        for row in rows
        if row.archived_at is None
    ]
    return sorted(found, key=lambda choice: choice.amount.runs == 0), _workloads(ran)


def slugs() -> list[str]:
    """Of all systems that are not archived, in order."""
    return list(System.objects.filter(archived_at__isnull=True).order_by("slug").values_list("slug", flat=True))


def workloads(sides: Sequence[str]) -> list[WorkloadChoice]:
    """Workloads with runs that count of `sides`, by the number of sides that share them, descending."""
    systems = System.objects.filter(slug__in=sides).values_list("pk", flat=True)
    return _workloads(places.counted(systems=list(systems), by_level=False))


def _workloads(ran: Sequence[RunPlace]) -> list[WorkloadChoice]:
    amounts = _summed((place.workload, place) for place in ran)
    sides = Counter(place.workload for place in ran)
    texts = workload_texts(list(Workload.objects.filter(pk__in=amounts)))
    found = [WorkloadChoice(id=pk, text=text, amount=amounts[pk], sides=sides[pk]) for pk, text in texts.items()]
    return sorted(found, key=lambda choice: (-choice.sides, -choice.amount.runs, choice.text))


def _summed(ran: Iterable[tuple[int, RunPlace]]) -> dict[int, Amount]:
    found: dict[int, Amount] = defaultdict(Amount)
    for key, place in ran:
        found[key] += place.amount
    return found


def workload_texts(rows: Sequence[Workload]) -> dict[int, str]:
    """Workload -> tool and name, with the parameters where two texts would be equal."""
    plain = {row.pk: with_tool(row.tool, row.name) for row in rows}
    seen = Counter(plain.values())
    return {
        row.pk: plain[row.pk] if seen[plain[row.pk]] == 1 else f"{plain[row.pk]} ({_parameters(row)})" for row in rows
    }


def _parameters(workload: Workload) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(workload.parameters.items()))


def campaigns(*, sides: Sequence[str], workload: int | None) -> list[ComparedCampaign]:
    """Campaigns of the newest runs that count of `sides` (empty: of all systems), the newest first. Equal names
    are followed by when their last run started, UTC."""
    systems: Sequence[int | None] = [None]
    if sides:
        systems = list(System.objects.filter(slug__in=sides).values_list("pk", flat=True))
    ran = _newest_counted(systems, workload)
    rows = Run.objects.filter(pk__in=ran, job_run__isnull=False).order_by()
    named = rows.values(campaign=F("job_run__job__campaign_id"), name=F("job_run__job__campaign__name"))
    found = list(named.annotate(newest=Max("started_at")).order_by("-newest")[:MOST_CAMPAIGNS])
    seen = Counter(row["name"] for row in found)
    return [
        ComparedCampaign(
            row["campaign"],
            row["name"] if seen[row["name"]] == 1 else f"{row['name']}, {row['newest']:%Y-%m-%d %H:%M} UTC",
        )
        for row in found
    ]


def _newest_counted(systems: Sequence[int | None], workload: int | None = None) -> list[int]:
    """Ids of the newest MOST_LOOKED_AT runs that count, for each of `systems` (None: for all together)."""
    each = []
    for system in systems:
        ran = _counted_runs().order_by("-started_at", "-id")
        if system is not None:
            ran = ran.filter(system_id=system)
        if workload is not None:
            ran = ran.filter(workload_id=workload)
        each.append(ran.values_list("pk", flat=True)[:MOST_LOOKED_AT])
    if not each:
        return []
    return list(each[0].union(*each[1:], all=True) if len(each) > 1 else each[0])


def suggestions() -> list[Suggestion]:
    """Comparisons of two to four systems with the same workload: of platforms, each with the system that has most runs,
    and of the systems of one platform, of equal ones the last measured. Those of most systems first, then the
    newest."""
    groups: dict[int, list[RunPlace]] = defaultdict(list)
    for place in places.counted(by_level=False, most=MOST_RUNS, newest=1):
        groups[place.workload].append(place)
    shared = {workload: own for workload, own in groups.items() if len(own) >= FEWEST_SIDES}
    known = System.objects.filter(archived_at=None).select_related("release").annotate(node_count=Count("nodes"))
    systems = known.in_bulk({each.system for own in shared.values() for each in own})
    newest = [each.newest[0] for own in shared.values() for each in own]
    started = dict(Run.objects.filter(pk__in=newest).values_list("pk", "started_at"))
    texts = workload_texts(list(Workload.objects.filter(pk__in=shared)))
    pins = baselines.pins(texts)
    found = []
    for workload, own in shared.items():
        pinned = pins[workload].system if workload in pins else None
        sides = [(systems[each.system], each) for each in own if each.system in systems]
        sides.sort(key=lambda side: (side[0].slug != pinned, -side[1].amount.runs))
        by_platform: dict[int, list[tuple[System, RunPlace]]] = defaultdict(list)
        for side in sides:
            by_platform[side[0].release.platform_id].append(side)
        platforms = [each[0] for each in by_platform.values()]
        for alike in (platforms, *(_distinct(each, started) for each in by_platform.values())):
            chosen = sorted(alike[:MOST_SIDES], key=lambda side: (side[0].slug != pinned, side[0].short_name))
            if len(chosen) >= FEWEST_SIDES:
                found.append(
                    Suggestion(
                        workload=workload,
                        workload_text=texts[workload],
                        sides=tuple((system.slug, system.short_name) for system, _ in chosen),
                        amount=sum((each.amount for _, each in chosen), Amount()),
                        newest=max(started[each.newest[0]] for _, each in chosen),
                    )
                )
    return sorted(found, key=lambda each: (len(each.sides), each.newest), reverse=True)[:MOST_SUGGESTIONS]


def _distinct(
    sides: Sequence[tuple[System, RunPlace]], started: Mapping[int, datetime]
) -> list[tuple[System, RunPlace]]:
    """Of systems alike in release, settings and machine the last measured, unless no others are left."""
    found: dict[tuple[object, ...], tuple[System, RunPlace]] = {}
    for system, place in sorted(sides, key=lambda side: started[side[1].newest[0]], reverse=True):
        nodes = system.node_count  # type: ignore[attr-defined]
        found.setdefault((system.release_id, system.hardware_class_id, system.settings_hash, nodes), (system, place))
    return [side for side in sides if side in found.values()] if len(found) >= FEWEST_SIDES else list(sides)


def sides_of(runs: Iterable[int]) -> tuple[list[str], list[int]]:
    """System slugs and workload ids of `runs`, in order of time."""
    rows = Run.objects.filter(pk__in=list(runs)).order_by("started_at", "id").values_list("system__slug", "workload_id")
    found = list(rows)
    return list(dict.fromkeys(slug for slug, _ in found)), list(dict.fromkeys(workload for _, workload in found))


def _counted_runs() -> "QuerySet[Run]":
    return Run.objects.filter(COUNTED)
