"""A step in the trend of which the comparison of the releases cannot judge: every page says so, and why."""

import dataclasses

import pytest
from django.test import Client

from apps.regressions.findings import repeat, review
from apps.regressions.models import Finding
from apps.regressions.releases import check as releases_check
from apps.regressions.releases import stored_checks
from apps.regressions.releases.values import CheckRow, ReleaseCheck, RowVerdict
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.builders import a_metric
from tests.support.pages import element, elements, text

pytestmark = pytest.mark.django_db
OLD, NEW = "11.4.1", "11.4.2"


@pytest.fixture
def step(db: None) -> Finding:
    """Two releases of twelve runs each, each measured in one session, the second slower by 15 %."""
    numbers = values(runs=24, changes=[(12, 0.85)])
    runs = [*runs_of(a_release(OLD), numbers[:12]), *runs_of(a_release(NEW), numbers[12:], day=2)]
    (finding,) = followed(runs[-1:])
    assert [change.kind for change in finding.changes.all()] == ["history"]
    return finding


def compared() -> ReleaseCheck:
    system = a_release(NEW)
    check = releases_check.check(system.release, system.hardware_class)
    stored_checks.keep(check)
    return check


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_the_row_of_the_release_links_the_finding_and_says_why_its_word_differs(client: Client, step: Finding) -> None:
    (row,) = compared().rows
    assert (row.verdict, row.finding) == (RowVerdict.ONE_SESSION, None)
    html = page(client, f"/releases/mariadb/{NEW}/")
    assert element(html, "[data-step] a").attributes["href"] == f"/findings/{step.pk}/"
    assert text(html, "[data-step]") == (
        f"Finding {step.pk}, new: worse; the finding judges a step in the trend of one configuration, over the runs on "
        "both sides of it; the row compares sessions of two releases, and each side has one"
    )


def test_the_finding_links_the_comparison_of_the_releases_and_says_why_its_word_differs(
    client: Client, step: Finding
) -> None:
    assert elements(page(client, f"/findings/{step.pk}/"), "[data-other-word]") == []
    (row,) = compared().rows
    html = page(client, f"/findings/{step.pk}/")
    said = text(html, "[data-other-word]")
    why = " ".join(row.reason.split())
    assert said.startswith(f"The comparison of the releases has “one session each” for it ({why}): ")
    assert "each side has one; the finding judges a step in the trend" in said
    address = str(element(html, "[data-other-word] a").attributes["href"])
    assert element(page(client, address), f"[data-step='{step.pk}']")


def test_a_change_that_holds_needs_no_repetitions_for_a_verdict(step: Finding) -> None:
    """Neither by rows of other metrics, nor by its own: that lacks sessions."""
    check = compared()
    (row,) = check.rows
    other: CheckRow = dataclasses.replace(
        row, metric_id=a_metric("client.latency.p99").pk, verdict=RowVerdict.INCONCLUSIVE, needed=186, sessions=None
    )
    stored_checks.keep(dataclasses.replace(check, rows=(row, other)))
    plan = review.plan_of(step.pk)
    assert (plan.repetitions, plan.why) == (
        repeat.MOST,
        "at most 10 at once; 12 would be as many as the smaller side has; the comparison of the releases lacks "
        "sessions, not runs, and this campaign is one more of each side",
    )
