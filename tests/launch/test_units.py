"""The units for systemd start commands that exist, with variables that are documented."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.paths import ROOT

UNITS = sorted((ROOT / "config/systemd").iterdir())
SETTINGS = (ROOT / "docs/reference/settings.md").read_text()


def lines(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def test_what_they_start_exists() -> None:
    argv = [sys.executable, "-m", "config.launch", "--help"]
    told = subprocess.run(argv, check=True, cwd=ROOT, capture_output=True, text=True)
    scripts = tomllib.loads((ROOT / "workers/agent/pyproject.toml").read_text())["project"]["scripts"]
    started = [shlex.split(line) for unit in UNITS for line in lines(unit, "ExecStart")]
    assert len(started) == 4
    for words in started:
        if "config.launch" in words:
            assert f"    {words[words.index('config.launch') + 1]} " in told.stdout, told.stdout
        else:
            assert Path(words[0]).name in scripts


def test_every_command_gets_the_servers_variables() -> None:
    commands = [unit for unit in UNITS if "config.launch" in unit.read_text()]
    assert [unit.name for unit in commands if lines(unit, "EnvironmentFile") != ["-/etc/splashboard.env"]] == []
    assert "-p EnvironmentFile=-/etc/splashboard.env" in (ROOT / "docs/howto/systemd.md").read_text()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_variables_are_documented_and_the_timer_has_its_service(unit: Path) -> None:
    names = {word.partition("=")[0] for line in lines(unit, "Environment") for word in shlex.split(line)} - {"HOME"}
    assert [name for name in sorted(names) if f"`{name}`" not in SETTINGS] == []
    if unit.suffix == ".timer":
        assert unit.with_suffix(".service") in UNITS
