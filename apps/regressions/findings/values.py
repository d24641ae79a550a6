"""Frozen values that pages, API and notifications show of findings."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from apps.core.answers import Hidden, Rounded, Words
from apps.core.units import NBSP, with_unit
from apps.dispatch.api import Progress
from apps.regressions.findings.titles import percent


@dataclass(frozen=True)
class NamedSubject:
    id: int
    slug: Annotated[str, "empty: it has none"]
    name: str


@dataclass(frozen=True)
class MetricShown:
    key: str
    name: str
    unit: str
    direction: Annotated[str, "which is better: higher, lower or neutral"]


@dataclass(frozen=True)
class ChangeRow:
    """One difference of a finding; the values as of models.Change."""

    id: int
    kind: str
    verdict: str
    workload: NamedSubject
    tool: str
    load_level: str
    load_level_id: Hidden[int | None]
    metric: MetricShown | None
    system: NamedSubject
    baseline: Annotated[NamedSubject | None, "the system it is compared with; null: in one trend"]
    history: Annotated[int | None, "id"]
    first_run: Annotated[int | None, "id of the run it was first seen at"]
    slot: Annotated[int | None, "of a schedule"]
    before: Annotated[Rounded | None, "typical value in the metric's unit"]
    after: Rounded | None
    ratio: Annotated[Rounded | None, "after over before"]
    low: Annotated[Rounded | None, "of the ratio's 95 % interval; null: too few repetitions"]
    high: Rounded | None
    p: Annotated[Rounded | None, "corrected for all comparisons of the release"]
    runs_before: Annotated[tuple[int, ...], "ids"]
    runs_after: Annotated[tuple[int, ...], "ids"]
    reason: str
    found_at: datetime
    judged_at: datetime
    gone_at: Annotated[datetime | None, "since then newer runs do not confirm it"]
    beneath: Annotated[
        int | None,
        "id of the change between releases that covers the same effect and is counted instead; null: none",
    ] = None

    @property
    def holds(self) -> bool:
        return self.gone_at is None

    @property
    def size(self) -> str:
        """The relative change in words: "−12 %"; a result that is missing has none."""
        return percent(self.ratio) if self.ratio is not None else "no size"

    @property
    def interval(self) -> str:
        """Of the size, 95 %: "[−14 %, −10 %]"."""
        if self.low is None or self.high is None:
            return "too few repetitions" if self.ratio is not None else ""
        return f"[{percent(self.low)}, {percent(self.high)}]"

    @property
    def words(self) -> Annotated[Words, "size, interval and values; of a missing result: why"]:
        if self.ratio is None:
            return self.reason or self.verdict
        unit = self.metric.unit if self.metric else ""
        values = f"{with_unit(self.before, unit)} → {with_unit(self.after, unit)}"
        return f"{self.size}{NBSP}{self.interval}: {values}".replace(f"{NBSP}:", ":")


@dataclass(frozen=True)
class FindingRow:
    """`holding` of its `changes` hold now, each effect counted once (effects). `seen`: when the last note was made; an
    action that is sent with it is refused when somebody changed it since."""

    id: int
    kind: str
    title: Words
    platform: NamedSubject | None
    hardware_class: NamedSubject | None
    release: NamedSubject | None
    baseline: NamedSubject | None
    schedule: NamedSubject | None
    family: Annotated[str, "load tool of its workloads"]
    part: Annotated[int, "above 0: split from another"]
    verdict: str
    state: str
    largest: Annotated[Rounded | None, "relative change furthest for the worse, else the better: 0.12"]
    shown: Annotated[ChangeRow | None, "the change that `largest` is of"]
    changes: Annotated[int, "each effect once: without those `beneath`"]
    holding: Annotated[int, "of these, so many hold now"]
    reason: Annotated[str, "why it was accepted or closed"]
    accepted_until: Annotated[date | None, "the last day of an acceptance"]
    owner: Annotated[str, "user name; empty: nobody"]
    due_on: date | None
    labels: tuple[str, ...]
    comments: Annotated[int, "how many"]
    merged_into: Annotated[int | None, "id of the finding that has its changes now"]
    seen: str
    found_at: datetime
    changed_at: datetime

    @property
    def verdict_words(self) -> str:
        return "better and worse" if self.verdict == "mixed" else self.verdict

    def is_overdue(self, *, today: date) -> bool:
        return self.due_on is not None and self.due_on < today and self.state in ("new", "under review", "confirmed")


@dataclass(frozen=True)
class NoteRow:
    """What happened to a finding, and the same as a sentence. `by`: user name, empty: the system."""

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


@dataclass(frozen=True)
class FindingDetail:
    """`changes`: those that hold first, the furthest for the worse first. `next_states`: what a person may set besides
    accepting and re-opening."""

    row: Hidden[FindingRow]
    changes: tuple[ChangeRow, ...]
    notes: Annotated[tuple[NoteRow, ...], "its whole history, in order"]
    links: tuple[LinkRow, ...]
    repetitions: tuple[RepetitionRow, ...]
    merged: Annotated[tuple[NamedSubject, ...], "findings that were merged into it; `name`: their titles"]
    next_states: Annotated[tuple[str, ...], "that PUT …/state takes now"]
    may_accept: bool
    may_reopen: bool
