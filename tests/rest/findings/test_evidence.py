"""What a finding rests on, for programs."""

import pytest
from rest_framework.test import APIClient

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
