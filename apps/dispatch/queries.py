"""Campaigns and agents for pages and API: frozen values, read in a constant number of queries."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Prefetch, Q

from apps.catalog.models import LoadLevel, System
from apps.core.text import counted
from apps.dispatch.campaigns import progress
from apps.dispatch.jobs.agents import AGENT_ALIVE_FOR, never_restarted, restarts
from apps.dispatch.models import ACTIVE, FINAL, Agent, AgentSystem, Campaign, Entry, Job, JobRun, Skip
from apps.dispatch.values import (
    AgentRow,
    CampaignDetail,
    CampaignRow,
    EntryRow,
    JobCell,
    JobGrid,
    NamedObject,
    RefusedSystem,
    Round,
    RunCell,
    SkipCell,
)
from workers.protocol.workloads import WORKLOADS

# Named of the places that lack runs.
MOST_LACKS = 3

# ---------------------------------------------------------------- campaigns


def list_campaigns(*, now: datetime, limit: int = 50, before: int | None = None) -> list[CampaignRow]:
    """Newest first; `before`: campaigns with a lower id only, for paging."""
    campaigns = _campaigns().order_by("-pk")
    if before is not None:
        campaigns = campaigns.filter(pk__lt=before)
    return _rows(list(campaigns[:limit]), now=now)


def load_campaign(campaign_id: int, *, now: datetime) -> CampaignDetail | None:
    """None: there is no such campaign."""
    jobs = Job.objects.filter(campaign=campaign_id).select_related("system", "workload", "agent").order_by("position")
    cells = tuple(_cell(job) for job in jobs.prefetch_related(*_job_details()))
    unreached = _out_of_reach(cells, now=now)
    far = {system.pk for system in unreached}
    found = _rows(list(_campaigns().filter(pk=campaign_id)), now=now)
    if not found:
        return None
    row = replace(found[0], systems=tuple(_first_round(cells)))
    obstacles = (*_obstacles(unreached, now=now), *_not_restarted(cells, but=far))
    grids = _grids(row, cells)
    return CampaignDetail(row=row, jobs=cells, grids=grids, obstacles=obstacles, missing=_missing(row, grids))


def _campaigns() -> Any:
    return Campaign.objects.select_related("created_by").prefetch_related(
        "systems", Prefetch("entries", Entry.objects.select_related("workload").prefetch_related("load_levels"))
    )


def _job_details() -> tuple["Prefetch[str]", "Prefetch[str]"]:
    order = ("run__load_level__rate", "run__load_level__threads", "attempt")
    return (
        Prefetch("job_runs", JobRun.objects.select_related("run__load_level").order_by(*order)),
        Prefetch("skips", Skip.objects.select_related("load_level").order_by("load_level")),
    )


def _rows(campaigns: Sequence[Campaign], *, now: datetime) -> list[CampaignRow]:
    idle = _unreachable_jobs(campaigns, now=now)
    counted = progress.count([campaign.pk for campaign in campaigns], unreachable=idle)
    return [_row(campaign, counted, now=now) for campaign in campaigns]


def _unreachable_jobs(campaigns: Sequence[Campaign], *, now: datetime) -> Mapping[int, int]:
    """Number of waiting jobs that no agent can reach, by entry. Two queries."""
    waiting = Job.objects.filter(campaign__in=campaigns, state="queued").order_by().values_list("entry", "system__slug")
    counts = list(waiting.annotate(number=Count("pk")))
    slugs = {slug for _, slug, _ in counts}
    systems = [system for campaign in campaigns for system in campaign.systems.all() if system.slug in slugs]
    unreached = unreachable(systems, now=now) if systems else frozenset()
    found = Counter[int]()
    for entry, slug, number in counts:
        found[entry] += number * (slug in unreached)
    return found


def _row(campaign: Campaign, counted: progress.Counts, *, now: datetime) -> CampaignRow:
    entries = list(campaign.entries.all())
    return CampaignRow(
        id=campaign.pk,
        name=campaign.name,
        created_at=campaign.created_at,
        created_by=campaign.created_by.username if campaign.created_by else "",
        cancelled_at=campaign.cancelled_at,
        systems=tuple(_named(system) for system in sorted(campaign.systems.all(), key=lambda system: system.pk)),
        entries=tuple(_entry(entry) for entry in entries),
        repetitions=campaign.repetitions,
        sessions=campaign.sessions,
        until=campaign.until,
        progress=progress.of(campaign, entries, counted, now=now),
    )


def _entry(entry: Entry) -> EntryRow:
    levels, spec = list(entry.load_levels.all()), WORKLOADS.get(entry.workload.tool)
    return EntryRow(
        id=entry.pk,
        workload=NamedObject(entry.workload.pk, "", entry.workload.name),
        load_levels=tuple(str(level) for level in levels),
        load=_load(levels),
        is_timed=spec is None or spec.is_timed,
        climbs=_ramp_text(entry),
        warmup=entry.warmup,
        duration=entry.duration,
    )


def _ramp_text(entry: Entry) -> str:
    if not entry.ends_when_refused:
        return ""
    if entry.least_gain is None:
        return "until connections are refused"
    return f"until more threads gain less than {100 * entry.least_gain:.3g} % of throughput, or connections are refused"


def _load(levels: Sequence[LoadLevel]) -> str:
    """For example "1, 4, 8 threads"; levels with a rate are listed one by one."""
    closed = [level for level in levels if level.rate is None]
    if len(closed) < 2 or len(closed) < len(levels):
        return "; ".join(str(level) for level in levels)
    return f"{', '.join(str(level.threads) for level in closed)} threads"


def _named(system: System) -> NamedObject:
    return NamedObject(system.pk, system.slug, system.short_name)


def _cell(job: Job) -> JobCell:
    return JobCell(
        id=job.pk,
        entry_id=job.entry_id,
        system=_named(job.system),
        workload=NamedObject(job.workload.pk, "", job.workload.name),
        repetition=job.repetition,
        session=job.session,
        restart_seconds=job.restart_seconds,
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
                failed_checks=tuple(job_run.run.failed_checks),
                is_excluded=job_run.run.is_excluded,
            )
            for job_run in job.job_runs.all()
        ),
        skips=tuple(SkipCell(str(skip.load_level), skip.reason) for skip in job.skips.all()),
    )


def _grids(row: CampaignRow, cells: Sequence[JobCell]) -> tuple[JobGrid, ...]:
    return tuple(_grid(entry, row, [cell for cell in cells if cell.entry_id == entry.id]) for entry in row.entries)


def _grid(entry: EntryRow, row: CampaignRow, cells: Sequence[JobCell]) -> JobGrid:
    taking_part = {cell.system for cell in cells}
    systems = tuple(system for system in row.systems if system in taking_part)
    place = {(cell.repetition, cell.system): cell for cell in cells}
    sessions = {cell.repetition: cell.session for cell in cells}
    return JobGrid(
        entry=entry,
        systems=systems,
        rounds=tuple(
            Round(
                number,
                session,
                sessions.get(number - 1, session) != session,
                tuple(place.get((number, system)) for system in systems),
            )
            for number, session in sorted(sessions.items())
        ),
        by_system=tuple(
            tuple(sorted((cell for cell in cells if cell.system == system), key=lambda cell: cell.repetition))
            for system in row.systems
        ),
    )


def _missing(row: CampaignRow, grids: Sequence[JobGrid]) -> str:
    """Why load levels are not stopped early yet although others were measured as often; empty: for no lack of runs."""
    if not row.until:
        return ""
    unit = "session" if row.sessions > 1 else "repetition"
    found = [lack for grid in grids for lack in _lacks(grid, unit)]
    more = f"; and {len(found) - MOST_LACKS} more" if len(found) > MOST_LACKS else ""
    return f"Runs are missing, which delays stopping early: {'; '.join(found[:MOST_LACKS])}{more}." if found else ""


def _lacks(grid: JobGrid, unit: str) -> Iterator[str]:
    """By load level that is still measured, and system: how many of the complete repetitions (sessions) have a run
    that counts."""
    jobs = [job for own in grid.by_system for job in own]
    waiting = [getattr(job, unit) for job in jobs if job.state not in FINAL]
    complete = min(waiting, default=1) - 1
    skipped = {skip.load_level for job in jobs for skip in job.skips}
    for level in grid.entry.load_levels if complete else ():
        for system, own in zip(grid.systems, filter(None, grid.by_system), strict=True):
            seen = len({getattr(job, unit) for job in own if getattr(job, unit) <= complete and _counts(job, level)})
            if level not in skipped and seen < complete:
                yield f"{system.name} has {seen} of {counted(complete, unit)} at {level}"


def _counts(job: JobCell, level: str) -> bool:
    """Whether it has a run at the level that counts, or that is being stored."""
    own = [run for run in job.runs if run.load_level == level]
    return any(run.is_complete or (run.state == "ended" and run.outcome == "succeeded") for run in own)


def _first_round(cells: Iterable[JobCell]) -> list[NamedObject]:
    """The systems in the order in which they were chosen: that of the first round."""
    return list(dict.fromkeys(cell.system for cell in cells))


def _out_of_reach(cells: Sequence[JobCell], *, now: datetime) -> list[System]:
    """Systems with waiting jobs that no agent can take."""
    waiting = {cell.system.id for cell in cells if cell.state == "queued"}
    if not waiting:
        return []
    systems = list(System.objects.filter(pk__in=waiting))
    unreached = unreachable(systems, now=now)
    return [system for system in systems if system.slug in unreached]


def _obstacles(unreached: Sequence[System], *, now: datetime) -> Iterator[str]:
    """Reasons why jobs wait, with the remedy. One query if there are any."""
    refused = refusals(unreached, now=now)
    remedy = "connect one as docs/howto/agent.md says."
    for system in unreached:
        if system.slug in refused:
            yield f"{refused[system.slug]}."
        else:
            yield f"No agent is connected to {system.short_name}{_with_labels(system)}: {remedy}"


def refusals(unreached: Sequence[System], *, now: datetime) -> Mapping[str, str]:
    """Slug -> why a live agent that names the system gives it no jobs. One query if there are any."""
    refusing = _alive(now).exclude(refused_systems={}).order_by("name") if unreached else ()
    why = {slug: (agent, reason) for agent in refusing for slug, reason in agent.refused_systems.items()}
    found = ((system, why[system.slug]) for system in unreached if system.slug in why)
    return {
        system.slug: f"{system.short_name} gets no jobs of agent {agent.name}: {said}"
        for system, (agent, said) in found
    }


def _not_restarted(cells: Sequence[JobCell], *, but: Collection[int]) -> tuple[str, ...]:
    """Jobs of later sessions that wait because no agent can start their system anew any more."""
    waiting = {cell.system.id for cell in cells if cell.state == "queued" and cell.session > 1} - set(but)
    systems = never_restarted(list(System.objects.filter(pk__in=waiting).order_by("pk"))) if waiting else []
    return tuple(
        f"No agent can start {system.short_name} anew before its next session: name the command as `restart` in its "
        "agent's file as docs/howto/agent.md says."
        for system in systems
    )


def unreachable(systems: Iterable[System], *, now: datetime) -> frozenset[str]:
    """Slugs of the systems that no live agent can measure. One query."""
    alive = [set(labels) for labels in _alive(now).values_list("labels", flat=True)]
    return frozenset(system.slug for system in systems if not any(labels.issuperset(system.labels) for labels in alive))


def _with_labels(system: System) -> str:
    """What an agent must declare beside the system itself."""
    further = [label for label in system.labels if label != f"system:{system.slug}"]
    return f" with the label{'' if len(further) == 1 else 's'} {', '.join(further)}" if further else ""


# ---------------------------------------------------------------- agents


def list_agents(*, now: datetime) -> list[AgentRow]:
    """Live agents first, then by name."""
    agents = Agent.objects.prefetch_related(
        Prefetch(
            "jobs",
            Job.objects.filter(state__in=ACTIVE)
            .select_related("system", "workload", "agent", "campaign")
            .prefetch_related(*_job_details()),
            to_attr="current",
        )
    )
    alive = set(_alive(now).values_list("pk", flat=True))
    return sorted((_agent(agent, agent.pk in alive) for agent in agents), key=lambda row: (not row.is_alive, row.name))


def asked_systems() -> list[AgentSystem]:
    """Undecided ones first, the oldest of them first; of agents that are not revoked."""
    found = AgentSystem.objects.filter(agent__revoked_at=None).select_related("agent", "decided_by")
    return list(found.order_by(F("is_allowed").asc(nulls_first=True), "asked_at", "pk"))


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
        restarts=tuple(sorted(restarts(agent))),
        refused_systems=tuple(RefusedSystem(slug, reason) for slug, reason in agent.refused_systems.items()),
        job=_cell(job) if job else None,
        campaign=NamedObject(job.campaign.pk, "", job.campaign.name) if job else None,
        spool_messages=_whole(agent.health, "spool_messages"),
        spool_bytes=_whole(agent.health, "spool_bytes"),
        refused_messages=_whole(agent.health, "refused_messages"),
        free_disk_bytes=_whole(agent.health, "free_disk_bytes"),
    )


def _whole(health: dict[str, Any], key: str) -> int | None:
    """An integer reported by the agent; None if missing or of another type."""
    value = health.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
