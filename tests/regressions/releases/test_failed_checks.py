"""What failed quality checks of its runs make of a row: not usable, or a limit that row and answer carry."""

from collections.abc import Sequence

import pytest
from django.test import Client

from apps.regressions.look import compare
from apps.regressions.models import Finding
from apps.regressions.releases import check
from apps.regressions.releases.markdown import markdown
from apps.regressions.releases.values import ReleaseCheck, Result, RowVerdict
from apps.runs.models import Run
from apps.web.releases.sheet import sheet
from splashboard import junit, table
from tests.regressions.releases.released import (
    NEW,
    OLD,
    SLOWER,
    STEADY,
    a_release,
    a_system_of,
    measure,
    the_hardware,
    two_releases,
)

pytestmark = pytest.mark.django_db
VOID = "Not usable (1 row): the servers did not do the work that the load generator counted; do not use the result."
UPPER = "the network was a limit; the servers differ at most this much, perhaps not at all."


def fail(key: str, version: str, *, runs: int = 3) -> None:
    chosen = Run.objects.filter(system__release__version=version).order_by("pk")[:runs]
    Run.objects.filter(pk__in=chosen).update(failed_checks=[key])


def checked() -> ReleaseCheck:
    return check.check(a_release(NEW), the_hardware())


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("after", [SLOWER, STEADY[::-1]])
def test_with_one_run_that_did_not_do_its_work_the_gate_cannot_tell(after: Sequence[float], version: str) -> None:
    two_releases(after=after)
    fail("happened", version, runs=1)
    found = checked()
    assert (found.rows[0].verdict, found.result) == (RowVerdict.VOID, Result.CANNOT_TELL)
    assert (found.summary, found.why, found.notes) == ("1 not usable", (VOID,), ())


def test_what_is_not_usable_is_no_finding() -> None:
    two_releases()
    fail("told", NEW, runs=1)
    assert compare(a_release(NEW), the_hardware()).result is Result.CANNOT_TELL
    assert not Finding.objects.exists()


def test_errors_count_whatever_checks_the_run_failed() -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    measure(old, metrics={"client.errors": 0.0}, duration=60)
    measure(new, STEADY[::-1], metrics={"client.errors": 23.0}, duration=60)
    fail("told", NEW)
    found = checked()
    verdicts = {row.metric: row.verdict for row in found.rows}
    assert verdicts == {"client.throughput": RowVerdict.VOID, "client.errors": RowVerdict.WORSE}
    assert found.result is Result.REGRESSION


def test_a_regression_of_runs_that_something_else_limited_says_what_it_is_worth() -> None:
    two_releases()
    fail("network", NEW)
    found = checked()
    assert (found.rows[0].verdict, found.result) == (RowVerdict.WORSE, Result.REGRESSION)
    assert found.why == ("1 row is worse.", f"Upper bound (1 row): {UPPER}")
    assert [limit.words for limit in found.rows[0].claim_limits] == [f"Upper bound: {UPPER}"]
    assert "Upper bound: the network was a limit" in sheet(found, {}).relevant[0].also
    text = markdown(found, link="", finding=str)
    assert "| worse (upper bound) |" in text
    assert f"- Upper bound (1 row): {UPPER}" in text


def test_fine_says_where_a_difference_may_be_hidden() -> None:
    two_releases(after=STEADY[::-1])
    fail("generator", OLD)
    fail("generator", NEW)
    found = checked()
    assert found.result is Result.FINE
    assert found.why[0].startswith("May hide a difference (1 row): the load generator ran short of CPU")


def test_a_check_that_a_minority_of_the_runs_failed_limits_nothing() -> None:
    two_releases()
    fail("network", NEW, runs=1)
    found = checked()
    assert (found.rows[0].claim_limits, found.why, found.notes) == ((), ("1 row is worse.",), ())


def test_api_junit_and_terminal_carry_what_limits_a_row(client: Client) -> None:
    two_releases()
    fail("network", NEW)
    address = f"/api/v1/release-checks/?platform=mariadb&release={NEW}"
    document = client.get(address).json()
    (limit,) = document["rows"][0]["claim_limits"]
    assert (limit["meaning"], limit["checks"], limit["failed"], limit["runs"]) == ("upper bound", ["network"], 3, 6)
    assert limit["words"] == f"Upper bound: {UPPER}"
    assert "Upper bound: the network was a limit" in junit.document(document)
    assert "Upper bound: the network was a limit" in table.text(document, every_row=False)
    fail("happened", NEW)
    document = client.get(address).json()
    assert (document["result"], document["rows"][0]["verdict"]) == ("cannot tell", "not usable")
    assert 'skipped="1"' in junit.document(document)
