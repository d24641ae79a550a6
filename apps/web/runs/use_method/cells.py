"""Cells of a USE panel: value with unit, level, nodes, and the address that opens the series. Pure.

`web/runs/use_method/cells.html` renders `cells` (from `shown`) as three table cells of a row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from apps.core.units import all_digits, with_unit
from apps.use_method.pure import Aspect, AspectCell, Indicator, IndicatorReading, Reading, Span, UseLevel
from apps.web.components.sparklines import Spark

ASPECTS = tuple(Aspect)
# Margin around a period beyond the limit, as a share of its length, and its minimum in s.
AROUND, LEAST = 0.25, 5.0
# A period longer than this share of the measured phase is shown without zoom.
MOST = 0.6


@dataclass(frozen=True)
class PanelCell:
    """A cell. `text`: value with unit, empty if none; `where`: its nodes, empty if there is only one.

    `address`: the run's page with the series opened at the relevant time. `zoom`: s on the run's clock; None: the whole
    run. `repeats`: the row above already names the indicator.
    """

    level: UseLevel
    indicator: Indicator
    reading: Reading
    text: str
    digits: str
    where: str
    address: str
    zoom: Span | None = None
    spark: Spark | None = None
    repeats: bool = False

    @property
    def key(self) -> str:
        return opening(self.reading)


def shown(
    cells: Mapping[Aspect, AspectCell],
    *,
    run: str,
    measured: Span | None,
    several: bool = False,
    sparks: Mapping[tuple[str, str], Spark] | None = None,
) -> tuple[PanelCell | None, ...]:
    """A row's cells for utilization, saturation and errors; None: no indicator for that aspect.

    `run`: address of the run's page. `several`: the row has several nodes, so that cells must name theirs. `sparks`: by
    metric and node.
    """
    found = (cells.get(aspect) for aspect in ASPECTS)
    return tuple(of_cell(cell, run, measured, several, sparks or {}) if cell else None for cell in found)


def of_cell(
    cell: AspectCell, run: str, measured: Span | None, several: bool, sparks: Mapping[tuple[str, str], Spark]
) -> PanelCell:
    return reading_cell(
        cell.shown,
        run=run,
        measured=measured,
        where=where(cell) if several else "",
        spark=sparks.get((cell.shown.reading.metric, cell.shown.reading.node)),
    )


def reading_cell(
    found: IndicatorReading, *, run: str, measured: Span | None, where: str = "", spark: Spark | None = None
) -> PanelCell:
    one, indicator = found.reading, found.indicator
    zoom = stretch(one.spans, measured)
    query = [("use", opening(one))]
    query += [("from", f"{zoom[0]:.6g}"), ("to", f"{zoom[1]:.6g}")] if zoom else []
    return PanelCell(
        level=one.level,
        indicator=indicator,
        reading=one,
        text=_text(found),
        digits="" if one.value is None else f"{all_digits(one.value)} {indicator.unit}".strip(),
        where=where,
        address=f"{run}?{urlencode(query, safe='@')}#use",
        zoom=zoom,
        spark=spark,
    )


def opening(reading: Reading) -> str:
    """Identifies a reading of a run in addresses."""
    return f"{reading.indicator}@{reading.node}"


def where(cell: AspectCell) -> str:
    """For example “g2”, “g1 and g3, most on g3”, “all 3 nodes”: nodes at the shown level, and the one shown.

    At level OK only the latter.
    """
    names = sorted(set(cell.nodes))
    of = {found.reading.node for found in cell.readings}
    if len(names) == 1:
        return names[0]
    # Values count as different if their texts differ.
    alike = [
        found for found in cell.readings if (found.indicator, found.reading.level) == (cell.shown.indicator, cell.level)
    ]
    differ = len({_text(found) for found in alike}) > 1
    most = f"most on {cell.shown.reading.node}" if differ else ""
    if most and cell.level is UseLevel.OK:
        return most
    named = f"all {len(of)} nodes" if len(names) == len(of) > 2 else ", ".join(names[:-1]) + f" and {names[-1]}"
    return f"{named}, {most}" if most else named


def _text(found: IndicatorReading) -> str:
    value = found.reading.value
    return "" if value is None else with_unit(value, found.indicator.unit, found.indicator.digits)


def stretch(spans: tuple[Span, ...], measured: Span | None) -> Span | None:
    """The first period beyond the limit with margins, s on the run's clock; None: show the whole run."""
    if not spans:
        return None
    start, end = spans[0]
    if measured and end - start > MOST * (measured[1] - measured[0]):
        return None
    around = max(LEAST, AROUND * (end - start))
    return max(0.0, start - around), end + around
