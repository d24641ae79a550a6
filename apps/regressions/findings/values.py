"""Frozen values that pages, API and notifications show of findings."""

from dataclasses import dataclass
from datetime import date, datetime

from apps.core.units import NBSP, with_unit
from apps.dispatch.api import Progress
from apps.regressions.findings.titles import percent


@dataclass(frozen=True)
class NamedSubject:
    """`slug` empty: it has none."""

    id: int
    slug: str
    name: str


@dataclass(frozen=True)
class MetricShown:
    """`direction`: which is better, "higher", "lower" or "neutral"."""

    key: str
    name: str
    unit: str
    direction: str


@dataclass(frozen=True)
class ChangeRow:
    """One difference of a finding; the values as of models.Change. `baseline`: the system it is held against.
    `beneath`: id of the comparison between releases that speaks for it; it is not counted. None: it is."""

    id: int
    kind: str
    verdict: str
    workload: NamedSubject
    tool: str
    load_level: str
    load_level_id: int | None
    metric: MetricShown | None
    system: NamedSubject
    baseline: NamedSubject | None
    history: int | None
    first_run: int | None
    slot: int | None
    before: float | None
    after: float | None
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    runs_before: tuple[int, ...]
    runs_after: tuple[int, ...]
    reason: str
    found_at: datetime
    judged_at: datetime
    gone_at: datetime | None
    beneath: int | None = None

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
    def words(self) -> str:
        """Size, interval and both values with their unit, or why there are none."""
        if self.ratio is None:
            return self.reason or self.verdict
        unit = self.metric.unit if self.metric else ""
        values = f"{with_unit(self.before, unit)} → {with_unit(self.after, unit)}"
        return f"{self.size}{NBSP}{self.interval}: {values}".replace(f"{NBSP}:", ":")


@dataclass(frozen=True)
class FindingRow:
    """`largest`: relative change (0.12 for 12 %) that is furthest for the worse, else for the better; `shown`: the
    change that it is of. `holding` of its `changes` hold now, each effect counted
    once (effects). `owner`: user name, empty: nobody.
    `seen`: when the last note was made; an action sent with it is refused when somebody changed it since."""

    id: int
    kind: str
    title: str
    platform: NamedSubject | None
    hardware_class: NamedSubject | None
    release: NamedSubject | None
    baseline: NamedSubject | None
    schedule: NamedSubject | None
    family: str
    part: int
    verdict: str
    state: str
    largest: float | None
    shown: ChangeRow | None
    changes: int
    holding: int
    reason: str
    accepted_until: date | None
    owner: str
    due_on: date | None
    labels: tuple[str, ...]
    comments: int
    merged_into: int | None
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
    what: str
    by: str
    at: datetime
    text: str
    detail: dict[str, object]
    mentions: tuple[str, ...]
    sentence: str


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

    campaign: int
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
    """`changes`: those that hold first, the furthest for the worse first. `notes` in order of time. `merged`: ids and
    titles of those that were merged into it. `next_states`: what a person may set besides accepting and re-opening."""

    row: FindingRow
    changes: tuple[ChangeRow, ...]
    notes: tuple[NoteRow, ...]
    links: tuple[LinkRow, ...]
    repetitions: tuple[RepetitionRow, ...]
    merged: tuple[NamedSubject, ...]
    next_states: tuple[str, ...]
    may_accept: bool
    may_reopen: bool
