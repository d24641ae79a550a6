"""Frozen values of schema changes under load, and their quantities."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from apps.comparison.schema_changes.disturbance import FEWEST, LoadSeconds
from apps.comparison.schema_changes.statements import Manner
from apps.comparison.values import ComparedCampaign
from apps.core import units
from apps.core.answers import Hidden, Name, Rounded, Seconds, component
from workers.protocol.workloads.schema_changes import SETTLE


@dataclass(frozen=True)
class Quantity:
    """A reported quantity of a change. `missing`: the text where a run does not have it."""

    key: str
    name: str
    unit: str
    meaning: str
    missing: Hidden[str]
    direction: Annotated[str, "lower: lower is better"] = "lower"


_FEW = f"fewer than {FEWEST} seconds"
QUANTITIES = (
    Quantity("duration", "duration", "s", "duration of the statement, including its waits", "not reported"),
    Quantity(
        "gap", "no transaction ended", "s",
        "longest time in which no transaction ended, to 50 ms, from the statement's start until"
        f" {SETTLE:g} s after its end", "not observable: reported by ddl_under_load only",
    ),
    Quantity("gap_before", "no transaction ended, before", "s", "the same before the first statement",
             "not observable: reported by ddl_under_load only"),
    Quantity(
        "stall", "longest stall", "s",
        "longest stretch of seconds below the stated share (half, where none is) of the median before", _FEW,
    ),
    Quantity("depth", "deepest second", "%", "of the median throughput before, lost in the worst second", _FEW),
    Quantity("depth_before", "deepest second before", "%", "the same of the undisturbed load", _FEW),
    Quantity("throughput_deviation", "deviation of throughput", "transactions/s",
             "standard deviation of the seconds' throughput during the change and its aftermath", _FEW),
    Quantity("throughput_deviation_before", "deviation of throughput, before", "transactions/s",
             "the same before the first statement", _FEW),
    Quantity("latency_deviation", "deviation of latency", "ms",
             "standard deviation of the seconds' latency percentile during the change and its aftermath; a second in"
             " which no transaction ended has none", _FEW),
    Quantity("latency_deviation_before", "deviation of latency, before", "ms",
             "the same before the first statement", _FEW),
    Quantity("lock_wait", "wait for the metadata lock", "s",
             "time that the statement waited for the table's metadata lock, sampled every 50 ms",
             "not observable: the process list was not sampled"),
    Quantity("lock_queue", "connections behind it", "connections",
             "most other connections that waited for a metadata lock at once",
             "not observable: the process list was not sampled"),
    Quantity("other_gap", "no write to another table ended", "s",
             f"longest time in which none did, to 50 ms, from the statement's start until {SETTLE:g} s after its end",
             "not observed: nobody wrote to another table"),
    Quantity("other_gap_before", "no write to another table ended, before", "s",
             "the same before the first statement", "not observed: nobody wrote to another table"),
    Quantity("other_failed", "failed writes to another table", "statements",
             "writes to a table that is not altered that ended in an error meanwhile",
             "not observed: nobody wrote to another table"),
    Quantity("holders_lost", "transactions in its way that were lost", "transactions",
             "open transactions that held the table when the statement came and were rolled back for it",
             "no transaction was in its way, or its end was not reported"),
    Quantity("failed", "failed transactions", "transactions",
             "transactions that ended in an error in the seconds that the change and its aftermath touch",
             "not reported per second"),
    Quantity("slowest", "slowest transaction", "ms", "of the whole run", "not reported"),
)  # fmt: skip


@dataclass(frozen=True)
class ChangeStatement:
    number: int
    sql: str
    starts_at: Annotated[Seconds, "s on the run's clock"]
    ends_at: Annotated[Seconds, "s on the run's clock"]
    values: Annotated[Mapping[str, Rounded], "by the key of a quantity"]


@component(text="One run; each quantity is the worst of its statements.")
@dataclass(frozen=True)
class ChangeTrial:
    """One run: for each quantity the worst of its statements. `throughput` and `latency`: per interval, s on the run's
    clock."""

    run: int
    repetition: int
    started_at: datetime
    provenance: str
    failed_checks: tuple[str, ...]
    statements: tuple[ChangeStatement, ...]
    values: Annotated[Mapping[str, Rounded], "by the key of a quantity"]
    silent: Annotated[int, "intervals in which no transaction ended"]
    throughput: Hidden[LoadSeconds | None] = field(repr=False, compare=False, default=None)
    latency: Hidden[LoadSeconds | None] = field(repr=False, compare=False, default=None)


@component(text="One quantity, summarized over the runs.")
@dataclass(frozen=True)
class QuantityRange:
    """One quantity over the runs of a system: median and range; None if no run has it."""

    quantity: Quantity
    count: Annotated[int, "runs with a value"]
    median: Rounded | None
    low: Rounded | None
    high: Rounded | None
    missing: Annotated[str, "why no run has a value; empty: at least one has"] = ""

    @property
    def words(self) -> str:
        """ "6.30 s (5.90 to 6.40 in 3 runs)"."""
        if self.median is None or self.low is None or self.high is None:
            return self.missing
        unit = self.quantity.unit
        median = units.with_unit(self.median, unit)
        if self.count == 1:
            return f"{median} (1 run)"
        low, high = units.format_number(self.low, unit=unit), units.format_number(self.high, unit=unit)
        return f"{median} ({low} to {high} in {self.count} runs)"


@dataclass(frozen=True)
class LeftOut:
    """A run of this change that does not count, and why."""

    run: int
    why: Annotated[str, Name("reason")]


@component(text="One operation in one manner on one system under one load.")
@dataclass(frozen=True)
class SchemaChange:
    """One system, one operation, one manner, one setting: its runs that count, the newest first; `ranges`: their
    quantities in the order of QUANTITIES."""

    operation: str
    setting: Annotated[str, "data and load"]
    manner: Manner
    system: Annotated[str, "slug"]
    system_name: str
    platform: Annotated[str, "slug"]
    platform_name: str
    platform_color: Hidden[int | None]
    release: str
    hardware: Annotated[str, Name("hardware_name")]
    workload: Annotated[int, "id"]
    load_level: Annotated[int, "id"]
    latency: Annotated[str, "key of the percentile whose deviation is given; empty: no run has one"]
    ranges: tuple[QuantityRange, ...]
    trials: tuple[ChangeTrial, ...]
    left_out: tuple[LeftOut, ...]

    def value(self, key: str) -> QuantityRange:
        return next(found for found in self.ranges if found.quantity.key == key)

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(sorted({trial.provenance for trial in self.trials}))


@dataclass(frozen=True)
class SchemaChanges:
    """`changes`: by operation, setting, manner and system, the most measured first. `systems` to `campaigns`: choices
    of the filter among the newest runs, independent of the selection. `has_more`: older runs of the chosen systems and
    campaign were not read."""

    changes: tuple[SchemaChange, ...]
    systems: tuple[tuple[str, str], ...]
    operations: tuple[str, ...]
    algorithms: tuple[str, ...]
    campaigns: Annotated[tuple[ComparedCampaign, ...], "those that the runs belong to"]
    has_more: Annotated[bool, "older runs are left out"]
