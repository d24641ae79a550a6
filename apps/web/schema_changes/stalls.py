"""Stalls of one setting as bars on one scale: who paid stands beside each, since a short stall that failed a
transaction is no win."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.comparison.pure import SchemaChange
from apps.core import units
from apps.published.wording import short
from apps.web.components.ticks import linear_ticks
from apps.web.components.tracks import TrackBar
from apps.web.schema_changes.sheet import HEADS, MannerRows, PublishedSide, Setting, SystemRow
from apps.web.schema_changes.wording import GAP, STALL, Paid, paid, undisturbed

# The longest measured bar, in per cent; the rest is for words.
LONGEST = 62.0


@dataclass(frozen=True)
class StallRow:
    """`row` None: not measured. `value`: as text; empty: not observed. `failed`: runs that failed a quality check."""

    name: str
    color: int | None
    row: SystemRow | None
    bar: TrackBar | None = None
    value: str = ""
    note: str = ""
    duration: str = ""
    slowest: str = ""
    paid: tuple[Paid, ...] = ()
    failed: int = 0


@dataclass(frozen=True)
class StallGroup:
    title: str
    rows: tuple[StallRow, ...]
    compare_url: str


@dataclass(frozen=True)
class StatedStall:
    """What an article states of a side. `is_cut`: its bar would not fit the scale of the measured ones."""

    side: PublishedSide
    bar: TrackBar | None
    value: str
    duration: str
    note: str
    is_cut: bool


@dataclass(frozen=True)
class StallChart:
    """`undisturbed`: the same quantity before the changes, as text."""

    groups: tuple[StallGroup, ...]
    stated: tuple[StatedStall, ...]
    ticks: Sequence[tuple[str, float]]
    undisturbed: str


def stall_chart(setting: Setting) -> StallChart:
    changes = [row.change for manner in setting.manners for row in manner.rows]
    ends = [end for change in changes for key in (GAP, STALL) if (end := change.value(key).high) is not None]
    scale = max(ends, default=0.0) * 100 / LONGEST or 1.0
    systems = list(dict.fromkeys((change.system, change.system_name, change.platform_color) for change in changes))
    return StallChart(
        groups=tuple(_group(manner, systems, scale) for manner in setting.manners),
        stated=tuple(_stated(side, scale) for side in setting.stated),
        ticks=[(f"{tick:g}", 100 * tick / scale) for tick in linear_ticks(0, scale) if 100 * tick / scale < 96],
        undisturbed=undisturbed(changes),
    )


def _group(manner: MannerRows, systems: Sequence[tuple[str, str, int | None]], scale: float) -> StallGroup:
    own = {row.change.system: row for row in manner.rows}
    rows = [_row(own[slug], scale) if slug in own else StallRow(name, color, None) for slug, name, color in systems]
    return StallGroup(manner.title, tuple(rows), manner.compare_url)


def _row(row: SystemRow, scale: float) -> StallRow:
    change = row.change
    gap, stall = change.value(GAP), change.value(STALL)
    shown = gap if gap.median is not None else stall
    bar, value, note = None, "", shown.missing
    if shown.median is not None:
        low, high = shown.low or 0.0, shown.high or 0.0
        ends = (100 * low / scale, 100 * high / scale) if high > low else (None, None)
        bar = TrackBar(100 * shown.median / scale, *ends)
        value = units.with_unit(shown.median, "s")
        note = f"{units.format_number(low)}–{units.format_number(high)}" if high > low else ""
        if shown is stall:
            note = "; ".join(filter(None, [note, "whole seconds"]))
    return StallRow(
        name=change.system_name,
        color=change.platform_color,
        row=row,
        bar=bar,
        value=value,
        note=note,
        duration=_text(change, "duration"),
        slowest=_text(change, "slowest"),
        paid=paid(change) if change.trials else (),
        failed=sum(bool(trial.failed_checks) for trial in change.trials),
    )


def _text(change: SchemaChange, key: str) -> str:
    """Median; empty: no run has it."""
    found = change.value(key)
    return "" if found.median is None else units.format_number(found.median, unit=found.quantity.unit)


def _stated(side: PublishedSide, scale: float) -> StatedStall:
    places = {head.key: place for place, head in enumerate(HEADS)}
    stall, duration, deviation = (side.cells[places[key]] for key in (STALL, "duration", "latency_deviation"))
    width = 100 * stall.amount / scale if stall.amount is not None else None
    return StatedStall(
        side=side,
        bar=None if width is None else TrackBar(min(width, LONGEST), is_open=width > LONGEST),
        value=short(stall.text, "s") if stall.is_number else "",
        duration=duration.text if duration.is_number else "",
        note=f"latency deviation {deviation.text} ms" if deviation.is_number else "",
        is_cut=width is not None and width > LONGEST,
    )
