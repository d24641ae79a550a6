"""Resource use of the agent itself: its process on the host that generates the load."""

import os
import threading
import time
from pathlib import Path

from workers.agent.measure.share import ProcessorWait
from workers.agent.samplers import SourceReading
from workers.protocol.wire import Number

PAGE = os.sysconf("SC_PAGE_SIZE")


class AgentItself:
    """CPU time of all threads of the agent's process, without the load tool."""

    name = "agent"
    interval = 1
    prompt = True

    def __init__(self) -> None:
        self._wait = ProcessorWait()

    def read(self) -> SourceReading:
        resident = int(Path("/proc/self/statm").read_text().split()[1])
        values: dict[str, Number] = {
            "agent.cpu.seconds": time.process_time(),
            "agent.memory.rss": resident * PAGE,
            "agent.threads": threading.active_count(),
        }
        waited = self._wait.seconds()
        return SourceReading(values if waited is None else values | {"agent.cpu.wait": waited})

    def close(self) -> None:
        """No resources to free."""
