"""The articles' study in a reduced form, for real: one file, two systems, a writer that dies, and no failed job."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from apps.dispatch.models import Campaign
from apps.runs.models import Run
from apps.runs.storage import artifacts
from lab.galera import Galera
from lab.mariadb import MariaDB
from tests.e2e.stack import Stack, described, progress
from tests.support.browser import open_page
from tests.support.waiting import eventually
from tests.workers.agent.faults.probing import inserts_of, lines_of

pytestmark = [pytest.mark.mariadb, pytest.mark.galera, pytest.mark.browser]

STUDY = """
name: the articles, reduced
systems: [single, galera]
repetitions: 1
duration: 1
load_levels: [2]
workloads:
  - tool: iibench
  - tool: sysbench_oltp
    parameters: {test: oltp_point_select, tables: 1, table_size: 1000}
    storm: {base: 16, factors: [1, 10, 20]}
  - tool: failover
    parameters: {fault: kill_writer, fault_at: 2, baseline_seconds: 1}
    systems: [galera]
    duration: 12
"""


@pytest.fixture
def stack(seeded: Stack, lab_directory: Path, mariadb: MariaDB, galera: Galera) -> Iterator[Stack]:
    """Its two systems are measured side by side, each by its own agent."""
    cluster = (lab_directory / "agent.d" / f"lab-{galera.slug}.toml").read_text()
    with seeded.agents(**described({"single": mariadb}, {"single": {}}), cluster=cluster) as running:
        yield running


def test_a_campaign_file_runs_to_its_end_on_real_systems(stack: Stack, tmp_path: Path) -> None:
    file = tmp_path / "articles.yaml"
    file.write_text(STUDY)
    stack.wait_for_systems("single", "galera")
    assert "5 jobs, 9 runs" in stack.manage("campaign", "check", str(file))
    said = stack.manage("campaign", "start", str(file), "--wait")
    assert "done: 5 of 5 jobs, 7 of 7 runs, 2 refused or not run" in said.splitlines()[-1], said
    campaign = Campaign.objects.get()
    assert set(campaign.jobs.values_list("state", "attempt")) == {("succeeded", 1)}
    _check_storm(campaign)
    _check_failover()
    with open_page(stack.url) as page:
        page.goto(f"/campaigns/{campaign.pk}/")
        expect(page.locator("h1 [data-state=done]")).to_be_visible()
        assert page.locator(".plan-table .sign--succeeded").count() == 5
        expect(page.locator("[data-state=not-included]")).to_be_visible()
        assert page.get_by_role("link", name="Open the comparison").count() == 2


def _check_storm(campaign: Campaign) -> None:
    """MariaDB takes 151 connections: at 160 some are refused, and 320 are not tried."""
    for job in campaign.jobs.filter(workload__tool="sysbench_oltp"):
        (skip,) = job.skips.all()
        assert skip.load_level.threads == 320
        assert re.fullmatch(r"not run: \d+ connections were refused at 160 threads", skip.reason)


def _check_failover() -> None:
    """The phases are there, and the outage is that of the raw log; nothing that was acknowledged is lost."""
    run = eventually(
        Run.objects.filter(workload__tool="failover", state="sealed").first, what="the run is sealed", seen=progress
    )
    values = dict(run.measurements.values_list("metric__key", "value"))
    assert values["failover.acknowledged_missing"] == values["failover.duplicated"] == 0
    assert {"failover.detect", "failover.client_recovered", "failover.rejoin"} <= {
        key for key in values if values[key] > 0
    }
    raw = artifacts.read_artifact(run.artifacts.get(name="failover.jsonl"))
    assert raw.startswith(b'{"kind":"begin","tool":"failover"')
    lines = lines_of(raw)
    (struck,) = (line["from"] for line in lines if line.get("event") == "fault")
    ends = sorted(insert["end"] for insert in inserts_of(lines) if insert["ok"] and "after_load" not in insert)
    begun, ended = max(((a, b) for a, b in pairwise(ends) if b > struck), key=lambda gap: gap[1] - gap[0])
    assert values["failover.outage"] == pytest.approx(ended - begun, abs=1e-3)
    (fault,) = run.events.filter(kind="fault")
    (outage,) = run.events.filter(kind="outage")
    assert outage.ends_at is not None
    assert outage.ends_at - outage.starts_at == pytest.approx(ended - begun, abs=1e-3)
    assert outage.starts_at - fault.starts_at == pytest.approx(begun - struck, abs=1e-3)
    (recovered,) = run.events.filter(kind="recovered")
    assert recovered.node != fault.node
