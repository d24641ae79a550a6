"""What an agent in the role of a sampler adds to a run that another one drives."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from apps.runs import queries, seal
from apps.runs.ingest import seal_queue, streams
from apps.runs.models import Event, Run, RunNode, Series, Stream, StreamBatch
from tests.runs.uploads import an_open_run, an_upload
from tests.web.runs.recorded_runs import samples
from workers.protocol import wire
from workers.protocol.wire import BatchEncoder

pytestmark = pytest.mark.django_db


def sampled_batches(run: Run, *, node: str = "db2", batches: int = 2) -> list[bytes]:
    """One second of node counters each 0.5 s off the driver's seconds, some in each batch."""
    encoder, payloads = BatchEncoder(run=str(run.uid)), []
    for part in range(batches):
        for t in range(10 * part, 10 * part + 10):
            encoder.add_sample(node=node, role="reader", t=t + 0.5, values={"host.cpu.user": 0.25 * t, "host.cpus": 2})
        payloads.append(encoder.flush()[1])
    return payloads


def send(stream: Stream, payloads: list[bytes], *sequences: int) -> None:
    for sequence in sequences:
        payload = payloads[sequence]
        streams.accept_batch(stream=stream, sequence=sequence, checksum=wire.checksum(payload), payload=payload)


def a_joined_run(*nodes: str) -> tuple[Run, Stream]:
    run = an_open_run()
    stream = streams.join(run=run, agent="db-host-2", nodes=nodes or ("db2",))
    assert stream is not None
    return run, stream


def give_up_waiting(run: Run) -> None:
    Stream.objects.filter(run=run).update(wait_until=timezone.now() - timedelta(seconds=1))


def drive(run: Run) -> None:
    """All that the driving agent sends, to the end of the run."""
    an_upload(run=run, nodes={"db1": samples()}).send()


def test_the_seal_waits_for_a_sampler_and_holds_what_both_agents_saw() -> None:
    run, stream = a_joined_run()
    payloads = sampled_batches(run)
    send(stream, payloads, 0)
    drive(run)
    assert not seal.seal(run_id=run.pk)
    waiting = seal_queue.pending(Run.objects.get(pk=run.pk))
    assert waiting is not None
    assert (waiting.samplers, waiting.missing_batches) == (("db-host-2",), 0)
    send(stream, payloads, 1)
    streams.end(stream=stream, batches=2)
    assert seal.seal(run_id=run.pk)
    of_node = RunNode.objects.get(run=run, name="db2")
    assert (of_node.samples, of_node.role, of_node.constants) == (20, "reader", {"host.cpus": 2})
    assert Series.objects.get(run=run, node=of_node.number, metric__key="host.cpu.user").mean == pytest.approx(0.25)
    assert Series.objects.filter(run=run, metric__key="mysql.status.Questions").count() == 1
    assert not StreamBatch.objects.exists()
    assert not Event.objects.filter(run=run, kind="sampler_error").exists()


@pytest.mark.parametrize(
    ("sent", "ended", "held", "words"),
    [
        ((0,), None, 10, "its stream did not end; 1 batches had arrived"),
        ((0,), 2, 10, "1 of 2 batches did not arrive in time"),
        ((1,), 2, 0, "1 of 2 batches did not arrive in time"),
        ((), None, 0, "its stream did not end; 0 batches had arrived"),
    ],
)
def test_a_sampler_that_dies_does_not_block_the_seal_and_is_named(
    sent: tuple[int, ...], ended: int | None, held: int, words: str
) -> None:
    run, stream = a_joined_run()
    send(stream, sampled_batches(run), *sent)
    if ended is not None:
        streams.end(stream=stream, batches=ended)
    drive(run)
    assert not seal.seal(run_id=run.pk)
    give_up_waiting(run)
    assert seal.seal(run_id=run.pk)
    event = Event.objects.get(run=run, kind="sampler_error")
    assert (event.label, event.node) == (f"sampler db-host-2 of db2: {words}", "db2")
    assert sum(RunNode.objects.filter(run=run, name="db2").values_list("samples", flat=True)) == held
    assert Series.objects.filter(run=run, metric__key="mysql.status.Questions").exists()


def test_nothing_is_taken_once_the_run_was_sealed_without_it() -> None:
    run, stream = a_joined_run()
    drive(run)
    give_up_waiting(run)
    assert seal.seal(run_id=run.pk)
    with pytest.raises(streams.Closed, match="sealed without this stream"):
        send(stream, sampled_batches(run), 0)
    with pytest.raises(streams.Closed):
        streams.end(stream=stream, batches=2)


def test_a_resend_changes_nothing_and_other_content_is_refused() -> None:
    run, stream = a_joined_run()
    payloads = sampled_batches(run)
    send(stream, payloads, 0, 0)
    assert stream.batches.count() == 1
    with pytest.raises(streams.Closed, match="batch 0 of this stream is stored with other content"):
        streams.accept_batch(stream=stream, sequence=0, checksum=wire.checksum(payloads[1]), payload=payloads[1])
    streams.end(stream=stream, batches=1)
    streams.end(stream=stream, batches=1)
    with pytest.raises(streams.Closed, match="ended with 1 batches"):
        send(stream, payloads, 1)


def test_joining_again_gives_the_same_stream_and_a_run_that_ended_none() -> None:
    run, stream = a_joined_run()
    assert streams.join(run=run, agent="db-host-2", nodes=["db2"]) == stream
    other = streams.join(run=run, agent="db-host-3", nodes=["db3"])
    assert other is not None
    assert (stream.number, other.number) == (1, 2)
    drive(run)
    assert streams.join(run=run, agent="db-host-4", nodes=["db4"]) is None


def test_a_stream_that_cannot_be_read_is_lost_alone() -> None:
    run, stream = a_joined_run()
    streams.accept_batch(stream=stream, sequence=0, checksum=wire.checksum(b"junk"), payload=b"junk")
    streams.end(stream=stream, batches=1)
    drive(run)
    assert seal.seal(run_id=run.pk)
    run.refresh_from_db()
    assert run.outcome == "succeeded"
    assert "could not be read" in Event.objects.get(run=run, kind="sampler_error").label
    assert Series.objects.filter(run=run, metric__key="mysql.status.Questions").exists()


def test_a_node_that_both_agents_sample_has_the_series_of_both_at_their_own_times() -> None:
    run, stream = a_joined_run("db1")
    send(stream, sampled_batches(run, node="db1"), 0, 1)
    streams.end(stream=stream, batches=2)
    drive(run)
    assert seal.seal(run_id=run.pk)
    found = {
        series.metric: series.at[~np.isnan(series.values)]
        for series in queries.load_series(run_ids=[run.pk], metrics=["host.cpu.user", "mysql.status.Questions"])
    }
    assert found["host.cpu.user"][:3].tolist() == [1.5, 2.5, 3.5]
    assert found["mysql.status.Questions"][:3].tolist() == [1.0, 2.0, 3.0]


def test_a_live_run_shows_what_samplers_sent_so_far() -> None:
    run, stream = a_joined_run()
    send(stream, sampled_batches(run), 0)
    (series,) = queries.load_series(run_ids=[run.pk], metrics=["host.cpu.user"])
    assert (series.node, len(series.at)) == ("db2", 9)
