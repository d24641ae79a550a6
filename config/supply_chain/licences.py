"""Licences of the server's and the pages' packages, as these state them: `python -m config.supply_chain.licences`.

All may be used, changed and shared.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib import metadata

from config.launch import environment
from config.launch.places import FRONTEND

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
    about = metadata.metadata(package)
    classifiers = [each.rpartition(" :: ")[2] for each in about.get_all("Classifier") or () if "License ::" in each]
    if "License-Expression" in about or not classifiers:
        stated = about["License-Expression" if "License-Expression" in about else "License"]
        return stated or by_file(package) or "none stated"
    return " & ".join(classifiers)


def by_file(package: str) -> str:
    files = (each for each in metadata.files(package) or () if each.name == "LICENSE")
    return next((BY_FILE.get(file.read_text().splitlines()[0], "") for file in files), "")


def of_python() -> Iterator[tuple[str, str]]:
    """Each package of the server, and what it states."""
    for name in re.findall(r"^([\w.-]+)==", environment.SERVER_LOCK.read_text(), re.MULTILINE):
        yield name, stated_by(name)


def of_npm() -> Iterator[tuple[str, str]]:
    packages = json.loads((FRONTEND / "package-lock.json").read_text())["packages"]
    for path, package in packages.items():
        if path:
            # Those of a platform are named for their package: lightningcss-linux-x64.
            yield path.rpartition("node_modules/")[2].split("-")[0], package.get("license", "none stated")


def main() -> int:
    found = [(name, licence) for name, stated in (*of_python(), *of_npm()) for licence in unknown(name, stated)]
    for name, licence in found:
        print(f"{name}: {licence}")
    if found:
        print("Not in the list of config/supply_chain/licences.py: replace these packages, or add the licence.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
