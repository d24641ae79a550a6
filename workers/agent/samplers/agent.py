"""Resource use of the agent itself: its process on the host that generates the load."""

import os
import threading
import time
from pathlib import Path

from workers.agent.samplers import SourceReading

PAGE = os.sysconf("SC_PAGE_SIZE")


class AgentItself:
    """CPU time of all threads of the agent's process, without the load tool."""

    name = "agent"
    interval = 1
    prompt = True

    def read(self) -> SourceReading:
        resident = int(Path("/proc/self/statm").read_text().split()[1])
        return SourceReading(
            {
                "agent.cpu.seconds": time.process_time(),
                "agent.memory.rss": resident * PAGE,
                "agent.threads": threading.active_count(),
            }
        )

    def close(self) -> None:
        """No resources to free."""
