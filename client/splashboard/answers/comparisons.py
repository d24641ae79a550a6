"""Generated from the OpenAPI schema: `make types`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Optional


@dataclass(frozen=True)
class ComparedWorkload:
    id: int
    tool: str
    name: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class ComparedCampaign:
    id: int
    name: str


@dataclass(frozen=True)
class Side:
    slug: str  # key of the side in this comparison
    system: str  # slug of its system
    workload: ComparedWorkload
    name: str  # short name of its system, and the workload if it is another one
    title: str  # the same with the system's whole name
    position: int  # 0 is the baseline
    platform: str
    release: str
    hardware: str
    runs: int  # number of its runs that count


@dataclass(frozen=True)
class Level:
    id: int
    threads: int
    rate: Optional[float]  # 1/s; None: unthrottled


Direction = Literal["higher", "lower", "neutral"]


@dataclass(frozen=True)
class ComparedMetric:
    key: str
    name: str
    unit: str
    direction: Direction
    primary: bool  # the workload's headline metric
    resolution: float  # relative step of the grid from which values are read; 0: none
    single_events: bool  # a run's value is one event, not a mean over many


Weight = Literal["withholds the verdict", "important", "minor"]
FieldGroup = Literal[
    "hardware",
    "dataset",
    "workload",
    "memory",
    "version",
    "topology",
    "settings",
    "variables",
    "measurement",
    "client",
    "samplers",
    "origin",
    "date",
]


@dataclass(frozen=True)
class Difference:
    field: str
    label: str
    weight: Weight
    values: list[str]  # in the order of the sides
    group: FieldGroup  # subject of the field
    marks: list[str]  # on the values, for example "default"
    hidden: str  # why pages collapse it at first; empty: not collapsed


GroupEnum = Literal["hardware", "dataset", "workload"]


@dataclass(frozen=True)
class AcceptedDifference:
    id: int  # of the acknowledgement
    by: str
    at: datetime
    reason: str


@dataclass(frozen=True)
class BlockingDifference:
    side: str
    group: GroupEnum
    differences: list[tuple[str, str, str]]  # of each field its label, the side's value, the baseline's
    fingerprint: str  # of what is accepted: the group, both systems and their values
    accepted: Optional[AcceptedDifference]  # None: not accepted; verdicts on this side are withheld


@dataclass(frozen=True)
class ComparedRun:
    id: int
    side: str
    level: int
    repetition: int
    started_at: datetime
    provenance: str
    values: dict[str, float]
    left_out: str  # why it does not count; empty: it counts
    failed_checks: list[str]  # keys of the quality checks it failed
    # number of its session, in order of time; that of the baseline if measured in turns; None: it does not count
    session: Optional[int]


@dataclass(frozen=True)
class Caution:
    key: str
    head: str
    text: str  # goes on after the head and a colon


@dataclass(frozen=True)
class Replicate:
    run: int
    value: float


@dataclass(frozen=True)
class SideSummary:
    count: int
    value: float
    kind: str  # geometric mean; median if a run is not positive
    minimum: float
    maximum: float
    variation: Optional[float]  # run-to-run coefficient of variation


Verdict = Literal[
    "higher",
    "lower",
    "equivalent",
    "inconclusive",
    "too few repetitions",
    "no ratio",
    "rate held",
    "rate not held",
    "not judged",
]
Replicates = Literal["runs", "sessions", "sessions with both sides", "runs of one session", "blocks of one session"]


@dataclass(frozen=True)
class Ratio:
    verdict: Verdict  # by value; `words` of the cell takes the metric's direction into account
    value: Optional[float]
    low: Optional[float]  # lower end of the 95 % interval; None: there is none
    high: Optional[float]
    p: Optional[float]
    cautious_p: Optional[float]  # p with fewer degrees of freedom, used for the table's correction
    adjusted_p: Optional[float]  # Benjamini-Hochberg over the table, of cautious_p
    delta: Optional[float]  # Cliff's delta, -1 to 1
    # runs (sessions, if they are the replicates) per side for a conclusive result at 80 % power; 1001: more than
    # 1,000
    needed: Optional[int]
    few_runs: bool  # the spread of a side is estimated from fewer than ten replicates, none earlier
    reason: str
    systematic: float  # part of the interval's half width, of logarithms, that more runs do not reduce
    replicates: Replicates  # what the interval takes as one independent repetition
    counts: Optional[tuple[int, int]]  # replicates of the baseline and of this side
    freedom: Optional[float]  # degrees of freedom of the interval (Satterthwaite)
    upper_share: Optional[float]  # of errors: upper bound of the side's share of its transactions
    within_margin: bool  # the whole interval lies within ±2 %


@dataclass(frozen=True)
class More:
    side: str
    runs: int
    unit: str  # run or session


@dataclass(frozen=True)
class Cell:
    side: str
    level: int  # id of a load level
    metric: str
    replicates: list[Replicate]
    summary: Optional[SideSummary]
    history: int  # number of earlier runs in the estimate of the spread
    ratio: Optional[Ratio]  # to the baseline; None for the baseline itself
    words: str  # the verdict: better, worse, "too few repetitions", …
    more: list[More]  # further runs per side for a conclusive result


Meaning = Literal["void", "upper bound", "lower bound", "hidden difference", "this machine only", "uncertain"]


@dataclass(frozen=True)
class ClaimLimit:
    meaning: Meaning  # what the failed checks make of the verdict
    checks: list[str]  # keys of quality checks
    sides: list[str]  # the claims about these, against the baseline
    failed: int  # runs of these sides and the baseline at the level that failed any of the checks
    runs: int  # runs of these sides and the baseline at the level
    words: str  # the same in a sentence


@dataclass(frozen=True)
class LimitedClaims:
    level: int  # id of a load level
    metric: str  # key
    limits: list[ClaimLimit]  # the worst first


@dataclass(frozen=True)
class Compared:
    workload: ComparedWorkload
    campaign: Optional[ComparedCampaign]
    sides: list[Side]
    levels: list[Level]
    metrics: list[ComparedMetric]
    differences: list[Difference]
    obstacles: list[BlockingDifference]  # differences that withhold verdicts until accepted
    runs: list[ComparedRun]
    notes: list[str]
    cautions: list[Caution]  # what the verdicts hold for
    cells: list[Cell]
    withheld: list[str]  # differences for which verdicts are withheld until acknowledged
    claim_limits: list[LimitedClaims]  # what failed quality checks make of the verdicts
    memory: Any = None  # with include=memory
    ladder: Any = None  # with include=ladder
    finishing: Any = None  # with include=finishing
    growth: Any = None  # with include=growth
    latency: Any = None  # with include=latency
    steadiness: Any = None  # with include=steadiness
    everything: Any = None  # with include=everything
    work: Any = None  # with include=work
    corroboration: Any = None  # with include=corroboration
    cost: Any = None  # with include=cost
    use: Any = None  # with include=use
