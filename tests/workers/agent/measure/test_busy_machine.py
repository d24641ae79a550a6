"""Real counters of a machine whose processors are all taken."""

import os
import subprocess
import sys
from itertools import pairwise

import pytest

from tests.support.waiting import eventually
from tests.workers.agent.measure.test_sample_loop import Recording
from workers.agent.measure.clock import RunClock
from workers.agent.measure.sample_loop import NodeSampler
from workers.agent.samplers.host import HostCounters

SAMPLES = 5
STOLEN = 0.1  # of the time
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
    samples = recording.samples[:SAMPLES]
    assert all("host.cpu.user" in values for _, values in samples)
    assert round(samples[0][0]) == 0
    for (t, values), (later, after) in pairwise(samples):
        spent = {key: (after[key] or 0) - (values[key] or 0) for key in values if key.startswith("host.cpu.")}
        # What other guests of the host took, no priority gives back.
        assert round(later) - round(t) == 1 or spent["host.cpu.steal"] > STOLEN * sum(spent.values())
