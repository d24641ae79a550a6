"""Every check of `make check` is a test of `make test`, beside the others."""

import io
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from config.launch import checks, frontend
from config.launch.checks import CodeCheck, all_checks
from config.launch.console import Screen
from config.launch.places import from_environment


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.name)
def test_check_passes(check: CodeCheck) -> None:
    argv, env = checks.command(check, frontend.find_node())
    said = subprocess.run(argv, env=env, cwd=check.cwd, capture_output=True, text=True, check=False)
    if said.returncode == checks.SKIPPED:
        pytest.skip(f"{check.name}: {said.stdout.splitlines()[-1]}")
    assert said.returncode == 0, f"{said.stdout}\n{said.stderr}"


def test_every_check_of_the_list_is_made() -> None:
    programs = {Path(part).name for check in all_checks() for part in check.argv}
    scripts = {"api-types", "typecheck", "test", "lint", "format"}
    supply = {f"config.supply_chain.{name}" for name in ("advisories", "bills", "licences", "tracked_secrets")}
    assert {"ruff", "mypy", "lint-imports", "djlint", "makemigrations"} | scripts <= programs
    assert supply <= {str(part) for check in all_checks() for part in check.argv}


def made(*commands: CodeCheck, tmp_path: Path) -> tuple[int, list[str]]:
    """Exit code of these checks, and the lines shown."""
    out = io.StringIO()
    places = replace(from_environment(), var=tmp_path)
    return checks.run(places, Screen(out), commands), out.getvalue().splitlines()


def shell(name: str, script: str, *, waits: bool = False) -> CodeCheck:
    return CodeCheck(name, ("sh", "-c", script), waits=waits)


def test_a_check_that_cannot_be_made_is_shown_with_its_reason_and_fails_nothing(tmp_path: Path) -> None:
    code, lines = made(shell("one", "echo the registry is away; exit 77"), tmp_path=tmp_path)
    assert code == 0
    assert [line for line in lines if line.startswith("  skipped one") and line.endswith(": the registry is away")]


def test_checks_that_wait_are_made_beside_the_others(tmp_path: Path) -> None:
    """The first ends when the second, which is made in the foreground, has written its file."""
    file = tmp_path / "there"
    waiting = shell("waiting", f"until test -e {file}; do sleep 0.05; done; exit 3", waits=True)
    code, lines = made(waiting, shell("other", f"touch {file}"), tmp_path=tmp_path)
    assert code == 1
    assert [line.split("(")[0].split() for line in lines] == [["ok", "other"], ["FAILED", "waiting"]]
