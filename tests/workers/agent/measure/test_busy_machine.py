"""Real counters of a machine whose processors are all taken."""

import os
import subprocess
import sys

import pytest

from tests.support.waiting import eventually
from tests.workers.agent.measure.test_sample_loop import Recording
from workers.agent.measure.clock import RunClock
from workers.agent.measure.sample_loop import NodeSampler
from workers.agent.samplers.host import HostCounters

SAMPLES = 5
BUSY = "while True: pass"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may let the agent's threads go before others")
def test_no_second_is_missed_where_programs_want_twice_the_processors_that_there_are() -> None:
    recording = Recording()
    sampler = NodeSampler(node="db1", role="writer", sources=[HostCounters()], clock=RunClock(), recorder=recording)
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        sampler.start()
        eventually(lambda: len(recording.samples) >= SAMPLES, what=f"{SAMPLES} samples")
    finally:
        sampler.stop()
        for program in busy:
            program.kill()
            program.wait()
    assert [round(t) for t, _ in recording.samples[:SAMPLES]] == list(range(SAMPLES))
    assert all("host.cpu.user" in values for _, values in recording.samples[:SAMPLES])
