"""Secrets in the files that git tracks: `python -m config.supply_chain.tracked_secrets`.

detect-secrets' expressions are applied to whole files: 5 s for all, where its own scan of line by line takes minutes.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import BasePlugin, RegexBasedDetector

from config.launch.checks import SKIPPED
from config.launch.places import ROOT
from config.supply_chain import accepted
from config.supply_chain.accepted import AcceptedSecret

# Slow ones of services that nothing here uses, and one of addresses, which are no secrets.
LEFT_OUT = {
    "Artifactory Credentials",
    "Cloudant Credentials",
    "IBM Cloud IAM Key",
    "IBM COS HMAC Credentials",
    "Public IP (ipv4)",
    "SoftLayer Credentials",
}


@dataclass(frozen=True)
class TrackedSecret:
    path: str
    line: int
    kind: str


@cache
def _detectors() -> dict[str, RegexBasedDetector]:
    """By the kind of secret; those of entropy and of names of variables find thousands of hashes and examples."""
    known: Mapping[str, type[BasePlugin]] = get_mapping_from_secret_type_to_class()
    return {
        kind: each() for kind, each in known.items() if issubclass(each, RegexBasedDetector) and kind not in LEFT_OUT
    }


def tracked(folder: Path) -> list[str]:
    """Paths below a checkout. Raises CalledProcessError where it is none."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=folder, check=True, capture_output=True, text=True)
    return [path for path in listed.stdout.split("\0") if path]


def secrets_of(folder: Path, paths: Iterable[str], but: Sequence[AcceptedSecret]) -> Iterator[TrackedSecret]:
    """In text files; `but`: what is none."""
    for path in paths:
        try:
            text = (folder / path).read_text()
        except (UnicodeDecodeError, OSError):  # no text; removed and not yet committed; a link to a folder
            continue
        for kind, detector in _detectors().items():
            for value in detector.analyze_string(text):
                if not any(each.covers(kind, path, value) for each in but):
                    yield TrackedSecret(path, _line_of(text, value, detector), kind)


def _line_of(text: str, value: str, detector: RegexBasedDetector) -> int:
    """`value` is a part of what was found, and may stand elsewhere too."""
    matches = (match for expression in detector.denylist for match in expression.finditer(text))
    start = next((match.start() for match in matches if value in match[0]), 0)
    return text.count("\n", 0, start) + 1


def main() -> int:
    try:
        paths = tracked(ROOT)
    except (FileNotFoundError, subprocess.CalledProcessError):
        print("this is no checkout of git")
        return SKIPPED
    found = list(secrets_of(ROOT, paths, accepted.secrets()))
    for each in found:
        print(f"{each.path}:{each.line}: {each.kind}; remove it, or list it in config/supply_chain/accepted.toml")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
