"""Limits of the sides of a comparison, from the panels of its runs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.comparison.api import throughput_metric
from apps.comparison.pure import ComparedRun, Comparison, Level, Sample, Section, Side, welch, with_interval
from apps.core.answers import Hidden, Shown, Words
from apps.published.bottlenecks import StatedLimit, stated_limits
from apps.runs.models import Run
from apps.use_method.bottlenecks import find, wording
from apps.use_method.bottlenecks.find import Bottleneck, Kind, PanelsAtLevel, RepetitionShare
from apps.use_method.panels import panels
from apps.use_method.panels.repetitions import Typical, typical
from apps.use_method.resource_table import RESOURCES
from apps.use_method.values import Panel, Reading, UseLevel

# Runs without a panel judged within one request; the next request judges more of them.
JUDGED_AT_ONCE = 4


@dataclass(frozen=True)
class ResourceAtLevel:
    """A resource at a load level: utilization and saturation reached in most repetitions, and the share of saturated
    ones."""

    resource: str
    level: Annotated[UseLevel, "level reached in most repetitions"]
    share: RepetitionShare


@dataclass(frozen=True)
class LevelUse:
    """A side at a load level: of `runs` that count, `judged` have a panel; `typical`: the majority of these."""

    level: Annotated[int, "id of a load level"]
    runs: Annotated[int, "number of runs that count"]
    judged: Annotated[int, "number of these with a panel"]
    steps: Annotated[tuple[ResourceAtLevel, ...], "utilization and saturation of each resource"]
    typical: Hidden[Typical | None]

    @property
    def readings(self) -> Annotated[Shown[tuple[Reading, ...]], "of a typical repetition"]:
        return self.typical.panel.readings if self.typical else ()


@dataclass(frozen=True)
class SideUse:
    """`headline`, `evidence`, `throughput` and `notes`: `found` in sentences; may be empty."""

    side: str
    found: Bottleneck
    headline: Annotated[Words, "what limits the side"]
    evidence: tuple[Words, ...]
    throughput: Annotated[Words, "throughput from the limit on; empty: unknown"]
    notes: tuple[Words, ...]
    levels: tuple[LevelUse, ...]


@dataclass(frozen=True)
class ComparedUse:
    """`pending`: runs that count and are not judged yet. `stated`: published results for the sides' platforms."""

    sides: tuple[SideUse, ...]
    pending: Annotated[int, "number of runs that count and are not judged yet: repeat the request"]
    stated: Annotated[tuple[StatedLimit, ...], "published limits of these platforms; not measured here"]


def limits_of(comparison: Comparison) -> ComparedUse:
    """Three queries; for missing panels one more, and those of judging at most JUDGED_AT_ONCE runs."""
    found, due = panels_of([run.id for run in comparison.counted])
    sides = tuple(_side(comparison, side, found, due) for side in comparison.sides)
    return ComparedUse(sides, len(due), stated_limits({side.platform_slug for side in comparison.sides}))


def panels_of(runs: Sequence[int], *, at_once: int = JUDGED_AT_ONCE) -> tuple[dict[int, Panel], frozenset[int]]:
    """Panels by run, of which at most `at_once` are judged now, and the sealed runs still without one."""
    found = panels.kept_of(runs)
    lacking = [run for run in runs if run not in found]
    due = list(Run.objects.filter(pk__in=lacking, state=Run.State.SEALED).order_by("pk").values_list("pk", flat=True))
    for run in due[:at_once]:
        if (panel := panels.judge(run_id=run)) is not None:
            found[run] = panel
    return found, frozenset(due[at_once:])


def _side(comparison: Comparison, side: Side, found: Mapping[int, Panel], due: Collection[int]) -> SideUse:
    by_level: dict[int, list[ComparedRun]] = defaultdict(list)
    for run in comparison.counted:
        if run.side == side.slug:
            by_level[run.level].append(run)
    metric = throughput_metric(comparison.metrics)
    loads: dict[int, PanelsAtLevel] = {}
    for level in comparison.levels:
        if own := by_level.get(level.id):
            loads[level.id] = _panels_at(level, own, found, metric.key if metric else "")
    # At a fixed rate the rate determines the throughput: such levels are left out.
    ramp = sorted(
        (loads[level.id] for level in comparison.levels if level.id in loads and level.rate is None),
        key=lambda load: load.threads,
    )
    own_runs = [run.id for runs in by_level.values() for run in runs]
    levels = tuple(_level(level, len(by_level[level]), load) for level, load in loads.items())
    if waiting := sum(run in due for run in own_runs):
        # What limits it is another resource, or none, until all are judged.
        headline = wording.judging(len(own_runs) - waiting, len(own_runs))
        return SideUse(side.slug, Bottleneck(Kind.UNKNOWN), headline, (), "", (), levels)
    shown, grown = find.find(ramp), _grown(ramp)
    return SideUse(
        side=side.slug,
        found=shown,
        headline=wording.headline(shown) if ramp else wording.AT_A_RATE if loads else wording.NO_RUN,
        evidence=tuple(wording.evidence(onset, named=len(shown.first) > 1) for onset in shown.first),
        throughput=wording.throughput(shown, ramp, metric.unit if metric else "", grown),
        notes=(*wording.notes(shown, grown), *_at_a_rate(comparison, loads)),
        levels=levels,
    )


def _grown(loads: Sequence[PanelsAtLevel]) -> wording.Grown:
    """Growth between two levels with its interval, each pair compared on its own."""
    samples = {load.threads: Sample(load.throughput) for load in loads if load.typical_throughput is not None}

    def grown(threads: int, fewer: int) -> str:
        if threads not in samples or fewer not in samples:
            return ""
        return with_interval(welch.compare(samples[fewer], samples[threads]))

    return grown


def _at_a_rate(comparison: Comparison, loads: Mapping[int, PanelsAtLevel]) -> Iterator[str]:
    for level in comparison.levels:
        if level.rate is not None and level.id in loads:
            full = [each.key for each in RESOURCES if find.share_of(each.key, loads[level.id]).most]
            if full:
                yield f"At {level.text} saturated: {wording.join([wording.name(key) for key in full])}"


def _panels_at(level: Level, runs: Iterable[ComparedRun], found: Mapping[int, Panel], metric: str) -> PanelsAtLevel:
    return PanelsAtLevel(
        threads=level.threads,
        panels={run.id: found[run.id] for run in runs if run.id in found},
        throughput=tuple(run.values[metric] for run in runs if metric in run.values),
    )


def _level(level: int, runs: int, load: PanelsAtLevel) -> LevelUse:
    steps = [
        ResourceAtLevel(resource.key, reached, find.share_of(resource.key, load))
        for resource in RESOURCES
        if (reached := find.level_of(resource.key, load)) is not None
    ]
    return LevelUse(level, runs, len(load.panels), tuple(steps), typical(load.panels))


def _read(comparison: Comparison, _level: Level | None) -> ComparedUse:
    return limits_of(comparison)


SECTION = Section("use", ComparedUse, _read)
