"""Facts of this machine, by the names that an agent's runs have."""

from __future__ import annotations

import os
import platform
import re
from typing import Any

# The kernel keeps a part of the memory, which differs from kernel to kernel: sizes of a machine are rounded.
STEP = 256 * 1024 * 1024  # bytes


def facts() -> dict[str, Any]:
    return {
        "name": platform.node(),
        "cpus": os.cpu_count() or 1,
        "memory_bytes": memory(),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
    }


def memory() -> int:
    """Bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return STEP  # this system does not report it


def hardware() -> dict[str, Any]:
    """This machine as a hardware class of the catalog."""
    cpus, gib = os.cpu_count() or 1, max(STEP, -(-memory() // STEP) * STEP) / 2**30
    return described(slug(host(), f"{cpus}cpu", f"{gib:g}gib"), name=host(), cpus=cpus, gib=gib)


def described(key: str, *, cpus: int, gib: float, name: str = "") -> dict[str, Any]:
    """A hardware class of the catalog."""
    return {
        "slug": key,
        "name": f"{name or key}, {cpus} CPUs, {gib:g} GiB"[:120],
        "vcpu": cpus,
        "memory_bytes": round(gib * 2**30),
    }


def host() -> str:
    return platform.node().partition(".")[0] or "host"


def slug(*parts: str) -> str:
    """A key of the catalog: at most 80 letters, digits, `.`, `-`, `_`."""
    text = "-".join(re.sub(r"[^a-z0-9._]+", "-", part.lower()).strip("-._") for part in parts if part)
    return text.strip("-._")[:80].rstrip("-._") or "system"
