"""Frozen values of findings for pages, API and notifications."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from apps.core.answers import Hidden, Inline, Name, Rounded, Shown, Words, component
from apps.core.units import NBSP, with_unit
from apps.dispatch.api import Progress
from apps.regressions.findings import filters, titles
from apps.regressions.models import Change


@dataclass(frozen=True)
class NamedSubject:
    id: int
    slug: Annotated[str, "empty: none"]
    name: str


@dataclass(frozen=True)
class MetricShown:
    key: str
    name: str
    unit: str
    direction: Annotated[str, "which is better: higher, lower or neutral"]


@component("Change", "A change of `system` against `baseline`, or from `first_run` of a trend on, or a missing result.")
@dataclass(frozen=True)
class ChangeRow:
    """One change of a finding; the values as in models.Change."""

    id: int
    kind: Annotated[str, f"one of {', '.join(Change.Kind.values)}"]
    verdict: Annotated[str, f"one of {', '.join(Change.Verdict.values)}"]
    workload: NamedSubject
    tool: str
    load_level: str
    load_level_id: Hidden[int | None]
    metric: MetricShown | None
    system: NamedSubject
    baseline: Annotated[NamedSubject | None, "system of the baseline; null: change in a trend"]
    history: Annotated[int | None, "id of the trend"]
    first_run: Annotated[int | None, "id of the first run after the change"]
    slot: Annotated[int | None, "id of the scheduled run"]
    before: Annotated[Rounded | None, "typical value in the metric's unit"]
    after: Rounded | None
    ratio: Annotated[Rounded | None, "after / before"]
    low: Annotated[Rounded | None, "lower end of the ratio's 95 % interval; null: too few repetitions, or no such end"]
    high: Rounded | None
    p: Annotated[Rounded | None, "corrected for all comparisons of the release"]
    runs_before: Annotated[tuple[int, ...], "ids"]
    runs_after: Annotated[tuple[int, ...], "ids"]
    reason: str
    found_at: datetime
    judged_at: datetime
    gone_at: Annotated[datetime | None, "time since which newer runs do not confirm it"]
    beneath: Annotated[
        int | None,
        "id of the change between releases that is the same effect and is counted instead; null: none",
    ] = None

    @property
    def holds(self) -> bool:
        return self.gone_at is None

    @property
    def size(self) -> str:
        """The relative change: "−12 %"; a missing result has none."""
        return titles.size(self.ratio, self.low, self.high) if self.ratio is not None else "no size"

    @property
    def interval(self) -> str:
        """95 % interval of the size: "[−14 %, −10 %]"."""
        if self.low is None or self.high is None:
            return "too few repetitions" if self.ratio is not None else ""
        return titles.interval(self.low, self.high)

    @property
    def words(self) -> Annotated[Shown[Words], "size, interval and values; of a missing result: the reason"]:
        if self.ratio is None:
            return self.reason or self.verdict
        unit = self.metric.unit if self.metric else ""
        values = f"{with_unit(self.before, unit)} → {with_unit(self.after, unit)}"
        return f"{self.size}{NBSP}{self.interval}".removesuffix(NBSP) + f": {values}"


@component("Finding", "A group of related changes, with its review.")
@dataclass(frozen=True)
class FindingRow:
    """`holding`: number of its `changes` that hold, each effect counted once (see effects). `seen`: time of the last
    note; an action sent with it is refused if the finding was changed since."""

    id: int
    kind: Annotated[str, f"one of {', '.join(filters.KINDS)}"]
    title: Words
    platform: NamedSubject | None
    hardware_class: NamedSubject | None
    release: NamedSubject | None
    baseline: NamedSubject | None
    schedule: NamedSubject | None
    family: Annotated[str, "load tool of its workloads"]
    part: Annotated[int, "above 0: split from another finding"]
    verdict: Annotated[str, f"of the changes that hold now: {', '.join(filters.VERDICTS)}"]
    state: Annotated[str, f"one of {', '.join(filters.STATES)}"]
    largest: Annotated[Rounded | None, "largest relative change for the worse, else for the better: 0.12"]
    shown: Annotated[ChangeRow | None, "the change that the title names"]
    changes: Annotated[int, Name("changes_count"), "number of changes without those `beneath` another"]
    holding: Annotated[int, Name("changes_holding"), "number of these that hold now"]
    reason: Annotated[str, "why it was accepted or closed"]
    accepted_until: Annotated[date | None, "last day of the acceptance"]
    owner: Annotated[str, "user name; empty: none"]
    due_on: date | None
    labels: tuple[str, ...]
    comments: Annotated[int, "number of comments"]
    merged_into: Annotated[int | None, "id of the finding that it was merged into"]
    seen: str
    found_at: datetime
    changed_at: datetime

    @property
    def verdict_words(self) -> str:
        return "better and worse" if self.verdict == "mixed" else self.verdict

    def is_overdue(self, *, today: date) -> bool:
        return self.due_on is not None and self.due_on < today and self.state in ("new", "under review", "confirmed")


@component("Note", "An activity entry: an action or a comment; an empty `by` is the system.")
@dataclass(frozen=True)
class NoteRow:
    """An entry in a finding's activity, also as a sentence. `by`: user name, empty: the system."""

    id: int
    what: Annotated[str, "found, state, owner, due, labels, comment, link, merged, split, …"]
    by: str
    at: datetime
    text: str
    detail: dict[str, object]
    mentions: Annotated[tuple[str, ...], "user names"]
    sentence: Words


@dataclass(frozen=True)
class LinkRow:
    id: int
    url: str
    title: str
    by: str
    at: datetime


@component("Repetition", "A campaign that measures both sides again.")
@dataclass(frozen=True)
class RepetitionRow:
    """A campaign that measures the finding's sides again."""

    campaign: Annotated[int, "id"]
    name: str
    asked_by: str
    asked_at: datetime
    progress: Progress

    @property
    def words(self) -> str:
        done = f"{self.progress.runs_done} of {self.progress.runs} runs"
        return f"{self.progress.state}, {done}"


@component(text="A finding with all its parts.")
@dataclass(frozen=True)
class FindingDetail:
    """`changes`: current ones first, the worst first. `next_states`: states that a person may set, besides accepting
    and re-opening."""

    row: Annotated[FindingRow, Inline()]
    changes: tuple[ChangeRow, ...]
    notes: Annotated[tuple[NoteRow, ...], "complete history, in order"]
    links: tuple[LinkRow, ...]
    repetitions: tuple[RepetitionRow, ...]
    merged: Annotated[tuple[NamedSubject, ...], "findings that were merged into it; `name`: their titles"]
    next_states: Annotated[tuple[str, ...], "states accepted by PUT …/state now"]
    may_accept: bool
    may_reopen: bool
