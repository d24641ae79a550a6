from typing import Any

import numpy as np
import pytest

from apps.runs.ingest import accept
from apps.runs.models import Artifact, Batch, Event, Measurement, Run, RunNode
from apps.runs.storage import artifacts, codec
from tests.paths import RECORDINGS
from tests.runs.uploads import OUTPUT, SEGFAULT, Samples, an_upload, everything, samples, series
from workers.protocol import wire
from workers.protocol.wire import EventMessage

pytestmark = pytest.mark.django_db

CHECKPOINT = (RECORDINGS / "sysbench_single" / "oltp_read_write_t4_checkpoints5.txt").read_bytes()


def sealed(**what: Any) -> Run:
    end = what.pop("end", {})
    run = an_upload(**what).send(**end)
    assert accept.seal(run_id=run.pk) is True
    run.refresh_from_db()
    return run


def counter(*samples: tuple[float, int | float | None]) -> dict[str, Samples]:
    return {"db1": [(t, {"mysql.status.Questions": value}) for t, value in samples]}


def test_a_run_is_sealed_only_when_all_of_it_has_arrived() -> None:
    upload = an_upload()
    assert accept.seal(run_id=upload.run.pk) is False
    upload.send_batch(2)
    upload.send_batch(0)
    upload.end()
    assert accept.seal(run_id=upload.run.pk) is False
    upload.send_batch(1)
    assert accept.seal(run_id=upload.run.pk) is False
    upload.send_output()
    assert accept.seal(run_id=upload.run.pk) is True
    assert not Batch.objects.exists()


def test_samples_are_stored_exactly() -> None:
    sealed()
    node = RunNode.objects.get(name="db1")
    assert codec.decode_floats(node.clock).tolist() == [float(t) for t in range(21)]
    assert node.samples == 21
    assert node.constants == {"mysql.status.Max_used_connections": 7}
    assert samples("mysql.status.Questions").values.tolist() == [1000 + 100 * t for t in range(21)]
    assert samples("mysql.status.Threads_running").values.tolist() == [3 + t % 4 for t in range(21)]


def test_sealing_twice_has_one_effect() -> None:
    run = sealed()
    before = everything(run)
    assert accept.seal(run_id=run.pk) is True
    assert everything(run) == before


def test_measurements_name_the_bytes_they_were_read_from() -> None:
    run = sealed()
    found = {m.metric.key: m for m in Measurement.objects.select_related("metric", "artifact")}
    assert {key: m.value for key, m in found.items()} == {
        "client.throughput": 1192.63,
        "client.queries": 23852.61,
        "client.errors": 0,
        "client.reconnects": 0,
        "client.transactions": 23861,
        "client.errors.total": 0,
        "client.elapsed": 20.0061,
        "client.latency.min": 0.81,
        "client.latency.avg": 3.35,
        "client.latency.max": 41.82,
        "client.latency.p50": 3.19,
        "client.latency.p95": 5.67,
        "client.latency.p99": 7.43,
    } | {key: found[key].value for key in ("client.latency.p50", "client.latency.p99")}
    output = artifacts.read_artifact(Artifact.objects.get(run=run))
    for m in found.values():
        assert float(output[m.byte_start : m.byte_end]) == m.value
        assert (m.artifact.sha256, m.parser, m.parser_version) == (wire.checksum(OUTPUT), "sysbench", "3")


def test_percentiles_of_the_histogram_are_those_of_its_counts() -> None:
    sealed()
    rows = [line.split() for line in OUTPUT.split(b"\n") if b" |" in line]
    values = np.repeat([float(row[0]) for row in rows], [int(row[-1]) for row in rows])
    for percent in (50, 99):
        stored = Measurement.objects.get(metric__key=f"client.latency.p{percent}").value
        assert stored == np.sort(values)[int(len(values) * percent / 100 + 0.5) - 1]


def test_percentiles_are_read_though_an_event_went_astray_at_a_checkpoint() -> None:
    sealed(output=(RECORDINGS / "own" / "oltp_write_only_t2_checkpoint2_hist.txt").read_bytes())
    found = dict(Measurement.objects.values_list("metric__key", "value"))
    assert found["client.transactions"] == 7730
    assert found["client.latency.p50"] < found["client.latency.p95"] == 1.55 < found["client.latency.p99"]


def test_a_histogram_that_does_not_hold_the_events_is_not_read() -> None:
    sealed(output=OUTPUT.replace(b"events:              23861", b"events:              23800"))
    assert not Measurement.objects.filter(metric__key="client.latency.p50").exists()


def test_elapsed_after_a_checkpoint_is_read_from_both_reports() -> None:
    run = sealed(output=CHECKPOINT)
    elapsed = Measurement.objects.get(metric__key="client.elapsed")
    assert elapsed.value == pytest.approx(10.0084 - 5.0002)
    between = CHECKPOINT[elapsed.byte_start : elapsed.byte_end]
    assert between.startswith(b"5.0002s")
    assert between.endswith(b"10.0084")
    assert (run.measured_from, run.measured_to) == (5.0002, 10.0084)


def test_the_load_generators_own_series_are_on_the_runs_clock() -> None:
    lines = [(t + 2.5 + (0.4 if t == 3 else 0), f"[ {t}s ] thds: 4 tps: 1.00") for t in range(1, 10)]
    run = sealed(lines=lines)
    client = RunNode.objects.get(number=0)
    assert codec.decode_floats(client.clock).tolist() == [t + 2.5 for t in range(1, 21)]
    assert client.constants == {"client.threads": 4, "client.errors": 0.0, "client.reconnects": 0.0}
    assert series("client.throughput", 0).count == 20
    assert series("client.latency.p95", 0).maximum is not None
    assert run.measured_from == 2.5


def test_seconds_without_a_transaction_have_no_latency() -> None:
    sealed(output=(RECORDINGS / "ddl" / "copy.sysbench.txt").read_bytes())
    latency = samples("client.latency.p99", 0).as_float()
    assert np.flatnonzero(np.isnan(latency)).tolist() == [8, 9, 10, 11, 12, 13]
    assert series("client.latency.p99", 0).count == 30
    assert series("client.throughput", 0).minimum == 0.0
    assert series("client.queue_length", 0).maximum == 706


def test_statistics_of_a_counter_are_of_its_rate_over_the_measured_phase() -> None:
    # 10/s during warm-up, then 100/s with a second that took two.
    samples = [(0, 0), (1, 10), (2, 20), (3, 120), (5, 320), (6, 420), (7, 425)]
    sealed(nodes=counter(*samples), end={"measured_from": 2.0, "measured_to": 6.0})
    row = series("mysql.status.Questions")
    assert (row.count, row.increase, row.resets) == (3, 400, 0)
    assert (row.minimum, row.mean, row.maximum, row.stddev) == (100, 100, 100, 0)
    assert (row.first, row.last, row.p50) == (100, 100, 100)


def test_the_mean_rate_counts_long_intervals_for_as_long_as_they_were() -> None:
    sealed(nodes=counter((0, 0), (1, 100), (5, 100 + 4 * 10)), end={"measured_from": 0.0, "measured_to": 5.0})
    row = series("mysql.status.Questions")
    assert row.mean == pytest.approx(140 / 5)
    assert row.p50 == pytest.approx(55)


def test_statistics_of_a_gauge_leave_the_warm_up_out() -> None:
    gauge = {"db1": [(float(t), {"mysql.status.Threads_running": 50 if t < 2 else t}) for t in range(8)]}
    sealed(nodes=gauge, end={"measured_from": 2.0, "measured_to": 6.0})
    row = series("mysql.status.Threads_running")
    assert (row.count, row.minimum, row.maximum, row.mean, row.first, row.last) == (4, 2, 5, 3.5, 2, 5)
    assert row.increase is None


def test_a_counter_that_falls_is_a_reset_and_never_a_negative_rate() -> None:
    sealed(nodes=counter((0, 1000), (1, 1100), (2, 5), (3, 105)), end={"measured_from": 0.0, "measured_to": 3.0})
    row = series("mysql.status.Questions")
    assert (row.resets, row.increase, row.minimum, row.count) == (1, 200, 100, 2)


def test_gaps_are_kept_as_gaps() -> None:
    sealed(nodes=counter((0, 0), (1, None), (2, 200), (3, 300)), end={"measured_from": 0.0, "measured_to": 3.0})
    row = series("mysql.status.Questions")
    column = samples("mysql.status.Questions")
    assert column.observed.tolist() == [True, False, True, True]
    assert (row.count, row.mean, row.increase) == (2, 100, 300)


def test_a_series_outside_the_measured_phase_has_no_statistics() -> None:
    sealed(nodes=counter((0, 0), (1, 5), (2, 9)), end={"measured_from": 10.0, "measured_to": 20.0})
    row = series("mysql.status.Questions")
    assert (row.count, row.mean, row.p99, row.increase) == (0, None, None, None)


def test_a_node_and_a_series_may_join_late() -> None:
    late = [(float(t), {"mysql.status.Uptime": t}) for t in range(5, 9)]
    early: Samples = [(t + 0.01, {"a": t} if t < 3 else {"a": t, "b": t * t}) for t in range(9)]
    sealed(nodes={"db1": early, "db2": late})
    db2 = RunNode.objects.get(name="db2")
    assert codec.decode_floats(db2.clock).tolist() == [5, 6, 7, 8]
    b = samples("b")
    assert b.observed.tolist() == [False] * 3 + [True] * 6
    assert b.values[3:].tolist() == [t * t for t in range(3, 9)]


def test_integers_beyond_2_53_are_exact_changing_or_constant() -> None:
    big = 2**62 + 1
    nodes = {"db1": [(float(t), {"x": big + t, "y": big, "z": 2**63 + 5}) for t in range(3)]}
    sealed(nodes=nodes)
    assert samples("x").values.tolist() == [big, big + 1, big + 2]
    constants = RunNode.objects.get(name="db1").constants
    assert constants == {"y": big, "z": float(2**63 + 5)}
    assert type(constants["y"]) is int


def test_what_was_sampled_of_the_client_joins_what_it_printed() -> None:
    sealed(nodes={"client": [(t + 0.5, {"host.load.1m": t / 4}) for t in range(20)]})
    node = RunNode.objects.get()
    assert (node.number, node.samples) == (0, 40)
    assert series("client.throughput", 0).count == 20
    assert series("host.load.1m", 0).count == 20


def test_events_are_stored_once() -> None:
    event = EventMessage(kind="ddl", label="ALTER", starts_at=3.0, ends_at=4.5, node="db1", detail={"rows": 5})
    sealed(events=[event, event])
    row = Event.objects.get()
    assert (row.kind, row.label, row.starts_at, row.ends_at, row.detail) == ("ddl", "ALTER", 3.0, 4.5, {"rows": 5})


def test_a_success_without_totals_is_a_failure_that_keeps_everything() -> None:
    run = sealed(output=SEGFAULT)
    assert run.outcome == "failed"
    assert run.reason.startswith("sysbench printed no totals: mysql_stmt_execute() returned error 2013")
    assert not Measurement.objects.exists()
    assert series("client.throughput", 0).count == 4
    assert sorted((e.kind, e.starts_at, e.detail["count"]) for e in Event.objects.all()) == [
        ("error", 4, 1),
        ("error", 4, 4),
    ]
    assert artifacts.read_artifact(Artifact.objects.get()) == SEGFAULT


def test_a_success_without_output_is_a_failure() -> None:
    run = sealed(output=None)
    assert (run.outcome, run.reason) == ("failed", "no output of sysbench arrived (artifact sysbench.txt)")
    assert series("mysql.status.Questions").count == 20


def test_a_failure_and_a_cancellation_stay_what_they_were() -> None:
    assert sealed(output=SEGFAULT, end={"outcome": "failed", "reason": "server died"}).reason == "server died"
    cancelled = sealed(output=None, end={"outcome": "cancelled"})
    assert (cancelled.outcome, cancelled.reason) == ("cancelled", "")


def test_lines_that_nobody_understood_are_kept() -> None:
    run = sealed(output=b"what is this?\n\x00\xff\n" + OUTPUT)
    assert run.unparsed_lines == ["what is this?", "\\x00\\xff"]
    assert run.outcome == "succeeded"


def test_an_output_of_noise_is_kept_short_in_the_run() -> None:
    run = sealed(output=b"noise\n" * 5000 + OUTPUT)
    assert len(run.unparsed_lines) == 1001
    assert run.unparsed_lines[-1] == "(and 4000 more lines, in the artifact)"
