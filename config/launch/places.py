"""Paths and ports, read from the environment once; docs/reference/settings.md lists all variables."""

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.launch.console import LaunchProblem

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
FRONTEND = ROOT / "frontend"
BINARIES = ("auto", "wheels")
MOST_WEB_WORKERS = 64
YES, NO = ("true", "yes", "on", "1"), ("", "false", "no", "off", "0")


@dataclass(frozen=True)
class Places:
    var: Path
    host: str
    port: int  # 0: the first free one, starting at `ports.FIRST`
    web_workers: int
    database_url: str  # empty: our own is started
    redis_url: str  # empty: our own is started
    binaries: str  # "auto": those on PATH first; "wheels": only the environment's
    is_quiet: bool = False  # only stores and web: nothing is measured, started by schedule or sent

    @property
    def log(self) -> Path:
        return self.var / "log"

    @property
    def address(self) -> str:
        """The base URL for a browser on this machine, without a trailing slash."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # noqa: S104 - compared, not bound
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"

    def log_of(self, name: str) -> Path:
        return self.log / f"{name}.log"

    def secret(self, name: str) -> tuple[str, bool]:
        """The secret stored in var/`name`, and whether it was just created."""
        path = self.var / name
        try:
            kept = path.read_text().strip()
        except FileNotFoundError:
            kept = ""
        if kept:
            return kept, False
        made = secrets.token_hex(32)
        self.keep(name, made)
        return made, True

    def keep(self, name: str, text: str) -> Path:
        """Writes var/`name`, readable by this user only."""
        path = self.var / name
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
        return path


def from_environment(environ: Mapping[str, str] = os.environ) -> Places:
    """Raises LaunchProblem when a variable has an invalid value."""
    binaries = environ.get("SPLASHBOARD_BINARIES") or "auto"
    if binaries not in BINARIES:
        raise LaunchProblem(f"SPLASHBOARD_BINARIES is {binaries!r}: set it to {' or '.join(BINARIES)}.")
    return Places(
        var=Path(environ.get("SPLASHBOARD_VAR") or ROOT / "var").resolve(),
        host=environ.get("SPLASHBOARD_HOST") or "127.0.0.1",
        port=_number(environ, "SPLASHBOARD_PORT", highest=65535, otherwise=0),
        web_workers=_number(environ, "SPLASHBOARD_WEB_WORKERS", highest=MOST_WEB_WORKERS, otherwise=min(2, _cpus())),
        database_url=environ.get("DATABASE_URL", ""),
        redis_url=environ.get("REDIS_URL", ""),
        binaries=binaries,
        is_quiet=_flag(environ, "SPLASHBOARD_QUIET"),
    )


def require_space(path: Path, needed: int, why: str) -> None:
    """`needed` in bytes. Raises LaunchProblem when the disk has less."""
    free = shutil.disk_usage(path).free
    if free < needed:
        raise LaunchProblem(
            f"The disk of {path} has {free / 1024**2:,.0f} MB free and {why} needs {needed / 1024**2:,.0f} MB: "
            "free some space and try again."
        )


def make_folders(places: Places) -> None:
    """Raises LaunchProblem when var/ cannot be written."""
    try:
        places.log.mkdir(parents=True, exist_ok=True)
        (places.log / ".writable").touch()
        places.log.chmod(0o700)
        # PostgreSQL may run as another user, who must pass.
        places.var.chmod(places.var.stat().st_mode & 0o711)
    except PermissionError as error:
        raise LaunchProblem(
            f"{places.var} cannot be written by this user: run as the user it belongs to, "
            "or choose another folder with SPLASHBOARD_VAR=/path make run."
        ) from error


def require_artifacts(folder: Path) -> None:
    """Raises LaunchProblem when what was uploaded belongs to another user: a start would serve nothing of it."""
    if not folder.exists():
        return
    below = [folder, *(each for each in _listed(folder) if each.is_dir())]
    for each in (*below, *(file for part in below[1:] for file in _listed(part)[:1])):
        if not os.access(each, os.R_OK | os.W_OK | (os.X_OK if each.is_dir() else 0), effective_ids=True):
            raise LaunchProblem(
                f"{each} cannot be read and written by this user: give all files to yourself "
                f"(chown -R {os.geteuid()} {folder}), or run as the user they belong to."
            )


def _listed(folder: Path) -> list[Path]:
    """Empty where this user may not list it."""
    try:
        return list(folder.iterdir())
    except PermissionError:
        return []


def _number(environ: Mapping[str, str], name: str, *, highest: int, otherwise: int) -> int:
    text = environ.get(name)
    if not text:
        return otherwise
    if not text.isdecimal() or not 1 <= int(text) <= highest:
        raise LaunchProblem(f"{name} is {text!r}: set it to a whole number from 1 to {highest}.")
    return int(text)


def _flag(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "").strip().lower()
    if text not in (*YES, *NO):
        raise LaunchProblem(f"{name} is {text!r}: set it to true or false.")
    return text in YES


def _cpus() -> int:
    """That this process may use; macOS does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
