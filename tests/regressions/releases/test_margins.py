"""Margins of the gate: by workload and metric, named in the answer, frozen into what is stored."""

from typing import Any

import pytest
from django.test import Client

from apps.core.problems import Invalid
from apps.regressions import thresholds
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.look import compare
from apps.regressions.models import CheckedRelease, Pending
from apps.regressions.releases import check, stored_checks
from apps.regressions.releases.values import ReleaseCheck, Result, RowVerdict, answer
from splashboard import junit
from tests.regressions.releases.released import NEW, OLD, STEADY, a_release, a_row, the_hardware, two_releases
from tests.support.builders import a_user, a_workload

THROUGHPUT = "client.throughput"


def keep(margin: float | None, **fields: Any) -> None:
    given = {"workload": None, "metric": None, "smallest": 0.005, "significant": DEFAULT_LIMITS.significant, **fields}
    thresholds.keep(margin=margin, by=a_user(), **given)


def checked() -> ReleaseCheck:
    return check.check(a_release(NEW), the_hardware())


@pytest.mark.django_db
def test_the_most_particular_margin_counts_also_below_a_threshold_without_one() -> None:
    workload, metric = a_workload(), a_workload().primary_metric
    assert thresholds.every().margin(workload.pk, metric.pk) is None
    keep(0.1)
    keep(0.03, metric=metric.key)
    assert thresholds.every().margin(workload.pk, metric.pk) == 0.03
    keep(0.05, workload=workload.pk)
    keep(None, workload=workload.pk, metric=metric.key)
    found = thresholds.every()
    assert (found.margin(workload.pk, metric.pk), found.margin(workload.pk + 1, metric.pk + 1)) == (0.05, 0.1)
    # Latency and work vary more than what a workload's margin is meant for.
    assert found.margin(workload.pk, metric.pk, primary=False) == 0.03
    assert found.margin(workload.pk, metric.pk + 1, primary=False) is None


@pytest.mark.parametrize("verdict", [RowVerdict.INCONCLUSIVE, RowVerdict.UNCHANGED])
def test_a_row_that_may_be_worse_by_more_than_its_own_margin_cannot_tell(verdict: RowVerdict) -> None:
    rows = [a_row(RowVerdict.UNCHANGED, worst=0.01), a_row(verdict, worst=0.04, margin=0.03)]
    result, why = answer(rows, baseline=OLD, tolerance=0.1)
    assert (result, why[0]) == (
        Result.CANNOT_TELL,
        "1 row is inconclusive, and may be worse by more than 3\u00a0%.",
    )
    rows[1] = a_row(verdict, worst=0.04, margin=0.05)
    result, why = answer(rows, baseline=OLD, tolerance=0.1)
    assert result is Result.FINE
    assert "at most 4\u00a0% (margin 5\u00a0%), 1\u00a0% (margin 10\u00a0%), " in why[0]


@pytest.mark.django_db
def test_a_margin_changed_later_leaves_the_stored_answer_and_judges_the_next() -> None:
    two_releases(after=STEADY[::-1])
    compare(a_release(NEW), the_hardware())
    row = CheckedRelease.objects.get()
    before = stored_checks.load(CheckedRelease.objects.all())[0]
    keep(0.0001, metric=THROUGHPUT)
    keep(0.0002, metric=THROUGHPUT)
    assert not Pending.objects.exists()
    after = stored_checks.load(CheckedRelease.objects.all())[0]
    assert (after.check, after.fingerprint) == (before.check, before.fingerprint)
    assert (before.check.result, checked().result) == (Result.FINE, Result.CANNOT_TELL)
    compare(a_release(NEW), the_hardware())
    row.refresh_from_db()
    now = stored_checks.load(CheckedRelease.objects.all())[0]
    assert (row.result, now.check.rows[0].margin) == ("cannot tell", 0.0002)
    assert now.fingerprint != before.fingerprint


@pytest.mark.django_db
def test_the_gates_answer_and_its_junit_name_the_margin(client: Client) -> None:
    two_releases(after=STEADY[::-1])
    keep(0.04, workload=a_workload().pk)
    document = client.get(f"/api/v1/release-checks/?platform=mariadb&release={NEW}").json()
    assert [row["margin"] for row in document["rows"]] == [0.04]
    assert "(margin 4\u00a0%)" in document["why"][0]
    text = junit.document(document)
    assert "margin 4 %" in text
    assert '<property name="tolerance" value="0.1" />' in text
    assert 'skipped="0"' in text
    keep(0.0001, workload=a_workload().pk)
    document = client.get(f"/api/v1/release-checks/?platform=mariadb&release={NEW}").json()
    assert (document["result"], document["rows"][0]["is_coarse"]) == ("cannot tell", True)
    assert 'skipped="1"' in junit.document(document)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("margin", "metric", "sentence"),
    [
        (0, None, "margin: is a share above 0 and at most 1 (0.05 lets rows pass that may be worse by up to 5 %)"),
        (1.5, None, "margin: is a share above 0 and at most 1 (0.05 lets rows pass that may be worse by up to 5 %)"),
        (
            float("nan"),
            None,
            "margin: is a share above 0 and at most 1 (0.05 lets rows pass that may be worse by up to 5 %)",
        ),
        (0.1, "client.errors", "margin: client.errors has none: it passes unless more for certain (leave it out)"),
    ],
)
def test_what_is_no_margin_is_refused_by_its_field(margin: float, metric: str | None, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        keep(margin, metric=metric)
    assert str(refused.value) == sentence
