"""What the agent's own machine is."""

import os
import platform
from typing import Any


def host() -> dict[str, Any]:
    return {
        "name": platform.node(),
        "cpus": os.cpu_count() or 0,
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
    }
