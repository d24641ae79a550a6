"""Work per transaction that differs between the runs before and after a change. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from apps.catalog.pure import BY_KEY, work
from apps.comparison.pure import ComparedMetric, Direction
from apps.core.answers import Inline, Name, Shown, Words
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
    found: Annotated[QuantityDifference, Inline("before", "after", "ratio", "low", "high")]

    @property
    def words(self) -> Annotated[Shown[Words], "better or worse"]:
        return "worse" if self.found.rose else "better"

    @property
    def span(self) -> str:
        """ "fsyncs of InnoDB 0.01 → 3.1 fsyncs"."""
        # Bytes are scaled (KiB, MiB), so the unit belongs to each number.
        own, unit = self.found, self.unit
        before = with_unit(own.before, unit) if unit == "bytes" else format_number(own.before, unit=unit)
        return f"{self.name} {before} → {with_unit(own.after, unit)}"


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
        WorkDifference(key, BY_KEY[key].name, BY_KEY[key].unit, per, each)
        for key, each in found.items()
        if each.is_sure
    ]
    return tuple(sorted(rows, key=lambda row: (-abs(row.found.size), row.key)))
