"""Our own workloads from a plan to the warehouse: agent, upload, sealing, and the server's reading of their reports."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apps.catalog import services as catalog
from apps.catalog.models import System
from apps.dispatch.models import Campaign, Job
from apps.runs import queries
from apps.runs.models import Distribution, Event, Measurement, Run
from lab.mariadb import MariaDB
from tests.builders import a_campaign
from tests.e2e.stack import Stack
from workers.workloads import WORKLOADS

pytestmark = [pytest.mark.mariadb, pytest.mark.django_db(transaction=True)]

TIMEOUT = 60  # s
PARAMETERS = {"iibench": {"batch": 20}, "execution_latency": {"rows": 100}}


@pytest.fixture
def stack(tmp_path: Path, var_folder: Path, mariadb: MariaDB) -> Iterator[Stack]:
    running = Stack(tmp_path, var_folder)
    try:
        running.manage("seed_catalog")
        running.start_web()
        running.start_worker()
        running.start_agent(
            systems=f"""
            [[hardware]]
            slug = "test-machine"
            vcpu = 2
            memory_mb = 4096

            [[systems]]
            slug = "single"
            platform = "mariadb"
            hardware_class = "test-machine"
            host = "127.0.0.1"
            port = {mariadb.port}
            user = "splashboard"
            password_file = "{mariadb.password_file}"
            """
        )
        yield running
    finally:
        running.close()


def wait(what: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        if is_so():
            return
        time.sleep(0.2)
    raise AssertionError(f"{what}: not within {TIMEOUT} s")


@pytest.mark.usefixtures("stack")
def test_our_workloads_are_planned_run_verified_and_read() -> None:
    wait("the agent makes its system known", lambda: System.objects.filter(slug="single").exists())
    workloads = [catalog.workload_for(tool=tool, parameters=given) for tool, given in PARAMETERS.items()]
    system = System.objects.get(slug="single")
    campaign: Campaign = a_campaign(system, workloads=workloads, threads=(2,), warmup=1.0, duration=2.0)
    wait("the jobs end", lambda: not campaign.jobs.exclude(state__in=("succeeded", "failed")).exists())
    assert set(campaign.jobs.values_list("state", "reason")) == {(Job.State.SUCCEEDED, "")}
    wait("the runs are sealed", lambda: Run.objects.filter(state="sealed").count() == len(PARAMETERS))

    for run in Run.objects.select_related("workload__primary_metric"):
        tool = run.workload.tool
        assert (run.outcome, run.unparsed_lines) == ("succeeded", [])
        measured = dict(Measurement.objects.filter(run=run).values_list("metric__key", "value"))
        assert set(WORKLOADS[tool].metrics) <= measured.keys()
        assert measured["client.elapsed"] == pytest.approx(2, abs=0.7)
        assert measured[run.workload.primary_metric.key] > 0
        assert run.artifacts.get().name == f"{tool}.jsonl"
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
