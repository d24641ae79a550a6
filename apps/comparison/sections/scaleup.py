"""Scale-up: gain of the same side on larger hardware, relative to its extra size and price."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

from apps.comparison.stats import moderation, multiple_testing, welch
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.welch import Direction, DraftRatio, Ratio
from apps.comparison.tables import verdict_table
from apps.comparison.values import ComparedMetric, Comparison, Level, PastValue, Side
from apps.core.answers import Unbounded


@dataclass(frozen=True)
class SideSize:
    """All machines of a side: (slug of the hardware class, count), vCPU, USD/h; None: not stated."""

    machines: tuple[tuple[str, int], ...]
    vcpu: int | None
    usd_per_hour: float | None


@dataclass(frozen=True)
class Gain:
    """`per_price` and `per_vcpu`: above 1 if the gain exceeds the extra price or vCPU; None if these are not stated."""

    level: Annotated[int | None, "id; null: each side at its level of highest throughput"]
    levels: Annotated[tuple[int, int], "of the smaller, of the larger"]
    throughput: Annotated[Ratio, "larger over smaller"]
    per_price: Annotated[Ratio | None, "the same of throughput per USD; null: a price is missing"]
    per_vcpu: Annotated[Ratio | None, "the same of throughput per vCPU"]
    words: Annotated[str, "verdict on `per_price`"]
    vcpu_words: Annotated[str, "verdict on `per_vcpu`"]


@dataclass(frozen=True)
class DraftGain:
    """A Gain until its ratios are corrected for their number."""

    level: int | None
    levels: tuple[int, int]
    throughput: DraftRatio
    per_price: DraftRatio | None
    per_vcpu: DraftRatio | None

    @property
    def ratios(self) -> list[DraftRatio]:
        return [ratio for ratio in (self.throughput, self.per_price, self.per_vcpu) if ratio is not None]


@dataclass(frozen=True)
class StepUp:
    """From side `small` to side `large`. `price` and `vcpu`: None: not stated."""

    small: Annotated[str, "a side"]
    large: Annotated[str, "the same on larger hardware; on other hardware, if neither vCPU nor price of both is stated"]
    price: Annotated[Unbounded | None, "ratio of prices, exact"]
    vcpu: Annotated[Unbounded | None, "ratio of vCPU, exact"]
    gains: tuple[Gain, ...]


def steps_up(
    comparison: Comparison, sizes: Mapping[str, SideSize], rate: ComparedMetric, rates: Mapping[int, float]
) -> tuple[StepUp, ...]:
    """Each pair of sides of one platform, release and workload on other machines. `rates`: run -> work per time, its
    value of `rate`.

    The hardware is the question here, so these verdicts are not withheld because of it. All ratios are corrected
    together (Benjamini-Hochberg).
    """
    samples = _samples(comparison, rate, rates)
    found = [
        (pair, _moderated(_gains(samples, sizes, comparison.levels, pair))) for pair in _pairs(comparison.sides, sizes)
    ]
    corrected = iter(
        multiple_testing.correct_for_many([ratio for _, gains in found for gain in gains for ratio in gain.ratios])
    )
    return tuple(
        StepUp(
            small=small,
            large=large,
            price=_times(sizes[small].usd_per_hour, sizes[large].usd_per_hour),
            vcpu=_times(sizes[small].vcpu, sizes[large].vcpu),
            gains=tuple(_corrected(gain, corrected) for gain in gains),
        )
        for (small, large), gains in found
        if gains
    )


def _pairs(sides: Sequence[Side], sizes: Mapping[str, SideSize]) -> list[tuple[str, str]]:
    """The smaller and the larger side of each; in the order of the sides where neither is known to be larger."""
    found = []
    for one, other in combinations(sides, 2):
        same = (one.platform_slug, one.release, one.workload.id) == (
            other.platform_slug,
            other.release,
            other.workload.id,
        )
        if same and sizes[one.slug].machines != sizes[other.slug].machines:
            is_larger = _is_larger(sizes[one.slug], sizes[other.slug])
            found.append((other.slug, one.slug) if is_larger else (one.slug, other.slug))
    return found


def _is_larger(one: SideSize, other: SideSize) -> bool:
    """By vCPU, else by price: by what is stated of both."""
    for own, others in ((one.vcpu, other.vcpu), (one.usd_per_hour, other.usd_per_hour)):
        if own and others and own != others:
            return own > others
    return False


def _times(small: float | None, large: float | None) -> float | None:
    return large / small if small and large else None


def _samples(comparison: Comparison, rate: ComparedMetric, rates: Mapping[int, float]) -> dict[tuple[str, int], Sample]:
    """(side, level) -> its runs and the earlier ones. At a fixed rate the work is what was asked for: no gain."""
    earlier = {(each.side, each.level): zip(each.runs, each.sessions, strict=True) for each in comparison.earlier}
    found = {}
    for side in comparison.sides:
        for level in comparison.levels:
            place = side.slug, level.id
            runs = [run for run in comparison.counted if (run.side, run.level) == place and run.id in rates]
            if runs and level.rate is None:
                past = [PastValue(rates[run], session) for run, session in earlier.get(place, ()) if run in rates]
                found[place] = verdict_table.sample_of(rate, runs, past)
    return found


def _gains(
    samples: Mapping[tuple[str, int], Sample],
    sizes: Mapping[str, SideSize],
    levels: Sequence[Level],
    pair: tuple[str, str],
) -> list[DraftGain]:
    small, large = pair
    shared = [level.id for level in levels if {(small, level.id), (large, level.id)} <= samples.keys()]
    if not shared:
        return []
    tops = tuple(
        max(
            (level.id for level in levels if (side, level.id) in samples),
            key=lambda level: _typical(samples[side, level]),
            default=None,
        )
        for side in pair
    )
    places: list[tuple[int | None, tuple[int, int]]] = [(level, (level, level)) for level in shared]
    if len(shared) > 1 and tops[0] is not None and tops[1] is not None:
        places.insert(0, (None, (tops[0], tops[1])))
    return [
        _gain(
            level,
            at,
            (samples[small, at[0]], sizes[small]),
            (samples[large, at[1]], sizes[large]),
        )
        for level, at in places
    ]


def _typical(sample: Sample) -> float:
    return welch.summarise(sample.values, sessions=sample.sessions).value


def _moderated(gains: Sequence[DraftGain]) -> list[DraftGain]:
    """Gains at one level as the cells of the table of costs are; that at the best levels beside them."""
    alike = [gain for gain in gains if gain.level is not None]
    return [*_together(gains)[: len(gains) - len(alike)], *_together(alike)]


def _together(gains: Sequence[DraftGain]) -> list[DraftGain]:
    """Each quantity moderated over these."""
    throughputs = moderation.moderated([gain.throughput for gain in gains])
    per_price, per_vcpu = _known([gain.per_price for gain in gains]), _known([gain.per_vcpu for gain in gains])
    return [
        replace(gain, throughput=throughput, per_price=price, per_vcpu=vcpu)
        for gain, throughput, price, vcpu in zip(gains, throughputs, per_price, per_vcpu, strict=True)
    ]


def _known(drafts: Sequence[DraftRatio | None]) -> list[DraftRatio | None]:
    """Moderated where they are stated."""
    found = iter(moderation.moderated([draft for draft in drafts if draft is not None]))
    return [None if draft is None else next(found) for draft in drafts]


def _gain(
    level: int | None, levels: tuple[int, int], small: tuple[Sample, SideSize], large: tuple[Sample, SideSize]
) -> DraftGain:
    def per(small_has: float | None, large_has: float | None) -> DraftRatio | None:
        if not small_has or not large_has:
            return None
        return welch.draft(_over(small[0], small_has), _over(large[0], large_has))

    return DraftGain(
        level=level,
        levels=levels,
        throughput=welch.draft(small[0], large[0]),
        per_price=per(small[1].usd_per_hour, large[1].usd_per_hour),
        per_vcpu=per(small[1].vcpu, large[1].vcpu),
    )


def _over(sample: Sample, divisor: float) -> Sample:
    return replace(
        sample,
        values=tuple(value / divisor for value in sample.values),
        history=tuple(value / divisor for value in sample.history),
    )


def _corrected(gain: DraftGain, corrected: Iterator[Ratio]) -> Gain:
    throughput = next(corrected)
    per_price = next(corrected) if gain.per_price else None
    per_vcpu = next(corrected) if gain.per_vcpu else None
    return Gain(gain.level, gain.levels, throughput, per_price, per_vcpu, _words(per_price), _words(per_vcpu))


def _words(ratio: Ratio | None) -> str:
    return welch.words(ratio.verdict, Direction.HIGHER) if ratio else ""
