"""Memory that a worker needs to seal a run, beyond that of the same process before."""

import os
import subprocess
import sys

from bench import context, recording, rounds
from bench.context import Bench
from bench.servers import Failed
from config.launch.places import ROOT

SET = 5
RUN = 2000  # number of the shuffled recording
RUNS = 1
ROUNDS = 5
LIMIT = 300.0  # MB
BATCH_SECONDS = 10
# In a transaction that is rolled back, so that the worker does not seal the run meanwhile. getrusage is unusable: a new
# process inherits the peak of its parent.
SEAL = r"""
import re, sys, django
django.setup()
from django.db import transaction
from apps.runs.ingest import accept
from apps.runs.models import Run

def peak():
    return int(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1]) / 1000

run = Run.objects.get(uid=sys.argv[1])
before = peak()
with transaction.atomic():
    ended = {"state": "ended", "outcome": "cancelled", "ended_at": run.started_at}
    Run.objects.filter(pk=run.pk).update(**ended, batches_expected=int(sys.argv[2]))
    assert accept.seal(run_id=run.pk)
    transaction.set_rollback(True)
print(before, peak())
"""


def measure(bench: Bench) -> None:
    """Raises Failed."""
    nodes = recording.a_run(RUN)
    span = context.span(SET, seconds=len(nodes[0].clock))
    uid = bench.warehouse.open_run(started=span.start, nodes=[node.name for node in nodes])
    batches = list(recording.batches(uid, nodes, seconds=BATCH_SECONDS))
    for sequence, payload in enumerate(batches):
        bench.warehouse.send_batch(uid, sequence, payload)
    found = [_sealed(uid, len(batches)) for _ in range(ROUNDS)]
    bench.warehouse.end_run(uid, batches=len(batches), span=span)
    bench.report(
        key="memory.sealing", part="memory", title=f"sealing a run of {recording.samples_in(nodes):,} samples, peak",
        peer="the same process before it seals", unit="MB", better="lower", limit_ours=LIMIT,
        found=rounds.compared([peak for _, peak in found], [before for before, _ in found]),
    )  # fmt: skip


def _sealed(uid: str, batches: int) -> tuple[float, float]:
    """Peak resident memory in MB, before and after sealing."""
    argv = [sys.executable, "-c", SEAL, uid, str(batches)]
    done = subprocess.run(argv, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"sealing failed: {done.stderr.strip()[-500:]}")
    before, peak = done.stdout.split()
    return float(before), float(peak)
