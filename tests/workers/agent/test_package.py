"""The agent alone: a wheel in a fresh environment that knows nothing of the server."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT

FORBIDDEN = ("django", "celery", "rest_framework", "numpy", "apps", "config")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(argv, cwd=ROOT / "workers" / "agent", check=True, capture_output=True)
    (file,) = target.glob("*.whl")
    return file


def test_the_wheel_holds_the_agent_and_the_wire_format_and_nothing_of_the_server(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    workers = ROOT / "workers"
    sources = {
        str(file.relative_to(ROOT))
        for pattern in ("agent/**/*.py", "agent/**/*.lua", "protocol/**/*.py")
        for file in workers.glob(pattern)
    }
    # Of the client's, to which a link leads.
    sources |= {str(file.relative_to(ROOT)) for file in (workers / "agent" / "prometheus").glob("*.py")}
    assert names == sources | {"workers/__init__.py", "workers/agent/pyproject.toml"}


def test_it_can_be_installed_alone_and_run(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    uv = shutil.which("uv", path=f"{sysconfig.get_path('scripts')}:{os.environ.get('PATH', '')}")
    python = environment / "bin" / "python"
    if uv:
        subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(environment)], check=True, env=clean)
        install = [uv, "pip", "install", "-q", "--python", str(python), str(wheel)]
    else:
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, env=clean)
        install = [str(python), "-m", "pip", "install", "-q", str(wheel)]
    installed = subprocess.run(install, capture_output=True, text=True, env=clean, check=False)
    if installed.returncode and not os.environ.get("CI"):
        pytest.skip(f"the package index cannot be reached: {installed.stderr.strip().splitlines()[-1:]}")
    assert installed.returncode == 0, installed.stderr

    script = environment / "bin" / "splashboard-agent"
    said = subprocess.run(
        [script, "run", "--help"], cwd=tmp_path, env=clean, capture_output=True, text=True, check=True
    )
    assert "--config" in said.stdout
    listing = (
        "import importlib.util, json, workers.agent.runtime.loop; "
        f"print([name for name in {FORBIDDEN!r} if importlib.util.find_spec(name)])"
    )
    seen = subprocess.run([python, "-c", listing], cwd=tmp_path, env=clean, capture_output=True, text=True, check=True)
    assert seen.stdout == "[]\n"
