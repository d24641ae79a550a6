"""Every check of `make check` is a test of `make test`, beside the others."""

import subprocess
from pathlib import Path

import pytest

from config.launch import checks, frontend
from config.launch.checks import CodeCheck, all_checks


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.name)
def test_check_passes(check: CodeCheck) -> None:
    argv, env = checks.command(check, frontend.find_node())
    said = subprocess.run(argv, env=env, cwd=check.cwd, capture_output=True, text=True, check=False)
    assert said.returncode == 0, f"{said.stdout}\n{said.stderr}"


def test_every_check_of_the_list_is_made() -> None:
    programs = {Path(part).name for check in all_checks() for part in check.argv}
    scripts = {"api-types", "typecheck", "test", "lint", "format"}
    assert {"ruff", "mypy", "lint-imports", "djlint", "makemigrations"} | scripts <= programs
