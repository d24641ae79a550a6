"""What a finding rests on, for programs."""

import json

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.regressions.models import Change
from apps.runs.models import Artifact, Run
from apps.runs.storage import artifacts
from tests.support.builders import a_user
from tests.web.findings.found import BEFORE, a_finding


@pytest.fixture
def reader(db: None) -> APIClient:
    client = APIClient()
    client.force_authenticate(a_user(role="reader"))
    return client


def test_the_largest_change_is_shown_with_its_runs_and_what_the_servers_did(reader: APIClient) -> None:
    finding = a_finding()
    answer = reader.get(f"/api/v1/findings/{finding.pk}/evidence")
    assert answer.status_code == 200, answer.content
    document = answer.json()
    assert (
        document["use_sentence"] == "Throughput −12 %; Redo log: waits for the log buffer 0 → 340 waits/s (saturated)."
    )
    assert [run["value"] for run in document["runs"] if run["side"] == "before"] == list(BEFORE)
    (waits,) = document["use"]
    assert (waits["indicator"], waits["after"]["level"], waits["after"]["value"]) == (
        "redo_log.waits",
        "saturated",
        340,
    )
    assert "Release" in {each["label"] for each in document["settings"]}


def test_another_change_is_asked_for_by_its_id_and_one_elsewhere_is_refused(reader: APIClient) -> None:
    finding = a_finding()
    a_finding("oltp_insert", after=tuple(value / 2 for value in BEFORE))
    small = finding.changes.get(workload__name="oltp_write_only")
    url = f"/api/v1/findings/{finding.pk}/evidence"
    assert reader.get(url).json()["change"] != small.pk
    assert reader.get(url, {"change": small.pk}).json()["change"] == small.pk
    assert reader.get(url, {"change": 987654}).json()["errors"][0]["field"] == "change"
    assert reader.get("/api/v1/findings/987654/evidence").status_code == 404


def list_statements(run: Run, *, rows: int) -> None:
    """As the agent's file has them: of 600 executions in a minute."""
    counts = {
        "count": 600,
        "seconds": rows * (1 + run.pk % 7 / 100) / 25,
        "rows_examined": 600 * rows,
        **dict.fromkeys(("lock_seconds", "errors", "rows_affected", "rows_sent"), 0),
    }
    statement = {"schema": "bench", "digest": "d", "text": "SELECT `c` FROM `sbtest1` WHERE `k` = ? ", **counts}
    line = {"kind": "digests", "node": "db1", "from": 0.0, "to": 60.0, "total": counts, "statements": [statement]}
    content = json.dumps(line).encode()
    with transaction.atomic():
        sha256 = artifacts.keep(content)
        Artifact.objects.create(run=run, name="digests.jsonl", sha256=sha256, size=len(content))


def test_the_likeliest_cause_is_first_and_a_statement_that_examines_more_rows_before_the_resource(
    reader: APIClient,
) -> None:
    finding = a_finding()
    url = f"/api/v1/findings/{finding.pk}/evidence"
    for run in Run.objects.select_related("system"):
        list_statements(run, rows=1 if run.system.slug == "mariadb-10-11-19" else 1000)
    first, second, *_ = reader.get(url).json()["causes"]
    assert (first["kind"], second["kind"], second["key"]) == ("statement", "resource", "redo_log.waits")
    (statement,) = reader.get(url).json()["statements"]
    assert statement["statement"] == first["key"]
    assert statement["text"] == "select c from sbtestN where k=?"
    assert statement["share"] == 1
    assert (statement["rows_examined"]["before"], statement["rows_examined"]["after"]) == (1, 1000)
    assert statement["time"]["low"] < statement["time"]["ratio"] < statement["time"]["high"]
    assert first["explains"]


def test_the_queries_do_not_grow_with_the_runs(reader: APIClient) -> None:
    finding = a_finding()
    url = f"/api/v1/findings/{finding.pk}/evidence"
    for run in Run.objects.all():
        list_statements(run, rows=1)
    change = finding.changes.get()
    counts = []
    for least in (5, 3):
        Change.objects.filter(pk=change.pk).update(
            runs_before=change.runs_before[:least], runs_after=change.runs_after[:least]
        )
        with CaptureQueriesContext(connection) as queries:
            assert len(reader.get(url).json()["runs"]) == 2 * least
        counts.append(len(queries))
    assert counts[0] == counts[1]
