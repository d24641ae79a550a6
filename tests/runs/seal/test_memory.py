"""A worker seals long runs in little memory: it never holds all of their samples decoded."""

import tracemalloc
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from apps.runs.ingest import accept
from apps.runs.models import Batch, Run, Series
from apps.runs.samples import decode, kernels, statistics
from apps.runs.storage import blocks, codec
from tests.runs.uploads import an_open_run
from workers.protocol import wire
from workers.protocol.wire import BatchEncoder, Number

SAMPLE = 8  # bytes of one that is decoded


class Recorded(NamedTuple):
    """Seconds of all batches and of one, series of each node, and those among them that change."""

    seconds: int
    a_batch: int
    series: int
    changing: int
    nodes: int = 1

    @property
    def bytes_decoded(self) -> int:
        return self.nodes * self.seconds * self.changing * SAMPLE


def samples(recorded: Recorded) -> Iterator[tuple[float, dict[str, Number]]]:
    """Counters, by steps that vary."""
    steps = steps_of(recorded).tolist()
    still: dict[str, Number] = {
        f"mysql.status.Still_{place}": place for place in range(recorded.changing, recorded.series)
    }
    names = [f"mysql.status.Moving_{place}" for place in range(recorded.changing)]
    for second, row in enumerate(steps):
        yield float(second), {**still, **dict(zip(names, row, strict=True))}


def steps_of(recorded: Recorded) -> NDArray[np.int64]:
    return np.random.default_rng(3).integers(0, 4, (recorded.seconds, recorded.changing)).cumsum(axis=0)


def an_ended_run(recorded: Recorded) -> Run:
    names = [f"db{number}" for number in range(1, recorded.nodes + 1)]
    run = an_open_run(nodes=names)
    encoder = BatchEncoder(run=str(run.uid))
    for name in names:
        for t, values in samples(recorded):
            encoder.add_sample(node=name, role="writer", t=t, values=values)
            if (t + 1) % recorded.a_batch == 0:
                store(run, *encoder.flush())
    Run.objects.filter(pk=run.pk).update(
        state="ended", outcome="cancelled", ended_at=run.started_at, batches_expected=encoder.sequence
    )
    return run


def store(run: Run, sequence: int, payload: bytes) -> None:
    Batch.objects.create(run=run, sequence=sequence, checksum=wire.checksum(payload), payload=payload)


def peak_of_sealing(run: Run) -> int:
    tracemalloc.start()
    try:
        assert accept.seal(run_id=run.pk)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "short",
    [
        Recorded(seconds=400, a_batch=10, series=400, changing=100, nodes=2),
        Recorded(seconds=2_400, a_batch=600, series=80, changing=64),
    ],
)
def test_sealing_a_run_eight_times_as_long_does_not_hold_what_it_has_more(
    db: None, monkeypatch: pytest.MonkeyPatch, short: Recorded
) -> None:
    # What is held at once of a run of any length, a sixteenth and less of it: runs of minutes stand for those of days.
    monkeypatch.setattr(decode, "VALUES_AT_ONCE", 2**14)
    monkeypatch.setattr(statistics, "VALUES_AT_ONCE", 2**14)
    monkeypatch.setattr(codec, "CHUNK", 2**8)
    long = short._replace(seconds=8 * short.seconds)
    many = np.zeros((1, 2**15), np.int64)
    kernels.rates(many, np.ones(2**15 - 1), np.empty((1, 2**15 - 1)))  # loads loops that only long series need
    assert accept.seal(run_id=an_ended_run(short).pk)  # what is compiled and cached once is not counted
    runs = [an_ended_run(short), an_ended_run(long)]
    grown = peak_of_sealing(runs[1]) - peak_of_sealing(runs[0])
    assert grown < (long.bytes_decoded - short.bytes_decoded) / 2
    assert Series.objects.filter(run=runs[1]).count() == long.nodes * long.changing
    for node in blocks.read([runs[1].pk], ["mysql.status.Moving_7"])[runs[1].pk]:
        assert np.array_equal(node.changing["mysql.status.Moving_7"].values, steps_of(long)[:, 7])
