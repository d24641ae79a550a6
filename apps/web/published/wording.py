"""Sentences of the cards of published results."""

from collections.abc import Iterable, Sequence

from apps.comparison.api import ScorecardCell, ScorecardRow
from apps.core import units
from apps.core.text import and_list, counted
from apps.core.units import NBSP
from apps.published.frames import Frame, FrameMark
from apps.published.wording import label, times

# In the order of the cards.
TITLES = {
    "ingest": "Ingest",
    "oltp": "OLTP",
    "tpcc": "TPC-C",
    "failover": "Failover",
    "latency": "Latency near saturation",
    "ddl": "Schema change",
    "engines": "Storage engines",
    "disk": "Disk",
    "cost": "Cost",
    "steadiness": "Steadiness",
    "other": "Other figures",
}
# What the first of a frame is, where "fastest" would be odd.
FIRST = {
    "failover": "is back first",
    "disk": "is ahead",
    "cost": "is cheapest",
    "steadiness": "is steadiest",
    "other": "is ahead",
}
# Questions that are not about speed.
APART = ("disk", "cost", "steadiness", "other")
FASTEST = f"1{NBSP}×"


def ratio(text: str) -> str:
    """ "≈ 3 ×" of "≈ 3"."""
    return f"{text}{NBSP}×"


def speed(mark: FrameMark, *, is_ranked: bool) -> str:
    """Beside a bar: "1 × · 15 s", "≈ 0.11 × chained"; of a frame without a fastest the figure alone: "≥ 30 s"."""
    parts = [] if mark.stated and not is_ranked else [ratio(mark.speed.text)]
    if mark.stated:
        parts.append(mark.stated)
    return f"{' · '.join(parts)}{' chained' if mark.is_chained else ''}"


def caption(frame: Frame) -> str:
    """ "2016, large box: tpcc mysql, warehouses 400; threads 256"."""
    where = f", {frame.box}" if frame.box else ""
    conditions = f", {_conditions(frame)}" if _conditions(frame) else ""
    return f"{_year(frame)}{where}: {frame.workload}{conditions}"


def _conditions(frame: Frame) -> str:
    """Without the machine, which is named already."""
    return "; ".join(part for part in frame.conditions_text.split("; ") if not part.startswith(f"{label('box')} "))


def _year(frame: Frame) -> str:
    return frame.article.published[:4]


def answer(drawn: Sequence[Frame]) -> str:
    """For example "MHA is fastest: PXC about 0.33 ×, Aurora about 0.11 × (chained)."; of frames with several fastest
    "PXC is fastest on the small box, Aurora on the large box."; where bounds leave it open "Inconclusive: PXC 50 s,
    MHA ≥ 30 s."."""
    ranked = [frame for frame in drawn if frame.is_ranked]
    rest = [frame for frame in drawn if not frame.is_ranked]
    sentences = [_ranked(ranked, of=len(drawn))] if ranked else []
    if rest:
        where = f" in {len(rest)} of {len(drawn)}" if ranked else ""
        sentences.append(f"Inconclusive{where}: {'; '.join(frame.sentence for frame in rest)}.")
    return " ".join(sentences)


def _ranked(drawn: Sequence[Frame], *, of: int) -> str:
    fastest = list(dict.fromkeys(frame.marks[0].side.name for frame in drawn))
    first = FIRST.get(drawn[0].question, "is fastest")
    if len(fastest) == 1:
        (name,) = fastest
        scope = f" in {len(drawn)} of {of}" if len(drawn) < of else f" in all {of}" if of > 1 else ""
        return f"{name} {first}{scope}: {_others(drawn)}."
    places = [
        f"{name} {f'{first} ' if number == 0 else ''}"
        f"{_places([frame for frame in drawn if frame.marks[0].side.name == name])}"
        for number, name in enumerate(fastest)
    ]
    return f"{', '.join(places)}."


def _places(drawn: Iterable[Frame]) -> str:
    """ "on the large box", "in 2015"."""
    places = dict.fromkeys(f"on the {frame.box}" if frame.box else f"in {_year(frame)}" for frame in drawn)
    return and_list(list(places))


def _others(drawn: Sequence[Frame]) -> str:
    if len(drawn) == 1:
        return ", ".join(
            f"{mark.side.name} {times(mark.speed.text)}{' (chained)' if mark.is_chained else ''}"
            for mark in drawn[0].marks[1:]
        )
    names = dict.fromkeys(mark.side.name for frame in drawn for mark in frame.marks[1:])
    return "; ".join(f"{name} {_range(drawn, name)}" for name in names)


def _range(drawn: Iterable[Frame], name: str) -> str:
    own = sorted(
        (mark for frame in drawn for mark in frame.marks[1:] if mark.side.name == name),
        key=lambda mark: mark.speed.middle,
    )
    least, most = times(own[0].speed.text), times(own[-1].speed.text)
    return least if least == most else f"{least} to {most}"


def product(first: FrameMark, last: FrameMark) -> str:
    """ "MHA about 9 × Aurora, chained"."""
    return f"{first.side.name} {times(last.speed.inverse.text)} {last.side.name}, chained"


def remark(frame: Frame) -> str:
    """A frame that is not drawn: "2015, iibench: MHA 281 s, PXC 4,039 s"."""
    return f"{caption(frame)}: {frame.sentence}."


def measured(cell: ScorecardCell, row: ScorecardRow) -> str:
    """ "1,230 transactions/s, 5 runs"."""
    summary = cell.cell.summary if cell.cell else None
    if summary is None or row.metric is None:
        return ""
    return f"{units.with_unit(summary.value, row.metric.unit)}, {counted(summary.count, 'run')}"


def overall(fastest: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Of pairs of a card's title and the platforms that lead in it: "No platform is fastest everywhere: MHA in Ingest,
    PXC in Failover; OLTP depends on the machine or article."."""
    single: dict[str, list[str]] = {}
    for title, names in fastest:
        if len(names) == 1:
            single.setdefault(names[0], []).append(title)
    several = [title for title, names in fastest if len(names) > 1]
    unknown = [title for title, names in fastest if not names]
    parts = [f"{name} in {and_list(titles)}" for name, titles in single.items()]
    rest = []
    if several:
        rest.append(f"{and_list(several)} depend{'s' if len(several) == 1 else ''} on the machine or the article")
    if unknown:
        rest.append(f"{and_list(unknown)}: inconclusive")
    if not parts:
        return f"{'; '.join(rest)}." if rest else ""
    if len(single) == 1 and not rest:
        return f"{next(iter(single))} is fastest in every question."
    return f"No platform is fastest everywhere: {'; '.join([', '.join(parts), *rest])}."
