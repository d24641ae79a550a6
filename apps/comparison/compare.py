"""Reads runs from the warehouse and compares their sides; a constant number of queries."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.catalog.models import LoadLevel, Metric, Workload
from apps.catalog.pure import is_single_event
from apps.comparison.comparability import acknowledgements, variables
from apps.comparison.comparability import differences as comparability_differences
from apps.comparison.comparability.cautions import ONE_SESSION, cautions, one_session
from apps.comparison.comparability.differences import BlockingDifference, Difference
from apps.comparison.comparability.facts import Known, facts_of, hardware_detail, intended_settings
from apps.comparison.failovers.survivors import why_unjudged
from apps.comparison.selection.data import ComparisonData, load_data
from apps.comparison.selection.runs import left_out_word, newest_only
from apps.comparison.selection.session_noise import noisiest, session_noise
from apps.comparison.selection.sides import Chosen, ChosenSide, UnknownSide, chosen_sides, compared_workload
from apps.comparison.stats.resolution import measured_on, printed_step, resolution
from apps.comparison.stats.welch import Direction
from apps.comparison.tables import verdict_table
from apps.comparison.values import (
    NO_VALUES,
    Caution,
    ComparedCampaign,
    ComparedMetric,
    ComparedRun,
    Comparison,
    Draft,
    Level,
    Side,
    with_tones,
)
from apps.core.problems import FieldProblem
from apps.core.text import counted
from workers.protocol.workloads.kinds import FAILOVER, kind_of

THROUGHPUT, ERRORS = "client.throughput", "client.errors"
# What a machine without a name of its own is called.
UNNAMED = "localhost"
LOOPBACK = re.compile(r"^(127\.|localhost\b|\[?::1\b|/)")
PERCENTILE = re.compile(r"^client\.latency\.p(\d+(?:\.\d+)?)$")
USUAL_PERCENTILE = "client.latency.p95"
# Fields in which the runs of one side differ, or runs passed over, that a note lists.
MOST_MIXTURES = 6


def compare(
    *,
    sides: Sequence[str],
    workload_id: int,
    campaign: int | None = None,
    runs: Sequence[int] | None = None,
) -> Comparison:
    """`sides`: two to four keys, the first is the baseline: a system's slug, or slug:id of a workload other than
    `workload_id`. `campaign` and `runs` restrict which runs count; without `runs` the newest of each side and level do,
    and earlier ones show how much such runs vary.

    Raises Invalid naming the field (`side`, `workload`), and UnknownSide if there is no such system or workload, or no
    run of these sides in the campaign.
    """
    chosen = chosen_sides(sides, workload_id)
    (draft,) = judge([chosen], campaign=campaign, runs=runs)
    if campaign is not None and not draft.runs:
        # An empty result for this campaign would look like one over all campaigns.
        problem = f"none of these sides has a run of {draft.workload.name} in campaign {campaign}"
        raise UnknownSide([FieldProblem("campaign", problem, "omit it or choose another")])
    notes = _passed_over(sorted(set(runs or ()) - {run.id for run in draft.runs}))
    draft = replace(draft, cautions=_with_known_sessions(draft, chosen))
    return draft.corrected(verdict_table.corrected(draft.cells), notes=notes)


def _passed_over(runs: Sequence[int]) -> list[str]:
    named = ", ".join(str(run) for run in runs[:MOST_MIXTURES])
    more = f" and {len(runs) - MOST_MIXTURES} more" if len(runs) > MOST_MIXTURES else ""
    return [f"Requested, but not a run of these sides: {named}{more}."] if runs else []


def _with_known_sessions(draft: Draft, chosen: Chosen) -> tuple[Caution, ...]:
    """The caution of one session each counts those that would settle it by what is known of the systems' sessions,
    under this workload or others with its headline metric."""
    if not any(each.key == ONE_SESSION for each in draft.cautions):
        return draft.cautions
    systems = {side.system.pk for side in chosen.sides}
    alike = Workload.objects.filter(primary_metric=chosen.workload.primary_metric).values_list("pk", flat=True)
    runs = min(Counter((run.side, run.level) for run in draft.runs if not run.left_out).values(), default=1)
    known = noisiest(session_noise(systems, set(alike)), systems, chosen.workload.pk)
    caution = one_session(known, repetitions=runs)
    return tuple(caution if each.key == ONE_SESSION else each for each in draft.cautions)


def judge(
    each: Sequence[Chosen],
    *,
    campaign: int | None = None,
    runs: Sequence[int] | None = None,
    besides: Collection[str] = (),
    primary_alone: bool = False,
) -> list[Draft]:
    """Matrix comparisons in as many queries as one, for verdict_table.corrected. `besides`: keys of metrics beyond the
    standard ones. `primary_alone`: of each workload its primary metric, without cautions of others."""
    read = load_data(each, campaign=campaign, runs=runs)
    found = [_differences(data) for data in read]
    blocking = acknowledgements.with_accepted(
        [
            comparability_differences.blocking_differences(
                own.differences, [(side.key, side.system.slug) for side in data.chosen.sides]
            )
            for data, own in zip(read, found, strict=True)
        ]
    )
    newest_read = campaign is None, runs is None
    return [
        _draft(data, own, obstacles, besides=besides, primary_alone=primary_alone, newest_read=newest_read)
        for data, own, obstacles in zip(read, found, blocking, strict=True)
    ]


@dataclass(frozen=True)
class _Found:
    """`mixtures`: notes on sides whose runs differ among themselves."""

    levels: tuple[Level, ...]
    differences: tuple[Difference, ...]
    mixtures: tuple[str, ...]


def _differences(data: ComparisonData) -> _Found:
    levels, known = _levels(data.rows), _known(data)
    facts = facts_of(known, levels)
    mixtures = []
    for side, own, stated in zip(data.chosen.sides, known, facts, strict=True):
        if mixed := (*comparability_differences.mixtures(stated), *variables.mixtures(own.seen)):
            rest = f" and {len(mixed) - MOST_MIXTURES} more" if len(mixed) > MOST_MIXTURES else ""
            named = ", ".join(mixed[:MOST_MIXTURES])
            mixtures.append(f"The runs of {side.name} differ from each other: {named}{rest}.")
    differing = variables.differing(tuple(side.seen for side in known), intended_settings(known))
    return _Found(tuple(levels), comparability_differences.differences(facts, differing), tuple(mixtures))


def _draft(
    data: ComparisonData,
    found: _Found,
    obstacles: tuple[BlockingDifference, ...],
    *,
    besides: Collection[str],
    primary_alone: bool,
    newest_read: tuple[bool, bool],
) -> Draft:
    """`newest_read`: whether runs of all campaigns were read, and whether only the newest were."""
    chosen, levels = data.chosen, found.levels
    metrics, notes = _metrics(data, besides)
    metrics = [metric for metric in metrics if metric.primary] if primary_alone else metrics
    compared = [
        replace(_compared_run(row, data.values.get(row["id"], {}), metrics), session=data.sessions.get(row["id"]))
        for row in data.rows
    ]
    every_campaign, only_newest = newest_read
    if only_newest:
        names = {side.key: side.name for side in chosen.sides}
        notes = [*newest_only(data.tallies, names=names, levels=levels, campaign=not every_campaign), *notes]
    counted_runs = [run for run in compared if not run.left_out]
    cells = verdict_table.judged(
        sides=[side.key for side in chosen.sides],
        levels=levels,
        metrics=metrics,
        runs=counted_runs,
        history=data.history([metric.key for metric in metrics]),
        withheld={each.side for each in obstacles if each.accepted is None},
    )
    return Draft(
        workload=compared_workload(chosen.workload),
        campaign=None if every_campaign else next((run.campaign for run in compared), None),
        sides=with_tones([_side(side, place, compared, data) for place, side in enumerate(chosen.sides)]),
        levels=levels,
        metrics=tuple(metrics),
        cells=cells,
        cautions=cautions(cells, counted_runs, metrics, {side.key: side.name for side in chosen.sides}),
        differences=found.differences,
        obstacles=obstacles,
        runs=tuple(compared),
        tallies=data.tallies,
        notes=(*notes, *found.mixtures),
        earlier=data.earlier,
    )


def _metrics(data: ComparisonData, besides: Collection[str]) -> tuple[list[ComparedMetric], list[str]]:
    """Compared metrics: the workload's primary metric, throughput, one latency percentile, errors; of a failover the
    primary metric and errors."""
    values = [data.values.get(row["id"], {}) for row in data.counted]
    percentile, notes = _percentile(values)
    present = {key for measured in values for key in measured}
    primary = data.chosen.workload.primary_metric.key
    # Of writes that wait for a failover, how many end how soon says nothing that the outage does not.
    is_failover = kind_of(data.chosen.workload.tool, data.chosen.workload.parameters) == FAILOVER
    notes = [] if is_failover else notes
    usual = [primary, ERRORS] if is_failover else [primary, THROUGHPUT, percentile, ERRORS]
    wanted = [key for key in dict.fromkeys([*usual, *besides]) if key in present]
    for key in (primary, THROUGHPUT):
        missing = sum(key not in measured for measured in values)
        if missing and key in (primary, *wanted):
            notes.append(f"{_runs(missing)} without {key}: left out of that figure.")
    tools = {side.workload.pk: side.workload.tool for side in data.chosen.sides}
    found = [compared_metric(data.metrics[key], tools=tools, grids=data.grids, primary=primary) for key in wanted]
    return found, list(dict.fromkeys(notes))


def _percentile(measured: Sequence[Mapping[str, float]]) -> tuple[str, list[str]]:
    """The one latency percentile to compare. Different percentiles are different quantities: never mixed."""
    counts = Counter(key for values in measured for key in values if PERCENTILE.match(key))
    if not counts:
        return USUAL_PERCENTILE, ["No run has a latency percentile."] if measured else []
    chosen = max(counts, key=lambda key: (counts[key], key == USUAL_PERCENTILE, key))
    lacking = len(measured) - counts[chosen]
    if not lacking:
        return chosen, []
    others = sorted(_short(key) for key in counts if key != chosen)
    instead = f" ({', '.join(others)} instead)" if others else ""
    return chosen, [f"{_runs(lacking)} without {_short(chosen)}{instead}: left out of the latency figures."]


def _short(key: str) -> str:
    return key.rsplit("latency.", 1)[-1]


def _runs(count: int) -> str:
    return counted(count, "run")


def compared_metric(
    metric: Metric, *, tools: Mapping[int, str], grids: Mapping[tuple[int, str], Collection[str]], primary: str
) -> ComparedMetric:
    """`tools`: workload -> tool; `grids`: as in ComparisonData."""
    key = metric.key
    return ComparedMetric(
        key=key,
        name=metric.name,
        unit=metric.unit,
        direction=Direction(metric.direction),
        kind="latency" if PERCENTILE.match(key) else "errors" if key == ERRORS else "throughput",
        primary=key == primary,
        resolution=max(
            resolution(key, tool=tool, grids=grids.get((pk, measured_on(key)), ())) for pk, tool in tools.items()
        ),
        printed_step=max(printed_step(key, tool=tool) for tool in tools.values()),
        single_events=is_single_event(key),
        unjudged=why_unjudged(key, tools.values()),
    )


def _compared_run(row: dict[str, Any], values: Mapping[str, float], metrics: Sequence[ComparedMetric]) -> ComparedRun:
    wanted = {metric.key for metric in metrics}
    return ComparedRun(
        id=row["id"],
        side=row["side"],
        level=row["load_level_id"],
        repetition=row["repetition"],
        started_at=row["started_at"],
        provenance=row["provenance"],
        warmup=row["warmup"],
        duration=row["duration"],
        campaign=ComparedCampaign(row["campaign_id"], row["campaign_name"], row["campaign_until"])
        if row["campaign_id"]
        else None,
        values={key: value for key, value in values.items() if key in wanted},
        left_out=_why_left_out(row, values),
        failed_checks=tuple(row["failed_checks"]),
    )


def _why_left_out(row: dict[str, Any], values: Mapping[str, float]) -> str:
    word = left_out_word(row["state"], row["outcome"], is_excluded=row["is_excluded"])
    if word:
        reason = row["reason"] or row["excluded_because"]
        return f"{word}: {reason}" if reason else word
    return "" if values else NO_VALUES


def _levels(rows: Sequence[dict[str, Any]]) -> list[Level]:
    found = {row["load_level_id"]: (row["threads"], row["rate"]) for row in rows}
    ordered = sorted(found.items(), key=lambda item: (item[1][1] is not None, item[1][1] or 0, item[1][0]))
    return [
        Level(
            id=pk,
            key=f"{threads}" if rate is None else f"{threads}@{rate:g}",
            threads=threads,
            rate=rate,
            text=str(LoadLevel(threads=threads, rate=rate)),
        )
        for pk, (threads, rate) in ordered
    ]


def _side(side: ChosenSide, position: int, runs: Sequence[ComparedRun], data: ComparisonData) -> Side:
    own = [run for run in runs if run.side == side.key and not run.left_out]
    system, platform = side.system, side.system.release.platform
    return Side(
        slug=side.key,
        system=system.slug,
        workload=compared_workload(side.workload),
        name=side.name,
        title=side.title,
        position=position,
        platform=platform.name,
        platform_slug=platform.slug,
        platform_color=platform.color,
        release=system.release.version,
        hardware=system.hardware_class.name,
        hardware_detail=hardware_detail(system.hardware_class),
        runs=len(own),
        origins=tuple(sorted({run.provenance for run in own})),
        is_local=LOOPBACK.match(system.endpoint) is not None or _is_on_generator(side, data),
    )


def _is_on_generator(side: ChosenSide, data: ComparisonData) -> bool:
    """Whether every server of its runs names the load generator's host as its own."""
    clients = {row["host"].get("name") for row in data.counted if row["side"] == side.key}
    seen = data.variables.get((side.system.pk, side.workload.pk), ())
    servers = {each.variables.get("hostname") for each in seen}
    (client, *others) = clients or {None}
    return bool(client) and not others and client != UNNAMED and servers == {client}


def _known(data: ComparisonData) -> list[Known]:
    return [
        Known(
            system=side.system,
            workload=side.workload,
            nodes=data.nodes.get(side.system.pk, ()),
            rows=[row for row in data.counted if row["side"] == side.key],
            seen=data.variables.get((side.system.pk, side.workload.pk), ()),
        )
        for side in data.chosen.sides
    ]
