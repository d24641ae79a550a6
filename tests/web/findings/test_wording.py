"""Texts of the findings pages."""

from dataclasses import replace

import pytest
from django.utils import timezone

from apps.regressions.findings.queries import load_finding
from apps.regressions.findings.values import FindingDetail
from apps.web.findings.forms import AcceptForm, UnlinkForm
from apps.web.findings.wording import change_answer, lede, list_answer
from tests.web.findings.found import a_finding

NONE = dict.fromkeys(("new", "under review", "confirmed", "verify"), 0)


@pytest.fixture
def detail(db: None) -> FindingDetail:
    found = load_finding(a_finding().pk, now=timezone.now())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({}, "Nothing is open."),
        ({"verify": 2}, "Nothing is open; 2 to verify: the change is no longer seen."),
        ({"new": 2, "confirmed": 1, "verify": 1}, "3 open findings: 2 new, 1 confirmed; 1 to verify."),
    ],
)
def test_the_list_says_how_many_are_open(counts: dict[str, int], text: str) -> None:
    assert list_answer(NONE | counts, []) == text


def test_the_list_names_the_largest_deterioration(detail: FindingDetail) -> None:
    row, counts = detail.row, NONE | {"new": 1}
    assert list_answer(counts, [row]) == f"1 open finding: 1 new. The largest deterioration: {row.title}."
    better = replace(row, verdict="better")
    assert list_answer(counts, [better]) == "1 open finding: 1 new; none of those shown is a deterioration."


def test_the_lede_names_both_releases_the_hardware_and_the_tool(detail: FindingDetail) -> None:
    assert lede(detail) == "MariaDB 10.11.20 against 10.11.19 on small, workloads of sysbench."


def test_the_lede_of_missing_results_names_the_schedule(detail: FindingDetail) -> None:
    schedule = replace(detail.row.release, name="nightly") if detail.row.release else None
    missing = replace(detail, row=replace(detail.row, kind="missing", schedule=schedule))
    assert lede(missing) == "Results that the schedule nightly did not deliver."


def test_a_change_is_given_with_its_interval_its_runs_and_its_corrected_p(detail: FindingDetail) -> None:
    (change,) = detail.changes
    where = "Throughput of oltp_write_only at 4 threads"
    size = "−12\xa0%\xa0[−14\xa0%, −10\xa0%]: 1,000\xa0transactions/s → 880\xa0transactions/s"
    runs = "5 against 5 runs, p 0.0004"
    assert change_answer(change) == f"{where}: {size}; {runs} corrected for all tests of the release"
    assert change_answer(replace(change, kind="history", p=1e-6)).endswith("p < 0.0001 within its trend")
    assert change_answer(replace(change, ratio=None, reason="no agent")).endswith("4 threads: no agent")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("soon", "'soon' is not a date (write it as 2026-12-31)"),
        ("2026-02-31", "'2026-02-31' is not a date (write it as 2026-12-31)"),
        ("", "is missing (write it as 2026-12-31)"),
    ],
)
def test_a_date_is_refused_with_how_to_write_it(given: str, problem: str) -> None:
    assert AcceptForm({"until": given}).errors["until"] == [problem]


def test_a_number_may_be_written_as_findings_are_named() -> None:
    assert UnlinkForm({"link": " #12 "}).errors == {}
    assert UnlinkForm({"link": "twelve"}).errors["link"] == ["'twelve' is not a number (write it in digits)"]
