"""Advisories of locked packages: found, accepted until a day, or not to be had."""

import json
from datetime import date

import pytest

from config.supply_chain import advisories
from config.supply_chain.accepted import AcceptedAdvisory
from config.supply_chain.advisories import NoAdvisories

TODAY = date(2026, 12, 1)
# As `pip-audit --format json` and `npm audit --json` print them, shortened.
PYTHON = {
    "dependencies": [
        {"name": "sound", "version": "1.0", "vulns": []},
        {
            "name": "holed",
            "version": "2.0",
            "vulns": [
                {"id": "PYSEC-2026-1", "fix_versions": ["2.1"], "aliases": ["CVE-2026-1"], "description": "It leaks."}
            ],
        },
        {"name": "private", "skip_reason": "Dependency not found on PyPI and could not be audited: private (3.0)"},
    ],
    "fixes": [],
}
NPM = {
    "auditReportVersion": 2,
    "vulnerabilities": {
        "holed": {
            "name": "holed",
            "severity": "high",
            "via": [
                {
                    "source": 1,
                    "name": "holed",
                    "title": "It loops",
                    "url": "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
                    "severity": "high",
                    "range": "<2.1.0",
                }
            ],
        },
        "uses-holed": {"name": "uses-holed", "severity": "high", "via": ["holed"]},
    },
}


def test_a_known_vulnerability_of_a_python_package_is_found_with_its_remedy() -> None:
    found = advisories.of_python(json.dumps(PYTHON), "Found 1 known vulnerability in 1 package")
    assert [str(each) for each in found] == ["holed 2.0: CVE-2026-1, PYSEC-2026-1; fixed in 2.1"]


def test_a_known_vulnerability_of_an_npm_package_is_found_once() -> None:
    found = advisories.of_npm(json.dumps(NPM), "")
    assert [str(each) for each in found] == ["holed <2.1.0: GHSA-aaaa-bbbb-cccc; high: It loops"]


@pytest.mark.parametrize(
    ("package", "known", "until", "is_left"),
    [
        ("holed", "CVE-2026-1", TODAY, False),
        ("holed", "PYSEC-2026-1", date(2026, 12, 31), False),
        ("holed", "CVE-2026-1", date(2026, 11, 30), True),  # its day is over
        ("holed", "CVE-2026-2", date(2026, 12, 31), True),
        ("other", "CVE-2026-1", date(2026, 12, 31), True),
    ],
)
def test_an_advisory_is_accepted_by_package_and_id_until_its_day(
    package: str, known: str, until: date, is_left: bool
) -> None:
    found = advisories.of_python(json.dumps(PYTHON), "")
    but = [AcceptedAdvisory(package, known, "not called", until)]
    assert bool(advisories.unaccepted(found, but, today=TODAY)) is is_left


@pytest.mark.parametrize(
    ("printed", "problem", "why"),
    [
        ("", "ERROR:pip_audit._cli:Could not connect to PyPI's vulnerability feed\n", "Could not connect"),
        (
            json.dumps({"dependencies": [PYTHON["dependencies"][2]]}),
            "No known vulnerabilities found\n",  # as pip-audit ends, where it found no package either
            "the package index has none of any package",
        ),
    ],
)
def test_an_index_without_advisories_is_a_reason_and_no_pass(printed: str, problem: str, why: str) -> None:
    with pytest.raises(NoAdvisories, match=why):
        advisories.of_python(printed, problem)


@pytest.mark.parametrize(
    ("printed", "problem", "why"),
    [
        (json.dumps({"message": "request to the registry failed", "error": {"summary": ""}}), "", "request to the"),
        (json.dumps({"error": {"code": "ENOAUDIT", "summary": "no such endpoint"}}), "", "ENOAUDIT"),
        ("", "npm error audit endpoint returned an error\n", "audit endpoint returned an error"),
    ],
)
def test_an_npm_registry_without_advisories_is_a_reason_and_no_pass(printed: str, problem: str, why: str) -> None:
    with pytest.raises(NoAdvisories, match=why):
        advisories.of_npm(printed, problem)
