"""Series read while a run lives, while it is sealed, and after."""

from typing import Any

import numpy as np
import pytest
from pytest_django import DjangoAssertNumQueries

from apps.catalog.services import metrics_for
from apps.runs import queries
from apps.runs.ingest import accept
from apps.runs.models import Batch, Run
from apps.runs.queries import SeriesValues, series
from apps.runs.queries import nodes as queries_nodes
from apps.runs.samples.batches import Decoder
from tests.runs.uploads import OUTPUT, Samples, Upload, a_minute, an_open_run, an_upload

pytestmark = pytest.mark.django_db

QUESTIONS, RUNNING, MOST = (
    "mysql.status.Questions",
    "mysql.status.Threads_running",
    "mysql.status.Max_used_connections",
)


def printed(offset: float = 0.5) -> list[tuple[float, str]]:
    lines = [line for line in OUTPUT.decode().splitlines() if line.startswith("[ ")]
    return [(second + offset, line) for second, line in enumerate(lines, start=1)]


def same(ours: list[SeriesValues], theirs: list[SeriesValues]) -> bool:
    def plain(one: SeriesValues) -> tuple[Any, ...]:
        return (
            one.metric,
            one.name,
            one.unit,
            one.kind,
            one.node,
            one.resets,
            one.at.tolist(),
            repr(one.values.tolist()),
        )

    return [plain(one) for one in ours] == [plain(one) for one in theirs]


def one(run: Run, metric: str, **what: Any) -> SeriesValues:
    (found,) = queries.load_series(run_ids=[run.pk], metrics=[metric], **what)
    return found


def sealed(upload: Upload) -> Run:
    run = upload.send()
    assert accept.seal(run_id=run.pk)
    return run


def test_a_counter_is_read_as_its_rate_and_a_gauge_as_it_is() -> None:
    run = sealed(an_upload())
    rate, gauge, constant = (one(run, key) for key in (QUESTIONS, RUNNING, MOST))
    assert (rate.kind, rate.unit) == ("rate", "statements/s")
    assert rate.at.tolist() == [float(t) for t in range(1, 21)]
    assert rate.values.tolist() == [100.0] * 20
    assert rate.since is not None
    assert rate.since.tolist() == [float(t) for t in range(20)]
    assert gauge.since is None
    assert (gauge.kind, gauge.unit, gauge.values.tolist()) == ("gauge", "threads", [3 + t % 4 for t in range(21)])
    assert constant.values.tolist() == [7.0] * 21


def test_a_counter_that_stands_still_has_rate_zero() -> None:
    nodes: dict[str, Samples] = {"db1": [(float(t), {QUESTIONS: 5}) for t in range(4)]}
    assert one(sealed(an_upload(nodes=nodes)), QUESTIONS).values.tolist() == [0.0, 0.0, 0.0]


def test_rates_are_taken_over_the_interval_that_was_measured() -> None:
    nodes: dict[str, Samples] = {
        "db1": [(t, {QUESTIONS: v}) for t, v in ((0.0, 0), (1.05, 105), (2.0, 200), (4.0, 400))]
    }
    assert one(sealed(an_upload(nodes=nodes)), QUESTIONS).values.tolist() == pytest.approx([100, 100, 100])


def test_a_reset_is_flagged_and_no_rate_is_ever_negative() -> None:
    nodes: dict[str, Samples] = {"db1": [(float(t), {QUESTIONS: v}) for t, v in enumerate((900, 1000, 3, 103))]}
    found = one(sealed(an_upload(nodes=nodes)), QUESTIONS)
    assert found.resets == (2.0,)
    assert repr(found.values.tolist()) == "[100.0, nan, 100.0]"


def test_what_was_not_observed_is_a_gap() -> None:
    nodes: dict[str, Samples] = {
        "db1": [
            (float(t), {QUESTIONS: None if t in (2, 3) else t * 10, RUNNING: None if t == 1 else t}) for t in range(6)
        ]
    }
    run = sealed(an_upload(nodes=nodes))
    assert repr(one(run, QUESTIONS).values.tolist()) == "[10.0, nan, nan, 10.0, 10.0]"
    assert repr(one(run, RUNNING).values.tolist()) == "[0.0, nan, 2.0, 3.0, 4.0, 5.0]"


def test_huge_integers_keep_their_increments() -> None:
    nodes: dict[str, Samples] = {"db1": [(float(t), {QUESTIONS: 2**62 + t}) for t in range(4)]}
    assert one(sealed(an_upload(nodes=nodes)), QUESTIONS).values.tolist() == [1.0, 1.0, 1.0]


def test_a_live_run_reads_like_the_same_run_sealed() -> None:
    keys = [QUESTIONS, RUNNING, MOST, "client.throughput", "client.latency.p95", "client.threads"]
    metrics_for(keys)
    upload = an_upload(nodes={"db1": a_minute(), "db2": a_minute()[5:]}, lines=printed())
    for sequence in range(len(upload.batches)):
        upload.send_batch(sequence)
    live = queries.load_series(run_ids=[upload.run.pk], metrics=keys)
    assert len(live) == 3 * 2 + 3
    run = sealed(upload)
    assert same(live, queries.load_series(run_ids=[run.pk], metrics=keys))
    assert one(run, "client.throughput").at[0] == 1.5


def test_a_live_run_shows_what_has_arrived_up_to_the_first_missing_batch() -> None:
    upload = an_upload()
    upload.send_batch(0)
    upload.send_batch(2)
    assert one(upload.run, RUNNING).at.tolist() == [float(t) for t in range(10)]
    upload.send_batch(1)
    assert one(upload.run, RUNNING).at.tolist() == [float(t) for t in range(21)]


def test_a_live_batch_is_decoded_once_for_all_who_look(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[bytes]()
    feed = Decoder.feed

    def counted(decoder: Decoder, payload: bytes) -> None:
        read.append(payload)
        feed(decoder, payload)

    monkeypatch.setattr(Decoder, "feed", counted)
    upload = an_upload(lines=printed())
    for sequence in range(len(upload.batches)):
        upload.send_batch(sequence)
        until = min(10 * (sequence + 1), 21)
        for _ in range(2):
            assert one(upload.run, RUNNING).at.tolist() == [float(t) for t in range(until)]
            assert queries.series_index(upload.run.pk)
    assert [bytes(payload) for payload in read] == upload.batches


def test_batches_that_were_sent_anew_are_decoded_anew() -> None:
    upload, other = an_upload(), an_upload(nodes={"db1": [(float(t), {RUNNING: 9}) for t in range(21)]})
    upload.send_batch(0)
    assert one(upload.run, RUNNING).values.tolist()[:4] == [3, 4, 5, 6]
    Batch.objects.all().delete()
    upload.batches = other.batches
    upload.send_batch(0)
    assert set(one(upload.run, RUNNING).values.tolist()) == {9}
    Batch.objects.all().delete()
    assert queries.load_series(run_ids=[upload.run.pk], metrics=[RUNNING]) == []


@pytest.mark.parametrize(("limit", "most"), [("KEPT_VALUES", 50), ("KEPT_RUNS", 2)])
def test_what_is_kept_of_live_runs_is_bounded(monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    monkeypatch.setattr(queries_nodes, limit, most)
    monkeypatch.setattr(queries_nodes, "_decoded", queries_nodes._Decoded())
    uploads = [an_upload() for _ in range(3)]
    for upload in uploads:
        upload.send_batch(0)
        assert len(one(upload.run, RUNNING).at) == 10  # of two series that change
    kept = queries_nodes._decoded.take([upload.run.pk for upload in uploads])
    assert list(kept) == [uploads[1].run.pk, uploads[2].run.pk]


def test_a_run_without_samples_has_no_series() -> None:
    run = an_open_run()
    assert queries.load_series(run_ids=[run.pk], metrics=[QUESTIONS]) == []
    assert queries.series_index(run.pk) == []


def test_an_unreadable_live_batch_shows_nothing_and_does_not_raise(caplog: pytest.LogCaptureFixture) -> None:
    upload = an_upload()
    upload.batches = [b"no gzip"]
    upload.send_batch(0)
    assert queries.load_series(run_ids=[upload.run.pk], metrics=[QUESTIONS]) == []
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("module", "at"),
    [(queries_nodes, "live"), (queries_nodes, "sealed"), (series, "described"), (series, "zeros")],
)
def test_a_reader_sees_all_of_a_run_that_is_sealed_meanwhile(
    monkeypatch: pytest.MonkeyPatch, module: Any, at: str
) -> None:
    run = an_upload().send()
    read = getattr(module, at)
    before = queries.load_series(run_ids=[run.pk], metrics=[QUESTIONS, RUNNING])

    def read_after_the_seal(*arguments: Any) -> Any:
        assert accept.seal(run_id=run.pk)
        return read(*arguments)

    monkeypatch.setattr(module, at, read_after_the_seal)
    assert same(queries.load_series(run_ids=[run.pk], metrics=[QUESTIONS, RUNNING]), before)
    assert not Batch.objects.exists()


def test_series_come_in_the_order_they_were_asked_for() -> None:
    first, second = (sealed(an_upload(nodes={"db1": a_minute(), "db2": a_minute()})) for _ in range(2))
    found = queries.load_series(run_ids=[second.pk, first.pk], metrics=[RUNNING, QUESTIONS], nodes=["db2"])
    assert [(s.run_id, s.metric, s.node) for s in found] == [
        (second.pk, RUNNING, "db2"),
        (second.pk, QUESTIONS, "db2"),
        (first.pk, RUNNING, "db2"),
        (first.pk, QUESTIONS, "db2"),
    ]


def test_points_thin_a_long_series_and_keep_its_extremes() -> None:
    long: Samples = [(float(t), {RUNNING: 1000 if t == 333 else t % 7}) for t in range(900)]
    run = sealed(an_upload(nodes={"db1": long}, seconds_a_batch=100))
    found = one(run, RUNNING, points=100)
    assert len(found.at) <= 100
    assert found.values.max() == 1000
    assert found.at[found.values.argmax()] == 333


@pytest.mark.parametrize("runs", [1, 3])
def test_queries_do_not_grow_with_what_is_asked_for(
    django_assert_num_queries: DjangoAssertNumQueries, runs: int
) -> None:
    ids = [sealed(an_upload(nodes={"db1": a_minute(3), "db2": a_minute(3)})).pk for _ in range(runs)]
    ids.append(an_open_run().pk)
    with django_assert_num_queries(5):
        assert len(queries.load_series(run_ids=ids, metrics=[QUESTIONS, RUNNING, MOST])) == runs * 6
    with django_assert_num_queries(4):
        assert len(queries.series_index(ids[0])) > 6


def test_the_index_says_what_there_is_live_and_sealed() -> None:
    upload = an_upload(lines=printed())
    metrics_for([QUESTIONS, RUNNING, MOST])
    for sequence in range(len(upload.batches)):
        upload.send_batch(sequence)
    live = {(info.metric, info.node): info for info in queries.series_index(upload.run.pk)}
    run = sealed(upload)
    index = {(info.metric, info.node): info for info in queries.series_index(run.pk)}
    assert live.keys() == index.keys()
    assert {(info.kind, info.constant) for info in index.values()} == {
        ("rate", False),
        ("gauge", False),
        ("gauge", True),
    }
    questions, most = index[QUESTIONS, "db1"], index[MOST, "db1"]
    assert (questions.kind, questions.unit, questions.constant, questions.statistics.mean) == (
        "rate",
        "statements/s",
        False,
        100,
    )
    assert (most.constant, most.statistics.mean, most.statistics.maximum) == (True, 7, 7)
    assert live[QUESTIONS, "db1"].statistics.mean == 100
    throughput = index["client.throughput", "client"]
    assert throughput.statistics.mean == pytest.approx(1192.63, rel=0.01)
    assert throughput.direction == "higher"


def test_statistics_leave_out_what_lies_before_the_measured_phase() -> None:
    upload = an_upload(nodes={"db1": [(float(t), {RUNNING: 90 if t < 5 else 2 + t % 2}) for t in range(21)]})
    run = upload.send(measured_from=5.0, measured_to=20.0)
    accept.seal(run_id=run.pk)
    (info,) = [info for info in queries.series_index(run.pk) if info.metric == RUNNING]
    assert (info.statistics.maximum, info.whole.maximum) == (3, 90)
    assert np.max(one(run, RUNNING).values) == 90
