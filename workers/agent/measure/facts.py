"""Facts about the agent's own machine."""

import os
import platform
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


def host() -> dict[str, Any]:
    return {
        "name": platform.node(),
        "cpus": os.cpu_count() or 0,
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
    }
