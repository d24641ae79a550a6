"""Frozen values of failovers side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from apps.comparison.failovers.timeouts import TimeoutShare
from apps.comparison.failovers.trials import REACHED, Course, Interruption, TrialSpread
from apps.comparison.stats.welch import Ratio
from apps.comparison.values import ComparedCampaign
from apps.core.answers import Hidden, Name, component
from apps.published.values import FigureValue
from apps.runs.models import Run

FAULTS = {
    "kill_writer": "writer killed",
    "kill_reader": "reader killed",
    "stop_writer": "writer stopped",
    "freeze_writer": "writer frozen",
    "freeze_reader": "reader frozen",
    "cut_writer": "writer cut off",
    "switch": "planned switch",
    "crash": "writer crashed",
    "rds_failover": "failover requested from RDS",
}
# Shipped examples and synthetic runs have groups of their own.
FILLERS = (Run.Provenance.EXAMPLE.value, Run.Provenance.RIG.value)


@dataclass(frozen=True)
class FailoverFilter:
    """Empty fields do not restrict. `systems`: slugs; `rate`: inserts/s."""

    systems: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    campaign: int | None = None
    rate: float | None = None


@dataclass(frozen=True)
class FailoverTrial:
    run: int
    started_at: datetime
    origin: Annotated[str, Name("provenance")]
    outcome: str
    reason: Annotated[str, "why the run failed"]
    is_excluded: Hidden[bool]
    failed_checks: tuple[str, ...]
    campaign: ComparedCampaign | None
    course: Course
    doubt: Annotated[str, "why it does not count in its group's figures; empty: it does"]


@component(
    text="Trials of one system, fault and load; figures are over the trials that count. Times in s; lower is better."
)
@dataclass(frozen=True)
class TrialGroup:
    """Trials of one system, fault and load. All figures are of the trials that count. `parameters`: those that
    distinguish the load. `phases`: by the keys of PHASES."""

    system: Annotated[str, "slug"]
    system_name: str
    platform: Annotated[str, Name("platform_name")]
    platform_slug: Annotated[str, Name("platform"), "slug"]
    platform_color: Hidden[int | None]
    release: str
    hardware: Annotated[str, Name("hardware_name")]
    fault: str
    fault_name: str
    load: Annotated[str, "as text"]
    parameters: Annotated[Mapping[str, Any], "rate (inserts/s), read_rate, timeout (s), retries, hold (s)"]
    origins: Annotated[tuple[str, ...], "of its trials; example and synthetic runs form groups of their own"]
    trials: Annotated[tuple[FailoverTrial, ...], "longest outage first"]
    interruption: Interruption
    phases: Annotated[Mapping[str, TrialSpread | None], REACHED]
    rejoin: TrialSpread | None
    rejoin_outage: TrialSpread | None
    proxy: TrialSpread | None
    counts: Annotated[
        Mapping[str, tuple[int, int] | None],
        "minimum and maximum over the trials that were read back; null: none was",
    ]
    unread: Annotated[Mapping[str, int], "by count: trials that were not read back"]
    shares: tuple[TimeoutShare, ...]


@dataclass(frozen=True)
class FaultVerdict:
    """Write downtime of a system against the shortest under the same fault and load, on the same hardware."""

    fault: str
    load: Annotated[str, "as text"]
    system: Annotated[str, "slug"]
    baseline: Annotated[str, "slug of the system with the shortest median"]
    ratio: Annotated[
        Ratio | None, "of write downtimes; null: a trial did not recover, or neither system was interrupted"
    ]
    words: Annotated[str, "verdict on the system; lower is better"]
    group: Hidden[TrialGroup]
    shortest: Hidden[TrialGroup]


@dataclass(frozen=True)
class Choices:
    """Choices of the filter, independent of the selection: slug and name of systems, faults, campaigns, inserts/s."""

    systems: tuple[tuple[str, str], ...]
    faults: tuple[tuple[str, str], ...]
    campaigns: tuple[ComparedCampaign, ...]
    rates: tuple[float, ...]


@dataclass(frozen=True)
class RunWithoutFault:
    """A run without an injected fault, with the reason given by the run."""

    run: int
    reason: str


@dataclass(frozen=True)
class FailoverResults:
    """`groups`: measured ones first; by fault, then those that always recovered, then by median, ascending."""

    groups: tuple[TrialGroup, ...]
    verdicts: Annotated[tuple[FaultVerdict, ...], "by fault; corrected together"]
    stated: Annotated[tuple[FigureValue, ...], "interruptions published in articles; not filtered"]
    untold: Annotated[tuple[RunWithoutFault, ...], "runs in which no fault was injected"]
    choices: Hidden[Choices]
    has_more: Annotated[bool, "older trials are left out"]
