"""The Python environment: .venv, filled by uv from the hashed lock; uv itself comes from the index, also hashed."""

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.launch import processes
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.places import PYTHON, ROOT, VENV, Places, require_space

LOCK = ROOT / "requirements.txt"
SERVER_LOCK = ROOT / "requirements-server.txt"
UV_LOCK = Path(__file__).parent / "uv.txt"
STAMP = VENV / ".splashboard-lock"
NEEDS_BYTES = 4 * 1024**3  # the environment takes 1.5 GB, uv's cache as much again


def ensure(*, places: Places, screen: Screen) -> None:
    """Brings .venv in line with the lock; does nothing when its stamp agrees. Raises LaunchProblem."""
    wanted = fingerprint()
    if is_current(wanted):
        return
    with alone(places, screen):
        if is_current(wanted):
            return
        require_space(ROOT, NEEDS_BYTES, "the set-up")
        uv = _ensure_uv(places, screen)
        _create(uv, places, screen)
        _fill(uv, places, screen)
        STAMP.write_text(wanted)


def fingerprint() -> str:
    digest = hashlib.sha256(LOCK.read_bytes())
    digest.update(f"{sys.version_info[:2]}".encode())
    return digest.hexdigest()


def is_current(wanted: str) -> bool:
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text() == wanted


@contextmanager
def alone(places: Places, screen: Screen) -> Iterator[None]:
    """Only one `make` at a time changes the environment and the front end."""
    with open(places.var / "setup.lock", "w") as file:
        step = LaunchStep(screen, "Waiting for another make to finish its set-up")
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                processes.Signals.check()
                step.tick()
                time.sleep(processes.POLL)
        step.done()
        yield


def _ensure_uv(places: Places, screen: Screen) -> list[str | Path]:
    """Command of the pinned uv, installed into a private environment below var/. Raises LaunchProblem."""
    pinned = hashlib.sha256(UV_LOCK.read_bytes()).hexdigest()[:16]
    home = places.var / "uv" / pinned
    program, done = home / "bin" / "uv", home / ".done"
    if done.exists() and program.exists():
        return [program]
    step, log = LaunchStep(screen, "Installing uv"), places.log_of("uv")
    shutil.rmtree(home, ignore_errors=True)
    home.parent.mkdir(parents=True, exist_ok=True)
    arguments = ["install", "--require-hashes", "--only-binary", ":all:", "-r", str(UV_LOCK)]
    if _has("pip"):  # a third of the time of an environment with a pip of its own
        code = processes.run([sys.executable, "-m", "pip", *arguments, "--target", str(home)], step=step, log=log)
    elif _has("venv") and _has("ensurepip"):
        code = processes.run([sys.executable, "-m", "venv", home], step=step, log=log)
        if code == 0:
            code = processes.run([home / "bin" / "python", "-m", "pip", *arguments], step=step, log=log, append=True)
    else:
        raise LaunchProblem(
            f"Python's venv module is missing from {sys.executable}: install it "
            f"(Debian, Ubuntu: apt-get install python3.{sys.version_info[1]}-venv) and try again."
        )
    if code:
        step.failed()
        raise processes.failure("Installing uv", log)
    done.touch()
    step.done()
    return [program]


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _create(uv: list[str | Path], places: Places, screen: Screen) -> None:
    """Creates .venv for this Python; replaces one of another or removed Python."""
    if PYTHON.exists() and _version_of(PYTHON) == sys.version_info[:2]:
        return
    step, log = LaunchStep(screen, "Creating the Python environment"), places.log_of("packages")
    shutil.rmtree(VENV, ignore_errors=True)
    base = getattr(sys, "_base_executable", sys.executable)
    if processes.run([*uv, "venv", "--python", base, VENV], step=step, log=log, env=uv_environment()):
        step.failed()
        raise processes.failure("Creating the Python environment", log)
    step.done()


def _version_of(python: Path) -> tuple[int, ...]:
    asked = subprocess.run(
        [python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
    )
    return tuple(int(part) for part in asked.stdout.split()) if asked.returncode == 0 else ()


def _fill(uv: list[str | Path], places: Places, screen: Screen) -> None:
    total = len(re.findall(r"^[A-Za-z0-9][^=\s]*==", LOCK.read_text(), flags=re.MULTILINE))
    packages = VENV / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"

    def installed() -> str:
        count = (
            sum(1 for entry in os.scandir(packages) if entry.name.endswith(".dist-info")) if packages.is_dir() else 0
        )
        return f"{count} of {total} packages"

    step, log = LaunchStep(screen, "Installing Python packages"), places.log_of("packages")
    code = processes.run(
        [*uv, "pip", "sync", "--python", PYTHON, "--require-hashes", LOCK],
        step=step, log=log, env=uv_environment(), detail=installed, append=True,
    )  # fmt: skip
    if code:
        step.failed()
        raise processes.failure("Installing Python packages", log)
    step.done(installed())


# pip's settings on this machine, passed on to uv, which does not read them.
PIP_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "cert": "SSL_CERT_FILE",
}
UV_OWN = {"UV_DEFAULT_INDEX": ("UV_DEFAULT_INDEX", "UV_INDEX_URL"), "UV_INDEX": ("UV_INDEX", "UV_EXTRA_INDEX_URL")}


def uv_environment() -> dict[str, str]:
    environ = processes.clean_environment()
    environ.setdefault("UV_HTTP_TIMEOUT", "120")
    for option, value in _pip_settings().items():
        name = PIP_TO_UV.get(option)
        if name and not any(environ.get(own) for own in UV_OWN.get(name, (name,))):
            environ[name] = value
    return environ


def _pip_settings() -> dict[str, str]:
    """Options of pip's configuration files and environment, by name; empty without pip."""
    asked = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    lines = asked.stdout.splitlines() if asked.returncode == 0 else []
    found = re.findall(r"^(?:global|install|:env:)\.([a-z-]+)='(.*)'$", "\n".join(lines), flags=re.MULTILINE)
    return dict(found)


def lock(*, places: Places, screen: Screen) -> None:
    """Renews both locks from pyproject.toml; the server's is the subset needed in production."""
    with alone(places, screen):
        uv = _ensure_uv(places, screen)
        _compile(uv, places, screen, LOCK, "--extra", "embedded", "--extra", "dev")
        _compile(uv, places, screen, SERVER_LOCK, "--constraints", LOCK.name)


def _compile(uv: list[str | Path], places: Places, screen: Screen, output: Path, *options: str) -> None:
    step, log = LaunchStep(screen, f"Locking {output.name}"), places.log_of("lock")
    argv = [
        *uv,
        "pip",
        "compile",
        "--quiet",
        "--python-version",
        "3.11",
        "--generate-hashes",
        *options,
        "pyproject.toml",
    ]
    if processes.run([*argv, "-o", output.name], step=step, log=log, env=uv_environment(), cwd=ROOT):
        step.failed()
        raise processes.failure(f"Locking {output.name}", log)
    step.done()
