"""Sides held against a baseline under every workload and load level that they share: one metric a row, one table."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from apps.comparison.values import Cell, ComparedCampaign, ComparedMetric, ComparedWorkload, Comparison, Level

# What may stand for a metric's key: each workload's own headline, or the percentile that most of its runs have.
PRIMARY, LATENCY = "primary", "latency"
FEWEST_SIDES, MOST_SIDES = 2, 8
# Workloads in one matrix.
MOST_WORKLOADS = 40


@dataclass(frozen=True)
class ManySide:
    """A system; `position` 0 is the baseline. `runs` that count and where they come from, over all rows."""

    slug: str
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


@dataclass(frozen=True)
class ManyRow:
    """A workload at a load level in one metric. `cells` in the order of the sides, the baseline's first (without ratio
    and words); a side that did not run it has a cell without summary, in words "no runs"."""

    workload: ComparedWorkload
    level: Level
    metric: ComparedMetric
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Many:
    """Ratios, intervals and p of each cell are those of Compare; adjusted p and verdict are of this table as a whole.

    `comparisons`: what each workload's Compare shows besides (runs, differences, what withholds the verdict, notes), in
    the order of the rows, with this table's cells of that workload. `tests`: how many comparisons were made at once.
    """

    sides: tuple[ManySide, ...]
    campaign: ComparedCampaign | None
    rows: tuple[ManyRow, ...]
    comparisons: tuple[Comparison, ...]
    tests: int


def compare_many(
    *,
    sides: Sequence[str],
    metrics: Sequence[str] | None = None,
    workloads: Sequence[int] | None = None,
    tool: str = "",
    campaign: int | None = None,
    acknowledged: Collection[str] = (),
) -> Many:
    """`sides`: slugs of two to eight systems, the first is the baseline. `metrics`: keys, PRIMARY or LATENCY; None: all
    that Compare judges (primary, throughput, a percentile, errors). `workloads`: ids; None: all that the baseline and
    any other side ran. Queries: constant in the numbers of runs, workloads, load levels and sides.

    Raises Invalid naming the field (`side`), and Unknown when there is no such system.
    """
    raise NotImplementedError
