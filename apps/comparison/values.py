"""The frozen values of a comparison, as pages and the API read them."""

from dataclasses import dataclass
from datetime import datetime

from apps.comparison.comparability.differences import Difference, Obstacle
from apps.comparison.stats.welch import Direction, Ratio, SideSummary
from apps.runs.pure import Amount

# Why a complete run may be left out.
NO_VALUES = "no headline values"


@dataclass(frozen=True)
class ComparedWorkload:
    id: int
    tool: str
    name: str
    parameters: dict[str, object]


@dataclass(frozen=True)
class Side:
    """One system under one workload; `position` 0 is the baseline. `slug` is the side's key in this comparison,
    `system` the slug of its system. `platform_color`: the platform's fixed place in the palette. `origins`: where its
    runs that count come from."""

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
    """A load level at which any side has runs; `rate` in 1/s, None: as fast as it goes. `key` names it in addresses."""

    id: int
    key: str
    threads: int
    rate: float | None
    text: str


@dataclass(frozen=True)
class ComparedMetric:
    """`kind`: throughput, latency or errors. `primary`: by it the workload is judged first. `resolution`: relative step
    between neighbouring values where the tool reads them from a grid, `printed_step` that of its last decimal, in
    `unit`; 0: none. `single_events`: a run's value is one event (an outage, a statement, the slowest transaction),
    told by median and range."""

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
    """Runs that a side still lacks."""

    side: str
    runs: int


@dataclass(frozen=True)
class Cell:
    """One metric of one side at one load level.

    `summary` is None without runs; `ratio` is to the baseline, None for the baseline itself. `words` is the verdict as
    a reader is told it, empty for the baseline. `history` counts the earlier runs that the spread rests on.
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
    """A run of a side. `left_out` says why it does not count; empty: it counts. `values`: metric key -> value.
    `failed_checks`: keys of the quality checks that it failed."""

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
    """How many runs a side has at a level that count, or that are `left_out` for this reason (in short)."""

    side: str
    level: int
    left_out: str
    amount: Amount


@dataclass(frozen=True)
class Earlier:
    """The newest runs of a side at a level from before those compared and like them, the newest first."""

    side: str
    level: int
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """Sides × load levels × metrics, with what must be known before reading them.

    `obstacles` are why verdicts are withheld until a person accepts it, those accepted among them; `notes` are
    sentences.
    `tallies` count all runs; `runs` may hold only the newest of them. `earlier` runs tell how much such runs vary.
    """

    workload: ComparedWorkload
    campaign: ComparedCampaign | None
    sides: tuple[Side, ...]
    levels: tuple[Level, ...]
    metrics: tuple[ComparedMetric, ...]
    cells: tuple[Cell, ...]
    differences: tuple[Difference, ...]
    obstacles: tuple[Obstacle, ...]
    runs: tuple[ComparedRun, ...]
    tallies: tuple[RunTally, ...]
    notes: tuple[str, ...]
    earlier: tuple[Earlier, ...] = ()

    @property
    def withheld(self) -> tuple[str, ...]:
        """Fields for which verdicts are withheld: nobody accepted that the sides differ in them."""
        held = [field for each in self.obstacles if each.accepted is None for field in each.said["labels"]]
        return tuple(dict.fromkeys(held))

    @property
    def left_out(self) -> tuple[ComparedRun, ...]:
        return tuple(run for run in self.runs if run.left_out)

    @property
    def counted(self) -> tuple[ComparedRun, ...]:
        return tuple(run for run in self.runs if not run.left_out)

    def cell(self, *, side: str, level: int, metric: str) -> Cell:
        """Raises KeyError for what is not part of this comparison."""
        for cell in self.cells:
            if (cell.side, cell.level, cell.metric) == (side, level, metric):
                return cell
        raise KeyError((side, level, metric))
