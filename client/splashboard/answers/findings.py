"""Generated from the OpenAPI schema: `make types`."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Optional

from splashboard.answers.campaigns import Progress


@dataclass(frozen=True)
class NamedSubject:
    id: int
    slug: str  # empty: none
    name: str


@dataclass(frozen=True)
class MetricShown:
    key: str
    name: str
    unit: str
    direction: str  # which is better: higher, lower or neutral


@dataclass(frozen=True)
class Change:
    """A change of `system` against `baseline`, or from `first_run` of a trend on, or a missing result."""

    id: int
    kind: str  # one of release, history, missing
    verdict: str  # one of worse, better, missing
    workload: NamedSubject
    tool: str
    load_level: str
    metric: Optional[MetricShown]
    system: NamedSubject
    baseline: Optional[NamedSubject]  # system of the baseline; None: change in a trend
    history: Optional[int]  # id of the trend
    first_run: Optional[int]  # id of the first run after the change
    slot: Optional[int]  # id of the scheduled run
    before: Optional[float]  # typical value in the metric's unit
    after: Optional[float]
    ratio: Optional[float]  # after / before
    low: Optional[float]  # lower end of the ratio's 95 % interval; None: too few repetitions, or no such end
    high: Optional[float]
    p: Optional[float]  # corrected for all comparisons of the release
    runs_before: list[int]  # ids
    runs_after: list[int]  # ids
    reason: str
    found_at: datetime
    judged_at: datetime
    gone_at: Optional[datetime]  # time since which newer runs do not confirm it
    # id of the change between releases that is the same effect and is counted instead; None: none
    beneath: Optional[int]
    words: str  # size, interval and values; of a missing result: the reason


@dataclass(frozen=True)
class Finding:
    """A group of related changes, with its review."""

    id: int
    kind: str  # one of change, missing
    title: str
    platform: Optional[NamedSubject]
    hardware_class: Optional[NamedSubject]
    schedule: Optional[NamedSubject]
    family: str  # load tool of its workloads
    part: int  # above 0: split from another finding
    verdict: str  # of the changes that hold now: worse, better, mixed, missing, gone
    state: str  # one of new, under review, confirmed, accepted, fixed, not reproducible, verify
    largest: Optional[float]  # largest relative change for the worse, else for the better: 0.12
    shown: Optional[Change]  # the change that the title names
    changes_count: int  # number of changes without those `beneath` another
    changes_holding: int  # number of these that hold now
    reason: str  # why it was accepted or closed
    accepted_until: Optional[date]  # last day of the acceptance
    owner: str  # user name; empty: none
    due_on: Optional[date]
    labels: list[str]
    comments: int  # number of comments
    merged_into: Optional[int]  # id of the finding that it was merged into
    found_at: datetime
    changed_at: datetime
    address: str  # of its page
    release: Optional[str]  # version; None: of no release
    baseline: Optional[str]  # version of the release it is compared with
    seen: datetime  # send it with an action: it is refused when somebody was faster


@dataclass(frozen=True)
class FindingList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Finding]


@dataclass(frozen=True)
class Note:
    """An activity entry: an action or a comment; an empty `by` is the system."""

    id: int
    what: str  # found, state, owner, due, labels, comment, link, merged, split, …
    by: str
    at: datetime
    text: str
    detail: dict[str, Any]
    mentions: list[str]  # user names
    sentence: str


@dataclass(frozen=True)
class LinkRow:
    id: int
    url: str
    title: str
    by: str
    at: datetime


@dataclass(frozen=True)
class Repetition:
    """A campaign that measures both sides again."""

    campaign: int  # id
    name: str
    asked_by: str
    asked_at: datetime
    progress: Progress


@dataclass(frozen=True)
class FindingDetail(Finding):
    """A finding with all its parts."""

    changes: list[Change]
    notes: list[Note]  # complete history, in order
    links: list[LinkRow]
    repetitions: list[Repetition]
    merged: list[NamedSubject]  # findings that were merged into it; `name`: their titles
    next_states: list[str]  # states accepted by PUT …/state now
    may_accept: bool
    may_reopen: bool
