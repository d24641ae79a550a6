"""What pages and API show of campaigns and agents: frozen values, read in a constant number of queries."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Prefetch, Q

from apps.catalog.models import LoadLevel, System
from apps.dispatch.agents import AGENT_ALIVE_FOR
from apps.dispatch.models import ACTIVE, FINAL, Agent, Campaign, Job, JobRun
from apps.dispatch.planning import size_of
from apps.dispatch.values import AgentRow, CampaignDetail, CampaignRow, Grid, JobCell, Named, Progress, Round, RunCell

# ---------------------------------------------------------------- campaigns


def list_campaigns(*, now: datetime, limit: int = 50, before: int | None = None) -> list[CampaignRow]:
    """Newest first; `before`: the id after which the list goes on."""
    campaigns = _campaigns().order_by("-pk")
    if before is not None:
        campaigns = campaigns.filter(pk__lt=before)
    return _rows(list(campaigns[:limit]), now=now)


def load_campaign(campaign_id: int, *, now: datetime) -> CampaignDetail | None:
    """None: there is no such campaign."""
    jobs = Job.objects.filter(campaign=campaign_id).select_related("system", "workload", "agent").order_by("position")
    cells = tuple(_cell(job) for job in jobs.prefetch_related(_job_runs()))
    lonely = _out_of_reach(cells, now=now)
    idle = sum(cell.state == "queued" and cell.system.id in {system.pk for system in lonely} for cell in cells)
    found = _rows(list(_campaigns().filter(pk=campaign_id)), now=now, unreachable_jobs=idle)
    if not found:
        return None
    row = replace(found[0], systems=tuple(_first_round(cells)))
    return CampaignDetail(row=row, jobs=cells, grids=_grids(cells), obstacles=_obstacles(lonely))


def _campaigns() -> Any:
    return Campaign.objects.select_related("created_by").prefetch_related("systems", "workloads", "load_levels")


def _job_runs() -> "Prefetch[str]":
    order = ("run__load_level__rate", "run__load_level__threads", "attempt")
    return Prefetch("job_runs", JobRun.objects.select_related("run__load_level").order_by(*order))


def _rows(campaigns: Sequence[Campaign], *, now: datetime, unreachable_jobs: int = 0) -> list[CampaignRow]:
    ids = [campaign.pk for campaign in campaigns]
    counts: dict[int, Counter[str]] = {pk: Counter() for pk in ids}
    begun: dict[int, datetime] = {}
    by_state = Job.objects.filter(campaign__in=ids).order_by().values_list("campaign", "state")
    for pk, state, count, first in by_state.annotate(count=Count("pk"), first=Min("started_at")):
        counts[pk][state] = count
        if first is not None:
            begun[pk] = min(first, begun.get(pk, first))
    measured = JobRun.objects.filter(job__campaign__in=ids, run__outcome="succeeded").order_by()
    done = dict(measured.values_list("job__campaign").annotate(count=Count("pk")))
    return [
        _row(
            campaign,
            counts[campaign.pk],
            runs_done=done.get(campaign.pk, 0),
            begun=begun.get(campaign.pk),
            unreachable_jobs=unreachable_jobs,
            now=now,
        )
        for campaign in campaigns
    ]


def _row(
    campaign: Campaign,
    counts: Counter[str],
    *,
    runs_done: int,
    begun: datetime | None,
    unreachable_jobs: int,
    now: datetime,
) -> CampaignRow:
    levels = list(campaign.load_levels.all())
    systems = sorted(campaign.systems.all(), key=lambda system: system.pk)
    workloads = list(campaign.workloads.all())
    return CampaignRow(
        id=campaign.pk,
        name=campaign.name,
        created_at=campaign.created_at,
        created_by=campaign.created_by.username if campaign.created_by else "",
        cancelled_at=campaign.cancelled_at,
        systems=tuple(_named(system) for system in systems),
        workloads=tuple(Named(workload.pk, "", workload.name) for workload in workloads),
        load_levels=tuple(str(level) for level in levels),
        load=_load(levels),
        repetitions=campaign.repetitions,
        warmup=campaign.warmup,
        duration=campaign.duration,
        progress=_progress(
            campaign,
            counts=counts,
            levels=len(levels),
            runs_done=runs_done,
            begun=begun,
            unreachable_jobs=unreachable_jobs,
            now=now,
        ),
    )


def _progress(
    campaign: Campaign,
    *,
    counts: Counter[str],
    levels: int,
    runs_done: int,
    begun: datetime | None,
    unreachable_jobs: int,
    now: datetime,
) -> Progress:
    jobs = counts.total()
    final = sum(counts[state] for state in FINAL)
    runs = jobs * levels
    # A failed or cancelled job may have measured some of its levels; what it has not will not come.
    coming = jobs - final - counts["cancelling"] - unreachable_jobs
    left = max(0, coming * levels - max(0, runs_done - counts["succeeded"] * levels))
    elapsed = (now - begun).total_seconds() if begun else 0.0
    rate = runs_done / elapsed * 3600 if runs_done and elapsed > 0 and final < jobs else None
    remaining, by_plan = None, False
    if coming > 0:
        by_plan = rate is None
        planned = size_of(
            systems=1,
            workloads=1,
            load_levels=levels,
            repetitions=coming,
            warmup=campaign.warmup,
            duration=campaign.duration,
        )
        remaining = left / rate * 3600 if rate else max(0.0, planned.seconds - elapsed)
    return Progress(
        jobs=jobs,
        jobs_done=final,
        jobs_active=sum(counts[state] for state in ACTIVE),
        jobs_failed=counts["failed"],
        jobs_cancelled=counts["cancelled"],
        jobs_cancelling=counts["cancelling"],
        jobs_unreachable=unreachable_jobs,
        runs=runs,
        runs_done=runs_done,
        rate=rate,
        remaining=remaining,
        by_plan=by_plan,
    )


def _load(levels: Sequence[LoadLevel]) -> str:
    """1, 4, 8 threads; levels with a rate one by one."""
    closed = [level for level in levels if level.rate is None]
    if len(closed) < 2 or len(closed) < len(levels):
        return "; ".join(str(level) for level in levels)
    return f"{', '.join(str(level.threads) for level in closed)} threads"


def _named(system: System) -> Named:
    return Named(system.pk, system.slug, system.name)


def _cell(job: Job) -> JobCell:
    return JobCell(
        id=job.pk,
        system=_named(job.system),
        workload=Named(job.workload.pk, "", job.workload.name),
        repetition=job.repetition,
        position=job.position,
        state=job.state,
        attempt=job.attempt,
        agent=job.agent.name if job.agent else "",
        reason=job.reason,
        doing=job.progress,
        ready_at=job.ready_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        runs=tuple(
            RunCell(
                id=job_run.run.pk,
                threads=job_run.run.load_level.threads,
                load_level=str(job_run.run.load_level),
                state=job_run.run.state,
                outcome=job_run.run.outcome,
                attempt=job_run.attempt,
                reason=job_run.run.reason,
            )
            for job_run in job.job_runs.all()
        ),
    )


def _grids(cells: Sequence[JobCell]) -> tuple[Grid, ...]:
    systems = _first_round(cells)
    workloads = list(dict.fromkeys(cell.workload for cell in cells))
    place = {(cell.workload, cell.repetition, cell.system): cell for cell in cells}
    repetitions = sorted({cell.repetition for cell in cells})
    return tuple(
        Grid(
            workload=workload,
            rounds=tuple(
                Round(repetition, tuple(place.get((workload, repetition, system)) for system in systems))
                for repetition in repetitions
            ),
        )
        for workload in workloads
    )


def _first_round(cells: Iterable[JobCell]) -> list[Named]:
    """The systems in the order in which they were chosen: the first round goes forward."""
    return list(dict.fromkeys(cell.system for cell in cells))


def _out_of_reach(cells: Sequence[JobCell], *, now: datetime) -> list[System]:
    """Systems with waiting jobs that no agent could take."""
    waiting = {cell.system.id for cell in cells if cell.state == "queued"}
    if not waiting:
        return []
    systems = list(System.objects.filter(pk__in=waiting))
    lonely = unreachable(systems, now=now)
    return [system for system in systems if system.slug in lonely]


def _obstacles(lonely: Sequence[System]) -> tuple[str, ...]:
    """What would help."""
    return tuple(
        f"No agent that is alive can reach {system.slug}: it needs {_labels(system.labels)}." for system in lonely
    )


def unreachable(systems: Iterable[System], *, now: datetime) -> frozenset[str]:
    """Slugs of those that no agent that is alive could measure. One query."""
    alive = [set(labels) for labels in _alive(now).values_list("labels", flat=True)]
    return frozenset(system.slug for system in systems if not any(labels.issuperset(system.labels) for labels in alive))


def _labels(labels: Sequence[str]) -> str:
    if not labels:
        return "any agent"
    return f"the label{'' if len(labels) == 1 else 's'} {', '.join(labels)}"


# ---------------------------------------------------------------- agents


def list_agents(*, now: datetime) -> list[AgentRow]:
    """The living first, then by name."""
    agents = Agent.objects.prefetch_related(
        Prefetch(
            "jobs",
            Job.objects.filter(state__in=ACTIVE)
            .select_related("system", "workload", "agent", "campaign")
            .prefetch_related(_job_runs()),
            to_attr="current",
        )
    )
    alive = set(_alive(now).values_list("pk", flat=True))
    return sorted((_agent(agent, agent.pk in alive) for agent in agents), key=lambda row: (not row.is_alive, row.name))


def _alive(now: datetime) -> Any:
    return Agent.objects.filter(Q(revoked_at=None), last_seen_at__gte=now - AGENT_ALIVE_FOR)


def _agent(agent: Agent, alive: bool) -> AgentRow:
    current: list[Job] = getattr(agent, "current", [])
    job = current[0] if current else None
    return AgentRow(
        id=agent.pk,
        name=agent.name,
        version=agent.version,
        is_alive=alive,
        last_seen_at=agent.last_seen_at,
        revoked_at=agent.revoked_at,
        labels=tuple(label for label in agent.labels if not label.startswith("system:")),
        systems=tuple(label.removeprefix("system:") for label in agent.labels if label.startswith("system:")),
        job=_cell(job) if job else None,
        campaign=Named(job.campaign.pk, "", job.campaign.name) if job else None,
        spool_messages=_whole(agent.health, "spool_messages"),
        spool_bytes=_whole(agent.health, "spool_bytes"),
        refused_messages=_whole(agent.health, "refused_messages"),
        free_disk_bytes=_whole(agent.health, "free_disk_bytes"),
    )


def _whole(health: dict[str, Any], key: str) -> int | None:
    """What an agent says is only shown if it is what it should be."""
    value = health.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
