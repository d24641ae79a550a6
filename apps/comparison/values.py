"""Frozen values of a comparison, for pages and the API."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from apps.comparison.comparability.differences import Difference, Obstacle
from apps.comparison.stats.welch import Direction, DraftRatio, Ratio, SideSummary
from apps.runs.pure import Amount

# Reason to leave out a complete run.
NO_VALUES = "no headline values"


@dataclass(frozen=True)
class ComparedWorkload:
    id: int
    tool: str
    name: str
    parameters: dict[str, object]


@dataclass(frozen=True)
class Side:
    """One system under one workload; `position` 0 is the baseline. `slug`: the side's key in this comparison, `system`:
    the slug of its system. `platform_color`: the platform's place in the palette. `origins` of its runs that count."""

    slug: str
    system: str
    workload: ComparedWorkload
    name: str
    position: int
    platform: str
    platform_slug: str
    platform_color: int | None
    release: str
    hardware: str
    hardware_detail: str
    runs: int
    origins: tuple[str, ...]

    @property
    def from_agents_only(self) -> bool:
        return set(self.origins) <= {"agent"}


@dataclass(frozen=True)
class ComparedCampaign:
    id: int
    name: str


@dataclass(frozen=True)
class Level:
    """A load level at which any side has runs; `rate` in 1/s, None: unthrottled. `key`: its name in addresses."""

    id: int
    key: str
    threads: int
    rate: float | None
    text: str


@dataclass(frozen=True)
class ComparedMetric:
    """`kind`: throughput, latency or errors. `primary`: the workload's first criterion. `resolution`: relative step
    between neighbouring values read from a grid, `printed_step`: step of the last decimal printed, in `unit`; 0: none.
    `single_events`: a run's value is one event (an outage, a statement, the slowest transaction), summarised by median
    and range."""

    key: str
    name: str
    unit: str
    direction: Direction
    kind: str
    primary: bool
    resolution: float = 0.0
    printed_step: float = 0.0
    single_events: bool = False


@dataclass(frozen=True)
class Replicate:
    """The value of one run."""

    run: int
    value: float


@dataclass(frozen=True)
class More:
    """Further runs needed on a side."""

    side: str
    runs: int


@dataclass(frozen=True)
class DraftCell:
    """A Cell until its ratio is corrected for the number of those in its table. `withheld`: no verdict is shown."""

    side: str
    level: int
    metric: ComparedMetric
    replicates: tuple[Replicate, ...]
    summary: SideSummary | None
    history: int
    ratio: DraftRatio | None
    more: tuple[More, ...]
    withheld: bool


@dataclass(frozen=True)
class Cell:
    """One metric of one side at one load level.

    `summary` is None without runs; `ratio` is to the baseline, None for the baseline itself. `words`: the verdict as
    shown, empty for the baseline. `history`: number of earlier runs in the spread.
    """

    side: str
    level: int
    metric: str
    replicates: tuple[Replicate, ...]
    summary: SideSummary | None
    history: int
    ratio: Ratio | None
    words: str
    more: tuple[More, ...]


@dataclass(frozen=True)
class ComparedRun:
    """A run of a side. `left_out`: why it does not count; empty: it counts. `values`: metric key -> value.
    `failed_checks`: keys of the failed quality checks."""

    id: int
    side: str
    level: int
    repetition: int
    started_at: datetime
    provenance: str
    warmup: float
    duration: float | None
    campaign: ComparedCampaign | None
    values: dict[str, float]
    left_out: str
    failed_checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunTally:
    """Number of runs of a side at a level that count, or are `left_out` for this (short) reason."""

    side: str
    level: int
    left_out: str
    amount: Amount


@dataclass(frozen=True)
class Earlier:
    """Runs of a side at a level before those compared, under the same conditions, the newest first."""

    side: str
    level: int
    runs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ComparedSides:
    """Sides, load levels and metrics of a comparison, with the context needed to read it.

    `obstacles`: blocking differences, which withhold verdicts until a person accepts them; accepted ones included.
    `notes` are sentences. `tallies` count all runs; `runs` may hold only the newest of them. `earlier`: runs for the
    run-to-run noise.
    """

    workload: ComparedWorkload
    campaign: ComparedCampaign | None
    sides: tuple[Side, ...]
    levels: tuple[Level, ...]
    metrics: tuple[ComparedMetric, ...]
    differences: tuple[Difference, ...]
    obstacles: tuple[Obstacle, ...]
    runs: tuple[ComparedRun, ...]
    tallies: tuple[RunTally, ...]
    notes: tuple[str, ...]
    earlier: tuple[Earlier, ...]

    @property
    def withheld(self) -> tuple[str, ...]:
        """Fields of blocking differences that are not accepted."""
        held = [field for each in self.obstacles if each.accepted is None for field in each.said["labels"]]
        return tuple(dict.fromkeys(held))

    @property
    def left_out(self) -> tuple[ComparedRun, ...]:
        return tuple(run for run in self.runs if run.left_out)

    @property
    def counted(self) -> tuple[ComparedRun, ...]:
        return tuple(run for run in self.runs if not run.left_out)

    @property
    def withheld_sides(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.side for each in self.obstacles if each.accepted is None))


@dataclass(frozen=True, kw_only=True)
class Draft(ComparedSides):
    """A comparison until its verdicts are corrected for their number."""

    cells: tuple[DraftCell, ...]

    def corrected(self, cells: Sequence[Cell], *, notes: Sequence[str] = ()) -> "Comparison":
        """`cells`: those of this draft, corrected. `notes`: further ones."""
        shared = {field.name: getattr(self, field.name) for field in fields(ComparedSides)}
        return Comparison(**shared | {"notes": (*self.notes, *notes)}, cells=tuple(cells))


@dataclass(frozen=True, kw_only=True)
class Comparison(ComparedSides):
    """Sides × load levels × metrics."""

    cells: tuple[Cell, ...]

    def cell(self, *, side: str, level: int, metric: str) -> Cell:
        """Raises KeyError if it is not part of this comparison."""
        for cell in self.cells:
            if (cell.side, cell.level, cell.metric) == (side, level, metric):
                return cell
        raise KeyError((side, level, metric))
