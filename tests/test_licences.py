"""What the server and the pages consist of may be used, changed and shared: licences as the packages state them."""

import json
import re
from importlib import metadata

from tests.paths import ROOT

FREE = {
    "MIT",
    "MIT-0",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "Apache-2.0",
    "ISC",
    "PSF-2.0",
    "Python-2.0",
    "Zlib",
}
FREE |= {"CC0-1.0", "BlueOak-1.0.0", "LLVM-exception"}
# Changes of their own files must be shared, ours not; each is used as it is.
THEIR_FILES = {
    "MPL-2.0": {"certifi", "orjson", "lightningcss", "axe"},
    "LGPL-3.0-only": {"psycopg", "psycopg-binary"},
}
# Stated by nothing but their file of it, whose first line this is.
BY_FILE = {"The MIT License (MIT)": "MIT"}
# Classifiers and free text of older packages -> SPDX.
SPELLED = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "BSD 3-Clause": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def unknown(name: str, stated: str) -> set[str]:
    """Licences of a package that are not allowed."""
    for words, licence in SPELLED.items():
        stated = stated.replace(words, licence)
    named = set(re.split(r"[\s()&]+|\bAND\b|\bOR\b|\bWITH\b", stated)) - {""}
    return {each for each in named - FREE if name not in THEIR_FILES.get(each, ())}


def stated_by(package: str) -> str:
    told = metadata.metadata(package)
    classifiers = [each.rpartition(" :: ")[2] for each in told.get_all("Classifier") or () if "License ::" in each]
    if "License-Expression" in told or not classifiers:
        stated = told["License-Expression" if "License-Expression" in told else "License"]
        return stated or by_file(package) or "none stated"
    return " & ".join(classifiers)


def by_file(package: str) -> str:
    files = (each for each in metadata.files(package) or () if each.name == "LICENSE")
    return next((BY_FILE.get(file.read_text().splitlines()[0], "") for file in files), "")


def test_every_package_of_the_server_has_a_licence_that_allows_its_use() -> None:
    names = re.findall(r"^([\w.-]+)==", (ROOT / "requirements-server.txt").read_text(), re.MULTILINE)
    assert len(names) > 50
    assert {name: found for name in names if (found := unknown(name, stated_by(name)))} == {}


def test_every_package_of_the_pages_has_a_licence_that_allows_its_use() -> None:
    packages = json.loads((ROOT / "frontend/package-lock.json").read_text())["packages"]
    names = {path.rpartition("node_modules/")[2]: each for path, each in packages.items() if path}
    assert len(names) > 50
    found = {name: unknown(name.split("-")[0], each.get("license", "none stated")) for name, each in names.items()}
    assert {name: licences for name, licences in found.items() if licences} == {}
