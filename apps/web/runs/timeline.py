"""First charts and event list of the Run page: throughput, latency, events. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.runs.pure import NO_MOMENT, TimelineEntry

if TYPE_CHECKING:
    from apps.runs.api import EventDetail, SeriesInfo

THROUGHPUT = "client.throughput"
LATENCIES = ("client.latency.p50", "client.latency.p95", "client.latency.p99")
# For tools that report latency by transaction type, as client.new_order.latency.p95.
OF_TYPE = re.compile(r"client\.(?P<type>[a-z_]+)\.latency\.p\d+")
# px, as the style sheet has them: a row of a lane, and scale and edges; and rows that a lane of several entries has.
LANE_ROW, LANES_EDGES, USUAL_ROWS = 22, 40, 3
MOST_LINES = 4  # that one platform's colours and dashes tell apart
PERCENTILES = {
    **{"p50": "median", "p90": "90th percentile", "p95": "95th percentile", "p99": "99th percentile"},
    **{"p999": "99.9th percentile", "p9999": "99.99th percentile"},
}


@dataclass(frozen=True)
class Drawn:
    title: str
    note: str
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """A row of the list of events. `on_clock`: False if it concerns the whole run rather than a time."""

    kind: str
    label: str
    starts_at: float
    ends_at: float | None
    node: str
    on_clock: bool = True

    @property
    def kind_name(self) -> str:
        return self.kind.replace("_", " ")


def listed(happenings: Iterable[TimelineEntry], events: Iterable[EventDetail]) -> list[Listed]:
    """Events in time order, then those that concern the whole run."""
    rows = [Listed(one.kind, one.label, one.starts_at, one.ends_at, one.node) for one in happenings]
    others = (event for event in events if event.kind in NO_MOMENT)
    return rows + [Listed(one.kind, one.label, one.starts_at, one.ends_at, one.node, False) for one in others]


def lanes_height(happenings: Iterable[TimelineEntry]) -> int:
    """About as many px as the browser will need for the lanes, so that what stands below them hardly moves."""
    lanes = Counter(one.lane for one in happenings)
    rows = sum(min(number, USUAL_ROWS) for number in lanes.values())
    return LANE_ROW * rows + LANES_EDGES if rows else 0


def charts(index: Sequence[SeriesInfo], *, primary: str, is_live: bool) -> list[Drawn]:
    """The available charts of throughput and latency."""
    return [
        drawn for drawn in (rate(index, primary=primary, is_live=is_live), latency(index, is_live=is_live)) if drawn
    ]


def rate(index: Sequence[SeriesInfo], *, primary: str, is_live: bool) -> Drawn | None:
    """None: the output has no such series."""
    names = {info.metric: info.name for info in index}
    for metric in (THROUGHPUT, primary):
        if metric in names and metric.startswith("client."):
            return Drawn(names[metric].capitalize() if metric != THROUGHPUT else "Throughput", "", (metric,))
    return Drawn("Throughput", "", (THROUGHPUT,)) if is_live else None


def latency(index: Sequence[SeriesInfo], *, is_live: bool) -> Drawn | None:
    known = sorted(info.metric for info in index)
    found = [metric for metric in LATENCIES if metric in known]
    if found:
        return Drawn("Latency", _percentile(found), tuple(found))
    of_type = [metric for metric in known if OF_TYPE.fullmatch(metric)]
    several = _of_each_type(of_type)
    if several:
        return several
    if of_type:
        first = OF_TYPE.fullmatch(of_type[0])
        name = first["type"].replace("_", " ") if first else ""
        same = [metric for metric in of_type if metric.startswith(of_type[0].rpartition(".")[0])]
        return Drawn("Latency", f"{_percentile(same)}, of {name} alone", tuple(same))
    return Drawn("Latency", PERCENTILES["p95"], ("client.latency.p95",)) if is_live else None


def _of_each_type(metrics: Sequence[str]) -> Drawn | None:
    """One percentile of all types, the usual one if each has it; None: one type, or no percentile in common."""
    types: dict[str, set[str]] = {}
    for metric in metrics:
        beginning, _, percentile = metric.rpartition(".")
        types.setdefault(beginning, set()).add(percentile)
    common = set.intersection(*types.values()) if len(types) > 1 else set()
    if not common:
        return None
    chosen = "p99" if "p99" in common else max(common)
    drawn = tuple(f"{beginning}.{chosen}" for beginning in types)[:MOST_LINES]
    part = "" if len(drawn) == len(types) else f", {len(drawn)} of {len(types)} types"
    return Drawn("Latency", f"{PERCENTILES.get(chosen, chosen)} of each interval, by type{part}", drawn)


def _percentile(metrics: Iterable[str]) -> str:
    """Description of the highest percentile; the others are drawn with it."""
    last = max(metrics).rpartition(".")[2]
    return f"{PERCENTILES.get(last, last)} of each interval"
