"""Selection of the compared runs: the newest of each side and load level, with counts of all."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, F, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber

from apps.comparison.selection.sides import ChosenSide
from apps.comparison.values import Level, RunTally
from apps.runs.api import places, why_excluded
from apps.runs.models import COUNTED, Run
from apps.runs.pure import Amount

# Limits per side and load level, for runs that count and for those that do not.
MOST_RUNS, MOST_LEFT_OUT = 100, 20
# Ids of a system and a workload.
Pair = tuple[int, int]
# A note lists more places than this together.
LISTED_PLACES = 4


def run_rows(
    sides: Sequence[ChosenSide], campaign: int | None, runs: Sequence[int] | None
) -> tuple[list[dict[str, Any]], dict[Pair, list[RunTally]]]:
    """The runs in order of time, and counts of each kind. Runs requested by id are all read."""
    if campaign is None and runs is None:
        ids, tallies = _newest_of_all(sides)
        return _newest_rows(_rows(Run.objects.filter(pk__in=ids), sides)), tallies
    each = [Q(system_id=side.system.pk, workload_id=side.workload.pk) for side in sides]
    chosen = Run.objects.filter(reduce(or_, each))
    if campaign is not None:
        chosen = chosen.filter(job_run__job__campaign_id=campaign)
    if runs is not None:
        chosen = chosen.filter(pk__in=runs)
    read = chosen if runs is not None else Run.objects.filter(pk__in=_newest(chosen))
    return _rows(read, sides), _tallies(chosen, sides)


def _rows(read: "QuerySet[Run]", sides: Sequence[ChosenSide]) -> list[dict[str, Any]]:
    keys = _keys(sides)
    rows = read.order_by("started_at", "id").values(
        "id",
        "state",
        "outcome",
        "reason",
        "repetition",
        "started_at",
        "provenance",
        "warmup",
        "duration",
        "server_version",
        "tool_version",
        "host",
        "system_id",
        "workload_id",
        "load_level_id",
        "data_bytes",
        "session",
        "server_started_at",
        "measured_from",
        "measured_to",
        "derivation",
        "command",
        "samplers",
        "tags",
        "failed_checks",
        "is_excluded",
        threads=F("load_level__threads"),
        rate=F("load_level__rate"),
        campaign_id=F("job_run__job__campaign_id"),
        campaign_name=F("job_run__job__campaign__name"),
        campaign_until=F("job_run__job__campaign__until"),
        excluded_because=Subquery(why_excluded()),
    )
    return [{**row, "side": keys[row["system_id"], row["workload_id"]]} for row in rows]


def _keys(sides: Sequence[ChosenSide]) -> dict[Pair, str]:
    """(system, workload) -> key of the side."""
    return {(side.system.pk, side.workload.pk): side.key for side in sides}


def _newest_of_all(sides: Sequence[ChosenSide]) -> tuple[list[int], dict[Pair, list[RunTally]]]:
    """Ids of the newest of each kind, and counts of all, without reading many more runs than are compared."""
    keys = _keys(sides)
    counted = places.counted(pairs=list(keys), newest=MOST_RUNS)
    others = places.left_out(pairs=list(keys), newest=MOST_LEFT_OUT)
    ids = [run for place in (*counted, *others) for run in place.newest]
    words = [(place, "") for place in counted] + [
        (place, left_out_word(*place.kind, is_excluded=True)) for place in others
    ]
    tallies: dict[Pair, list[RunTally]] = defaultdict(list)
    for place, word in words:
        pair = place.system, place.workload
        tallies[pair].append(RunTally(keys[pair], place.level, word, place.amount))
    return ids, tallies


def _newest_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest of `rows` (in order of time) for each side and level, of those that count and of those that do not."""
    taken: Counter[tuple[int, int, int, bool]] = Counter()
    kept = []
    for row in reversed(rows):
        place = row["system_id"], row["workload_id"], row["load_level_id"], is_counted(row)
        taken[place] += 1
        if taken[place] <= (MOST_RUNS if is_counted(row) else MOST_LEFT_OUT):
            kept.append(row)
    return kept[::-1]


def _newest(chosen: "QuerySet[Run]") -> "QuerySet[Run, Any]":
    age = Window(
        RowNumber(),
        partition_by=[F("system_id"), F("workload_id"), F("load_level_id"), F("counts")],
        order_by=[F("started_at").desc(), F("id").desc()],
    )
    aged = chosen.order_by().annotate(counts=ExpressionWrapper(COUNTED, BooleanField())).annotate(age=age)
    return aged.filter(Q(age__lte=MOST_LEFT_OUT) | Q(counts=True, age__lte=MOST_RUNS)).values("pk")


def _tallies(chosen: "QuerySet[Run]", sides: Sequence[ChosenSide]) -> dict[Pair, list[RunTally]]:
    keys = _keys(sides)
    alike = ("system_id", "workload_id", "load_level_id", "state", "outcome", "is_excluded")
    found: dict[Pair, list[RunTally]] = defaultdict(list)
    for group in chosen.order_by().values(*alike).annotate(runs=Count("id")):
        pair = group["system_id"], group["workload_id"]
        word = left_out_word(group["state"], group["outcome"], is_excluded=group["is_excluded"])
        found[pair].append(RunTally(keys[pair], group["load_level_id"], word, Amount(group["runs"])))
    return found


def is_counted(row: Mapping[str, Any]) -> bool:
    return not left_out_word(row["state"], row["outcome"], is_excluded=row["is_excluded"])


def are_all(members: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these are all runs that count of a side and level, where only the newest were read."""
    return len(members) < MOST_RUNS


def left_out_word(state: str, outcome: str, *, is_excluded: bool) -> str:
    """Why a run in this state does not count; empty: it counts."""
    if outcome in (Run.Outcome.FAILED, Run.Outcome.CANCELLED):
        return str(outcome)
    if state != Run.State.SEALED:
        return "still running" if state == Run.State.OPEN else "still being stored"
    return "excluded" if is_excluded else ""


def newest_only(
    tallies: Iterable[RunTally], *, names: Mapping[str, str], levels: Sequence[Level], campaign: bool
) -> list[str]:
    """Sentences naming the sides and levels with only the newest runs read. `names`: of the sides, in order."""
    totals: dict[tuple[bool, int, str], Amount] = defaultdict(Amount)
    for tally in tallies:
        totals[not tally.left_out, tally.level, tally.side] += tally.amount
    others = "choose runs to compare others" if campaign else "choose runs or a campaign to compare others"
    sentences = []
    for counted, most, rest in (
        (True, MOST_RUNS, f"count; {others}."),
        (False, MOST_LEFT_OUT, "that are not counted are listed."),
    ):
        found = [
            (totals[counted, level.id, side], f"runs of {name} at {level.text}")
            for level in levels
            for side, name in names.items()
            if totals[counted, level.id, side].runs > most
        ]
        if found:
            sentences.append(f"Only the newest {most} {_of(found)} {rest}")
    return sentences


def _of(found: Sequence[tuple[Amount, str]]) -> str:
    if len(found) > LISTED_PLACES:
        total = sum((amount for amount, _ in found), Amount())
        return f"runs of each side at each load level (of {total} in {len(found)} such places)"
    texts = [f"of {amount} {text}" for amount, text in found]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
