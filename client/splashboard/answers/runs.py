"""Generated from the OpenAPI schema: `make types`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Optional, Union

from splashboard.answers.catalog import HardwareClass

MetricKindEnum = Literal["counter", "gauge", "distribution"]
DirectionEnum = Literal["higher", "lower", "neutral"]
AspectEnum = Literal["utilization", "saturation", "errors"]
BlankEnum = Literal[""]


@dataclass(frozen=True)
class Metric:
    key: str
    name: str
    kind: MetricKindEnum
    direction: DirectionEnum
    formula: str  # of a derived metric, over the keys of others, a counter meaning its rate; empty: it is measured
    unit: Optional[str] = None
    resource: Optional[str] = None
    aspect: Optional[Union[AspectEnum, BlankEnum]] = None
    description: Optional[str] = None
    curated: Optional[bool] = None


@dataclass(frozen=True)
class MetricList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Metric]


StateEnum = Literal["open", "ended", "sealed"]
ProvenanceEnum = Literal["agent", "submitted", "example", "rig"]


@dataclass(frozen=True)
class RunWorkload:
    id: int
    tool: str
    name: str


@dataclass(frozen=True)
class RunLoadLevel:
    text: str
    threads: int
    rate: Optional[float]  # 1/s; None: as fast as it goes


@dataclass(frozen=True)
class Run:
    id: int
    started_at: datetime  # second 0 of its clock
    platform: str
    platform_name: str
    release: str
    release_id: int
    hardware_name: str
    hardware: str
    system: str
    system_name: str  # short name
    system_title: str  # whole name
    repetition: int
    state: StateEnum  # sealed: its numbers are there
    outcome: str  # succeeded, failed, cancelled; empty: it still runs
    reason: str  # why it failed
    provenance: ProvenanceEnum
    tags: list[str]
    failed_checks: list[str]  # keys of the quality checks it failed
    is_excluded: bool  # a person left it out of all comparisons
    campaign_id: Optional[int]
    campaign_name: Optional[str]
    throughput: Optional[float]  # None: not measured
    throughput_unit: str
    p95: Optional[float]  # None: not measured
    p95_unit: str
    workload: RunWorkload
    load_level: RunLoadLevel
    address: str  # of its page
    api: str  # of its description here


@dataclass(frozen=True)
class RunList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Run]


@dataclass(frozen=True)
class RunSystem:
    slug: str
    name: str
    short_name: str
    platform: str
    release: str
    endpoint: str
    settings: dict[str, Any]
    hardware: HardwareClass


@dataclass(frozen=True)
class NodeDetail:
    name: str
    role: str
    samples: int
    variables: Optional[dict[str, str]]  # None: not recorded


@dataclass(frozen=True)
class Measurement:
    """A headline value with its provenance: bytes [byte_start, byte_end) of the artifact."""

    metric: str
    name: str
    unit: str
    direction: str  # higher, lower or neutral: what is better
    value: float
    artifact: str
    sha256: str
    byte_start: int
    byte_end: int
    parser: str
    parser_version: str


@dataclass(frozen=True)
class EventDetail:
    kind: str
    label: str
    starts_at: float  # s on the run's clock
    ends_at: Optional[float]  # None: a moment
    node: str
    detail: dict[str, Any]


@dataclass(frozen=True)
class Artifact:
    name: str
    sha256: str
    size: int  # bytes
    media_type: str
    address: str


StatusEnum = Literal["passed", "failed", "cannot_tell"]


@dataclass(frozen=True)
class Check:
    """A quality check: question, evidence, and limits."""

    key: str
    title: str
    question: str
    status: StatusEnum
    evidence: str  # a sentence with the numbers that decide
    limits: str
    detail: dict[str, Any]  # these numbers


@dataclass(frozen=True)
class Exclusion:
    """An exclusion of the run from all comparisons by a person."""

    reason: str
    excluded_by: str
    excluded_at: datetime
    ended_by: str  # user who ended the exclusion; empty: none
    ended_at: Optional[datetime]  # None: excluded now


@dataclass(frozen=True)
class RunDetail:
    id: int
    address: str  # of its page
    api: str  # of its description here
    started_at: datetime  # second 0 of its clock
    workload: RunWorkload
    load_level: RunLoadLevel
    repetition: int
    state: StateEnum  # sealed: its numbers are there
    outcome: str  # succeeded, failed, cancelled; empty: it still runs
    reason: str  # why it failed
    provenance: ProvenanceEnum
    tags: list[str]
    failed_checks: list[str]  # keys of the quality checks it failed
    is_excluded: bool  # a person left it out of all comparisons
    campaign_id: Optional[int]
    campaign_name: Optional[str]
    uid: str
    ended_at: Optional[datetime]
    sealed_at: Optional[datetime]
    warmup: float  # planned, s
    duration: Optional[float]  # planned length of the measured phase, s
    measured_from: Optional[float]  # s on the run's clock
    measured_to: Optional[float]
    server_version: str
    tool_version: str
    command: str  # without secrets
    host: dict[str, Any]  # the load generator's machine
    parameters: dict[str, Any]
    primary_metric: str
    system: RunSystem
    job_id: Optional[int]
    attempt: Optional[int]
    nodes: list[NodeDetail]
    measurements: list[Measurement]
    events: list[EventDetail]
    artifacts: list[Artifact]
    unparsed_lines: list[str]  # what no parser understood
    checks: list[Check]  # in the order of the checklist; none before the run is complete
    exclusions: list[Exclusion]  # the latest first


@dataclass(frozen=True)
class SeriesEntry:
    metric: str
    name: str
    unit: str
    direction: str
    kind: str
    node: str
    resource: str
    aspect: str  # utilization, saturation, errors, or empty
    constant: bool  # it never changed
    mean: Optional[float]  # over the measured phase; None: not observed in it
    minimum: Optional[float]
    maximum: Optional[float]
    resets: int  # how often a counter fell


@dataclass(frozen=True)
class SeriesIndex:
    run: int
    series: list[SeriesEntry]


@dataclass(frozen=True)
class MeasuredRun:
    run: int
    uid: str
    measured: Optional[tuple[float, float]]  # [from, to), s


@dataclass(frozen=True)
class OneSeriesOfRuns:
    metric: str
    name: str
    unit: str  # of the values: for a counter, that of its rate
    direction: str  # higher, lower or neutral: what is better
    node: str
    kind: str  # rate, gauge, or counter: its totals
    at: list[float]  # s on the clock asked for, to 1 ms
    values: list[Optional[float]]  # six significant digits, of totals all; None: not observed
    resets: list[float]  # when a counter fell, s
    zero: float  # where that clock begins, s on the run's
    run: int
    nodes: Optional[list[str]] = None  # over nodes: those that have the metric
    parts: Optional[list[int]] = None  # over nodes: of how many each value is


@dataclass(frozen=True)
class MissingInRun:
    metric: str
    node: str  # empty: on none
    reason: str
    run: int


@dataclass(frozen=True)
class SeriesOfRuns:
    runs: list[MeasuredRun]
    series: list[OneSeriesOfRuns]
    missing: list[MissingInRun]


@dataclass(frozen=True)
class SubmittedRun:
    id: int
    uid: str
    address: str  # of its page
    api: str  # of its description here
    system: RunSystem
    workload: RunWorkload
    state: StateEnum  # sealed: its numbers are there
    outcome: str  # succeeded, failed, cancelled; empty: it still runs
    reason: str  # why it failed
    measurements: list[Measurement]
    format: str  # what the output was read as: as stated, or as recognised by its content
    unparsed_lines: int  # how many lines no parser understood; the run shows them
    warnings: list[str]  # what was added to the catalog
