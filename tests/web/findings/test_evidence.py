"""What a finding's page makes of failed checks and of changes that were found together."""

import pytest
from django.test import Client

from apps.catalog.models import System
from apps.regressions.models import Finding
from apps.runs.models import Run
from apps.use_method.models import UsePanel
from apps.use_method.panels.panels import to_json
from apps.use_method.resources import codes
from apps.use_method.values import Panel, Reading, UseLevel
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


def test_a_new_error_is_named_with_the_variable_that_its_remedy_names(finding: Finding, engineer: Client) -> None:
    System.objects.filter(slug="mariadb-10-11-20").update(settings={"innodb_snapshot_isolation": "ON"})
    for kept in UsePanel.objects.select_related("run__system"):
        is_after = kept.run.system.slug == "mariadb-10-11-20"
        words = f"3,000 × error 1020: changed, remedy: {codes.describe(1020).remedy}" if is_after else "none reported"
        level = UseLevel.ERROR if is_after else UseLevel.OK
        found = Reading("errors.conflict", "db1", level, 3000.0 if is_after else 0.0, words)
        kept.content = to_json(Panel((0.0, 60.0), (("db1", "writer"),), (found,)))
        kept.save()
    first, second = elements(page(engineer, f"/findings/{finding.pk}/"), "[data-cause]")[:2]
    assert first.text().split()[:4] == ["innodb_snapshot_isolation", "not", "set", "→"]
    assert "0 → 50.0 errors/s, error 1020 (error)" in " ".join(second.text().split())


def test_a_release_that_was_measured_after_the_other_is_told(finding: Finding, engineer: Client) -> None:
    address = f"/findings/{finding.pk}/"
    finding.changes.update(kind="release")
    assert elements(page(engineer, address), "[data-apart]")
    first = Run.objects.order_by("started_at")[0]
    Run.objects.filter(pk=first.pk).update(started_at=Run.objects.latest("started_at").started_at)
    assert not elements(page(engineer, address), "[data-apart]")


def test_the_likeliest_causes_stand_below_the_answer_five_at_most_each_with_its_row(
    finding: Finding, engineer: Client
) -> None:
    System.objects.filter(slug="mariadb-10-11-20").update(settings={"innodb_log_buffer_size": "1M"})
    html = page(engineer, f"/findings/{finding.pk}/")
    assert data(html, "cause")[:3] == ["setting", "resource", "setting"]
    assert data(html, "cause-key")[:2] == ["settings.innodb_log_buffer_size", "redo_log.waits"]
    assert not elements(html, "[data-use]")
    ids = {node.attributes["id"] for node in elements(html, "[id]")}
    targets = [(node.attributes["href"] or "")[1:] for node in elements(html, "[data-cause] a")]
    assert targets[:2] == ["setting-settings.innodb_log_buffer_size", "use-redo_log.waits@db1"]
    assert set(targets) <= ids
    assert len(elements(html, ".causes > ol > li")) <= 5


def test_where_nothing_points_to_a_cause_the_page_says_so(finding: Finding, engineer: Client) -> None:
    UsePanel.objects.all().delete()
    html = page(engineer, f"/findings/{finding.pk}/")
    (said,) = elements(html, "[data-use]")
    assert "Server metrics cannot be compared" in said.text()


def test_what_cannot_explain_the_change_stands_apart_from_the_likely_causes(finding: Finding, engineer: Client) -> None:
    """Throughput fell by 12 %; one operation in a hundred failed at once."""
    for kept in UsePanel.objects.select_related("run__system"):
        is_after = kept.run.system.slug == "mariadb-10-11-20"
        level = UseLevel.ERROR if is_after else UseLevel.OK
        words = "600 × error 1020: changed" if is_after else "none reported"
        readings = (
            Reading("redo_log.waits", "db1", UseLevel.SATURATED if is_after else UseLevel.OK, 9000.0 * is_after, ""),
            Reading("errors.conflict", "db1", level, 600.0 * is_after, words),
            Reading("errors.share", "db1", level, 1.0 * is_after, ""),
        )
        kept.content = to_json(Panel((0.0, 60.0), (("db1", "writer"),), readings))
        kept.save()
    html = page(engineer, f"/findings/{finding.pk}/")
    first = elements(html, ".causes > ol > li")[0]
    assert first.attributes["data-cause-key"] == "redo_log.waits"
    (apart,) = elements(html, "[data-besides] [data-cause=resource]")
    assert "at most 8\xa0% of the change" in apart.text()
