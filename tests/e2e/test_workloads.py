"""Our own workloads from a plan to the warehouse: agent, upload, sealing, and the server's reading of their reports."""

from collections.abc import Iterator

import pytest

from apps.catalog import services as catalog
from apps.dispatch.models import Campaign, Job
from apps.runs import queries
from apps.runs.models import Distribution, Event, Measurement, Run
from apps.runs.storage import artifacts
from lab.mariadb import MariaDB
from tests.e2e.readings import total_of
from tests.e2e.stack import Stack, described, progress
from tests.support.builders import a_campaign
from tests.support.waiting import eventually
from workers.protocol.workloads import WORKLOADS

pytestmark = pytest.mark.mariadb

DURATION = 2.0  # s
PARAMETERS = {"iibench": {"batch": 20}, "execution_latency": {"rows": 100}}


@pytest.fixture
def stack(seeded: Stack, mariadb: MariaDB) -> Iterator[Stack]:
    with seeded.agents(**described({"single": mariadb}, {"single": {}})) as running:
        yield running


def test_our_workloads_are_planned_run_verified_and_read(stack: Stack) -> None:
    (system,) = stack.wait_for_systems("single")
    workloads = [catalog.workload_for(tool=tool, parameters=given) for tool, given in PARAMETERS.items()]
    # Without a warm-up: its end parts sysbench's histogram from its transactions, and that is then left out.
    campaign: Campaign = a_campaign(system, workloads=workloads, threads=(2,), warmup=0.0, duration=DURATION)
    unfinished = campaign.jobs.exclude(state__in=("succeeded", "failed"))
    eventually(lambda: not unfinished.exists(), what="the jobs end", seen=progress)
    assert set(campaign.jobs.values_list("state", "reason")) == {(Job.State.SUCCEEDED, "")}
    sealed = Run.objects.filter(state="sealed")
    eventually(lambda: sealed.count() == len(PARAMETERS), what="the runs are sealed", seen=progress)

    for run in Run.objects.select_related("workload__primary_metric"):
        tool = run.workload.tool
        assert (run.outcome, run.unparsed_lines) == ("succeeded", [])
        measured = dict(Measurement.objects.filter(run=run).values_list("metric__key", "value"))
        assert set(WORKLOADS[tool].metrics) <= measured.keys()
        assert measured[run.workload.primary_metric.key] > 0
        artifact = run.artifacts.get()
        assert artifact.name == f"{tool}.jsonl"
        total = total_of(artifacts.read_artifact(artifact).decode())
        # A busy machine ends late, and no machine ends early.
        assert measured["client.elapsed"] == pytest.approx(total["to"] - total["from"], abs=1e-3)
        assert measured["client.elapsed"] > 0.99 * DURATION
        checks = Event.objects.filter(run=run, kind="check")
        assert {check.detail["held"] for check in checks} == {True}
        assert {check.detail["check"] for check in checks} >= {"load", "writes", "matched", "rows"}
        assert "client.throughput" in series_of(run)
    waiting = Run.objects.get(workload__tool="execution_latency")
    kept = set(Distribution.objects.filter(run=waiting).values_list("metric__key", flat=True))
    assert kept == {"client.latency", "client.execution_latency"}
    assert "client.execution_latency.p95" in series_of(waiting)
    assert "client.rows_inserted" in series_of(Run.objects.get(workload__tool="iibench"))


def series_of(run: Run) -> set[str]:
    """Those that never changed too: in a few seconds on sysbench's grid a percentile may not."""
    return {info.metric for info in queries.series_index(run.pk)}
