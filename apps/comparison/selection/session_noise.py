"""How much sessions of systems differ, and the runs of one, by the runs of before."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db.models import F

from apps.comparison.selection.sessions import Occurrence, numbered
from apps.comparison.stats.moderation import prior
from apps.comparison.stats.power import FEWEST_RUNS, RunNoise
from apps.comparison.stats.replicates import FEWEST_SESSIONS
from apps.comparison.stats.session_power import SessionNoise
from apps.runs.api import places
from apps.runs.models import Measurement

# Newest runs read, of each system, workload and load level, and of all together.
NEWEST, MOST_READ = 60, 2000
# A system, a workload and a number of threads without a rate.
Place = tuple[int, int, int]


@dataclass(frozen=True)
class _Seen:
    """Of one place: variances of session means and of runs within, and the mean of 1 / runs of a session."""

    means: RunNoise | None
    within: RunNoise | None
    share: float
    sessions: int


def session_noise(systems: Collection[int], workloads: Collection[int]) -> dict[Place, SessionNoise]:
    """In the headline metric, of the newest server version of each place; variances are moderated over the places of a
    workload, as Compare does. Missing: places without two sessions. Two queries."""
    places: dict[Place, list[dict[str, Any]]] = defaultdict(list)
    by_workload: dict[int, list[Occurrence]] = defaultdict(list)
    for row in _rows(systems, workloads):
        place = row["run__system_id"], row["run__workload_id"], row["threads"]
        # The newest come first: a server of another version is another one.
        if places[place] and places[place][0]["run__server_version"] != row["run__server_version"]:
            continue
        places[place].append(row)
        started, host = row["run__started_at"], str(row["host"] or "")
        start, stated = row["run__server_started_at"], row["run__session"]
        by_workload[place[1]].append(Occurrence(row["run_id"], str(place[0]), started, host, start, stated))
    sessions = {run: number for own in by_workload.values() for run, number in numbered(own).items()}
    seen = {place: _seen(rows, sessions) for place, rows in places.items()}
    found: dict[Place, SessionNoise] = {}
    for workload in by_workload:
        found |= _moderated({place: own for place, own in seen.items() if place[1] == workload})
    return found


def noisiest(noise: Mapping[Place, SessionNoise], systems: Collection[int], workload: int) -> SessionNoise | None:
    """Of the systems' places under the workload, else of those under the others of `noise`; None: none is known."""
    known = {place: own for place, own in noise.items() if place[0] in systems}
    alike = [own for place, own in known.items() if place[1] == workload]
    return max(alike or known.values(), key=lambda own: own.of_mean(FEWEST_RUNS), default=None)


def _rows(systems: Collection[int], workloads: Collection[int]) -> list[dict[str, Any]]:
    found = places.counted(pairs=list(product(set(systems), set(workloads))), most=0, newest=NEWEST)
    headline = Measurement.objects.filter(
        run__in=sorted({run for place in found for run in place.newest}, reverse=True)[:MOST_READ],
        run__load_level__rate=None,
        metric=F("run__workload__primary_metric"),
        value__gt=0,
    )
    fields = ("run_id", "run__system_id", "run__workload_id", "run__started_at", "run__server_started_at")
    more = {"threads": F("run__load_level__threads"), "host": F("run__host__name")}
    rows = headline.order_by("-run__started_at", "-run_id")
    return list(rows.values(*fields, "run__session", "run__server_version", "value", **more))


def _seen(rows: Sequence[Mapping[str, Any]], sessions: Mapping[int, int]) -> _Seen:
    members: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        members[sessions[row["run_id"]]].append(math.log(row["value"]))
    each = list(members.values())
    means = [sum(own) / len(own) for own in each]
    squares = sum((value - mean) ** 2 for own, mean in zip(each, means, strict=True) for value in own)
    return _Seen(
        means=_noise(sum((mean - sum(means) / len(means)) ** 2 for mean in means), len(means) - 1),
        within=_noise(squares, sum(map(len, each)) - len(each)),
        share=sum(1 / len(own) for own in each) / len(each),
        sessions=len(each),
    )


def _noise(squares: float, freedom: int) -> RunNoise | None:
    return RunNoise(squares / freedom, freedom, 0) if freedom > 0 and squares > 0 else None


def _moderated(seen: Mapping[Place, _Seen]) -> dict[Place, SessionNoise]:
    of_means = prior([own.means for own in seen.values() if own.means])
    of_runs = prior([own.within for own in seen.values() if own.within])
    found = {}
    for place, own in seen.items():
        if own.means is None or own.sessions < FEWEST_SESSIONS:
            continue
        means = of_means.applied(own.means) if of_means else own.means
        runs = of_runs.applied(own.within) if of_runs and own.within else own.within
        # Sessions of one run each do not show how runs of one differ: taken as all of the difference.
        within = runs.variance if runs else means.variance
        between = max(0.0, means.variance - own.share * within) if runs else means.variance
        found[place] = SessionNoise(math.sqrt(between), math.sqrt(within), own.sessions)
    return found
