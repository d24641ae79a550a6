"""What accepted.toml lists."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("accepted.toml")


@dataclass(frozen=True)
class AcceptedAdvisory:
    package: str
    id: str
    reason: str
    until: date

    def covers(self, package: str, ids: frozenset[str], *, today: date) -> bool:
        return package == self.package and self.id in ids and today <= self.until


@dataclass(frozen=True)
class AcceptedSecret:
    kind: str
    path: str
    value: str
    reason: str

    def covers(self, kind: str, path: str, value: str) -> bool:
        return kind == self.kind and fnmatchcase(path, self.path) and bool(re.fullmatch(self.value, value))


def advisories() -> list[AcceptedAdvisory]:
    return [AcceptedAdvisory(**each) for each in _entries("advisory")]


def secrets() -> list[AcceptedSecret]:
    return [AcceptedSecret(**each) for each in _entries("secret")]


def _entries(name: str) -> list[dict[str, Any]]:
    return list(tomllib.loads(LIST.read_text()).get(name, []))
