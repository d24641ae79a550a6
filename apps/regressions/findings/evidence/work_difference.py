"""Work per transaction that differs between the runs before and after a change. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from apps.catalog.pure import BY_KEY, work
from apps.comparison.pure import ComparedMetric, Direction
from apps.core.answers import Hidden, Name, Rounded, Words
from apps.core.units import format_number, with_unit
from apps.regressions.findings.evidence import quantities
from apps.regressions.findings.evidence.quantities import Judge, QuantityDifference, Sides

# What background work alone may reach, per transaction, by unit.
FLOORS = {"bytes": 100.0, "rows": 1.0}
USUAL_FLOOR = 0.05


@dataclass(frozen=True)
class WorkDifference:
    """A difference of the work per transaction (or per `per`) that the repetitions of both sides show."""

    key: Annotated[str, Name("metric")]
    name: Words
    unit: Annotated[str, "per unit of `per`"]
    per: Annotated[str, "transaction, query or row"]
    before: Rounded
    after: Rounded
    ratio: Annotated[Rounded | None, "after / before; null: one of them is zero"]
    low: Annotated[Rounded | None, "of its 95 % interval"]
    high: Rounded | None
    words: Annotated[Words, "better or worse"]
    found: Hidden[QuantityDifference]

    @property
    def span(self) -> str:
        """ "fsyncs of InnoDB 0.01 → 3.1 fsyncs"."""
        # Bytes are scaled (KiB, MiB), so the unit belongs to each number.
        before = (
            with_unit(self.before, self.unit) if self.unit == "bytes" else format_number(self.before, unit=self.unit)
        )
        return f"{self.name} {before} → {with_unit(self.after, self.unit)}"


def differences(
    per: str, values: Mapping[int, Mapping[str, float]], sides: Sides, judge: Judge
) -> tuple[WorkDifference, ...]:
    """`values`: run -> key -> amount per `per`. The largest change first."""
    known = {key for own in values.values() for key in own}
    metrics = [
        ComparedMetric(spec.key, spec.name, spec.unit, Direction.NEUTRAL, "work", primary=False)
        for spec in work.ALL
        if spec.key in known and spec.direction == Direction.LOWER
    ]
    floors = {metric.key: FLOORS.get(metric.unit, USUAL_FLOOR) for metric in metrics}
    found = quantities.compared(metrics, floors, values, sides, judge)
    rows = [
        WorkDifference(
            key=key,
            name=BY_KEY[key].name,
            unit=BY_KEY[key].unit,
            per=per,
            before=each.before,
            after=each.after,
            ratio=each.ratio,
            low=each.low,
            high=each.high,
            words="worse" if each.rose else "better",
            found=each,
        )
        for key, each in found.items()
        if each.is_sure
    ]
    return tuple(sorted(rows, key=lambda row: (-abs(row.found.size), row.key)))
