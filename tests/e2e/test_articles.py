"""The articles' study in a reduced form, for real: one file, two systems, a writer that dies, and no failed job."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from apps.dispatch.models import Campaign
from apps.runs import storage
from apps.runs.models import Run
from lab.galera import Galera
from lab.mariadb import MariaDB
from tests.browser import open_page
from tests.e2e.stack import Stack, everything

pytestmark = [
    pytest.mark.mariadb,
    pytest.mark.galera,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]

STUDY = """
name: the articles, reduced
systems: [single, galera]
repetitions: 1
duration: 2
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
SINGLE = """
[[systems]]
slug = "single"
name = "MariaDB, one server"
platform = "mariadb"
hardware_class = "test-machine"
host = "127.0.0.1"
port = {port}
user = "splashboard"
password_file = "{password_file}"

[[hardware]]
slug = "test-machine"
vcpu = 2
memory_mb = 4096
"""


@pytest.fixture
def stack(tmp_path: Path, var_folder: Path, lab_directory: Path, mariadb: MariaDB, galera: Galera) -> Iterator[Stack]:
    described = (lab_directory / "agent.d" / f"lab-{galera.slug}.toml").read_text()
    single = SINGLE.format(port=mariadb.port, password_file=mariadb.password_file)
    with everything(tmp_path, var_folder, local=f"{single}\n{described}") as running:
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
        expect(page.get_by_role("heading", level=1)).to_contain_text("done")
        assert page.locator(".plan-table .sign--succeeded").count() == 5
        expect(page.get_by_text("takes no part")).to_be_visible()
        assert page.get_by_role("link", name="Open the comparison").count() == 2


def _check_storm(campaign: Campaign) -> None:
    """MariaDB takes 151 connections: at 160 some are refused, and 320 are not tried."""
    for job in campaign.jobs.filter(workload__tool="sysbench_oltp"):
        (skip,) = job.skips.all()
        assert skip.load_level.threads == 320
        assert re.fullmatch(r"not run: \d+ connections were refused at 160 threads", skip.reason)


def _check_failover() -> None:
    """The phases are there, in their order, and nothing that was acknowledged is lost."""
    run = Run.objects.get(workload__tool="failover")
    values = dict(run.measurements.values_list("metric__key", "value"))
    assert values["failover.acknowledged_missing"] == values["failover.duplicated"] == 0
    assert 0 < values["failover.detect"] <= values["failover.client_recovered"]
    assert values["failover.rejoin"] > 0
    (fault,) = run.events.filter(kind="fault")
    (outage,) = run.events.filter(kind="outage")
    assert outage.ends_at is not None
    assert outage.starts_at <= fault.starts_at + 0.1 < outage.ends_at
    assert outage.ends_at - outage.starts_at == pytest.approx(values["failover.outage"], abs=0.051)
    raw = run.artifacts.get(name="failover.jsonl")
    assert storage.read_artifact(raw).startswith(b'{"kind":"begin","tool":"failover"')
