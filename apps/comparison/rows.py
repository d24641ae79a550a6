"""Which runs are compared: of each side and load level the newest, and how many there are in all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from apps.catalog.models import System
from apps.comparison.values import Level, Tally
from apps.runs.models import Run

# Of each side at each load level, of those that count and of those that do not: more are not read.
MOST_RUNS = 100
# More places than this are told together.
TOLD_ONE_BY_ONE = 4


def run_rows(
    systems: Sequence[System], workload_id: int, campaign: int | None, runs: Sequence[int] | None
) -> tuple[list[dict[str, Any]], tuple[Tally, ...]]:
    """The runs in time, and how many there are of each kind. Runs that are named one by one are all read."""
    chosen = Run.objects.filter(system__in=systems, workload_id=workload_id)
    if campaign is not None:
        chosen = chosen.filter(job_run__job__campaign_id=campaign)
    if runs is not None:
        chosen = chosen.filter(pk__in=runs)
    read = chosen if runs is not None else Run.objects.filter(pk__in=_newest(chosen))
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
        "load_level_id",
        side=F("system__slug"),
        threads=F("load_level__threads"),
        rate=F("load_level__rate"),
        campaign_id=F("job_run__job__campaign_id"),
        campaign_name=F("job_run__job__campaign__name"),
    )
    return [{**row} for row in rows], _tallies(chosen)


def _newest(chosen: "QuerySet[Run]") -> "QuerySet[Run, Any]":
    counts = Q(state=Run.State.SEALED, outcome=Run.Outcome.SUCCEEDED)
    age = Window(
        RowNumber(),
        partition_by=[F("system_id"), F("load_level_id"), F("counts")],
        order_by=[F("started_at").desc(), F("id").desc()],
    )
    aged = chosen.order_by().annotate(counts=ExpressionWrapper(counts, BooleanField())).annotate(age=age)
    return aged.filter(age__lte=MOST_RUNS).values("pk")


def _tallies(chosen: "QuerySet[Run]") -> tuple[Tally, ...]:
    groups = chosen.order_by().values("system__slug", "load_level_id", "state", "outcome").annotate(runs=Count("id"))
    return tuple(
        Tally(
            side=group["system__slug"],
            level=group["load_level_id"],
            left_out=left_out_word(group["state"], group["outcome"]),
            runs=group["runs"],
        )
        for group in groups
    )


def is_counted(row: Mapping[str, Any]) -> bool:
    return not left_out_word(row["state"], row["outcome"])


def left_out_word(state: str, outcome: str) -> str:
    """Why a run in this state does not count; empty: it does."""
    if outcome in (Run.Outcome.FAILED, Run.Outcome.CANCELLED):
        return str(outcome)
    if state != Run.State.SEALED:
        return "still running" if state == Run.State.OPEN else "still being stored"
    return ""


def newest_only(
    tallies: Iterable[Tally], *, names: Mapping[str, str], levels: Sequence[Level], campaign: bool
) -> list[str]:
    """Sentences that say of which side and level only the newest runs were read. `names`: of the sides, in order."""
    totals: dict[tuple[bool, int, str], int] = {}
    for tally in tallies:
        place = (not tally.left_out, tally.level, tally.side)
        totals[place] = totals.get(place, 0) + tally.runs
    others = "choose runs to compare others" if campaign else "choose runs or a campaign to compare others"
    sentences = []
    for counted, rest in ((True, f"count; {others}."), (False, "that do not count are listed.")):
        found = [
            (totals[counted, level.id, side], f"runs of {name} at {level.text}")
            for level in levels
            for side, name in names.items()
            if totals.get((counted, level.id, side), 0) > MOST_RUNS
        ]
        if found:
            sentences.append(f"Only the newest {MOST_RUNS} {_of(found)} {rest}")
    return sentences


def _of(found: Sequence[tuple[int, str]]) -> str:
    if len(found) > TOLD_ONE_BY_ONE:
        total = sum(runs for runs, _ in found)
        return f"runs of each side at each load level (of {total:,} in {len(found)} such places)"
    texts = [f"of {runs:,} {text}" for runs, text in found]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
