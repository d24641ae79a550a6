"""Known vulnerabilities of locked packages: `python -m config.supply_chain.advisories python`, or `npm`.

Skipped with the reason where the registry answers no advisories.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from config.launch import environment, frontend, places, processes
from config.launch.checks import SKIPPED
from config.launch.places import FRONTEND, VENV
from config.supply_chain import accepted
from config.supply_chain.accepted import AcceptedAdvisory

WITHIN = 240.0  # s for all packages
SOCKET = "15"  # s for one answer


class NoAdvisories(Exception):
    """The registry gave none; the text is the reason."""


@dataclass(frozen=True)
class Advisory:
    """`ids`: one advisory has one of each database."""

    package: str
    version: str
    ids: frozenset[str]
    remedy: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}: {', '.join(sorted(self.ids))}; {self.remedy}"


def of_python(printed: str, problem: str) -> list[Advisory]:
    """From pip-audit's JSON, and what it wrote beside it. Raises NoAdvisories."""
    dependencies = _parsed(printed, problem).get("dependencies", [])
    asked = [each for each in dependencies if "skip_reason" not in each]
    if not asked:
        raise NoAdvisories("the package index has none of any package")
    return [
        Advisory(
            each["name"],
            each["version"],
            frozenset([found["id"], *found["aliases"]]),
            f"fixed in {', '.join(found['fix_versions'])}" if found["fix_versions"] else "no fixed version yet",
        )
        for each in asked
        for found in each["vulns"]
    ]


def of_npm(printed: str, problem: str) -> list[Advisory]:
    """From `npm audit --json`. Raises NoAdvisories."""
    report = _parsed(printed, problem)
    if "vulnerabilities" not in report:
        raise NoAdvisories(str(report.get("message") or report.get("error") or _last(problem)))
    return [
        Advisory(
            cause["name"],
            cause["range"],
            frozenset([cause["url"].rpartition("/")[2]]),
            f"{cause['severity']}: {cause['title']}",
        )
        for each in report["vulnerabilities"].values()
        for cause in each["via"]
        if isinstance(cause, Mapping)  # otherwise the name of the package that has it
    ]


def unaccepted(found: Iterable[Advisory], but: Sequence[AcceptedAdvisory], *, today: date) -> list[Advisory]:
    return [
        advisory
        for advisory in found
        if not any(each.covers(advisory.package, advisory.ids, today=today) for each in but)
    ]


def _parsed(printed: str, problem: str) -> dict[str, Any]:
    try:
        report = json.loads(printed)
    except ValueError:
        report = None
    if not isinstance(report, dict):
        raise NoAdvisories(_last(problem) or "no answer")
    return report


def _last(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _python() -> tuple[list[str | Path], dict[str, str], Path]:
    cache = places.from_environment().var / "pip-audit"
    argv: list[str | Path] = [VENV / "bin" / "pip-audit", "--requirement", environment.LOCK, "--require-hashes"]
    argv += ["--disable-pip", "--format", "json", "--aliases", "on", "--progress-spinner", "off"]
    argv += ["--timeout", SOCKET, "--cache-dir", cache]
    return argv, processes.clean_environment(), cache.parent


def _npm() -> tuple[list[str | Path], dict[str, str], Path]:
    node = frontend.find_node()
    return [*frontend.npm(node), "audit", "--json", "--package-lock-only"], frontend.environ(node), FRONTEND


COMMANDS: dict[str, tuple[Callable[[], Any], Callable[[str, str], list[Advisory]]]] = {
    "python": (_python, of_python),
    "npm": (_npm, of_npm),
}


def main(kind: str) -> int:
    command, read = COMMANDS[kind]
    argv, env, cwd = command()
    try:
        said = subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=WITHIN)
        found = read(said.stdout, said.stderr)
    except subprocess.TimeoutExpired:
        print(f"no answer within {WITHIN:.0f} s")
        return SKIPPED
    except NoAdvisories as reason:
        print(f"no advisories: {reason}")
        return SKIPPED
    left = unaccepted(found, accepted.advisories(), today=datetime.now(UTC).date())
    for each in left:
        print(each)
    if left:
        print("Update these packages, or list them with a reason and a day in config/supply_chain/accepted.toml.")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
