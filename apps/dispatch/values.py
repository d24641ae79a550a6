"""Frozen values that pages and API show of campaigns and agents."""

from dataclasses import dataclass
from datetime import datetime

from apps.dispatch.models import ACTIVE
from apps.runs.models import Run


@dataclass(frozen=True)
class Progress:
    """How far a campaign is. `rate` in runs/h since its first job began; `remaining` in s.

    `runs_excluded` of the done runs a person left out, `runs_doubted` of the others failed a quality check.

    `runs` leaves out those that were skipped (`runs_skipped`), because their ladders ended before them.

    `remaining` is measured from the rate as soon as a run is done, before that taken from the plan (`by_plan`); it
    leaves out the jobs that only clean up (`jobs_cancelling`) or that no agent reaches (`jobs_unreachable`, counted for
    one campaign, not in lists). None when nothing is left.
    """

    jobs: int
    jobs_done: int
    jobs_active: int
    jobs_failed: int
    jobs_cancelled: int
    jobs_cancelling: int
    jobs_unreachable: int
    runs: int
    runs_done: int
    runs_skipped: int
    runs_excluded: int
    runs_doubted: int
    rate: float | None
    remaining: float | None
    by_plan: bool

    @property
    def is_finished(self) -> bool:
        return self.jobs_done == self.jobs

    @property
    def state(self) -> str:
        """waiting, running, or how it ended: done, failed (some jobs), cancelled (some, none failed)."""
        if not self.is_finished:
            return "running" if self.jobs_active or self.jobs_done else "waiting"
        if self.jobs_failed:
            return "failed"
        return "cancelled" if self.jobs_cancelled else "done"


@dataclass(frozen=True)
class NamedObject:
    id: int
    slug: str
    name: str


@dataclass(frozen=True)
class EntryRow:
    """`load`: all load levels in few words; `climbs`: up to where the ladder goes, in words, or empty: to its end."""

    id: int
    workload: NamedObject
    load_levels: tuple[str, ...]
    load: str
    climbs: str
    warmup: float  # s
    duration: float  # s


@dataclass(frozen=True)
class CampaignRow:
    id: int
    name: str
    created_at: datetime
    created_by: str
    cancelled_at: datetime | None
    systems: tuple[NamedObject, ...]
    entries: tuple[EntryRow, ...]
    repetitions: int
    progress: Progress

    @property
    def workloads(self) -> tuple[NamedObject, ...]:
        """Each once; slug: empty."""
        return tuple(dict.fromkeys(entry.workload for entry in self.entries))

    @property
    def load_levels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(level for entry in self.entries for level in entry.load_levels))

    @property
    def load(self) -> str:
        """In few words; how many there are where the entries differ."""
        said = {entry.load for entry in self.entries}
        return said.pop() if len(said) == 1 else f"{len(self.load_levels)} load levels, by workload"

    @property
    def warmup(self) -> float | None:
        """s; None: the entries differ."""
        return self._shared({entry.warmup for entry in self.entries})

    @property
    def duration(self) -> float | None:
        """s; None: the entries differ."""
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
    reason: str = ""
    failed_checks: tuple[str, ...] = ()
    is_excluded: bool = False

    @property
    def is_complete(self) -> bool:
        """Sealed, successful and not left out: it counts in comparisons."""
        return self.state == Run.State.SEALED and self.outcome == Run.Outcome.SUCCEEDED and not self.is_excluded


@dataclass(frozen=True)
class SkipCell:
    """A load level that was not measured, or of which no success is to be expected, and why."""

    load_level: str
    reason: str


@dataclass(frozen=True)
class JobCell:
    id: int
    entry_id: int
    system: NamedObject
    workload: NamedObject
    repetition: int
    position: int
    state: str
    attempt: int
    agent: str
    reason: str
    doing: str
    ready_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    runs: tuple[RunCell, ...]
    skips: tuple[SkipCell, ...]

    @property
    def refused(self) -> RunCell | None:
        """The run that the system refused connections to: a result, and the end of the ladder."""
        skipped = {skip.load_level for skip in self.skips}
        return next((run for run in self.runs if run.outcome == "failed" and run.load_level in skipped), None)

    @property
    def not_run(self) -> tuple[SkipCell, ...]:
        refused = self.refused
        return tuple(skip for skip in self.skips if refused is None or skip.load_level != refused.load_level)

    @property
    def sign(self) -> str:
        """One character for its state, where many jobs are shown side by side."""
        return {"succeeded": "✓", "failed": "✗", "cancelled": "–", "queued": "·"}.get(self.state, "…")

    @property
    def may_be_cancelled(self) -> bool:
        return self.state in ("queued", "matched", "running")

    @property
    def open_run(self) -> RunCell | None:
        return next((run for run in self.runs if run.state == "open" and run.attempt == self.attempt), None)


@dataclass(frozen=True)
class Round:
    """One repetition of one entry: a job for each of its systems, in the campaign's order."""

    repetition: int
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
    row: CampaignRow
    jobs: tuple[JobCell, ...]  # by position
    grids: tuple[JobGrid, ...]
    obstacles: tuple[str, ...]  # why jobs wait, in sentences

    @property
    def current(self) -> tuple[JobCell, ...]:
        return tuple(job for job in self.jobs if job.state in ACTIVE)


@dataclass(frozen=True)
class AgentRow:
    id: int
    name: str
    version: str
    is_alive: bool
    last_seen_at: datetime | None
    revoked_at: datetime | None
    labels: tuple[str, ...]
    systems: tuple[str, ...]  # slugs
    job: JobCell | None
    campaign: NamedObject | None  # slug: empty
    spool_messages: int | None
    spool_bytes: int | None
    refused_messages: int | None
    free_disk_bytes: int | None
