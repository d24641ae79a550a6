"""Cost of the sides: per month, and per million units of completed work, over all nodes of a system."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated

from django.db.models import Exists, OuterRef

from apps.catalog.api import prices as catalog_prices
from apps.catalog.models import HardwareClass, Node, System
from apps.comparison.sections import scaleup, verdicts
from apps.comparison.sections.scaleup import SideSize, StepUp
from apps.comparison.sections.section import Section
from apps.comparison.stats.welch import Direction, DraftRatio, Ratio, Verdict
from apps.comparison.tables import verdict_table
from apps.comparison.values import Cell, ComparedMetric, Comparison, DraftCell, Level
from apps.core.answers import Hidden, Name, Shown
from apps.runs.models import COUNTED, Measurement, Run

# Hours in a month as AWS and its resellers count them.
HOURS_A_MONTH = 730
# The load generator is no part of the system under test.
NOT_COUNTED = (Node.Role.CLIENT,)
THROUGHPUT = "client.throughput"
# Suffix of a rate's unit -> intervals per hour.
INTERVALS_AN_HOUR = {"/s": 3600, "/min": 60}
MILLION = 1_000_000
# Prices further apart than this are flagged.
OLD = timedelta(days=365)
# Systems on other hardware offered as further sides.
MOST_OTHERS = 8


@dataclass(frozen=True)
class Machines:
    """`count` machines of one hardware class."""

    count: int
    roles: tuple[str, ...]
    slug: Annotated[str, Name("hardware_class")]
    name: str
    label: Hidden[str]
    vcpu: Annotated[int | None, "of one machine"]
    usd_per_hour: Annotated[float | None, "of one machine; null: not stated"]
    price_source: str
    price_date: Annotated[date | None, "date of the price"]


@dataclass(frozen=True)
class SideCost:
    """Cost of a side's system, over all its machines; None if one of them is not stated."""

    side: str
    machines: Annotated[tuple[Machines, ...], "of the whole system, without load generators"]
    nodes: int
    vcpu: Annotated[int | None, "of all nodes"]
    usd_per_hour: Annotated[float | None, "of all nodes; null: one has no price"]
    unpriced: Annotated[tuple[str, ...], "machines without a price"]

    @property
    def usd_per_month(self) -> Annotated[Shown[float | None], "730 hours"]:
        return None if self.usd_per_hour is None else self.usd_per_hour * HOURS_A_MONTH


@dataclass(frozen=True)
class OtherSize:
    """A system that is not compared: side `of` on other hardware, with runs of the same workload."""

    of: Annotated[str, "a side"]
    system: Annotated[str, "slug of a system that is the same on other hardware"]
    name: str
    hardware: str


@dataclass(frozen=True)
class ComparedCost:
    """`cells` in the form of the comparison's; a side without a price has no value."""

    work: Annotated[str, "unit of work; the cells are the cost of a million"]
    rate: Annotated[ComparedMetric, "metric that counts this work per time"]
    metric: ComparedMetric
    sides: tuple[SideCost, ...]
    cells: Annotated[tuple[Cell, ...], "USD per million"]
    steps: Annotated[tuple[StepUp, ...], "pairs of sides that differ only in hardware"]
    others: Annotated[tuple[OtherSize, ...], "systems with runs of this workload that would add another pair"]

    @property
    def years_apart(self) -> tuple[date, date] | None:
        """Oldest and newest date of the prices, if more than a year apart."""
        days = [each.price_date for side in self.sides for each in side.machines if each.price_date]
        return (min(days), max(days)) if days and max(days) - min(days) > OLD else None


def cost_of(comparison: Comparison) -> ComparedCost | None:
    """None: no metric of the comparison is a rate of work. Four queries."""
    rate = _rate(comparison)
    if rate is None:
        return None
    systems = _systems(comparison)
    sides = _sides(comparison, systems)
    rates = _rates(comparison, rate)
    work = rate.unit.rpartition("/")[0]
    metric = ComparedMetric(
        "cost.per_million", f"cost per million {work}", "USD", Direction.LOWER, "cost", primary=False
    )
    prices = {cost.side: cost.usd_per_hour for cost in sides}
    of_run = {run.id: run.side for run in comparison.counted} | {
        run: each.side for each in comparison.earlier for run in each.runs
    }
    values = {
        run: {metric.key: per_million(price, value, rate.unit)}
        for run, value in rates.items()
        if (price := prices[of_run[run]]) is not None and value > 0
    }
    return ComparedCost(
        work=work,
        rate=rate,
        metric=metric,
        sides=sides,
        cells=verdict_table.corrected([*_bounded(comparison, rates, verdicts.drafts(comparison, [metric], values))]),
        steps=scaleup.steps_up(comparison, {cost.side: _size(cost) for cost in sides}, rate, rates),
        others=_others(comparison, systems),
    )


def _bounded(comparison: Comparison, rates: Mapping[int, float], found: Iterable[DraftCell]) -> Iterator[DraftCell]:
    """Without the ratios of sides of which a run did no work: its cost has no bound, and the others' is not theirs."""
    idle = {(run.side, run.level) for run in comparison.counted if rates.get(run.id, 1.0) <= 0}
    baseline = comparison.sides[0].slug
    for cell in found:
        names = {cell.side: "this side", baseline: "the baseline"}
        named = [name for side, name in names.items() if (side, cell.level) in idle]
        if cell.ratio is None or not named:
            yield cell
        else:
            reason = f"a run of {named[0]} did no work, so that its cost has no bound: no ratio exists"
            yield replace(cell, ratio=DraftRatio(Ratio(Verdict.NO_RATIO, reason=reason)))


def _systems(comparison: Comparison) -> dict[str, System]:
    rows = System.objects.select_related("hardware_class").filter(slug__in={side.system for side in comparison.sides})
    return {system.slug: system for system in rows}


def _others(comparison: Comparison, systems: Mapping[str, System]) -> tuple[OtherSize, ...]:
    ran = Run.objects.filter(COUNTED, system=OuterRef("pk"), workload=comparison.workload.id)
    found = (
        System.objects.filter(Exists(ran), archived_at=None, release__in=[own.release_id for own in systems.values()])
        .exclude(slug__in=systems)
        .exclude(hardware_class__in=[own.hardware_class_id for own in systems.values()])
        .select_related("hardware_class")[:MOST_OTHERS]
    )
    return tuple(
        OtherSize(side.slug, other.slug, other.short_name, other.hardware_class.name)
        for side in comparison.sides
        for other in found
        if side.workload == comparison.workload and other.release_id == systems[side.system].release_id
    )


def per_million(usd_per_hour: float, rate: float, unit: str) -> float:
    """USD for a million units of work, done `rate` times per interval of `unit` ("transactions/s")."""
    return usd_per_hour / (rate * INTERVALS_AN_HOUR[_ending(unit)]) * MILLION


def _ending(unit: str) -> str:
    return next((ending for ending in INTERVALS_AN_HOUR if unit.endswith(ending)), "")


def _rate(comparison: Comparison) -> ComparedMetric | None:
    """The workload's headline metric if it is a rate of work, else throughput."""
    rates = [metric for metric in comparison.metrics if metric.direction is Direction.HIGHER and _ending(metric.unit)]
    return min(rates, key=lambda metric: (not metric.primary, metric.key != THROUGHPUT), default=None)


def _rates(comparison: Comparison, rate: ComparedMetric) -> dict[int, float]:
    """Run -> value, for the runs that count and the earlier runs of the same conditions."""
    earlier = Measurement.objects.filter(
        run_id__in=[run for each in comparison.earlier for run in each.runs], metric__key=rate.key
    ).values_list("run_id", "value")
    return dict(earlier) | {run.id: run.values[rate.key] for run in comparison.counted if rate.key in run.values}


def _sides(comparison: Comparison, systems: Mapping[str, System]) -> tuple[SideCost, ...]:
    nodes: dict[str, list[tuple[HardwareClass, str]]] = defaultdict(list)
    rows = Node.objects.filter(system__slug__in=systems).exclude(role__in=NOT_COUNTED).order_by("name")
    for node in rows.select_related("hardware_class", "system"):
        nodes[node.system.slug].append((node.hardware_class, node.role))
    return tuple(
        _side(
            side.slug,
            systems[side.system],
            # A system without nodes is one machine.
            nodes[side.system] or [(systems[side.system].hardware_class, Node.Role.WRITER.value)],
        )
        for side in comparison.sides
    )


def _side(side: str, system: System, nodes: Sequence[tuple[HardwareClass, str]]) -> SideCost:
    classes = {hardware.slug: hardware for hardware, _ in nodes}
    roles = {slug: [role for hardware, role in nodes if hardware.slug == slug] for slug in classes}
    priced = {slug: catalog_prices.price_of(hardware, system) for slug, hardware in classes.items()}
    machines = tuple(_machines(hardware, roles[slug], priced[slug]) for slug, hardware in classes.items())
    prices = [priced[hardware.slug].usd for hardware, _ in nodes]
    return SideCost(
        side=side,
        machines=machines,
        nodes=len(nodes),
        vcpu=_total(hardware.vcpu for hardware, _ in nodes),
        # Summed as Decimal, without rounding.
        usd_per_hour=None
        if None in prices
        else float(sum((price for price in prices if price is not None), Decimal())),
        unpriced=tuple(each.name for each in machines if each.usd_per_hour is None),
    )


def _machines(hardware: HardwareClass, roles: Sequence[str], price: catalog_prices.HourlyPrice) -> Machines:
    return Machines(
        count=len(roles),
        roles=tuple(dict.fromkeys(roles)),
        slug=hardware.slug,
        name=hardware.name,
        label=hardware.label,
        vcpu=hardware.vcpu,
        usd_per_hour=None if price.usd is None else float(price.usd),
        price_source=price.source,
        price_date=price.date,
    )


def _total(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)


def _size(cost: SideCost) -> SideSize:
    machines: Mapping[str, int] = {each.slug: each.count for each in cost.machines}
    return SideSize(machines=tuple(sorted(machines.items())), vcpu=cost.vcpu, usd_per_hour=cost.usd_per_hour)


def _read(comparison: Comparison, _level: Level | None) -> ComparedCost | None:
    return cost_of(comparison)


SECTION = Section("cost", ComparedCost | None, _read)
