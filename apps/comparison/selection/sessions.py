"""Which runs were made in one session: on one start of the servers, from one host, without a long pause. Pure.

A session stated for a run decides; else the load generator's host, the last start of a server, and time.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

# Runs of one day follow each other faster than this.
PAUSE = timedelta(hours=6)
# Two samples of one start of a server differ by their rounding and the clocks.
SAME_START = timedelta(seconds=15)


@dataclass(frozen=True)
class Occurrence:
    """A run, as far as its session is concerned. `side`: any key of its side."""

    run: int
    side: str
    started_at: datetime
    host: str
    server_started_at: datetime | None
    session: str


def numbered(runs: Iterable[Occurrence]) -> dict[int, int]:
    """Run -> number of its session, in order of time. Sides measured in turns share numbers: within the same hours,
    each on one start of its servers, from one host."""
    ordered = sorted(runs, key=lambda each: (each.started_at, each.run))
    keys: dict[int, tuple[object, ...]] = {}
    for place, occasion in enumerate(_occasions(ordered)):
        parts = _parts(occasion)
        hosts = {each.host for each in occasion if not each.session}
        is_shared = len(hosts) <= 1 and all(len(set(own.values())) == 1 for own in parts.values())
        for each in occasion:
            own = ("part", place) if is_shared else ("part", place, each.side, parts[each.side][each.run])
            keys[each.run] = ("stated", each.session) if each.session else own
    numbers: dict[tuple[object, ...], int] = {}
    return {each.run: numbers.setdefault(keys[each.run], len(numbers)) for each in ordered}


def _occasions(ordered: list[Occurrence]) -> list[list[Occurrence]]:
    """Runs without a long pause between them."""
    found: list[list[Occurrence]] = [ordered[:1]] if ordered else []
    for before, after in pairwise(ordered):
        if after.started_at - before.started_at > PAUSE:
            found.append([])
        found[-1].append(after)
    return found


def _parts(occasion: list[Occurrence]) -> Mapping[str, dict[int, int]]:
    """Side -> run -> number of the part: a new one with another host or a new start of a server."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    last: dict[tuple[str, str], tuple[int, datetime | None]] = {}
    for each in occasion:
        if each.session:
            continue
        own = found[each.side]
        number, start = last.get((each.side, each.host), (None, None))
        known = start if each.server_started_at is None else each.server_started_at
        if number is None or (start and known and abs(known - start) > SAME_START):
            number = len(set(own.values()))
        own[each.run] = number
        last[each.side, each.host] = number, known
    return found
