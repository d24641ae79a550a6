"""What there is to compare: sides, workloads and campaigns with runs that count."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet

from apps.catalog.models import System, Workload
from apps.comparison.values import ComparedCampaign
from apps.runs.models import Run

MOST_SUGGESTIONS = 8
# Groups (campaign, workload, system) that are looked at for suggestions, the newest first.
MOST_GROUPS = 200


@dataclass(frozen=True)
class SystemChoice:
    slug: str
    name: str
    platform: str
    release: str
    hardware: str
    runs: int


@dataclass(frozen=True)
class WorkloadChoice:
    """`sides`: how many of the chosen sides have runs of it."""

    id: int
    text: str
    runs: int
    sides: int


@dataclass(frozen=True)
class Suggestion:
    """Systems that ran the same workload in one campaign (None: without one), the most runs first."""

    campaign: ComparedCampaign | None
    workload: int
    workload_text: str
    sides: tuple[tuple[str, str], ...]
    runs: int
    newest: datetime


def systems() -> list[SystemChoice]:
    """All systems that are not archived, those with runs that count first, by name."""
    rows = System.objects.filter(archived_at__isnull=True).annotate(counted=Count("runs", filter=_counts("runs__")))
    rows = rows.select_related("release__platform", "hardware_class").order_by("name")
    found = [
        SystemChoice(
            slug=row.slug,
            name=row.name,
            platform=row.release.platform.name,
            release=row.release.version,
            hardware=row.hardware_class.name,
            runs=row.counted,
        )
        for row in rows
    ]
    return sorted(found, key=lambda choice: choice.runs == 0)


def workloads(sides: Sequence[str]) -> list[WorkloadChoice]:
    """Workloads with runs that count of `sides` (none: of any system), those that most sides share first."""
    ran = _counted_runs()
    if sides:
        ran = ran.filter(system__slug__in=sides)
    counts = {
        row["workload_id"]: (row["sides"], row["runs"])
        for row in ran.order_by().values("workload_id").annotate(sides=Count("system", distinct=True), runs=Count("id"))
    }
    texts = workload_texts(list(Workload.objects.filter(pk__in=counts)))
    found = [WorkloadChoice(id=pk, text=text, runs=counts[pk][1], sides=counts[pk][0]) for pk, text in texts.items()]
    return sorted(found, key=lambda choice: (-choice.sides, -choice.runs, choice.text))


def workload_texts(rows: Sequence[Workload]) -> dict[int, str]:
    """Tool and name; with the parameters where two would read the same."""
    plain = {row.pk: f"{row.tool} {row.name}" for row in rows}
    seen = Counter(plain.values())
    return {
        row.pk: plain[row.pk] if seen[plain[row.pk]] == 1 else f"{plain[row.pk]} ({_parameters(row)})" for row in rows
    }


def _parameters(workload: Workload) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(workload.parameters.items()))


def campaigns(*, sides: Sequence[str], workload: int | None) -> list[ComparedCampaign]:
    """Campaigns with runs that count of `sides`, the newest first."""
    ran = _counted_runs().filter(job_run__isnull=False)
    if sides:
        ran = ran.filter(system__slug__in=sides)
    if workload is not None:
        ran = ran.filter(workload_id=workload)
    rows = (
        ran.order_by()
        .values(campaign=F("job_run__job__campaign_id"), name=F("job_run__job__campaign__name"))
        .annotate(newest=Max("started_at"))
        .order_by("-newest")
    )
    return [ComparedCampaign(row["campaign"], row["name"]) for row in rows[:MOST_GROUPS]]


def suggestions() -> list[Suggestion]:
    """Comparisons that can be opened now: two to four systems with the same workload, the newest first."""
    rows = (
        _counted_runs()
        .order_by()
        .values(
            "workload_id",
            slug=F("system__slug"),
            system_name=F("system__name"),
            campaign=F("job_run__job__campaign_id"),
            campaign_name=F("job_run__job__campaign__name"),
        )
        .annotate(runs=Count("id"), newest=Max("started_at"))
        .order_by("-newest")[:MOST_GROUPS]
    )
    groups: dict[tuple[int | None, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["campaign"], row["workload_id"]].append({**row})
    texts = workload_texts(list(Workload.objects.filter(pk__in=[workload for _, workload in groups])))
    found = [_suggestion(members, texts) for members in groups.values() if len(members) > 1]
    return sorted(found, key=lambda each: each.newest, reverse=True)[:MOST_SUGGESTIONS]


def _suggestion(members: list[dict[str, Any]], texts: dict[int, str]) -> Suggestion:
    first = members[0]
    chosen = sorted(members, key=lambda row: -row["runs"])[:4]
    chosen.sort(key=lambda row: row["system_name"])
    return Suggestion(
        campaign=ComparedCampaign(first["campaign"], first["campaign_name"]) if first["campaign"] else None,
        workload=first["workload_id"],
        workload_text=texts[first["workload_id"]],
        sides=tuple((row["slug"], row["system_name"]) for row in chosen),
        runs=sum(row["runs"] for row in chosen),
        newest=first["newest"],
    )


def sides_of(runs: Iterable[int]) -> tuple[list[str], list[int]]:
    """Slugs of the systems and ids of the workloads that `runs` are of, in the order of time."""
    rows = Run.objects.filter(pk__in=list(runs)).order_by("started_at", "id").values_list("system__slug", "workload_id")
    found = list(rows)
    return list(dict.fromkeys(slug for slug, _ in found)), list(dict.fromkeys(workload for _, workload in found))


def _counts(prefix: str = "") -> Q:
    return Q(**{f"{prefix}state": Run.State.SEALED, f"{prefix}outcome": Run.Outcome.SUCCEEDED})


def _counted_runs() -> "QuerySet[Run]":
    return Run.objects.filter(_counts())
