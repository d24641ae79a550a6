"""A failover and an ALTER that others measured, submitted: they stand where measured ones do, marked as submitted."""

from pathlib import Path

import pytest
from rest_framework.test import APIClient

from apps.catalog import services as catalog
from tests.rest.submissions import a_description, send
from tests.workers.agent.faults.test_measured_elsewhere import RECORDED, a_csv
from workers.agent.cli import main


@pytest.fixture(autouse=True)
def metrics(db: None) -> None:
    catalog.seed()


def test_a_failover_that_was_submitted_is_a_trial_on_failovers(
    engineer: APIClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attempts = a_csv(tmp_path, RECORDED["mha_kill9_source_run1"])
    assert main(["report", "failover", str(attempts), "--fault", "kill_writer", "--fault-at", "0", "--node", "r1"]) == 0
    workload = {"parameters": {"fault": "kill_writer", "rate": 20}}
    description = a_description(workload=workload, format="failover-report")
    answer = send(engineer, description, capsys.readouterr().out.encode())
    assert answer.status_code == 201, answer.content
    (group,) = engineer.get("/api/v1/failovers/").json()["groups"]
    assert (group["fault"], group["origins"]) == ("kill_writer", ["submitted"])
    assert group["interruption"]["median"] == pytest.approx(7.6, abs=0.1)
    assert group["counts"]["lost"] is None, "no table was read back"


def test_a_report_whose_check_failed_may_be_sent_again(
    engineer: APIClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attempts = a_csv(tmp_path, RECORDED["mha_kill9_source_run1"])
    assert main(["report", "failover", str(attempts), "--fault", "kill_writer", "--fault-at", "0", "--node", "r1"]) == 0
    check = b'{"kind":"check","check":"rows","label":"rows","held":false}\n'
    *before, last = capsys.readouterr().out.encode().splitlines(keepends=True)
    description = a_description(workload={"parameters": {"fault": "kill_writer", "rate": 20}}, format="failover-report")
    first, again = (send(engineer, description, b"".join(before) + check + last) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200), again.content
    assert again.json()["id"] == first.json()["id"]
    run = engineer.get(f"/api/v1/runs/{first.json()['id']}/").json()
    assert (run["outcome"], run["reason"]) == ("failed", "a check failed: rows")


def test_an_alter_that_was_submitted_stands_on_schema_changes(
    engineer: APIClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attempts = a_csv(tmp_path, RECORDED["ddl_toi_galera"])
    statement = "ALTER TABLE sbtest1 ADD COLUMN c INT, ALGORITHM=COPY"
    told = ["--statement", statement, "--from", "0", "--to", "7.5"]
    assert main(["report", "schema-change", str(attempts), *told]) == 0
    workload = {"parameters": {"operation": "add_column", "algorithm": "copy"}}
    description = a_description(workload=workload, format="schema-change-report")
    answer = send(engineer, description, capsys.readouterr().out.encode())
    assert answer.status_code == 201, answer.content
    (change,) = engineer.get("/api/v1/schema-changes/").json()["changes"]
    gap = next(found for found in change["ranges"] if found["quantity"]["key"] == "gap")
    assert gap["median"] == pytest.approx(7.6, abs=0.1)
    assert change["trials"][0]["provenance"] == "submitted"
