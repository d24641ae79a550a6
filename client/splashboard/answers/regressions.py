"""Generated from the OpenAPI schema: `make types`."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Optional

from splashboard.answers.comparisons import ClaimLimit


@dataclass(frozen=True)
class SystemPair:
    system: str  # slug
    system_name: str
    baseline_system: str  # slug
    baseline_system_name: str
    differs: str  # settings in which the two differ; empty: set alike


RowVerdict = Literal[
    "worse",
    "better",
    "missing",
    "not usable",
    "verdict withheld",
    "no ratio",
    "too few repetitions",
    "one session each",
    "rate not held",
    "inconclusive",
    "unchanged",
    "rate held",
]


@dataclass(frozen=True)
class CheckRow:
    """A workload at a load level in its primary metric or a percentile of latency, on one pair of systems."""

    verdict: RowVerdict
    workload_id: int
    tool: str
    workload: str
    level_id: int
    level: str
    threads: int
    rate: Optional[float]  # 1/s; None: unthrottled
    metric: str  # key
    metric_name: str
    unit: str
    direction: str  # which is better: higher or lower
    baseline_system: str  # slug
    system: str  # slug; empty: the release has no matching system
    before: Optional[float]  # typical value of the baseline, in `unit`; None: no runs
    after: Optional[float]
    runs_before: list[int]  # ids
    runs_after: list[int]
    ratio: Optional[float]  # after / before
    low: Optional[float]  # lower end of its 95 % interval; None: there is none, see `reason`
    high: Optional[float]
    p: Optional[float]  # adjusted for all rows (Benjamini-Hochberg)
    smallest: float  # smallest relative difference that counts
    # share by which it may be worse and pass, as set when it was compared; None: the `tolerance`, beside the
    # primary metric at least 0.5; errors have none
    margin: Optional[float]
    worst: Optional[float]  # greatest share by which it may be worse, by its interval
    failing: Optional[float]  # of errors: the share of the release's transactions that may fail; of dips: of its time
    needed: Optional[int]  # per side for a conclusive result at 80 % power; 1001: more than 1,000
    # of baseline and release, if they are what repeats: `needed` counts these; None: runs
    sessions: Optional[tuple[int, int]]
    reason: str
    origins: list[str]  # of its runs
    # the workload's primary metric, at a fixed rate its latency too; not latency, errors, dips or work beside it
    primary: bool
    suspect: bool  # of errors and dips: more by its own interval, but not among all rows
    claim_limits: list[ClaimLimit]  # what failed quality checks of its runs make of the verdict, the worst first
    finding: Optional[int]  # id of its finding
    finding_state: str
    is_accepted: bool  # accepted as worse, and the acceptance has not ended
    accepted_until: Optional[date]  # last day of the acceptance; None: not accepted
    accepted_why: str
    # smallest change for the worse, as a share, that such runs find with 80 % power: a fall where higher is
    # better, a rise where lower is
    visible: Optional[float]
    compare: str  # query of /api/v1/comparisons/ and of the page Compare
    is_coarse: bool  # neither worse nor better, and may be worse by more than its margin


Result = Literal["fine", "regression", "cannot tell"]


@dataclass(frozen=True)
class ReleaseCheck:
    """Comparison of a release with its baseline; `result` is for a gate."""

    platform: str  # slug
    release: str  # version
    baseline: str  # version; empty: no earlier release has runs
    hardware: str  # slug
    hardware_name: str
    lines: list[SystemPair]  # pairs of compared systems
    rows: list[CheckRow]  # the worse first, each kind by significance
    tests: int  # number of tests for which p is corrected
    result: Result
    why: list[str]  # sentences
    notes: list[str]  # sentences about rows left out
    tolerance: float
    checked_at: datetime
    counts: dict[str, int]  # rows by verdict; `accepted`: of these, worse and accepted
    title: str
    summary: str
    address: str  # of its page


@dataclass(frozen=True)
class CheckedRelease:
    """`result` and `counts` reflect current acceptances; the rows are in /release-checks/."""

    platform: str  # slug
    release: str  # version
    hardware: str  # slug
    baseline: str  # version; empty: no earlier release has runs
    result: Result
    summary: str
    why: list[str]  # sentences
    counts: dict[str, int]  # rows by verdict; `accepted`: of these, worse and accepted
    checked_at: datetime
    is_pending: bool  # runs came that it does not know yet
    fingerprint: str  # another one: verdicts, or what is accepted, have changed


@dataclass(frozen=True)
class CheckedReleaseList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[CheckedRelease]


@dataclass(frozen=True)
class Trend:
    id: int
    platform: str
    platform_name: str
    hardware: str
    hardware_name: str
    settings: str  # settings of its systems, as text
    tool: str
    workload: int
    workload_name: str
    level: str
    metric: str
    metric_name: str
    unit: str
    direction: str
    runs: int  # runs since the last reset, at most 500
    analysed: int  # analysed runs of the whole series
    resets: int  # number of changes of conditions
    variation: Optional[float]  # run-to-run, as a share of the value
    # smallest change, as a share of the value, found within ten runs with 80 % power; None: too short
    effect: Optional[float]
    reason: str  # why it cannot be monitored; empty: it can
    changes: int  # number of changes that hold now
    analysed_at: Optional[datetime]


@dataclass(frozen=True)
class TrendList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Trend]


@dataclass(frozen=True)
class SeriesRun:
    run: int
    version: str
    started_at: datetime
    value: float  # in the metric's unit
    reset: str  # differences of conditions from the runs before; empty: none known


@dataclass(frozen=True)
class TrendChange:
    place: int  # index in `points`, from 0
    run: int  # run at which it was first reported
    version: str
    verdict: str  # better or worse
    ratio: Optional[float]  # after / before
    low: Optional[float]  # lower end of the approximate 95 % interval
    high: Optional[float]
    p: Optional[float]
    before: Optional[float]  # in the metric's unit
    after: Optional[float]
    finding: int
    state: str  # state of the finding
    gone_at: Optional[datetime]  # time since which newer runs do not confirm it


@dataclass(frozen=True)
class TrendLevel:
    start: int
    end: int  # exclusive
    value: float  # median, in the metric's unit


@dataclass(frozen=True)
class TrendDrift:
    change: float  # share of the value, in a week or in 100 runs
    low: float  # lower end of the 95 % interval
    high: float
    per: str  # “week” or “100 runs”
    total: float  # over all runs since the last reset, share of the value
    verdict: str  # better or worse


@dataclass(frozen=True)
class TrendEffect:
    name: str  # “Monday”, the load generator's name, or “canary” or “stolen”
    effect: float  # share of the value, around 0, or for a step of what was measured
    low: float  # lower end of the 95 % interval
    high: float


@dataclass(frozen=True)
class TrendSeason:
    weekdays: list[TrendEffect]  # those with three runs or more, Monday first
    range: float  # between the highest and the lowest weekday
    p: float


@dataclass(frozen=True)
class TrendBurst:
    place: int  # index in the points, from 0
    runs: int
    effect: float  # share of the level
    low: float  # lower end of the 95 % interval
    high: float


@dataclass(frozen=True)
class TrendSessions:
    between: float  # from session to session, share of the value
    low: float  # lower end of the 95 % interval
    high: float
    within: float  # from run to run of a session, share of the value
    sessions: int


@dataclass(frozen=True)
class TrendPatterns:
    drift: Optional[TrendDrift]  # None: none found
    season: Optional[TrendSeason]  # None: none found
    machines: list[TrendEffect]  # empty: one, or not known apart
    bursts: list[TrendBurst]
    # “canary”: for 10 % more CPU time of the agent's fixed work; “stolen”: for a percentage point of CPU time;
    # empty: no effect is sure
    host: list[TrendEffect]
    sessions: Optional[TrendSessions]  # None: they do not surely differ


@dataclass(frozen=True)
class Limits:
    smallest: float  # share of the value
    significant: float  # p
    set_for: str  # for what the threshold was set; “the default”: none was


@dataclass(frozen=True)
class TrendDetail(Trend):
    points: list[SeriesRun]
    changes_told: list[TrendChange]
    levels: list[TrendLevel]
    patterns: TrendPatterns
    threshold: Limits
