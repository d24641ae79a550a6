"""Data of a finding's chart: every run of both sides on one axis. Pure.

Fields shared with the REST API have the same names; all values are computed in the server.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.core.answers import Hidden
from apps.core.text import counted
from apps.core.units import format_number, with_unit
from apps.web.components.axes import ValueAxis, value_axis


@dataclass(frozen=True)
class RunValue:
    """One run: `value` in the metric's unit; `note`: a caution, or empty."""

    id: int
    value: float
    note: str = ""


@dataclass(frozen=True)
class SideValues:
    """`level`: the value of the side as a whole; None: unknown. `tone`: place in the palette."""

    title: str
    tone: int
    values: Sequence[RunValue]
    level: float | None


@dataclass(frozen=True)
class RunPoint:
    id: int
    value: float
    note: str
    text: str


@dataclass(frozen=True)
class FindingSide:
    """`level_text`: the level in words; empty: unknown. `tone`: place in the palette."""

    title: str
    tone: int
    runs: tuple[RunPoint, ...]
    level: float | None
    level_text: str


@dataclass(frozen=True)
class FindingChart:
    """`label`: text alternative. `band`: around the earlier level, within which changes are not reported."""

    metric_name: str
    unit: str
    label: Hidden[str]
    axis: ValueAxis
    sides: tuple[FindingSide, FindingSide]
    band: tuple[float, float] | None

    @property
    def is_doubted(self) -> bool:
        return any(run.note for side in self.sides for run in side.runs)


def chart(
    before: SideValues, after: SideValues, *, metric: str, unit: str, smallest: float | None = None
) -> FindingChart | None:
    """`smallest`: smallest relative difference that is a finding. None: no run of either side has a value."""
    values = [each.value for side in (before, after) for each in side.values]
    if not values:
        return None
    levels = [side.level for side in (before, after) if side.level is not None]
    band = None
    if smallest is not None and before.level is not None and before.level > 0:
        band = before.level * (1 - smallest), before.level * (1 + smallest)
    return FindingChart(
        metric_name=metric,
        unit=unit,
        label="; ".join(_side_words(side, unit) for side in (before, after)) + f": {metric} of each run",
        axis=value_axis(values + levels, unit, below=1.0, round_below=1.0),
        sides=(_side(before, unit), _side(after, unit)),
        band=band,
    )


def _side(side: SideValues, unit: str) -> FindingSide:
    runs = tuple(
        RunPoint(
            id=each.id,
            value=each.value,
            note=each.note,
            text=f"run {each.id}: {with_unit(each.value, unit)}" + (f", {each.note}" if each.note else ""),
        )
        for each in side.values
    )
    text = format_number(side.level) if side.level is not None else ""
    return FindingSide(side.title, side.tone, runs, side.level, text)


def _side_words(side: SideValues, unit: str) -> str:
    runs = counted(len(side.values), "run")
    level = f", {with_unit(side.level, unit)}" if side.level is not None else ""
    return f"{side.title}, {runs}{level}"
