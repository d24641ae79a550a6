"""Which runs were made in one session: on one start of the servers, from one host, without a long pause. Pure.

A session stated for a run decides; else the load generator's host, the last start of a server, the campaign's plan, by
which later sessions begin with a start, and time.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.runs.pure import planned_number

# Runs of one day follow each other faster than this.
PAUSE = timedelta(hours=6)
# Two samples of one start of a server differ by their rounding and the clocks.
SAME_START = timedelta(seconds=15)


@dataclass(frozen=True)
class Occurrence:
    """A run, as far as its session is concerned. `side`: any key of its side. `session`: as of models.Run."""

    run: int
    side: str
    started_at: datetime
    host: str
    server_started_at: datetime | None
    session: str

    @property
    def stated(self) -> str:
        """Empty: nothing but the run's campaign names its session."""
        return self.session if planned_number(self.session) is None else ""

    @property
    def begun(self) -> str:
        """The session that began with a start of the servers, by the plan; empty: none did."""
        return self.session if (planned_number(self.session) or 1) > 1 else ""


@dataclass
class _Part:
    """Runs of one side on one start of its servers, from one host, without a long pause."""

    side: str
    host: str
    first: datetime
    last: datetime
    runs: list[int]


def numbered(runs: Iterable[Occurrence], *, baseline: str | None = None) -> dict[int, int]:
    """Run -> number of its session, in order of time.

    Where a session of a side ends follows from its own runs. Sides measured in turns share numbers: within the same
    hours, each on one start of its servers, from one host. With a `baseline` each side shares them with that alone, so
    that no third side has a part in it.
    """
    ordered = sorted(runs, key=lambda each: (each.started_at, each.run))
    sides: dict[str, list[Occurrence]] = defaultdict(list)
    for each in ordered:
        sides[each.side].append(each)
    parts = sorted((part for own in sides.values() for part in _parts(own)), key=lambda part: (part.first, part.side))
    shared = _shared(parts, baseline)
    keys: dict[int, tuple[object, ...]] = {each.run: ("stated", each.stated) for each in ordered if each.stated}
    for place, part in enumerate(parts):
        keys |= dict.fromkeys(part.runs, ("part", shared[place]))
    numbers: dict[tuple[object, ...], int] = {}
    return {each.run: numbers.setdefault(keys[each.run], len(numbers)) for each in ordered}


def _parts(ordered: Iterable[Occurrence]) -> list[_Part]:
    """Of one side's runs without a stated session: a new one after a pause, on another host, or with a new start of a
    server. Where the start of a run is not known, the plan says whether there was one."""
    found: list[_Part] = []
    last: dict[str, tuple[_Part | None, datetime | None, frozenset[str]]] = {}
    before: datetime | None = None
    for each in ordered:
        if before is not None and each.started_at - before > PAUSE:
            last = {}
        before = each.started_at
        if each.stated:
            continue
        part, start, begun = last.get(each.host, (None, None, frozenset({""})))
        if start and each.server_started_at:
            is_new = abs(each.server_started_at - start) > SAME_START
        else:
            is_new = each.begun not in begun
        if part is None or is_new:
            part, start = _Part(each.side, each.host, each.started_at, each.started_at, []), None
            found.append(part)
        part.last = each.started_at
        part.runs.append(each.run)
        last[each.host] = part, each.server_started_at or start, begun | {each.begun}
    return found


def _shared(parts: Sequence[_Part], baseline: str | None) -> list[int]:
    """Of each part the place of the one whose number it has: another side's if neither is near others of these two
    sides, else its own. `parts` in order of time."""
    near, found = _near(parts), list(range(len(parts)))
    taken: set[tuple[str, int]] = set()
    for place, part in enumerate(parts):
        for side, others in near[place].items():
            is_asked = others[0] < place if baseline is None else side == baseline
            is_alone = len(others) == len(near[others[0]][part.side]) == 1
            if is_asked and is_alone and (part.side, found[others[0]]) not in taken:
                found[place] = found[others[0]]
                break
        taken.add((part.side, found[place]))
    return found


def _near(parts: Sequence[_Part]) -> list[dict[str, list[int]]]:
    """Of each part: side -> its parts within the same hours, from the same host."""
    found: list[dict[str, list[int]]] = [defaultdict(list) for _ in parts]
    recent: list[int] = []
    for place, part in enumerate(parts):
        recent = [other for other in recent if part.first - parts[other].last <= PAUSE]
        for other in recent:
            if parts[other].host == part.host and parts[other].side != part.side:
                found[place][parts[other].side].append(other)
                found[other][part.side].append(place)
        recent.append(place)
    return found
