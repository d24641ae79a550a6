"""USE indicators whose level or value differs between two sides. Pure.

For each indicator and node, a side has the value of its typical repetition (use_method.typical) and the range of all.
A level differs if nearly all pairs of a run before and a run after differ in the same direction. A value differs if a
t-test with pooled variance is significant (at SIGNIFICANT, since about a hundred indicators are tested) and the change
is large enough; single runs are compared by size alone. Totals of a run are given per second, so that phases of
different length can be compared. With 3, 5 and 10 runs per side an unchanged indicator is reported in 0.1 % of
comparisons, one that changes level at random in 3, 2 and 0.1 %.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy import special

from apps.core.answers import Hidden, Name, Rounded, Shown, Words, component
from apps.core.text import and_list, counted
from apps.core.units import format_number, with_unit
from apps.use_method.pure import INDICATORS, RESOURCE_OF, Aspect, Indicator, Panel, Reading, UseLevel, typical

# Share of pairs in which a level must differ, minus those of the opposite direction (Cliff's delta).
MOST_PAIRS = 0.8
SIGNIFICANT = 0.001
# Smallest reported change, as a share of the larger value.
LEAST_SIZE = 0.1
# Added to the larger value before the share is computed, so that two negligible values are no large change.
FLOORS = {"%": 10.0, "ms": 0.5, "s": 0.5, "bytes": 2.0**20, "bytes/s": 2.0**20, "×": 0.5}
USUAL_FLOOR = 1.0
ERROR_NUMBER = re.compile(r"\berror (\d+)")


@component(text="The reading that most repetitions of a side agree on.")
@dataclass(frozen=True)
class IndicatorValue:
    """An indicator on one side: the typical `value`, and `values` of all repetitions that have one. `node`: the node's
    name on this side. `severities`: of the level in each run that observed it."""

    node: str
    level: UseLevel
    value: Rounded | None
    values: Hidden[tuple[float, ...]]
    run: Annotated[int, "id of the run with `value`"]
    words: Annotated[Words, "the evidence"]
    unit: Annotated[str, "totals of a run are given per second"]
    severities: Hidden[tuple[int, ...]]

    @property
    def text(self) -> str:
        return self.level.word if self.value is None else with_unit(self.value, self.unit)

    @property
    def runs(self) -> Annotated[Shown[int], "number of runs with a value"]:
        return len(self.values)

    @property
    def lowest(self) -> Annotated[Shown[Rounded | None], "over the repetitions"]:
        return min(self.values, default=None)

    @property
    def highest(self) -> Shown[Rounded | None]:
        return max(self.values, default=None)

    @property
    def range(self) -> str:
        """Range over the repetitions; empty: none has a value."""
        if self.lowest is None or self.highest is None:
            return ""
        return f"{self._without_unit(self.lowest)}–{with_unit(self.highest, self.unit)}"

    def _without_unit(self, value: float) -> str:
        # Bytes are scaled (KiB, MiB), so the unit belongs to each number.
        bytes_ = self.unit.startswith("bytes")
        return with_unit(value, self.unit) if bytes_ else format_number(value, unit=self.unit)

    def up_to(self, other: "IndicatorValue") -> str:
        """ "0 → 340 waits/s"; levels where a side has no value."""
        if self.value is None or other.value is None:
            return f"{self.text} → {other.text}"
        return f"{self._without_unit(self.value)} → {other.text}"


@dataclass(frozen=True)
class IndicatorDifference:
    """`size`: 0 to 1, the change of the value as a share of the larger one."""

    indicator: Hidden[Indicator]
    where: Annotated[str, "node; its role if the sides name it differently"]
    before: IndicatorValue
    after: IndicatorValue
    size: Hidden[float]
    climbed: Annotated[int, "levels by which it is worse; negative: better"]

    @property
    def key(self) -> Annotated[Shown[str], Name("indicator"), "key in GET use-method/"]:
        return self.indicator.key

    @property
    def title(self) -> Shown[Words]:
        """ "Redo log: waits for the log buffer"."""
        resource = RESOURCE_OF[self.indicator.key].title
        return f"{resource[:1].upper()}{resource[1:]}: {self.indicator.title}"

    @property
    def sides(self) -> tuple[IndicatorValue, IndicatorValue]:
        return self.before, self.after

    @property
    def span(self) -> Annotated[Shown[Words], "0 → 340 waits/s"]:
        return self.before.up_to(self.after)

    @property
    def grew(self) -> bool:
        """Whether the indicator is more critical after than before: a worse level, else a higher value."""
        if self.climbed:
            return self.climbed > 0
        return (self.after.value or 0.0) > (self.before.value or 0.0)

    @property
    def had_room(self) -> bool:
        """Whether it is a utilization that is OK on both sides."""
        is_ok = self.before.level is self.after.level is UseLevel.OK
        return self.indicator.aspect is Aspect.UTILIZATION and is_ok

    @property
    def floor(self) -> float:
        """Below which values are negligible."""
        return _floor(self.after.unit)

    @property
    def numbers(self) -> str:
        """The numbers of errors behind a count of them: ", error 1020"."""
        seen = dict.fromkeys(ERROR_NUMBER.findall(self.after.words) if self.indicator.unit == "errors" else ())
        return f", error {and_list(list(seen))}" if seen else ""

    @property
    def level_words(self) -> str:
        """Change of the level; empty: the level is the same."""
        return f"{self.before.level.word} → {self.after.level.word}" if self.climbed else ""


@dataclass(frozen=True)
class UseDifference:
    """`differences`: the most relevant first. `compared`: indicators on nodes that both sides observed. `runs`: number
    with a panel, before and after. `one_sided`: nodes that only one side has. `pressed`: keys of the resources that are
    saturated, or have errors, on the worse side."""

    differences: Annotated[tuple[IndicatorDifference, ...], Name("use"), "the most telling first"]
    compared: Annotated[int, Name("use_compared"), "indicators that both sides saw"]
    runs: Hidden[tuple[int, int]]
    one_sided: Hidden[tuple[str, ...]]
    pressed: Hidden[frozenset[str]] = frozenset()

    @property
    def nothing(self) -> str:
        """In one clause, why no difference stands out."""
        lacking = [which for which, runs in zip(("earlier", "later"), self.runs, strict=True) if not runs]
        if lacking:
            which = f"the {lacking[0]} runs have no" if len(lacking) == 1 else "neither side's runs have a"
            return f"server metrics cannot be compared: {which} USE panel"
        if not self.compared:
            return "server metrics cannot be compared: no common indicator"
        return f"no resource stands out among {counted(self.compared, 'common indicator')}"


def compare(before: Mapping[int, Panel], after: Mapping[int, Panel], *, is_worse: bool = True) -> UseDifference:
    """`before`, `after`: panels by run. `is_worse`: the change to be explained is for the worse, so that increases rank
    before decreases; else the reverse."""
    places = _places(list(before.values()), list(after.values()))
    sides = [
        _side(panels, {name: where for where, name in own.items()})
        for panels, own in zip((before, after), places, strict=True)
    ]
    found, compared = [], 0
    for key in [key for key in sides[0] if key in sides[1]]:
        first, second = sides[0][key], sides[1][key]
        if UseLevel.NOT_OBSERVABLE in (first.level, second.level):
            continue
        compared += 1
        climbed = second.level.severity - first.level.severity if _is_another_level(first, second) else 0
        size = _size(first, second)
        if climbed or (size >= LEAST_SIZE and _apart(first, second)):
            found.append(IndicatorDifference(INDICATORS[key[0]], key[1], first, second, size, climbed))
    return UseDifference(
        differences=tuple(sorted(found, key=lambda each: (each.grew is not is_worse, *_by_relevance(each)))),
        compared=compared,
        runs=(len(before), len(after)),
        one_sided=_one_sided(before, after, places),
        pressed=frozenset(
            RESOURCE_OF[key].key
            for (key, _), value in sides[int(is_worse)].items()
            if value.level.severity >= UseLevel.SATURATED.severity
        ),
    )


def _places(before: Sequence[Panel], after: Sequence[Panel]) -> tuple[dict[str, str], dict[str, str]]:
    """Common name of each node that both sides have -> its name on each side: the name, else the role if only one node
    of each side has it."""
    nodes = [{name: role for panel in panels for name, role in panel.nodes} for panels in (before, after)]
    places: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for name in nodes[0].keys() & nodes[1].keys():
        for side in places:
            side[name] = name
    rest = [{name: role for name, role in own.items() if name not in places[0]} for own in nodes]
    for role in set(rest[0].values()) & set(rest[1].values()):
        named = [[name for name, own_role in own.items() if own_role == role] for own in rest]
        if len(named[0]) == len(named[1]) == 1:
            for side, (name,) in zip(places, named, strict=True):
                side[role] = name
    return places


def _one_sided(
    before: Mapping[int, Panel], after: Mapping[int, Panel], places: tuple[dict[str, str], dict[str, str]]
) -> tuple[str, ...]:
    found = {
        name
        for panels, own in zip((before, after), places, strict=True)
        for panel in panels.values()
        for name, _ in panel.nodes
        if name not in own.values()
    }
    return tuple(sorted(found))


def _side(panels: Mapping[int, Panel], where: Mapping[str, str]) -> dict[tuple[str, str], IndicatorValue]:
    """(indicator, common node name) -> value."""
    chosen = typical(panels)
    if chosen is None:
        return {}
    values: dict[tuple[str, str], list[float]] = {}
    severities: dict[tuple[str, str], list[int]] = {}
    for panel in panels.values():
        for one in panel.readings:
            if one.level is not UseLevel.NOT_OBSERVABLE:
                severities.setdefault((one.indicator, one.node), []).append(one.level.severity)
            if (value := _value(one, panel)) is not None:
                values.setdefault((one.indicator, one.node), []).append(value)
    found = {}
    for one, run in zip(chosen.panel.readings, chosen.runs, strict=True):
        if one.indicator in INDICATORS and one.node in where:
            own = values.get((one.indicator, one.node), [])
            found[one.indicator, where[one.node]] = IndicatorValue(
                node=one.node,
                level=one.level,
                value=_value(one, panels[run]),
                values=tuple(own),
                run=run,
                words=one.words,
                unit=_unit(one, panels[run]),
                severities=tuple(severities.get((one.indicator, one.node), ())),
            )
    return found


def _is_total(indicator: Indicator) -> bool:
    """Whether its value is a count over the whole phase."""
    # A quotient is a share or a mean, independent of the length of the phase.
    counted = indicator.formula.startswith("rise of ") and " / " not in indicator.formula
    return (counted or indicator.unit == "errors") and not indicator.unit.endswith(("/s", "%"))


def _seconds(panel: Panel) -> float:
    """Length of the measured phase; 0: unknown."""
    return panel.measured[1] - panel.measured[0] if panel.measured else 0.0


def _value(one: Reading, panel: Panel) -> float | None:
    indicator = INDICATORS.get(one.indicator)
    if one.value is None or indicator is None:
        return None
    return one.value / _seconds(panel) if _is_total(indicator) and _seconds(panel) > 0 else one.value


def _unit(one: Reading, panel: Panel) -> str:
    indicator = INDICATORS[one.indicator]
    return f"{indicator.unit}/s" if _is_total(indicator) and _seconds(panel) > 0 else indicator.unit


def _size(before: IndicatorValue, after: IndicatorValue) -> float:
    if before.value is None or after.value is None or before.unit != after.unit:
        return 0.0
    return abs(after.value - before.value) / (max(abs(before.value), abs(after.value)) + _floor(after.unit))


def _floor(unit: str) -> float:
    return FLOORS.get(unit, USUAL_FLOOR)


def _is_another_level(before: IndicatorValue, after: IndicatorValue) -> bool:
    pairs = [(one, other) for one in before.severities for other in after.severities]
    delta = sum((other > one) - (other < one) for one, other in pairs)
    return before.level is not after.level and abs(delta) >= MOST_PAIRS * len(pairs)


def _apart(before: IndicatorValue, after: IndicatorValue) -> bool:
    one, other = np.asarray(before.values), np.asarray(after.values)
    if not len(one) or not len(other):
        return False
    difference = abs(float(other.mean() - one.mean()))
    freedom = len(one) + len(other) - 2
    if min(len(one), len(other)) == 1 or difference == 0:
        return difference > 0
    squares = float(((one - one.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum())
    error = math.sqrt(squares / freedom * (1 / len(one) + 1 / len(other)))
    return error == 0 or 2 * float(special.stdtr(freedom, -difference / error)) <= SIGNIFICANT


def _by_relevance(each: IndicatorDifference) -> tuple[int, int, float, str]:
    """By change of level, worse first; then waits and errors before utilization, by size."""
    waits = each.indicator.aspect is not Aspect.UTILIZATION
    return -abs(each.climbed), -int(each.climbed > 0), -each.size - 0.5 * waits, each.indicator.key
