"""Failovers side by side: every trial of every system and fault, with published results.

A trial is a run of the failover probe in which the fault was injected. A constant number of queries.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import F, Q, QuerySet

from apps.catalog.models import System, Workload
from apps.comparison.failovers import timeouts, trials
from apps.comparison.failovers.trials import COUNTS, PHASES, Course, spread
from apps.comparison.failovers.values import (
    FAULTS,
    FILLERS,
    Choices,
    FailoverFilter,
    FailoverResults,
    FailoverTrial,
    RunWithoutFault,
    TrialGroup,
)
from apps.comparison.failovers.verdicts import verdicts
from apps.comparison.values import ComparedCampaign
from apps.published import queries as published
from apps.published.values import FigureFilter, FigureValue
from apps.runs.api import EventDetail
from apps.runs.models import Event, Measurement, Run, RunNode

TOOL = "failover"
NO_FAULT = "none"
INTERRUPTION = "service_interruption"
# The newest runs; the page shows if there are more.
MOST_TRIALS = 400
METRICS = (
    *("failover.outage", "failover.rejoin", "failover.rejoin_outage"),
    *(*COUNTS.values(), *(metric for metric, _, _ in PHASES.values())),
)
# Parameters that distinguish loads; time of the fault and waiting time do not.
LOAD = ("rate", "read_rate", "timeout", "retries")
LASTING = ("freeze_writer", "freeze_reader", "cut_writer")


def load_failovers(chosen: FailoverFilter) -> FailoverResults:
    """Ten queries."""
    # Listed by id, an index on runs applies; with a join, all runs are read.
    probes = {
        pk: parameters
        for pk, parameters in Workload.objects.filter(tool=TOOL).order_by().values_list("pk", "parameters")
        if parameters.get("fault") != NO_FAULT
    }
    everything = Run.objects.filter(state=Run.State.SEALED, workload__in=probes).exclude(outcome=Run.Outcome.CANCELLED)
    runs = list(
        _filtered(everything, chosen, probes)
        .select_related("system__release__platform", "system__hardware_class", "workload")
        .annotate(campaign_id=F("job_run__job__campaign_id"), campaign_name=F("job_run__job__campaign__name"))
        .order_by("-started_at", "-id")[: MOST_TRIALS + 1]
    )
    has_more = len(runs) > MOST_TRIALS
    runs = runs[:MOST_TRIALS]
    known = _trials(runs)
    groups: dict[tuple[Any, ...], list[tuple[Run, FailoverTrial]]] = defaultdict(list)
    for run in runs:
        if run.pk in known:
            groups[_key(run)].append((run, known[run.pk]))
    providers = _providers([run.pk for run in runs])
    found = sorted((_group(members, providers) for members in groups.values()), key=_rank)
    return FailoverResults(
        groups=tuple(found),
        verdicts=verdicts(found),
        stated=tuple(_stated()),
        untold=tuple(RunWithoutFault(run.pk, run.reason) for run in runs if run.pk not in known),
        choices=_choices(everything, probes),
        has_more=has_more,
    )


def _filtered(runs: QuerySet[Run], chosen: FailoverFilter, probes: Mapping[int, Mapping[str, Any]]) -> QuerySet[Run]:
    if chosen.systems:
        runs = runs.filter(system__slug__in=chosen.systems)
    if chosen.campaign is not None:
        runs = runs.filter(job_run__job__campaign_id=chosen.campaign)
    if chosen.faults or chosen.rate is not None:
        runs = runs.filter(workload__in=[pk for pk, parameters in probes.items() if _is_chosen(parameters, chosen)])
    return runs


def _is_chosen(parameters: Mapping[str, Any], chosen: FailoverFilter) -> bool:
    if chosen.faults and parameters.get("fault") not in chosen.faults:
        return False
    return chosen.rate is None or parameters.get("rate") == chosen.rate


def _trials(runs: Sequence[Run]) -> dict[int, FailoverTrial]:
    """Two queries."""
    ids = [run.pk for run in runs]
    values: dict[int, dict[str, float]] = defaultdict(dict)
    measured = Measurement.objects.filter(run__in=ids, metric__key__in=METRICS).order_by()
    for run_id, key, value in measured.values_list("run_id", "metric__key", "value"):
        values[run_id][key] = value
    events: dict[int, list[EventDetail]] = defaultdict(list)
    rows = Event.objects.filter(run__in=ids, kind__in=trials.KINDS, from_output=True).order_by("starts_at", "id")
    for run_id, *fields in rows.values_list(
        "run_id", "kind", "label", "starts_at", "ends_at", "node", "detail", "from_output"
    ):
        events[run_id].append(EventDetail(*fields))
    found = {}
    for run in runs:
        parameters = run.workload.parameters
        course = trials.course(
            events[run.pk],
            values[run.pk],
            rate=float(parameters.get("rate", 0)),
            offset=float(run.told.get("offset") or 0),
        )
        if course:
            found[run.pk] = _trial(run, course)
    return found


def _trial(run: Run, course: Course) -> FailoverTrial:
    doubt = ""
    if run.is_excluded:
        doubt = "excluded by a person"
    elif course.outage is None:
        doubt = "the report ends before the outage is reported"
    elif course.late:
        doubt = "the probe itself stalled"
    return FailoverTrial(
        run=run.pk,
        started_at=run.started_at,
        origin=run.provenance,
        outcome=run.outcome,
        reason=run.reason,
        is_excluded=run.is_excluded,
        failed_checks=tuple(run.failed_checks),
        campaign=ComparedCampaign(run.campaign_id, run.campaign_name) if run.campaign_id else None,  # type: ignore[attr-defined]
        course=course,
        doubt=doubt,
    )


def _key(run: Run) -> tuple[Any, ...]:
    filler = run.provenance if run.provenance in FILLERS else ""
    return filler, run.system_id, run.workload.parameters.get("fault"), *_load(run.workload.parameters).values()


def _load(parameters: Mapping[str, Any]) -> dict[str, Any]:
    names = (*LOAD, "hold") if parameters.get("fault") in LASTING else LOAD
    return {name: parameters.get(name) for name in names}


def _group(members: Sequence[tuple[Run, FailoverTrial]], providers: Mapping[int, Sequence[str]]) -> TrialGroup:
    run = members[0][0]
    system, parameters = run.system, run.workload.parameters
    platform, fault = system.release.platform, str(parameters.get("fault", ""))
    counted = [trial.course for _, trial in members if not trial.doubt]
    checks = next((course.proxy_checks for course in counted if course.proxy_checks), {})
    return TrialGroup(
        system=system.slug,
        system_name=system.short_name,
        platform=platform.name,
        platform_slug=platform.slug,
        platform_color=platform.color,
        release=system.release.version,
        hardware=system.hardware_class.name,
        fault=fault,
        fault_name=FAULTS.get(fault, fault),
        load=_load_words(parameters),
        parameters=_load(parameters),
        origins=tuple(sorted({trial.origin for _, trial in members})),
        trials=tuple(sorted((trial for _, trial in members), key=_length, reverse=True)),
        interruption=trials.interruption(counted),
        phases={key: spread(course.reached.get(key) for course in counted) for key in PHASES},
        rejoin=spread(course.rejoin for course in counted),
        rejoin_outage=spread(course.rejoin_outage for course in counted),
        proxy=spread(course.proxy for course in counted),
        counts={key: _range([course.counts[key] for course in counted]) for key in COUNTS},
        unread={key: sum(course.counts[key] is None for course in counted) for key in COUNTS},
        shares=tuple(
            timeouts.shares(
                fault,
                settings=system.settings,
                checks=checks,
                provider=[text for one, _ in members for text in providers.get(one.pk, ())],
            )
        ),
    )


def _length(trial: FailoverTrial) -> tuple[bool, float]:
    return trial.course.not_recovered, trial.course.outage or 0.0


def _rank(group: TrialGroup) -> tuple[Any, ...]:
    found = group.interruption
    place = list(FAULTS).index(group.fault) if group.fault in FAULTS else len(FAULTS)
    is_worst = found.not_recovered > 0, found.median is None
    is_filler = group.origins[0] in FILLERS
    return is_filler, place, *is_worst, found.median or 0.0, group.system_name, group.load


def _range(values: Sequence[int | None]) -> tuple[int, int] | None:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _load_words(parameters: Mapping[str, Any]) -> str:
    words = [f"{parameters.get('rate', 0):g} inserts/s"]
    if parameters.get("read_rate"):
        words.append(f"{parameters['read_rate']:g} reads/s at each place")
    words.append(f"client timeout {parameters.get('timeout', 0):g} s")
    if parameters.get("retries"):
        words.append(f"{parameters['retries']} retries")
    if parameters.get("fault") in LASTING:
        words.append(f"for {parameters.get('hold', 0):g} s")
    return ", ".join(words)


def _providers(runs: Sequence[int]) -> dict[int, list[str]]:
    """Run -> wsrep_provider_options of its Galera nodes, or the expel timeout of its group's members. One query."""
    variables = "configuration__variables"
    rows = (
        RunNode.objects.filter(run__in=runs)
        .filter(
            Q(**{f"{variables}__has_key": "wsrep_provider_options"}) | Q(**{f"{variables}__has_key": timeouts.EXPEL})
        )
        .order_by()
        .values_list("run_id", f"{variables}__wsrep_provider_options", f"{variables}__{timeouts.EXPEL}")
    )
    found: dict[int, list[str]] = defaultdict(list)
    for run_id, options, expel in rows:
        found[run_id].append(options if expel is None else f"{timeouts.EXPEL} = {expel}")
    return found


def _stated() -> list[FigureValue]:
    """Two queries."""
    figures = published.list_figures(FigureFilter(questions=("failover",)))
    return [figure for figure in figures if figure.metric == INTERRUPTION and figure.unit == "s" and figure.side]


def _choices(runs: QuerySet[Run], probes: Mapping[int, Mapping[str, Any]]) -> Choices:
    """Three queries."""
    rows = list(runs.order_by().values_list("system_id", "workload_id").distinct())
    used = [probes[workload] for workload in {workload for _, workload in rows}]
    systems = (
        System.objects.filter(pk__in={pk for pk, _ in rows}).order_by("short_name").values_list("slug", "short_name")
    )
    campaigns = (
        runs.filter(job_run__isnull=False)
        .order_by("-job_run__job__campaign_id")
        .values_list("job_run__job__campaign_id", "job_run__job__campaign__name")
        .distinct()
    )
    faults = {parameters.get("fault") for parameters in used}
    return Choices(
        systems=tuple(systems),
        faults=tuple((key, name) for key, name in FAULTS.items() if key in faults),
        campaigns=tuple(ComparedCampaign(pk, name) for pk, name in campaigns),
        rates=tuple(sorted({float(parameters["rate"]) for parameters in used if parameters.get("rate") is not None})),
    )
