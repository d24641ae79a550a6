"""What can be asked of series beyond their names: times, alignment, nodes together, raw samples, derived metrics."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from pytest_django import DjangoAssertNumQueries

from apps.runs import queries
from apps.runs.ingest import accept
from apps.runs.models import Block, Run, Series
from apps.runs.queries import MEASURED_PHASE, RUN_CLOCK, Alignment, SeriesValues, load_series
from tests.examples import examples
from tests.runs.storage.test_blocks import flip_a_bit
from tests.runs.uploads import Samples, Upload, a_minute, an_open_run, an_upload
from workers.protocol.wire import EventMessage, Number

STATUS = "mysql.status."
QUESTIONS, RUNNING, MOST = STATUS + "Questions", STATUS + "Threads_running", STATUS + "Max_used_connections"
COMMITS = STATUS + "Com_commit"
PER_TRANSACTION = "derived.statements.per_transaction"
FAILOVER = EventMessage(kind="failover", label="writer lost", starts_at=8.0)


def sealed(upload: Upload, **end: Any) -> Run:
    run = upload.send(**end)
    assert accept.seal(run_id=run.pk)
    return run


def live(upload: Upload) -> Run:
    for sequence in range(len(upload.batches)):
        upload.send_batch(sequence)
    return upload.run


def one(run: Run, metric: str, **what: Any) -> SeriesValues:
    (found,) = load_series(run_ids=[run.pk], metrics=[metric], **what)
    return found


def transactions(seconds: int = 20) -> Samples:
    return [(float(t), {QUESTIONS: 100 * t, COMMITS: 20 * t if t < 15 else 300}) for t in range(seconds + 1)]


@pytest.mark.django_db
class TestTime:
    def test_between_cuts_times_on_the_run_s_clock(self) -> None:
        run = sealed(an_upload())
        assert one(run, RUNNING, between=(3.0, 5.5)).at.tolist() == [3, 4, 5]
        assert one(run, QUESTIONS, between=(30.0, 40.0)).at.tolist() == []

    def test_resets_outside_are_left_out(self) -> None:
        totals: list[Number] = [50, 10, 20, 30, 5, 6]
        run = sealed(an_upload(nodes={"db1": [(float(t), {QUESTIONS: v}) for t, v in enumerate(totals)]}))
        assert one(run, QUESTIONS).resets == (1.0, 4.0)
        assert one(run, QUESTIONS, between=(2.0, 5.0)).resets == (4.0,)

    def test_zero_is_where_the_measured_phase_begins(self) -> None:
        run = sealed(an_upload(), measured_from=5.0, measured_to=20.0)
        found = one(run, RUNNING, align=MEASURED_PHASE, between=(0.0, 2.0))
        assert (found.zero, found.at.tolist()) == (5.0, [0, 1, 2])
        assert found.values.tolist() == one(run, RUNNING, between=(5.0, 7.0)).values.tolist()

    def test_zero_is_the_first_event_of_a_kind(self) -> None:
        later = EventMessage(kind="failover", label="proxy lost", starts_at=12.0)
        run = sealed(an_upload(events=[later, FAILOVER]))
        assert one(run, RUNNING, align=Alignment("event", kind="failover")).at[0] == -8
        assert one(run, RUNNING, align=Alignment("event", kind="failover", label="proxy lost")).zero == 12

    def test_a_run_without_the_event_says_so(self) -> None:
        with_it, without = sealed(an_upload(events=[FAILOVER])), sealed(an_upload())
        found = load_series(
            run_ids=[with_it.pk, without.pk], metrics=[RUNNING, QUESTIONS], align=Alignment("event", kind="failover")
        )
        assert [(each.run_id, each.metric, bool(each.problem)) for each in found] == [
            (with_it.pk, RUNNING, False),
            (with_it.pk, QUESTIONS, False),
            (without.pk, RUNNING, True),
            (without.pk, QUESTIONS, True),
        ]
        assert found[-1].problem == f"run {without.pk} has no event of kind failover"
        assert len(found[-1].at) == len(found[-1].values) == 0

    def test_a_live_run_has_no_measured_phase_yet(self) -> None:
        found = one(live(an_upload()), RUNNING, align=MEASURED_PHASE)
        assert "no measured phase yet" in found.problem

    @pytest.mark.parametrize("wrong", [{"to": "event"}, {"to": "start"}, {"to": "run", "kind": "failover"}])
    def test_what_cannot_be_aligned_to_is_refused(self, wrong: dict[str, str]) -> None:
        with pytest.raises(ValueError, match="align to"):
            Alignment(**wrong)


class TestAlignmentKeepsValues(TestCase):
    @examples(25, suppress_health_check=[HealthCheck.too_slow])
    @given(st.floats(0, 15), st.floats(-5, 25), st.floats(0, 20))
    def test_alignment_moves_the_clock_and_nothing_else(self, zero: float, first: float, length: float) -> None:
        run = sealed(an_upload(), measured_from=zero, measured_to=20.0)
        found = one(run, QUESTIONS, align=MEASURED_PHASE, between=(first, first + length))
        plain = one(run, QUESTIONS)
        inside = (plain.at >= first + zero) & (plain.at <= first + length + zero)
        assert found.at + zero == pytest.approx(plain.at[inside])
        assert found.values.tolist() == plain.values[inside].tolist()


@pytest.mark.django_db
class TestGapsOfCharts:
    @pytest.mark.parametrize("metric", [RUNNING, QUESTIONS])
    def test_a_series_sampled_every_five_seconds_has_no_gaps_on_a_clock_of_one(self, metric: str) -> None:
        rows: Samples = [(float(t), {MOST: t, metric: t * 10 if t % 5 == 0 else None}) for t in range(41)]
        run = sealed(an_upload(nodes={"db1": rows}))
        found = one(run, metric, points=50)
        assert found.at.tolist() == list(range(0 if metric == RUNNING else 5, 41, 5))
        assert not np.isnan(found.values).any()
        assert len(one(run, metric).at) > len(found.at)

    @pytest.mark.parametrize("what", [{}, {"over_nodes": "sum"}, {"raw": True}])
    @pytest.mark.parametrize("metric", [RUNNING, QUESTIONS])
    def test_a_pause_of_the_sampler_is_a_gap(self, metric: str, what: dict[str, Any]) -> None:
        rows: Samples = [(float(t), {metric: t * 10}) for t in range(200) if not 60 < t < 90]
        run = sealed(an_upload(nodes={"db1": rows}))
        for points in (50, 500):
            found = one(run, metric, points=points, **what)
            observed = ~np.isnan(found.values) if found.observed is None else found.observed
            assert found.at[~observed].tolist() == [89]
            assert {60, 90} <= set(found.at.tolist())
        assert 89 not in one(run, metric, **what).at.tolist()


@pytest.mark.django_db
class TestRaw:
    def test_raw_samples_are_exact_beyond_what_a_float_holds(self) -> None:
        huge = 2**62 + 1
        rows: Samples = [(float(t), {QUESTIONS: None if t == 2 else huge + t}) for t in range(5)]
        run = sealed(an_upload(nodes={"db1": rows}))
        found = one(run, QUESTIONS, raw=True)
        assert found.values.dtype == np.int64
        assert found.observed is not None
        assert (found.kind, found.unit, found.at.tolist()) == ("counter", "statements", [0, 1, 2, 3, 4])
        assert found.values[found.observed].tolist() == [huge, huge + 1, huge + 3, huge + 4]

    def test_a_gauge_is_raw_what_it_is(self) -> None:
        run = sealed(an_upload())
        found = one(run, RUNNING, raw=True, points=10)
        assert (found.kind, found.unit, str(found.values.dtype)) == ("gauge", "threads", "int64")
        assert len(found.at) <= 10

    def test_raw_samples_have_no_sum(self) -> None:
        with pytest.raises(ValueError, match="none of raw samples"):
            load_series(run_ids=[1], metrics=[RUNNING], raw=True, over_nodes="sum")
        with pytest.raises(ValueError, match="a sum or a mean"):
            load_series(run_ids=[1], metrics=[RUNNING], over_nodes="median")


@pytest.mark.django_db
class TestNodesTogether:
    NODES = ({"db1": a_minute(), "db2": [(t + 0.25, values) for t, values in a_minute()[5:]]},)

    def test_the_sum_over_nodes_says_of_how_many_it_is(self) -> None:
        run = sealed(an_upload(nodes=self.NODES[0]))
        found = one(run, QUESTIONS, over_nodes="sum")
        assert (found.node, found.nodes, found.unit) == ("sum", ("db1", "db2"), "statements/s")
        assert found.parts is not None
        assert found.values.tolist() == pytest.approx([100.0] * 5 + [200.0] * 15)
        assert found.parts.tolist() == [1] * 5 + [2] * 15
        assert one(run, QUESTIONS, over_nodes="mean").values.tolist() == pytest.approx([100.0] * 20)
        assert one(run, QUESTIONS, over_nodes="sum", nodes=["db2"]).nodes == ("db2",)

    def test_the_load_generator_is_not_summed_with_servers(self) -> None:
        cpu = "host.cpu.user"
        rows: Samples = [(float(t), {cpu: t}) for t in range(5)]
        run = sealed(an_upload(nodes={"db1": rows, "client": rows}))
        assert one(run, cpu, over_nodes="sum").nodes == ("db1",)
        assert one(run, "client.throughput", over_nodes="sum").nodes == ("client",)
        assert set(one(run, cpu, over_nodes="sum", nodes=["db1", "client"]).nodes) == {"db1", "client"}

    def test_percentiles_of_nodes_have_no_sum(self) -> None:
        rows: Samples = [(float(t), {"client.latency.p95": t + 1.0}) for t in range(5)]
        run = sealed(an_upload(nodes={"db1": rows, "db2": rows}))
        assert "does not follow" in one(run, "client.latency.p95", over_nodes="mean", nodes=["db1", "db2"]).problem


@pytest.mark.django_db
class TestDerived:
    def test_a_derived_metric_is_read_as_any_other(self) -> None:
        run = sealed(an_upload(nodes={"db1": transactions()}))
        found = one(run, PER_TRANSACTION)
        assert (found.kind, found.unit, found.node, found.problem) == ("gauge", "statements", "db1", "")
        assert repr(found.values.tolist()) == repr([5.0] * 15 + [float("nan")] * 5)

    def test_the_index_lists_it_with_its_statistics_of_the_phase(self) -> None:
        run = sealed(an_upload(nodes={"db1": transactions()}), measured_from=2.0, measured_to=20.0)
        assert Series.objects.get(metric__key=PER_TRANSACTION).length == 0
        (info,) = [info for info in queries.series_index(run.pk) if info.metric == PER_TRANSACTION]
        assert (info.statistics.count, info.statistics.mean, info.whole.count) == (13, 5.0, 15)

    def test_one_of_a_device_needs_only_its_own_counters(self) -> None:
        rows: Samples = [
            (float(t), {f"host.disk.{disk}.io_time": t * share for disk, share in (("sda", 0.25), ("sdb", 0.5))})
            for t in range(5)
        ]
        run = sealed(an_upload(nodes={"db1": rows}))
        assert one(run, "derived.disk.sdb.utilization").values.tolist() == [50.0] * 4

    def test_a_star_finds_what_the_catalog_has(self) -> None:
        rows: Samples = [
            (float(t), {QUESTIONS: t, STATUS + "Handler_read_key": 2 * t, STATUS + "Handler_read_next": 5 * t})
            for t in range(4)
        ]
        run = sealed(an_upload(nodes={"db1": rows}))
        assert one(run, "derived.rows.read_per_statement").values.tolist() == [7.0] * 3

    def test_a_damaged_input_is_said(self) -> None:
        run = sealed(an_upload(nodes={"db1": transactions(), "db2": transactions()}))
        row = Series.objects.get(metric__key=COMMITS, node=2)
        flip_a_bit(run, node=2, byte=row.offset + row.length // 2)
        whole, damaged = load_series(run_ids=[run.pk], metrics=[PER_TRANSACTION])
        assert (whole.node, whole.problem) == ("db1", "")
        assert damaged.node == "db2"
        assert f"samples of {COMMITS} on db2 in run {run.pk} are damaged" in damaged.problem


@pytest.mark.django_db
class TestDamage:
    def test_a_damaged_series_has_a_sentence_and_the_rest_its_values(self) -> None:
        run = sealed(an_upload(nodes={"db1": a_minute(), "db2": a_minute()}))
        row = Series.objects.get(metric__key=QUESTIONS, node=1)
        flip_a_bit(run, node=1, byte=row.offset + row.length // 2)
        found = load_series(run_ids=[run.pk], metrics=[QUESTIONS, RUNNING, MOST])
        assert [(each.metric, each.node) for each in found if each.problem] == [(QUESTIONS, "db1")]
        assert len(found) == 6
        assert [len(each.at) for each in found if not each.problem] == [20, 21, 21, 21, 21]

    def test_a_sum_with_a_damaged_part_is_none(self) -> None:
        run = sealed(an_upload(nodes={"db1": a_minute(), "db2": a_minute()}))
        row = Series.objects.get(metric__key=QUESTIONS, node=1)
        flip_a_bit(run, node=1, byte=row.offset + row.length // 2)
        assert "db1" in one(run, QUESTIONS, over_nodes="sum").problem
        assert not one(run, RUNNING, over_nodes="sum").problem

    def test_samples_that_are_nowhere_are_said_of_their_run(self) -> None:
        moved, whole = sealed(an_upload()), sealed(an_upload())
        Block.objects.filter(run=moved).update(data=None)
        found = {each.run_id: each for each in load_series(run_ids=[moved.pk, whole.pk], metrics=[RUNNING])}
        assert f"the samples of run {moved.pk}" in found[moved.pk].problem
        assert found[whole.pk].values.tolist() == [3 + t % 4 for t in range(21)]


ASKED: list[dict[str, Any]] = [
    {},
    {"over_nodes": "sum"},
    {"over_nodes": "mean", "points": 15},
    {"raw": True},
    {"between": (4.0, 12.0)},
    {"nodes": ["db2"]},
    {"align": Alignment("event", kind="failover")},
]


@pytest.mark.django_db
@pytest.mark.parametrize("what", ASKED, ids=str)
def test_live_and_sealed_answer_alike(what: dict[str, Any]) -> None:
    nodes = {"db1": transactions(), "db2": [(t + 0.4, values) for t, values in transactions()[5:]]}
    upload = an_upload(nodes=nodes, events=[] if "align" in what else [FAILOVER])
    keys = [PER_TRANSACTION, QUESTIONS, COMMITS]
    before = load_series(run_ids=[live(upload).pk], metrics=keys, **what)
    after = load_series(run_ids=[sealed(upload).pk], metrics=keys, **what)
    assert [plain(each) for each in before] == [plain(each) for each in after]
    assert len(before) >= 3


def plain(series: SeriesValues) -> tuple[Any, ...]:
    return (series.metric, series.node, series.nodes, series.at.tolist(), repr(series.values.tolist()), series.problem)


@pytest.mark.django_db
@pytest.mark.parametrize("align", [RUN_CLOCK, MEASURED_PHASE, Alignment("event", kind="failover")])
@pytest.mark.parametrize("runs", [1, 3])
def test_the_number_of_queries_is_fixed(
    django_assert_num_queries: DjangoAssertNumQueries, runs: int, align: Alignment
) -> None:
    ids = [sealed(an_upload(nodes={"db1": transactions(3), "db2": transactions(3)})).pk for _ in range(runs)]
    ids.append(an_open_run().pk)
    for over in (None, "sum"):
        with django_assert_num_queries(5 if align == RUN_CLOCK else 6):
            load_series(
                run_ids=ids,
                metrics=[QUESTIONS, COMMITS, PER_TRANSACTION, "derived.rows.read_per_statement"],
                align=align,
                over_nodes=over,
            )
