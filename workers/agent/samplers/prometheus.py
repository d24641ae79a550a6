"""Series of a system's nodes from its Prometheus, read once a run's load has ended."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from workers.agent.prometheus.collect import NodeTargets, collect
from workers.agent.prometheus.source import PrometheusSource, PrometheusTrouble
from workers.agent.runtime.config import SystemConfig
from workers.agent.samplers import HiddenFromSampler

log = logging.getLogger("splashboard.agent.monitoring")
# As files of series are called on the server: apps/runs/ingest/prometheus/files.py.
ARTIFACT, MEDIA_TYPE = "prometheus.ndjson.gz", "application/gzip"
# s after the load's end in which the last scrape is waited for.
LONGEST_WAIT = 60.0
PAUSE = 1.0
UNSEEN = 5.0
WHAT = "series of Prometheus"


@dataclass(frozen=True)
class MonitoredSeries:
    """`content`: a file for the server; empty: there is none, and `hidden` says why, of each of `nodes`."""

    nodes: tuple[str, ...]
    content: bytes = b""
    hidden: HiddenFromSampler | None = None


def read(system: SystemConfig, *, begin: float, end: float, goes_on: Callable[[], bool]) -> MonitoredSeries | None:
    """`begin` and `end` of the load, s since 1970; `goes_on` False: do not wait any longer. None: the system has no
    Prometheus."""
    if system.monitoring is None:
        return None
    named = [NodeTargets(node.name, node.instances) for node in system.nodes if node.instances]
    targets = named or [NodeTargets(system.nodes[0].name)]
    nodes = tuple(target.node for target in targets)
    config = system.monitoring
    try:
        if not named and len(system.nodes) > 1:
            raise PrometheusTrouble(
                'which instance is which node? Give each node prometheus = ["INSTANCE"]', status=400
            )
        source = PrometheusSource(config.access)
        _await_last_scrape(source, targets, end=end, goes_on=goes_on)
        found = collect(source, targets, begin=begin, end=end, match=config.match, step=config.step)
        if found.first is None or found.last is None or found.first > end or found.last < begin:
            raise PrometheusTrouble("it has no sample of the run's time: compare its targets, and both clocks")
    except PrometheusTrouble as trouble:
        log.warning("%s: %s", WHAT, trouble)
        remedy = "correct [systems.prometheus], or attach them later: splashboard attach"
        return MonitoredSeries(nodes, hidden=HiddenFromSampler(WHAT, str(trouble), remedy))
    return MonitoredSeries(nodes, found.content)


def _await_last_scrape(
    source: PrometheusSource, targets: list[NodeTargets], *, end: float, goes_on: Callable[[], bool]
) -> None:
    """Without scrapes, as of series that are written to the server, for UNSEEN s."""
    selectors = [selector for target in targets for selector in target.scrapes()]
    begun = time.monotonic()
    deadline = begun + LONGEST_WAIT
    while goes_on() and time.monotonic() < deadline:
        latest = [at for at in map(source.latest, selectors) if at is not None]
        if not latest:
            deadline = min(deadline, begun + UNSEEN)
        elif min(latest) >= end:
            return
        threading.Event().wait(PAUSE)
