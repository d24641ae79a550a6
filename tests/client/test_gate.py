"""The release gate against a real server: exit codes and what is printed and written."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from apps.regressions import look
from apps.regressions.models import Finding
from splashboard import gate, junit, table
from tests.client.answers import a_check, a_row
from tests.client.conftest import Command, FakeServer
from tests.regressions.releases.released import (
    NEW,
    OLD,
    STEADY,
    a_release,
    a_system_of,
    measure,
    the_hardware,
    two_releases,
)
from tests.support.builders import a_workload

LIVE = pytest.mark.django_db(transaction=True)
GATE = ("--platform", "mariadb", "--release", NEW)


@LIVE
def test_a_regression_is_1_until_it_is_accepted_then_0(engineer: Command, tmp_path: Path) -> None:
    old, new = two_releases()
    for system in (old, new):
        measure(system, workload=a_workload("oltp_read_only"))
    look.compare(a_release(NEW), the_hardware())
    finding = Finding.objects.get()

    report, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    found = engineer("gate", *GATE, "--output", report, "--output", summary)
    assert found.code == 1, found.err
    head, why, *_ = found.out.splitlines()
    assert (head, why) == (f"MariaDB {NEW} against {OLD} on small: regression", "  1 row is worse.")
    (row,) = [line for line in found.out.splitlines() if line.startswith("▼ worse")]
    assert "oltp_write_only" in row
    assert "     1,000       880  <0.001  0.880 [" in row
    assert f"finding {finding.pk}, new" in row
    assert "Not shown (--all): 1 unchanged." in found.out
    assert summary.read_text().startswith("**✗ MariaDB")
    (suite,) = ET.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")

    assert engineer("compare", *GATE, "--format", "markdown").out == summary.read_text()
    document = json.loads(engineer("compare", *GATE, "--format", "json").out)
    assert document["result"] == "regression"

    Finding.objects.update(state="accepted", reason="known", accepted_until="2099-01-01")
    accepted = engineer("gate", *GATE, "--baseline", OLD, "--hardware", "small", "--all")
    assert accepted.code == 0
    assert "= unchanged" in accepted.out


@LIVE
def test_what_is_missing_or_too_little_is_2_unless_it_is_allowed(engineer: Command) -> None:
    old, new = two_releases(after=STEADY[::-1])
    measure(old, workload=a_workload("oltp_read_only"))
    missing = engineer("gate", *GATE)
    assert missing.code == 2
    assert "? missing" in missing.out
    assert engineer("gate", *GATE, "--allow-missing").code == 0
    measure(new, (1000.0,), workload=a_workload("oltp_read_only"))
    assert engineer("gate", *GATE, "--allow-missing").code == 2

    a_system_of("10.11.21")
    unknown = engineer("gate", "--platform", "mariadb", "--release", "9.9", "--baseline", "8")
    assert unknown.code == 4
    assert "  release: MariaDB has no release '9.9' (there are: " in unknown.err
    assert engineer("gate", *GATE, "--tolerance", "7").code == 4


def test_a_result_that_it_does_not_know_tells_nothing() -> None:
    assert gate.exit_of({"result": "fine, mostly"}) == 2


def test_every_row_is_a_test_and_only_a_known_verdict_passes() -> None:
    rows = [
        a_row("worse", ratio=0.5, low=0.4, high=0.6, unit="1/s", before=10.0, after=5.0, runs_after=[3, 4]),
        a_row("worse", is_accepted=True),
        a_row("better"),
        a_row("missing", reason="the release has no runs\x1b"),
        a_row("inconclusive", is_coarse=True, needed=1001),
        a_row("inconclusive"),
    ]
    (suite,) = ET.fromstring(junit.document(a_check(*rows)))
    cases = suite.findall("testcase")
    outcomes = [next((each for each in ("failure", "skipped") if case.find(each) is not None), "") for case in cases]
    assert outcomes == ["failure", "", "", "skipped", "skipped", ""]
    failure, missing, coarse = cases[0].find("failure"), cases[3].find("skipped"), cases[4].find("skipped")
    assert failure is not None
    assert failure.get("message") == "worse; 0.500 [0.400, 0.600]"
    assert "after: 5.00 1/s, runs 3, 4" in (failure.text or "")
    assert missing is not None
    assert missing.get("message") == "missing; no ratio; the release has no runs"
    assert coarse is not None
    assert "more than 1,000 repetitions per side" in coarse.get("message", "")


def test_a_report_without_rows_is_not_one_without_tests() -> None:
    (suite,) = ET.fromstring(junit.document(a_check(why=["There is nothing to compare."])))
    assert (suite.get("tests"), suite.get("skipped")) == ("1", "1")


def test_numbers_have_three_digits_and_no_ratio_stands_without_its_interval() -> None:
    assert [table.number(value) for value in (None, 12345.6, 100.2, 12.0, 0.00123)] == [
        *("no runs", "12,346", "100", "12.0"),
        "0.00123",
    ]
    assert table.ratio(a_row(ratio=0.9)) == "no interval"


def test_a_file_is_written_whole_or_not_at_all(command: Command, fake: FakeServer, tmp_path: Path) -> None:
    fake.answers = [(200, {}, json.dumps(a_check(a_row())).encode())]
    wanted = ("gate", "--platform", "a", "--release", "b", "--url", fake.url, "--output")
    said = command(*wanted, tmp_path / "no folder" / "gate.json")
    assert (said.code, said.out) == (3, "")
    assert "cannot be written: No such file or directory" in said.err
    assert command(*wanted, tmp_path / "result.log", "--format", "json").code == 2
    assert json.loads((tmp_path / "result.log").read_text())["result"] == "cannot tell"
    assert [file.name for file in tmp_path.iterdir()] == ["result.log"]
