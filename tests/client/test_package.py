"""The client alone: a wheel of pure Python for a build machine that has nothing of ours."""

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT

CLIENT = ROOT / "client"
SOURCES = sorted((CLIENT / "splashboard").rglob("*.py"))
TYPED = CLIENT / "splashboard" / "py.typed"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pip makes of ./client, in a folder of its own; built by the backend that is here."""
    folder = tmp_path_factory.mktemp("client")
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(argv, cwd=CLIENT, check=True, capture_output=True)
    (wheel,) = folder.glob("splashboard-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_package_holds_the_client_and_asks_for_nothing(installed: Path) -> None:
    # Without what Python compiled when another test ran it.
    found = [file for file in (installed / "splashboard").rglob("*.*") if file.suffix != ".pyc"]
    assert sorted(str(file.relative_to(installed)) for file in found) == sorted(
        str(file.relative_to(CLIENT)) for file in [*SOURCES, TYPED]
    )
    (metadata,) = installed.glob("*.dist-info/METADATA")
    needed = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")]
    assert sorted(line.rpartition("extra == ")[2] for line in needed) == ["'pandas'", "'polars'", "'sampling'"]
    assert "Requires-Python: >=3.9" in metadata.read_text()
    (entry,) = installed.glob("*.dist-info/entry_points.txt")
    assert "splashboard = splashboard.cli:main" in entry.read_text()


def test_it_runs_with_the_standard_library_alone(installed: Path, tmp_path: Path) -> None:
    # -I and -S: neither this checkout nor any installed package can be imported.
    start = f"import sys; sys.path.insert(0, {str(installed)!r}); from splashboard.cli import main; sys.exit(main())"
    argv = [sys.executable, "-I", "-S", "-c", start, "gate", "--platform", "mariadb"]
    wide = {**os.environ, "COLUMNS": "200"}
    said = subprocess.run(argv, cwd=tmp_path, env=wide, capture_output=True, text=True, check=False)
    assert said.returncode == 3
    assert "the following arguments are required: --release" in said.stderr


def test_it_can_be_read_by_python_3_9() -> None:
    for file in SOURCES:
        ast.parse(file.read_text(), str(file), feature_version=(3, 9))
