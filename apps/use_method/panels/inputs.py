"""Inputs of the rules, read from a run's rows and series, live or sealed."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from apps.catalog.models import HardwareClass
from apps.catalog.models import Node as CatalogNode
from apps.catalog.pure import PUBLISHED, derived_metrics, period_of
from apps.runs.api import SeriesValues, queries
from apps.runs.api import nodes as queries_nodes
from apps.runs.models import Event, Measurement, Run, RunNode, Series, Stream
from apps.runs.pure import CLIENT, VARIABLES
from apps.use_method.resource_table import METRICS
from apps.use_method.resources.aurora import CLOUDWATCH
from apps.use_method.values import Floats, MetricSamples, Moment, NodeFacts, NotObservable, RunFacts, ServerError, Span

RELATED = Run.objects.select_related("system__release__platform", "workload__primary_metric", "load_level")
OTHER_EVENTS = ("check", "sampler_error", "sampler", "not_observable", "role", "neighbours", "warning", "error")
LONGEST_INTERVAL = max(each.period for each in PUBLISHED.values())  # s
# The agent's name of the state in which a server answers its sampler.
ANSWERS, NO = "answers", "no"
BUSY = "derived.cpu.busy"
# A tool reports the errors of a second at its end, soon after the warm-up has ended with it.
REPORTED_WITHIN = 0.1  # s


def facts(run: Run) -> RunFacts:
    """`run`: of RELATED. Eleven queries. Samples of an archived run are fetched."""
    events = list(Event.objects.filter(run=run).order_by("starts_at"))
    measured = _measured(run)
    nodes = _nodes(run, events, measured)
    found = dict(Measurement.objects.filter(run=run).values_list("metric__key", "value"))
    return RunFacts(
        tool=run.workload.tool,
        platform=run.system.release.platform.slug,
        measured=measured,
        nodes=tuple(node for node in nodes if node.name != CLIENT and node.role != "agent"),
        client=_client(nodes),
        threads=run.load_level.threads,
        rate=run.load_level.rate,
        # A run from another installation says so by its nodes alone: an archive does not name places at AWS.
        aws=run.system.aws_kind or ("instance" if any(_is_cloudwatch(node.name) for node in nodes) else ""),
        complaints=tuple(_complaint(event) for event in events if _is_complaint(event, measured)),
        events=tuple(_moment(event) for event in events if event.kind not in OTHER_EVENTS),
        throughput=found.get(run.workload.primary_metric.key),
        headlines=found,
    )


def _is_cloudwatch(node: str) -> bool:
    return node.startswith(CLOUDWATCH)


def _measured(run: Run) -> Span | None:
    if run.measured_from is None or run.measured_to is None:
        return None
    return run.measured_from, run.measured_to


def _client(nodes: Iterable[NodeFacts]) -> NodeFacts | None:
    """The load generator's series, merged with those sampled on its machine if the agent is a separate node."""
    own = next((node for node in nodes if node.name == CLIENT), None)
    beside = next((node for node in nodes if node.role == "agent"), None)
    if own is None or beside is None:
        return own or beside
    return NodeFacts(
        name=CLIENT,
        role=CLIENT,
        series={**beside.series, **own.series},
        hidden=(*own.hidden, *beside.hidden),
        silent=own.silent,
    )


def _nodes(run: Run, events: Collection[Event], measured: Span | None) -> list[NodeFacts]:
    live = queries_nodes.live([run.pk]).get(run.pk, [])
    rows = list(
        RunNode.objects.filter(run=run)
        .order_by("number")
        .values_list("name", "role", "constants", "configuration__variables")
    )
    keys = {key for node in live for key in (*node.changing, *node.constants)}
    keys |= {key for _, _, constants, _ in rows for key in constants}
    keys |= set(Series.objects.filter(run=run).order_by().values_list("metric__key", flat=True).distinct())
    # By the current formulas: a run may have been sealed before one was added.
    keys |= {spec.key for spec in derived_metrics.available(keys)}
    wanted = [key for key in sorted(keys) if _is_asked(key)]
    # A value of an interval, whose middle is in the phase, is dated by its end.
    reach = (measured[0], measured[1] + LONGEST_INTERVAL) if measured else None
    found = queries.load_series(run_ids=[run.pk], metrics=wanted, between=reach)
    series: dict[str, dict[str, MetricSamples]] = defaultdict(dict)
    for each in found:
        if not each.problem:
            samples = _samples(each, measured)
            if len(samples.at):
                series[each.node][each.metric] = samples
    elsewhere = {name for names in Stream.objects.filter(run=run).values_list("nodes", flat=True) for name in names}
    # The agent samples its own machine only if no node of the system is on it.
    own = {name for name, role, *_ in rows if role == "agent"} | {node.name for node in live if node.role == "agent"}
    generator_apart = any(BUSY in series[name] for name in own & series.keys())
    catalogued = CatalogNode.objects.filter(system=run.system_id).select_related("hardware_class")
    hardware = {node.name: node.hardware_class for node in catalogued}
    known = [(name, role, {**_settings(constants), **(variables or {})}) for name, role, constants, variables in rows]
    known += [(node.name, node.role, {}) for node in live if node.name not in {name for name, *_ in known}]
    ends = [measured[1]] if measured else [float(each.at[-1]) for each in found if len(each.at)]
    until = max(ends, default=0.0)
    return [
        _node(
            name=name,
            role=role,
            variables=variables,
            series=series.get(name, {}),
            # CloudWatch's metrics of an instance form a node of their own.
            hardware=hardware.get(name.removeprefix(CLOUDWATCH)),
            events=events,
            until=until,
            apart=generator_apart or name in elsewhere,
        )
        for name, role, variables in known
    ]


def _settings(constants: Mapping[str, object]) -> dict[str, str]:
    """Server variables that a monitoring system sampled, which has those that are numbers."""
    return {key.removeprefix(VARIABLES): str(value) for key, value in constants.items() if key.startswith(VARIABLES)}


@lru_cache(maxsize=8192)
def _is_asked(key: str) -> bool:
    return any(pattern.fullmatch(key) for pattern in _patterns())


@lru_cache(maxsize=1)
def _patterns() -> list[re.Pattern[str]]:
    return [re.compile(re.escape(key).replace(r"\*", ".+")) for key in METRICS]


def _samples(series: SeriesValues, measured: Span | None) -> MetricSamples:
    """Cut to `measured`. Values of long periods: if none has its middle inside, those that overlap."""
    whole = MetricSamples(series.at, series.values.astype("float64"), series.resets, since=series.since)
    observed = ~np.isnan(whole.values)
    if measured is None:
        return _timed(whole, whole.at[observed])
    kept = whole.inside(measured)
    # A period of five minutes has one value in five rows of a clock of minutes.
    if (period := period_of(series.metric)) and not (kept & observed).any():
        kept = (whole.at > measured[0]) & (whole.at - period < measured[1])
    return _timed(whole.cut(kept), whole.at[observed])


def _timed(samples: MetricSamples, observed: Floats) -> MetricSamples:
    """An only value stands for the usual time between the `observed` ones of its series."""
    if np.count_nonzero(~np.isnan(samples.values)) != 1 or len(observed) < 2:
        return samples
    return replace(samples, alone=float(np.median(np.diff(observed))))


def _node(
    *,
    name: str,
    role: str,
    variables: Mapping[str, str],
    series: Mapping[str, MetricSamples],
    hardware: HardwareClass | None,
    events: Iterable[Event],
    until: float,
    apart: bool,
) -> NodeFacts:
    own = [event for event in events if event.node == name]
    return NodeFacts(
        name=name,
        role=role,
        series=series,
        variables=variables,
        hidden=tuple(_hidden(event) for event in own if event.kind == "not_observable"),
        silent=tuple(_silent(own, until)),
        hardware_class=hardware.name if hardware else "",
        hardware_vcpu=hardware.vcpu if hardware else None,
        hardware_memory=hardware.memory_bytes if hardware else None,
        hardware_network=hardware.network_bits_per_second if hardware else None,
        hardware_iops=hardware.iops if hardware else None,
        apart=apart,
    )


def _hidden(event: Event) -> NotObservable:
    found = event.detail
    return NotObservable(
        str(found.get("what", event.label)), str(found.get("reason", "")), str(found.get("remedy", ""))
    )


def _silent(events: Iterable[Event], until: float) -> Iterable[Span]:
    """Spans without an answer from the server, up to `until` if it never answered again."""
    since: float | None = None
    for event in events:
        if event.kind == "node_state" and event.detail.get("what") == ANSWERS:
            if event.detail.get("to") == NO:
                since = event.starts_at
            elif since is not None:
                yield since, event.starts_at
                since = None
    if since is not None:
        yield since, max(since, until)


def _is_complaint(event: Event, measured: Span | None) -> bool:
    """Without those of the warm-up: what is counted per second is counted in the measured seconds."""
    return event.kind == "error" and (measured is None or event.starts_at > measured[0] + REPORTED_WITHIN)


def _complaint(event: Event) -> ServerError:
    code, count = event.detail.get("code"), event.detail.get("count", 1)
    return ServerError(
        code=code if isinstance(code, int) else None,
        text=str(event.detail.get("text") or event.label),
        count=count if isinstance(count, int) else 1,
        at=event.starts_at,
    )


def _moment(event: Event) -> Moment:
    return Moment(event.kind, event.label, event.starts_at, event.ends_at, event.node, event.detail)
