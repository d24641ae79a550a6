"""The product's programs beside the stores: commands and environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.launch import processes
from config.launch.places import PYTHON, ROOT, Places


@dataclass(frozen=True)
class Program:
    name: str
    argv: tuple[str | Path, ...]


def environ(places: Places, *, database_url: str, redis_url: str) -> dict[str, str]:
    """The environment of all our programs."""
    secret_key = os.environ.get("SPLASHBOARD_SECRET_KEY") or places.secret("secret_key")[0]
    return {
        **processes.clean_environment(),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "SPLASHBOARD_SECRET_KEY": secret_key,
        "SPLASHBOARD_VAR": str(places.var),
        "SPLASHBOARD_PORT": str(places.port),
        "PYTHONUNBUFFERED": "1",
    }


def web(places: Places) -> Program:
    return Program(
        "web",
        (
            PYTHON, "-m", "config.serving", "--host", places.host, "--port", str(places.port),
            "--workers", str(places.web_workers),
        ),
    )  # fmt: skip


def worker() -> Program:
    return Program(
        "worker",
        (
            PYTHON, "-m", "celery", "--app", "workers.celery", "worker", "--concurrency", "2",
            "--loglevel", "INFO", "--without-gossip", "--without-mingle",
        ),
    )  # fmt: skip


def beat(places: Places) -> Program:
    """Apart from the worker, which would not notice its end."""
    return Program(
        "beat",
        (
            PYTHON, "-m", "celery", "--app", "workers.celery", "beat",
            "--schedule", places.var / "beat-schedule", "--loglevel", "INFO",
        ),
    )  # fmt: skip


def agent(places: Places) -> Program:
    return Program("agent", (PYTHON, "-m", "workers.agent", "run", "--config", places.var / "agent.toml"))


def prepare(places: Places, result: Path, *options: str) -> tuple[str | Path, ...]:
    return (
        PYTHON, ROOT / "manage.py", "prepare", "--agent-config", places.var / "agent.toml", "--server", places.address,
        "--token", places.var / "token", "--result", result, *options,
    )  # fmt: skip


def collect_static() -> tuple[str | Path, ...]:
    return PYTHON, ROOT / "manage.py", "collectstatic", "--no-input", "--verbosity", "0", "--skip-checks"


def manage(arguments: list[str], env: Mapping[str, str]) -> int:
    """Runs `manage.py` in place of this process."""
    os.chdir(ROOT)
    os.execve(PYTHON, [str(PYTHON), str(ROOT / "manage.py"), *arguments], dict(env))  # noqa: S606 - no shell is wanted
