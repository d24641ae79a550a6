"""Generated from the OpenAPI schema: `make types`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Optional


@dataclass(frozen=True)
class NamedObject:
    id: int
    slug: str  # empty: none
    name: str


@dataclass(frozen=True)
class EntryRow:
    id: int
    workload: NamedObject
    load_levels: list[str]
    climbs: str  # where the ramp of load levels ends; empty: at its last level
    warmup: float  # s of each run
    duration: float  # s of each run's measured phase


@dataclass(frozen=True)
class Progress:
    jobs: int
    jobs_done: int  # in any final state
    jobs_active: int
    jobs_failed: int
    jobs_cancelled: int
    runs: int
    runs_done: int
    runs_skipped: int  # not in `runs`: load levels skipped because their ramp ended
    runs_excluded: int  # of those done: excluded from comparisons by a user
    runs_doubted: int  # of those done and not excluded: failed a quality check
    runs_per_hour: Optional[float]
    remaining_seconds: Optional[float]  # s; None: none, or unknown
    by_plan: bool  # the estimate is based on the plan: no run is done yet
    state: str  # waiting, running, done, failed or cancelled


@dataclass(frozen=True)
class Campaign:
    id: int
    name: str
    created_at: datetime
    created_by: str
    cancelled_at: Optional[datetime]
    systems: list[NamedObject]
    entries: list[EntryRow]  # workloads, each with its load levels and times
    repetitions: int  # of each session
    sessions: int  # before each but the first, the servers are started anew
    until: str  # when a load level needs no more repetitions: verdict, or the half width of an interval; empty: never
    progress: Progress
    workloads: list[NamedObject]
    load_levels: list[str]  # distinct load levels of all entries
    warmup: Optional[float]  # s of each run; None: the entries differ
    duration: Optional[float]  # s of each run's measured phase; None: the entries differ
    address: str  # of its page


@dataclass(frozen=True)
class CampaignList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Campaign]


@dataclass(frozen=True)
class RunCell:
    id: int
    threads: int
    load_level: str
    state: str
    outcome: str
    attempt: int
    failed_checks: list[str]  # keys of failed quality checks
    is_excluded: bool  # excluded from all comparisons by a user


@dataclass(frozen=True)
class SkipCell:
    load_level: str
    reason: str


@dataclass(frozen=True)
class Job:
    id: int
    entry: int  # id of the campaign's entry
    system: NamedObject
    workload: NamedObject
    repetition: int  # counted through all sessions
    session: int
    restart_seconds: Optional[float]  # s until the server, started anew for this job, answered; None: it was not
    position: int  # place in the campaign's execution order
    state: str  # queued, matched, running, cancelling, succeeded, failed or cancelled
    attempt: int
    agent: str  # empty: none
    reason: str
    doing: str  # current step, as reported by the agent
    started_at: Optional[datetime]
    finished_at: Optional[datetime]
    runs: list[RunCell]
    skips: list[SkipCell]  # load levels for which no successful run is expected, with the reasons


@dataclass(frozen=True)
class CampaignDetail(Campaign):
    jobs: list[Job]
    obstacles: list[str]  # reasons for waiting jobs, one sentence each
    missing: str  # runs that stopping early (`until`) lacks, a sentence; empty: none
