"""The series on the Timeline page, and their labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from apps.comparison.pure import COLORS, tones
from apps.core.query import Address, whole_number
from apps.runs.api import RunRow
from apps.runs.pure import KIND_LIMIT

MOST_SERIES = 24
# Kinds of lines, of as many tones of a platform: frontend/src/charts/style.ts and styles/timeline.css.
DASHES = 6
# Values of `align` that are not a kind of event.
RUN, MEASURED = "run", "measured"
LONGEST_KEY, LONGEST_NODE = 160, 80


@dataclass(frozen=True)
class Key:
    """One series; `node`: its name, or "sum" or "mean" over the nodes."""

    run: int
    metric: str
    node: str

    def __str__(self) -> str:
        return f"{self.run}:{self.metric}:{self.node}"


@dataclass(frozen=True)
class TimelineAddress:
    """The parsed query string. `align`: origin of time, RUN, MEASURED or the first event of this kind.

    `totals`: counters' totals instead of their rates; `zoom`: start and end as text, parsed by the page's script.
    """

    series: tuple[Key, ...] = ()
    align: str = RUN
    totals: bool = False
    zoom: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, query: QueryDict) -> "TimelineAddress":
        """Raises Invalid with every invalid parameter."""
        address = Address(query, "series", "align", "totals", "from", "to", "add")
        found: dict[Key, None] = {}
        for text in query.getlist("series"):
            key = _key(text)
            if key:
                found[key] = None
            elif text:
                address.refuse("series", f"{text[:80]!r} is not a series", "write RUN:METRIC:NODE")
        if len(found) > MOST_SERIES:
            address.refuse("series", f"{len(found)} are too many", f"choose at most {MOST_SERIES}")
        align = query.get("align", "") or RUN
        if len(align) > KIND_LIMIT or not align.isprintable():
            address.refuse("align", "is not a kind of event", "choose from the list")
        totals = address.choice("totals", ("1",)) == "1"
        address.check()
        zoom = tuple((name, str(query[name])) for name in ("from", "to") if query.get(name))
        return cls(tuple(found), align, totals, zoom)

    @property
    def runs(self) -> list[int]:
        """Distinct runs, in the order of their first series."""
        return list(dict.fromkeys(key.run for key in self.series))

    def url(self) -> str:
        asked = [("series", str(key)) for key in self.series]
        asked += [("align", self.align)] if self.align != RUN else []
        asked += [("totals", "1")] if self.totals else []
        return f"{reverse('web:timeline')}?{urlencode([*asked, *self.zoom])}".replace("%3A", ":")

    def without(self, key: Key) -> "TimelineAddress":
        return replace(self, series=tuple(each for each in self.series if each != key))

    def aligned(self, to: str) -> "TimelineAddress":
        """Drops the zoom, whose seconds have another meaning on another clock."""
        return replace(self, align=to, zoom=())

    def with_run(self, run: int, nodes: Mapping[int, Sequence[tuple[str, str]]]) -> "TimelineAddress":
        """Adds `run` with the series of the first run.

        `nodes`: (name, role) by run; if `run` has no node of that name, its first node of the same role is used.
        """
        if not self.series or run in self.runs:
            return self
        first = self.runs[0]
        more = [
            replace(key, run=run, node=_alike(key.node, nodes, first, run)) for key in self.series if key.run == first
        ]
        return replace(self, series=(*self.series, *more)[:MOST_SERIES])


def _key(text: str) -> Key | None:
    run, _, rest = text.partition(":")
    metric, _, node = rest.partition(":")
    number = whole_number(run)
    if not number:
        return None
    if not (metric and node and len(metric) <= LONGEST_KEY and len(node) <= LONGEST_NODE and text.isprintable()):
        return None
    return Key(number, metric, node)


def _alike(node: str, nodes: Mapping[int, Sequence[tuple[str, str]]], first: int, other: int) -> str:
    names = [name for name, _ in nodes.get(other, ())]
    role = next((role for name, role in nodes.get(first, ()) if name == node), "")
    same = [name for name, its in nodes.get(other, ()) if its == role]
    return node if node in names or not same else same[0]


@dataclass(frozen=True)
class NamedSeries:
    """A series with its label, which shows how it differs from the others."""

    key: Key
    label: str
    metric: str


def named(keys: Sequence[Key], rows: Mapping[int, RunRow], metrics: Mapping[str, str]) -> list[NamedSeries]:
    """Labels without common parts. The run's number comes first if there are several: a legend may cut the end."""
    labels = [_label_parts(key, rows.get(key.run), metrics) for key in keys]
    differing = [place for place in range(len(labels[0]) if labels else 0) if len({each[place] for each in labels}) > 1]
    found = []
    for key, parts in zip(keys, labels, strict=True):
        own = [parts[place] for place in differing if parts[place]] or [parts[METRIC], parts[NODE]]
        own = [*own[-1:], *own[:-1]] if differing and differing[-1] == RUN_NUMBER else own
        found.append(NamedSeries(key, " · ".join(own), metrics.get(key.metric, key.metric)))
    return found


def lines(colors: Sequence[int | None]) -> list[tuple[int, int]]:
    """How each series is drawn: its tone of the platform's colour and its dash, so that no two are alike.

    `colors`: places of their platforms in the palette.
    """
    seen: Counter[int] = Counter()
    found = []
    for tone in tones(colors):
        found.append((tone, (tone // COLORS + seen[tone]) % DASHES))
        seen[tone] += 1
    return found


def common(keys: Sequence[Key], rows: Mapping[int, RunRow], metrics: Mapping[str, str]) -> str:
    """The common parts, in words; empty: none."""
    labels = [_label_parts(key, rows.get(key.run), metrics) for key in keys]
    alike = (
        [labels[0][place] for place in range(len(labels[0])) if len({each[place] for each in labels}) == 1]
        if labels
        else []
    )
    return " · ".join(part for part in alike if part)


METRIC, NODE, RUN_NUMBER = 4, 5, 6


def _label_parts(key: Key, row: RunRow | None, metrics: Mapping[str, str]) -> tuple[str, ...]:
    """System, workload, load, repetition, metric, node, run."""
    of_run = (row.system_name, row.workload_name, row.load_level, f"repetition {row.repetition}") if row else ("",) * 4
    node = {"sum": "sum of the nodes", "mean": "mean of the nodes"}.get(key.node, key.node)
    return (*of_run, metrics.get(key.metric, key.metric), node, f"run {key.run}")


def shared_kinds(kinds: Iterable[tuple[int, str]], runs: Sequence[int], offered: Sequence[str]) -> list[str]:
    """The kinds of `offered` that every run has an event of. `kinds`: run and kind."""
    held: dict[str, set[int]] = {}
    for run, kind in kinds:
        held.setdefault(kind, set()).add(run)
    return [kind for kind in offered if runs and held.get(kind, set()) >= set(runs)]
