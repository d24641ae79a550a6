"""A worker seals large runs in little memory: measured in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from django.db import connection

from apps.runs import blocks
from apps.runs.models import Batch, Run, Series
from tests.runs.uploads import an_open_run
from workers import wire
from workers.wire import BatchEncoder, Number

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT = 300e6  # bytes
SEAL = r"""
import re, sys, django
django.setup()
from apps.runs import ingest
assert ingest.seal(run_id=int(sys.argv[1]))
# Not what getrusage says: a new process inherits the peak of the one that started it.
print(int(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1]) * 1024)
"""


def samples(*, seconds: int, series: int, changing: int) -> Iterator[tuple[float, dict[str, Number]]]:
    """A quarter of a server's counters change, by steps that vary."""
    steps = np.random.default_rng(3).integers(0, 500, (seconds, changing)).cumsum(axis=0).tolist()
    still: dict[str, Number] = {f"mysql.status.Still_{place}": place for place in range(changing, series)}
    names = [f"mysql.status.Moving_{place}" for place in range(changing)]
    for second, row in enumerate(steps):
        yield float(second), {**still, **dict(zip(names, row, strict=True))}


def an_ended_run(*, nodes: int, seconds: int, series: int, changing: int, seconds_a_batch: int) -> Run:
    names = [f"db{number}" for number in range(1, nodes + 1)]
    run = an_open_run(nodes=names)
    encoder = BatchEncoder(run=str(run.uid))
    for name in names:
        for t, values in samples(seconds=seconds, series=series, changing=changing):
            encoder.add_sample(node=name, role="writer", t=t, values=values)
            if (t + 1) % seconds_a_batch == 0:
                store(run, *encoder.flush())
    Run.objects.filter(pk=run.pk).update(
        state="ended", outcome="cancelled", ended_at=run.started_at, batches_expected=encoder.sequence
    )
    return run


def store(run: Run, sequence: int, payload: bytes) -> None:
    Batch.objects.create(run=run, sequence=sequence, checksum=wire.checksum(payload), payload=payload)


def memory_of_sealing(run: Run) -> float:
    """Peak resident memory of the process, bytes."""
    settings = connection.settings_dict
    address = f"{settings['USER']}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    if settings["PASSWORD"]:
        address = address.replace("@", f":{settings['PASSWORD']}@", 1)
    environment = {
        **os.environ,
        "DATABASE_URL": f"postgres://{address}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    answer = subprocess.run(
        [sys.executable, "-c", SEAL, str(run.pk)], env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return float(answer.stdout)


def test_five_million_samples_are_sealed_in_under_300_mb() -> None:
    run = an_ended_run(nodes=2, seconds=1_930, series=1_300, changing=340, seconds_a_batch=10)
    assert memory_of_sealing(run) < LIMIT
    assert Series.objects.filter(run=run).count() == 2 * 340


def test_a_day_at_one_sample_a_second_is_sealed_in_under_300_mb() -> None:
    run = an_ended_run(nodes=1, seconds=86_400, series=60, changing=50, seconds_a_batch=600)
    assert memory_of_sealing(run) < LIMIT
    (node,) = blocks.read([run.pk], ["mysql.status.Moving_7"])[run.pk]
    assert len(node.clock) == 86_400
    expected = np.random.default_rng(3).integers(0, 500, (86_400, 50)).cumsum(axis=0)[:, 7]
    assert np.array_equal(node.changing["mysql.status.Moving_7"].values, expected)
