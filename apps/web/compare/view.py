"""A view of a comparison: its address, its data, its tabs and the parts that show it."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db import connection
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from apps.comparison.api import system_slug
from apps.comparison.pure import Comparison, Level, NotKept, Section, SectionSource
from apps.core.query import Address

# Query parameters of parts of the page; all links of the page keep them.
OPTIONS: tuple[str, ...] = ("show", "per", "clock", "variables", "objective", "percentile")
# Parameters that define what is compared.
WHAT = ("side", "under", "workload", "campaign", "runs", "acknowledged")
# Tabs of the page: name in addresses -> label. The first is the usual one; ALL shows every tab, as for printing.
TABS = {
    "results": "Results",
    "scalability": "Scalability",
    "limits": "Limits (USE)",
    "latency": "Latency",
    "steadiness": "Steadiness",
    "work": "Work",
    "cost": "Cost",
    "differences": "Differences",
    "runs": "Runs",
}
FIRST_TAB, ALL = next(iter(TABS)), "all"
# Switches: parameters with a single value. The other parameters are checked by their parts.
SWITCHES = {"series": "apart", "clock": "run", "variables": "all"}

T = TypeVar("T")


@dataclass(frozen=True)
class CompareAddress:
    """The parsed query string of Compare; the same address gives the same page.

    `at`: address of a saved comparison, which defines what is compared, in this `snapshot` (empty: the newest); empty:
    the Compare page. `see` and `zoom`: indicators on the nodes' clock, and the part of it that is shown.
    """

    sides: tuple[str, ...] = ()
    workload: int | None = None
    campaign: int | None = None
    runs: tuple[int, ...] | None = None
    level: str = ""
    apart: bool = False
    acknowledged: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    at: str = ""
    snapshot: str = ""
    tab: str = FIRST_TAB
    see: tuple[str, ...] = ()
    zoom: tuple[str, str] | None = None

    @classmethod
    def read(cls, query: QueryDict) -> "CompareAddress":
        """Raises Invalid."""
        address = Address(query, *WHAT, "level", "snapshot", "tab", "see", "from", "to", *SWITCHES, *OPTIONS)
        switches = {name: address.choice(name, (on,)) for name, on in SWITCHES.items()}
        found = cls(
            sides=_sides(query, address),
            workload=address.number("workload"),
            campaign=address.number("campaign"),
            runs=tuple(address.numbers("runs")) or None,
            level=address.text("level"),
            apart=bool(switches["series"]),
            acknowledged=tuple(address.texts("acknowledged")),
            options=tuple((name, text) for name in OPTIONS if (text := address.text(name))),
            tab=address.choice("tab", (*TABS, ALL)) or FIRST_TAB,
            see=tuple(dict.fromkeys(address.texts("see"))),
            zoom=_zoom(address),
        )
        address.check()
        return found

    def url(self) -> str:
        if self.at:
            view = self._view()
            return f"{self.at}?{urlencode(view, safe=',@:')}" if view else self.at
        return f"{reverse('web:compare')}?{self.query()}"

    def part_url(self, name: str) -> str:
        """Address of a part of the page by itself."""
        if self.at:
            return f"{self.at}part/{name}/?{urlencode(self._view(), safe=',@:')}"
        return f"{reverse('web:compare-part', args=[name])}?{self.query()}"

    def live(self) -> "CompareAddress":
        """The same comparison with current data."""
        return replace(self, at="", snapshot="")

    def query(self) -> str:
        """The full query string: what is compared, and view options."""
        return urlencode([*self._what(), *self._view()], safe=",@:")

    def fields(self) -> list[tuple[str, str]]:
        """Hidden fields of a form that returns here; for a saved comparison only the view options."""
        return self._view() if self.at else [*self._what(), *self._view()]

    def _what(self) -> list[tuple[str, str]]:
        pairs: list[tuple[str, str]] = [("side", side) for side in self.sides]
        pairs += [("workload", str(self.workload))] if self.workload is not None else []
        pairs += [("campaign", str(self.campaign))] if self.campaign is not None else []
        pairs += [("runs", ",".join(str(run) for run in self.runs))] if self.runs is not None else []
        pairs += [("acknowledged", field) for field in self.acknowledged]
        return pairs

    def _view(self) -> list[tuple[str, str]]:
        """View options."""
        snapshot = [("snapshot", self.snapshot)] if self.snapshot else []
        level = [("level", self.level)] if self.level else []
        apart = [("series", "apart")] if self.apart else []
        tab = [("tab", self.tab)] if self.tab != FIRST_TAB else []
        see = [("see", key) for key in self.see]
        zoom = list(zip(("from", "to"), self.zoom, strict=True)) if self.zoom else []
        return [*snapshot, *level, *apart, *self.options, *tab, *see, *zoom]

    def plain(self) -> "CompareAddress":
        """Without what only this page knows."""
        return replace(self, tab=FIRST_TAB, see=(), zoom=None)

    def with_tab(self, tab: str) -> "CompareAddress":
        return replace(self, tab=tab)

    def option(self, name: str) -> str:
        """Empty if the address does not have it."""
        return dict(self.options).get(name, "")

    def with_option(self, name: str, value: str) -> "CompareAddress":
        """Without the option if `value` is empty."""
        chosen = dict(self.options) | {name: value}
        return replace(self, options=tuple((each, chosen[each]) for each in OPTIONS if chosen.get(each)))

    def with_baseline(self, slug: str) -> "CompareAddress":
        return replace(self, sides=(slug, *(side for side in self.sides if side != slug)))


def _zoom(address: Address) -> tuple[str, str] | None:
    """The part of the clock that is shown, s."""
    ends = address.text("from"), address.text("to")
    if not any(ends):
        return None
    try:
        start, end = map(float, ends)
    except ValueError:
        start, end = 0.0, 0.0
    if not -math.inf < start < end < math.inf:
        address.refuse("from", "is no time before `to`", "give both in seconds")
        return None
    return ends


def _sides(query: QueryDict, address: Address) -> tuple[str, ...]:
    """The picker sends with every side, in the same order, its own workload or an empty value."""
    chosen, sides, own = address.texts("side"), query.getlist("side"), query.getlist("under")
    if len(own) == len(sides):
        pairs = zip(sides, own, strict=True)
        chosen = [f"{system_slug(side)}:{workload}" if workload else side for side, workload in pairs if side]
    return tuple(chosen)


@dataclass(frozen=True)
class CompareView:
    """A comparison at an address; `level`: the load level whose seconds and latencies are shown.

    `kept`: a snapshot's data for the parts; None: the comparison is current.
    """

    comparison: Comparison
    address: CompareAddress
    level: Level | None
    request: HttpRequest
    kept: Mapping[str, Any] | None = None

    def read(self, reading: Section[T]) -> T:
        """Data of a part: from the database, or from the snapshot. Raises NotKept."""
        return SectionSource(self.comparison, self.kept).read(reading, self.level)


@contextmanager
def no_current_data(seen: CompareView) -> Iterator[None]:
    """Blocks database queries while a snapshot is shown: raises NotKept instead."""

    def refuse(*_: object) -> None:
        raise NotKept("this snapshot lacks parts that the page shows now")

    if seen.kept is None:
        yield
    else:
        with connection.execute_wrapper(refuse):
            yield


@dataclass(frozen=True)
class ComparePart:
    """A section of the Compare page. `context` returns its template's context; None: nothing to show.

    It reads data through `seen.read`, so that snapshots can store it.
    `tab`: where it stands. `deferred`: more expensive than the answer, so that an opened page fetches it after its tab.
    `nothing`: message for an empty part.
    """

    name: str
    title: str
    tab: str
    template: str
    context: Callable[[CompareView], dict[str, Any] | None]
    deferred: bool = False
    nothing: str = "No data for these sides."
