"""Facts about the agent's own machine."""

import os
import platform
import time
from typing import Any

from workers.agent.measure.clock import Bearing, RunClock


def clock(run: RunClock, bearing: Bearing | None) -> dict[str, float]:
    """Offset of this host's clock to the server's, for agents on other hosts; empty: not known yet."""
    if bearing is None:
        return {}
    return {
        "clock_ahead_seconds": round(bearing.ahead(run), 6),
        "clock_uncertainty_seconds": round(bearing.uncertainty, 6),
    }


CANARY = 2_000_000  # additions: a tenth of a second or two


def canary() -> dict[str, Any]:
    """CPU time of a fixed piece of work, ms: how fast this host is now. Only equal `work` is comparable."""
    began = time.process_time()
    for number in range(CANARY):
        number + 1
    spent = 1000 * (time.process_time() - began)
    return {"cpu_ms": round(spent, 2), "work": f"{CANARY:,} additions, Python {platform.python_version()}"}


def host() -> dict[str, Any]:
    return {
        "name": platform.node(),
        "cpus": os.cpu_count() or 0,
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
    }
