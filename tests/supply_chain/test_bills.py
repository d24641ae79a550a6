"""Bills of materials list what the locks list."""

import json
import re
from pathlib import Path

from config.supply_chain import bills, licences
from tests.paths import ROOT


def test_bills_list_every_package_of_the_locks_in_cyclonedx(tmp_path: Path) -> None:
    server, pages = (json.loads(path.read_text()) for path in bills.write(tmp_path))
    assert {server["bomFormat"], pages["bomFormat"]} == {"CycloneDX"}
    locked = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements-server.txt").read_text(), re.MULTILINE)
    assert len(locked) > 50
    assert {(each["name"], each["version"]) for each in server["components"]} == set(locked)
    assert all(each.get("hashes") or each.get("externalReferences") for each in server["components"])
    assert {"htmx.org", "plotly.js-basic-dist-min"} <= {each["name"] for each in pages["components"]}
    assert not {"eslint", "vitest"} & {each["name"] for each in pages["components"]}


def test_licences_of_every_package_are_known_to_their_check() -> None:
    assert len(list(licences.of_python())) > 50
    assert len(list(licences.of_npm())) > 50


def test_a_licence_that_is_not_listed_is_named() -> None:
    assert licences.unknown("some", "MIT AND AGPL-3.0-only") == {"AGPL-3.0-only"}
    assert licences.unknown("certifi", "Mozilla Public License 2.0 (MPL 2.0)") == set()
    assert licences.unknown("some", "MPL-2.0") == {"MPL-2.0"}
