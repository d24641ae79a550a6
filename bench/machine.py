"""The machine of the measurements, without anything that identifies it or its users."""

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version

import django
from django.db import connection

from bench.peers import Peer
from config.launch.places import ROOT


def facts() -> dict[str, str | int | float]:
    return {
        "cpu": _first("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": os.cpu_count() or 0,
        "memory_gb": round(int(_first("/proc/meminfo", "MemTotal").split()[0]) / 2**20),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "Linux"),
    }


def versions(peers: Iterable[Peer]) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        (postgres,) = cursor.fetchone()
    return {
        "Splashboard": _commit(),
        "PostgreSQL": str(postgres).split()[0],
        "Python": platform.python_version(),
        "Django": django.get_version(),
        "granian": version("granian"),
        **{peer.name: peer.version for peer in peers},
    }


def _first(file: str, name: str) -> str:
    """The value of the first line `name: value`; empty if there is none."""
    with open(file) as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def _commit() -> str:
    """The measured commit, or the package's version without a git history."""
    asked = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "0.1.0"
