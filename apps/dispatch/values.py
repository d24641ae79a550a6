"""Frozen values for pages and API: campaigns and agents."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from apps.core.answers import Hidden, Inline, Name, Shown, component
from apps.dispatch.models import ACTIVE
from apps.runs.models import Run


@dataclass(frozen=True)
class Progress:
    """Progress of a campaign. `rate` in runs/h since its first job began; `remaining` in s.

    `remaining` is based on the rate as soon as a run is done, before that on the plan; it excludes jobs that only clean
    up (`jobs_cancelling`) or that no agent can reach (`jobs_unreachable`).
    """

    jobs: int
    jobs_done: Annotated[int, "in any final state"]
    jobs_active: int
    jobs_failed: int
    jobs_cancelled: int
    jobs_cancelling: Hidden[int]
    jobs_unreachable: Hidden[int]
    runs: int
    runs_done: int
    runs_skipped: Annotated[int, "not in `runs`: load levels skipped because their ramp ended"]
    runs_excluded: Annotated[int, "of those done: excluded from comparisons by a user"]
    runs_doubted: Annotated[int, "of those done and not excluded: failed a quality check"]
    rate: Annotated[float | None, Name("runs_per_hour")]
    remaining: Annotated[float | None, Name("remaining_seconds"), "s; null: none, or unknown"]
    by_plan: Annotated[bool, "the estimate is based on the plan: no run is done yet"]
    was_cancelled: Hidden[bool]

    @property
    def is_finished(self) -> bool:
        return self.jobs_done == self.jobs

    @property
    def state(self) -> Annotated[Shown[str], "waiting, running, done, failed or cancelled"]:
        """Waiting: for its first agent, or none reaches any of its other jobs. Failed: some jobs. Cancelled: the
        campaign, or each of its jobs; `jobs_cancelled` counts single ones."""
        if not self.is_finished:
            is_left = self.jobs_done + self.jobs_unreachable == self.jobs
            return "running" if self.jobs_active or (self.jobs_done and not is_left) else "waiting"
        if self.jobs_failed:
            return "failed"
        return "cancelled" if self.was_cancelled or self.jobs_cancelled == self.jobs else "done"


@dataclass(frozen=True)
class NamedObject:
    id: int
    slug: Annotated[str, "empty: none"]
    name: str


@dataclass(frozen=True)
class EntryRow:
    """`load`: a summary of all load levels."""

    id: int
    workload: NamedObject
    load_levels: tuple[str, ...]
    load: Hidden[str]
    is_timed: Hidden[bool]
    climbs: Annotated[str, "where the ramp of load levels ends; empty: at its last level"]
    warmup: Annotated[float, "s of each run"]
    duration: Annotated[float, "s of each run's measured phase"]


@component("Campaign")
@dataclass(frozen=True)
class CampaignRow:
    id: int
    name: str
    created_at: datetime
    created_by: str
    cancelled_at: datetime | None
    systems: tuple[NamedObject, ...]
    entries: Annotated[tuple[EntryRow, ...], "workloads, each with its load levels and times"]
    repetitions: Annotated[int, "of each session"]
    sessions: Annotated[int, "before each but the first, the servers are started anew"]
    until: Annotated[
        str, "when a load level needs no more repetitions: verdict, or the half width of an interval; empty: never"
    ]
    progress: Progress

    @property
    def until_words(self) -> str:
        """For example "until a verdict", "until ±3 %"; empty: all repetitions are measured."""
        if not self.until:
            return ""
        return "until a verdict" if self.until == "verdict" else f"until ±{100 * float(self.until):g} %"

    @property
    def workloads(self) -> Shown[tuple[NamedObject, ...]]:
        """Distinct workloads; slug: empty."""
        return tuple(dict.fromkeys(entry.workload for entry in self.entries))

    @property
    def load_levels(self) -> Annotated[Shown[tuple[str, ...]], "distinct load levels of all entries"]:
        return tuple(dict.fromkeys(level for entry in self.entries for level in entry.load_levels))

    @property
    def load(self) -> str:
        """A summary, or the number of load levels if the entries differ."""
        loads = {entry.load for entry in self.entries}
        return loads.pop() if len(loads) == 1 else f"{len(self.load_levels)} load levels, by workload"

    @property
    def warmup(self) -> Annotated[Shown[float | None], "s of each run; null: the entries differ"]:
        return self._shared({entry.warmup for entry in self.entries})

    @property
    def duration(self) -> Annotated[Shown[float | None], "s of each run's measured phase; null: the entries differ"]:
        return self._shared({entry.duration for entry in self.entries})

    @staticmethod
    def _shared(values: set[float]) -> float | None:
        return values.pop() if len(values) == 1 else None


@dataclass(frozen=True)
class RunCell:
    id: int
    threads: int
    load_level: str
    state: str
    outcome: str
    attempt: int
    reason: Hidden[str] = ""
    failed_checks: Annotated[tuple[str, ...], "keys of failed quality checks"] = ()
    is_excluded: Annotated[bool, "excluded from all comparisons by a user"] = False

    @property
    def is_complete(self) -> bool:
        """Sealed, successful and not excluded: the run counts in comparisons."""
        return self.state == Run.State.SEALED and self.outcome == Run.Outcome.SUCCEEDED and not self.is_excluded


@dataclass(frozen=True)
class SkipCell:
    """A load level that was not measured or for which no successful run is expected, with the reason."""

    load_level: str
    reason: str


@component("Job")
@dataclass(frozen=True)
class JobCell:
    id: int
    entry_id: Annotated[int, Name("entry"), "id of the campaign's entry"]
    system: NamedObject
    workload: NamedObject
    repetition: Annotated[int, "counted through all sessions"]
    session: int
    restart_seconds: Annotated[
        float | None, "s until the server, started anew for this job, answered; null: it was not"
    ]
    position: Annotated[int, "place in the campaign's execution order"]
    state: Annotated[str, "queued, matched, running, cancelling, succeeded, failed or cancelled"]
    attempt: int
    agent: Annotated[str, "empty: none"]
    reason: str
    doing: Annotated[str, "current step, as reported by the agent"]
    ready_at: Hidden[datetime | None]
    started_at: datetime | None
    finished_at: datetime | None
    runs: tuple[RunCell, ...]
    skips: Annotated[tuple[SkipCell, ...], "load levels for which no successful run is expected, with the reasons"]

    @property
    def refused(self) -> RunCell | None:
        """The run in which the system refused connections: a result, and the end of the load levels."""
        skipped = {skip.load_level for skip in self.skips}
        return next((run for run in self.runs if run.outcome == "failed" and run.load_level in skipped), None)

    @property
    def not_run(self) -> tuple[SkipCell, ...]:
        refused = self.refused
        return tuple(skip for skip in self.skips if refused is None or skip.load_level != refused.load_level)

    @property
    def sign(self) -> str:
        """One character for the state, for dense grids of jobs."""
        return {"succeeded": "✓", "failed": "✗", "cancelled": "–", "queued": "·"}.get(self.state, "…")

    @property
    def may_be_cancelled(self) -> bool:
        return self.state in ("queued", "matched", "running")

    @property
    def open_run(self) -> RunCell | None:
        return next((run for run in self.runs if run.state == "open" and run.attempt == self.attempt), None)


@dataclass(frozen=True)
class Round:
    """One repetition of one entry: a job for each of its systems, in the campaign's order. `begins_session`: whether
    another session begins with it."""

    repetition: int
    session: int
    begins_session: bool
    cells: tuple[JobCell | None, ...]


@dataclass(frozen=True)
class JobGrid:
    """An entry's jobs: by round, and by system in the campaign's order. `systems`: those that take part."""

    entry: EntryRow
    systems: tuple[NamedObject, ...]
    rounds: tuple[Round, ...]
    by_system: tuple[tuple[JobCell, ...], ...]


@dataclass(frozen=True)
class CampaignDetail:
    row: Annotated[CampaignRow, Inline()]
    jobs: tuple[JobCell, ...]  # by position
    grids: Hidden[tuple[JobGrid, ...]]
    obstacles: Annotated[tuple[str, ...], "reasons for waiting jobs, one sentence each"]
    missing: Annotated[str, "runs that stopping early (`until`) lacks, a sentence; empty: none"]

    @property
    def current(self) -> tuple[JobCell, ...]:
        return tuple(job for job in self.jobs if job.state in ACTIVE)


@dataclass(frozen=True)
class RefusedSystem:
    slug: str
    reason: str


@dataclass(frozen=True)
class AgentRow:
    id: int
    name: str
    version: str
    is_alive: Annotated[bool, "recently connected and not revoked"]
    last_seen_at: datetime | None
    revoked_at: datetime | None
    labels: tuple[str, ...]
    systems: Annotated[tuple[str, ...], "slugs of reachable systems"]
    restarts: Annotated[tuple[str, ...], "those of them whose servers it can start anew between sessions"]
    refused_systems: Annotated[tuple[RefusedSystem, ...], "named in its last report; they get no jobs"]
    job: Annotated[JobCell | None, "its current job"]
    campaign: Hidden[NamedObject | None]  # slug: empty
    spool_messages: Annotated[int | None, "waiting to be uploaded; null: not reported"]
    spool_bytes: int | None
    refused_messages: int | None
    free_disk_bytes: int | None
