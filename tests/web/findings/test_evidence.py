"""What a finding's page makes of failed checks and of changes that were found together."""

import pytest
from django.test import Client

from apps.regressions.models import Finding
from apps.runs.models import Run
from tests.support.pages import data, elements
from tests.web.findings.found import a_finding
from tests.web.findings.test_findings import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def finding(db: None) -> Finding:
    return a_finding()


def test_a_finding_says_what_failed_checks_make_of_its_verdict(finding: Finding, engineer: Client) -> None:
    """Slower after: what held the faster side back before makes the loss a lower bound."""
    assert data(page(engineer, f"/findings/{finding.pk}/"), "limit") == []
    Run.objects.filter(system__slug="mariadb-10-11-19").update(failed_checks=["generator"])
    assert data(page(engineer, f"/findings/{finding.pk}/"), "limit") == ["lower bound"]
    Run.objects.update(failed_checks=["happened"])
    (limit,) = elements(page(engineer, f"/findings/{finding.pk}/"), "[data-limit]")
    assert limit.text().startswith("Not usable: ")


def test_changes_found_one_after_another_are_one_entry(finding: Finding, engineer: Client) -> None:
    for test in ("oltp_insert", "oltp_delete"):
        assert a_finding(test).pk == finding.pk
    (entry,) = elements(page(engineer, f"/findings/{finding.pk}/"), "[data-what=found]")
    assert "3 changes" in entry.text()
