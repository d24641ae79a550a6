"""A release that is slower than the one before it: measured, found, reviewed by two people, held up by the gate and let
through once it is accepted.

The slower release is a stand-in, and its version says so: the same MariaDB, which logs every statement, flushes each
log at each commit, and lets each commit wait for company that never comes. However busy the machine is, its clients
then commit a fraction of what the others do.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from apps.regressions.models import Change, Finding
from apps.runs.models import Run
from lab.mariadb import MariaDB
from splashboard import cli
from tests.e2e.stack import Stack, described, progress
from tests.support.browser import follow, open_page
from tests.support.builders import a_token, a_user
from tests.support.databases import StartMariaDB
from tests.support.waiting import LIMIT, eventually

pytestmark = [pytest.mark.mariadb, pytest.mark.browser]

REPETITIONS, THREADS = 5, 4
CURRENT = {"innodb_flush_log_at_trx_commit": "0"}
SLOWED = {
    "innodb_flush_log_at_trx_commit": "1",
    "log_bin": "binlog",
    "sync_binlog": "1",
    "binlog_commit_wait_count": "1000",
    "binlog_commit_wait_usec": "300000",  # longer than any commit of the others takes, however busy the machine
    "general_log": "1",
    "slow_query_log": "1",
    "long_query_time": "0",
}
# Without a warm-up, whose end a histogram may count on either side, each run has all percentiles.
CAMPAIGN = f"""
name: The release and a slowed stand-in for the next one
systems: [current, slowed]
repetitions: {REPETITIONS}
warmup: 0
duration: 2
load_levels: [{THREADS}]
workloads:
  - tool: sysbench_oltp
    parameters: {{test: oltp_write_only, tables: 2, table_size: 2000}}
"""
TIMEOUT = 2 * LIMIT  # s, for ten runs of 2 s


@pytest.fixture
def servers(start_mariadb: StartMariaDB) -> dict[str, MariaDB]:
    current = start_mariadb(**CURRENT)
    version = current.sql("SELECT VERSION()").strip()
    numbers = [int(each) for each in re.findall(r"\d+", version)[:3]]
    later = ".".join(map(str, [*numbers[:2], numbers[2] + 1]))
    return {"current": current, "slowed": start_mariadb(version=f"{later}-MariaDB-slowed-stand-in", **SLOWED)}


@pytest.fixture
def stack(seeded: Stack, servers: dict[str, MariaDB]) -> Iterator[Stack]:
    with seeded.agents(**described(servers, {"current": CURRENT, "slowed": SLOWED})) as running:
        running.wait_for_systems(*servers)
        yield running


def test_a_slower_release_is_found_reviewed_by_two_people_and_passes_the_gate_once_it_is_accepted(
    stack: Stack, servers: dict[str, MariaDB], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = a_user(username="alice"), a_user(username="bob")
    monkeypatch.setenv("SPLASHBOARD_URL", stack.url)
    monkeypatch.setenv("SPLASHBOARD_TOKEN", a_token(alice, "release pipeline")[1])
    plan = tmp_path / "campaign.yaml"
    plan.write_text(CAMPAIGN)
    version = servers["slowed"].sql("SELECT VERSION()").strip()
    gate = ["gate", "--platform", "mariadb", "--release", version]

    assert cli.main([*gate, "--hardware", "test-machine"]) == 2, "the gate cannot tell of what nobody measured"
    assert cli.main(["campaign", str(plan), "--wait", "--timeout", str(TIMEOUT)]) == 0
    finding = _wait_for_finding()
    assert Run.objects.filter(state="sealed", outcome="succeeded").count() == 2 * REPETITIONS
    changes = {
        change.metric.key: change
        for change in finding.changes.filter(gone_at=None).select_related("metric")
        if change.metric
    }
    assert {"client.throughput", "client.latency.p95"} <= changes.keys()
    change = changes["client.throughput"]
    assert change.high is not None
    assert change.high < 1
    assert (len(change.runs_before), len(change.runs_after)) == (REPETITIONS, REPETITIONS)
    assert cli.main([*gate, "--output", str(tmp_path / "gate.xml"), "--output", str(tmp_path / "gate.md")]) == 1
    assert f'failures="{len(changes)}"' in (tmp_path / "gate.xml").read_text()
    assert version in (tmp_path / "gate.md").read_text()

    evidence: dict[str, Any] = httpx.get(f"{stack.url}/api/v1/findings/{finding.pk}/evidence", timeout=LIMIT).json()
    costs = {each["metric"]: each for each in evidence["work"]}
    assert (costs["work.binlog"]["before"], costs["work.binlog"]["words"]) == (0, "worse")
    # What makes each commit wait, before what follows from it.
    assert evidence["causes"][0]["words"] == "binlog_commit_wait_count 0 → 1000"
    assert evidence["causes"][0]["words"] in evidence["use_sentence"]
    assert "sync_binlog" in {each["label"] for each in evidence["settings"] if not each["hidden"]}

    with open_page(stack.url) as page:
        stack.sign_in(page, alice.username)
        _confirm(page, finding)
    with open_page(stack.url) as page:
        stack.sign_in(page, bob.username)
        _accept(page, finding)
    finding.refresh_from_db()
    assert (finding.state, finding.owner) == ("accepted", alice)
    assert [note.by for note in finding.notes.filter(what="state")] == [alice, bob]

    assert cli.main([*gate]) == 0
    check: dict[str, Any] = httpx.get(
        f"{stack.url}/api/v1/release-checks/", params={"platform": "mariadb", "release": version}, timeout=LIMIT
    ).json()
    assert check["result"] == "fine"
    # A deadlock now and then is a row of its own, which is not worse.
    rows = [row for row in check["rows"] if row["metric"] != "client.errors" or row["verdict"] == "worse"]
    assert {row["metric"] for row in rows} == changes.keys()
    assert {(row["verdict"], row["is_accepted"]) for row in rows} == {("worse", True)}


def _wait_for_finding() -> Finding:
    """The last look at the release has all runs of both sides."""

    def whole() -> Finding | None:
        found = Finding.objects.filter(kind="change", verdict="worse").first()
        # One that fewer runs showed and all together do not is gone, with those runs.
        changes = found.changes.filter(gone_at=None) if found else ()
        sizes = {len(runs) for change in changes for runs in (change.runs_before, change.runs_after)}
        return found if sizes == {REPETITIONS} else None

    fields = (
        "kind",
        "metric__key",
        "verdict",
        "before",
        "after",
        "low",
        "high",
        "runs_before",
        "runs_after",
        "gone_at",
    )
    return eventually(
        whole,
        what="a finding of all runs",
        seen=lambda: f"{list(Finding.objects.values())}, {list(Change.objects.values(*fields))}, {progress()}",
    )


def _confirm(page: Page, finding: Finding) -> None:
    """By keys, from the list."""
    page.goto("/findings/")
    row = page.locator(f"tr[data-finding='{finding.pk}']")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(row.locator("[data-label=Owner]")).to_have_text("alice")
    page.keyboard.press("c")
    expect(row.locator("[data-label=State]")).to_have_text("confirmed")


def _accept(page: Page, finding: Finding) -> None:
    page.goto("/findings/")
    page.locator(f"tr[data-finding='{finding.pk}'] a").first.click()
    page.locator("details:has(#accept) summary").click()
    page.locator("#accept-reason").fill("each commit is durable now, as we want it")
    page.locator("#accept-until").fill("2099-12-31")
    follow(page.get_by_role("button", name="Accept", exact=True))
    expect(page.locator(".page-head[data-state=accepted]")).to_be_visible()
