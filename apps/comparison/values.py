"""Frozen values of a comparison, for pages and the API."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Annotated, NamedTuple

from apps.comparison.comparability.differences import BlockingDifference, Difference
from apps.comparison.stats.welch import Direction, DraftRatio, Ratio, SideSummary
from apps.core.answers import Hidden, Shown
from apps.runs.pure import Amount

# Reason to leave out a complete run.
NO_VALUES = "no headline values"
# The palette of frontend/src/styles/components/tokens.css: colours of platforms, and tones of each.
COLORS, TONES = 8, 4


@dataclass(frozen=True)
class ComparedWorkload:
    id: int
    tool: str
    name: str
    parameters: dict[str, object]


@dataclass(frozen=True)
class Side:
    """One system under one workload. `platform_color`: the platform's place in the palette; `tone`: that of this side,
    from `tones`. `origins` of its runs that count. `is_local`: its load generator reaches it on its own machine."""

    slug: Annotated[str, "key of the side in this comparison"]
    system: Annotated[str, "slug of its system"]
    workload: ComparedWorkload
    name: Annotated[str, "short name of its system, and the workload if it is another one"]
    title: Annotated[str, "the same with the system's whole name"]
    position: Annotated[int, "0 is the baseline"]
    platform: str
    platform_slug: Hidden[str]
    platform_color: Hidden[int | None]
    release: str
    hardware: str
    hardware_detail: Hidden[str]
    runs: Annotated[int, "number of its runs that count"]
    origins: Hidden[tuple[str, ...]]
    tone: Hidden[int] = 0
    is_local: Hidden[bool] = False

    @property
    def from_agents_only(self) -> bool:
        return set(self.origins) <= {"agent"}


def tones(colors: Sequence[int | None]) -> list[int]:
    """The place of each side in the palette: its platform's colour, for a second side of that colour a lighter tone.
    `colors`: of their platforms; None: a platform without one, which takes the last."""
    taken: Counter[int] = Counter()
    found = []
    for color in colors:
        base = COLORS - 1 if color is None else color % COLORS
        found.append(base + COLORS * (taken[base] % TONES))
        taken[base] += 1
    return found


def with_tones(sides: Sequence[Side]) -> tuple[Side, ...]:
    places = tones([side.platform_color for side in sides])
    return tuple(replace(side, tone=tone) for side, tone in zip(sides, places, strict=True))


@dataclass(frozen=True)
class ComparedCampaign:
    """`until`: when its load levels needed no more repetitions; empty: all were measured."""

    id: int
    name: str
    until: Hidden[str] = ""


@dataclass(frozen=True)
class Level:
    """A load level at which any side has runs. `key`: its name in addresses."""

    id: int
    key: Hidden[str]
    threads: int
    rate: Annotated[float | None, "1/s; null: unthrottled"]
    text: Hidden[str]


@dataclass(frozen=True)
class ComparedMetric:
    """`kind`: throughput, latency or errors. `printed_step`: step of the last decimal printed, in `unit`; 0: none.
    `single_events`: an outage, a statement, the slowest transaction; each counts for itself. `unjudged`: why
    no verdict is given; empty: there is one."""

    key: str
    name: str
    unit: str
    direction: Direction
    kind: Hidden[str]
    primary: Annotated[bool, "the workload's headline metric"]
    resolution: Annotated[float, "relative step of the grid from which values are read; 0: none"] = 0.0
    printed_step: Hidden[float] = 0.0
    single_events: Annotated[bool, "a run's value is one event, not a mean over many"] = False
    unjudged: Hidden[str] = ""


@dataclass(frozen=True)
class Replicate:
    """The value of one run."""

    run: int
    value: float


@dataclass(frozen=True)
class More:
    """Further runs needed on a side; or sessions, where these are the replicates."""

    side: str
    runs: int
    unit: Annotated[str, "run or session"] = "run"


@dataclass(frozen=True)
class DraftCell:
    """A Cell until its ratio is corrected for the number of those in its table. `unknown`: sides whose runs and earlier
    ones, are too few to show how much they vary. `withheld`: no verdict is shown. `has_runs`: the side has runs at the
    level that count, with this metric or without."""

    side: str
    level: int
    metric: ComparedMetric
    replicates: tuple[Replicate, ...]
    summary: SideSummary | None
    history: int
    ratio: DraftRatio | None
    unknown: tuple[str, ...]
    withheld: bool
    has_runs: bool


@dataclass(frozen=True)
class Cell:
    """One metric of one side at one load level. `summary`: None without values; `words`: empty for the baseline."""

    side: str
    level: Annotated[int, "id of a load level"]
    metric: str
    replicates: tuple[Replicate, ...]
    summary: SideSummary | None
    history: Annotated[int, "number of earlier runs in the estimate of the spread"]
    ratio: Annotated[Ratio | None, "to the baseline; null for the baseline itself"]
    words: Annotated[str, 'the verdict: better, worse, "too few repetitions", …']
    more: Annotated[tuple[More, ...], "further runs per side for a conclusive result"]


@dataclass(frozen=True)
class ComparedRun:
    """A run of a side. `values`: metric key -> value."""

    id: int
    side: str
    level: int
    repetition: int
    started_at: datetime
    provenance: str
    warmup: Hidden[float]
    duration: Hidden[float | None]
    campaign: Hidden[ComparedCampaign | None]
    values: dict[str, float]
    left_out: Annotated[str, "why it does not count; empty: it counts"]
    failed_checks: Annotated[tuple[str, ...], "keys of the quality checks it failed"] = ()
    session: Annotated[
        int | None,
        "number of its session, in order of time; that of the baseline if measured in turns; null: it does not count",
    ] = None

    @property
    def block(self) -> str:
        """Where its plan interleaved the sides: equal for runs made side by side; empty: it has no plan."""
        return f"{self.campaign.id}.{self.repetition}" if self.campaign else ""


@dataclass(frozen=True)
class Caution:
    """What the verdicts hold for."""

    key: str
    head: str
    text: Annotated[str, "goes on after the head and a colon"]


@dataclass(frozen=True)
class RunTally:
    """Number of runs of a side at a level that count, or are `left_out` for this (short) reason."""

    side: str
    level: int
    left_out: str
    amount: Amount


@dataclass(frozen=True)
class Earlier:
    """Runs of a side at a level before those compared, under the same conditions, the newest first, and the numbers of
    their sessions."""

    side: str
    level: int
    runs: tuple[int, ...]
    sessions: tuple[int, ...]


class PastValue(NamedTuple):
    """Of an earlier run; `session`: its number."""

    value: float
    session: int


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
    obstacles: Annotated[tuple[BlockingDifference, ...], "differences that withhold verdicts until accepted"]
    runs: tuple[ComparedRun, ...]
    tallies: Hidden[tuple[RunTally, ...]]
    notes: tuple[str, ...]
    cautions: Annotated[tuple[Caution, ...], "what the verdicts hold for"] = ()
    earlier: Hidden[tuple[Earlier, ...]]

    @property
    def withheld(
        self,
    ) -> Annotated[Shown[tuple[str, ...]], "differences for which verdicts are withheld until acknowledged"]:
        labels = [field for each in self.obstacles if each.accepted is None for field in each.said["labels"]]
        return tuple(dict.fromkeys(labels))

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
