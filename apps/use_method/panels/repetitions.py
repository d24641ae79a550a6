"""Panels of repetitions combined into one: the majority for each indicator on each node. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from apps.use_method.values import Panel, Reading, UseLevel


@dataclass(frozen=True)
class Typical:
    """Each reading of `panel` is of the run at its place in `runs`; its words mention disagreeing repetitions."""

    panel: Panel
    runs: tuple[int, ...]

    @cached_property
    def _runs(self) -> dict[tuple[str, str], int]:
        return {(one.indicator, one.node): run for one, run in zip(self.panel.readings, self.runs, strict=True)}

    def run_of(self, reading: Reading) -> int:
        """Raises KeyError for a reading that the panel does not have."""
        return self._runs[reading.indicator, reading.node]


def middle(count: int) -> int:
    """Place, by ascending severity, at which more than half are at least as bad."""
    return (count - 1) // 2


def typical(panels: Mapping[int, Panel]) -> Typical | None:
    """`panels` by run. For each indicator and node the level reached by more than half of the runs, and at that level
    the reading with the median value; runs that did not observe it are ignored if others did. None: no panel."""
    if not panels:
        return None
    readings: dict[tuple[str, str], list[tuple[int, Reading]]] = {}
    for run, panel in panels.items():
        for reading in panel.readings:
            readings.setdefault((reading.indicator, reading.node), []).append((run, reading))
    chosen = [_most_say(own) for own in readings.values()]
    nodes = dict.fromkeys(node for panel in panels.values() for node in panel.nodes)
    return Typical(Panel(None, tuple(nodes), tuple(reading for _, reading in chosen)), tuple(run for run, _ in chosen))


def _most_say(readings: Sequence[tuple[int, Reading]]) -> tuple[int, Reading]:
    seen = [one for one in readings if one[1].level is not UseLevel.NOT_OBSERVABLE] or list(readings)
    levels = sorted((one.level for _, one in seen), key=lambda level: level.severity)
    level = levels[middle(len(levels))]
    own = sorted((one for one in seen if one[1].level is level), key=lambda one: _value(one[1]))
    run, reading = own[middle(len(own))]
    others = Counter(one.level for _, one in readings if one.level is not level)
    if not others:
        return run, reading
    text = ", ".join(f"{each.word} in {number}" for each, number in others.items())
    words = f"{reading.words}; {len(own)} of {len(readings)} repetitions, {text}"
    return run, replace(reading, words=words)


def _value(reading: Reading) -> float:
    return reading.value if reading.value is not None else 0.0
