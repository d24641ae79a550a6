"""The installation's state for Prometheus, read when it is asked: the checks of the page Health, jobs and agents."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from apps.core.server import measures
from apps.dispatch.api import AGENT_ALIVE_FOR
from apps.dispatch.models import ACTIVE, Agent, Job
from apps.operations.health.report import report
from apps.operations.health.values import HealthVerdict

LEVELS = {HealthVerdict.OK: 0, HealthVerdict.WARNING: 1, HealthVerdict.WRONG: 2, HealthVerdict.UNKNOWN: 3}


class StateNow(Collector):
    """A constant number of queries."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def collect(self) -> Iterator[GaugeMetricFamily]:
        verdicts = GaugeMetricFamily(
            "splashboard_check", "A check of the page Health: 0 ok, 1 warning, 2 wrong, 3 unknown", labels=["check"]
        )
        values = GaugeMetricFamily(
            "splashboard_check_value", "What a check of the page Health read, in `unit`", labels=["check", "unit"]
        )
        for row in report(now=self._now):
            verdicts.add_metric([row.key], LEVELS[row.verdict])
            if row.value is not None:
                values.add_metric([row.key, row.unit], row.value)
        yield verdicts
        yield values
        jobs = GaugeMetricFamily("splashboard_jobs", "Jobs that wait or run, by their state", labels=["state"])
        # Apart, by an index each; jobs that ended are too many to be counted.
        jobs.add_metric([Job.State.QUEUED], Job.objects.filter(state=Job.State.QUEUED).count())
        active = Job.objects.filter(state__in=ACTIVE).order_by()
        counts = dict(active.values_list("state").annotate(jobs=Count("pk")))
        for state in ACTIVE:
            jobs.add_metric([state], counts.get(state, 0))
        yield jobs
        agents = GaugeMetricFamily("splashboard_agents", "Agents that are not revoked", labels=["state"])
        known = Agent.objects.filter(revoked_at=None)
        alive = known.filter(last_seen_at__gte=self._now - AGENT_ALIVE_FOR).count()
        agents.add_metric(["alive"], alive)
        agents.add_metric(["silent"], known.count() - alive)
        yield agents


def exposition() -> bytes:
    """Everything for Prometheus, in its text format."""
    return measures.exposition([StateNow(timezone.now())])
