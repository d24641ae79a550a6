"""Statistics of one metric over many runs, from columns alone."""

from typing import Any

import numpy as np
import pytest
from pytest_django import DjangoAssertNumQueries

from apps.runs.ingest import accept
from apps.runs.models import Block, Run, RunNode, Series
from apps.runs.queries import statistics_of
from tests.runs.uploads import Samples, an_open_run, an_upload

pytestmark = pytest.mark.django_db

STATUS = "mysql.status."
QUESTIONS, RUNNING, MOST = STATUS + "Questions", STATUS + "Threads_running", STATUS + "Max_used_connections"


def a_run(nodes: dict[str, Samples] | None = None, **end: Any) -> Run:
    run = an_upload(nodes=nodes).send(**end)
    assert accept.seal(run_id=run.pk)
    return run


def test_statistics_are_those_of_the_measured_phase_or_of_the_whole_run() -> None:
    rows: Samples = [(float(t), {RUNNING: 90 if t < 5 else 2 + t % 2}) for t in range(21)]
    run = a_run({"db1": rows}, measured_from=5.0, measured_to=20.0)
    measured = statistics_of(RUNNING, [run.pk], statistics=["maximum", "count", "p50"])
    whole = statistics_of(RUNNING, [run.pk], statistics=["maximum", "first"], phase="whole")
    assert (measured.values["maximum"].tolist(), measured.values["count"].tolist()) == ([3], [15])
    assert (whole.values["maximum"].tolist(), whole.values["first"].tolist()) == ([90], [90])
    assert (measured.unit, measured.kind, measured.nodes) == ("threads", "gauge", ("db1",))


def test_a_counter_s_are_of_its_rate_and_no_sample_is_read() -> None:
    runs = [a_run().pk for _ in range(3)]
    Block.objects.all().delete()
    found = statistics_of(QUESTIONS, runs)
    assert (found.kind, found.unit, found.run_ids.tolist()) == ("rate", "statements/s", runs)
    assert found.values["mean"].tolist() == pytest.approx([100] * 3)
    assert not found.constant.any()


def test_a_series_that_never_changed_has_its_value_and_a_counter_rate_zero() -> None:
    run = a_run({"db1": [(float(t), {QUESTIONS: 5, MOST: 7, RUNNING: t}) for t in range(4)]})
    names = ["mean", "stddev", "p99", "increase", "resets", "count"]
    gauge, counter = (statistics_of(key, [run.pk], statistics=names) for key in (MOST, QUESTIONS))
    assert gauge.constant.tolist() == counter.constant.tolist() == [True]
    assert repr([gauge.values[name].item() for name in names]) == "[7.0, 0.0, 7.0, nan, 0.0, nan]"
    assert repr([counter.values[name].item() for name in names]) == "[0.0, 0.0, 0.0, 0.0, 0.0, nan]"


def test_what_was_not_observed_in_the_phase_is_not_a_number() -> None:
    rows: Samples = [(float(t), {RUNNING: t if t < 5 else None, MOST: None}) for t in range(11)]
    run = a_run({"db1": rows}, measured_from=6.0, measured_to=10.0)
    found = statistics_of(RUNNING, [run.pk], statistics=["mean", "count"])
    assert repr([found.values["mean"].item(), found.values["count"].item()]) == "[nan, 0.0]"
    assert len(statistics_of(MOST, [run.pk])) == 0


def test_a_derived_metric_has_statistics_like_any_other() -> None:
    rows: Samples = [(float(t), {QUESTIONS: 10 * t, STATUS + "Com_commit": 2 * t}) for t in range(11)]
    run = a_run({"db1": rows, "db2": rows})
    found = statistics_of("derived.statements.per_transaction", [run.pk], nodes=["db2"])
    assert (found.values["mean"].tolist(), found.nodes, found.unit) == ([5.0], ("db2",), "statements")


def test_runs_may_be_a_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    first, second = a_run(), a_run()
    live = an_open_run()
    with django_assert_num_queries(1):
        found = statistics_of(QUESTIONS, Run.objects.filter(pk__in=[first.pk, second.pk, live.pk]).order_by("-pk"))
    assert found.run_ids.tolist() == [first.pk, second.pk]
    assert len(statistics_of(QUESTIONS, Run.objects.none())) == 0
    assert statistics_of(QUESTIONS, Run.objects.order_by("-pk")[:2]).run_ids.tolist() == [second.pk]
    assert len(statistics_of("no.such.metric", [first.pk])) == 0


def test_one_query_answers_for_hundreds_of_runs(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = Run.objects.get(pk=a_run().pk)
    series = Series.objects.get(run=run, metric__key=QUESTIONS)
    clones = [
        Run(
            system=run.system,
            workload=run.workload,
            load_level=run.load_level,
            provenance="example",
            state="sealed",
            outcome="succeeded",
            started_at=run.started_at,
            ended_at=run.ended_at,
        )
        for _ in range(300)
    ]
    Run.objects.bulk_create(clones)
    RunNode.objects.bulk_create(RunNode(run=each, number=1, name="db1") for each in clones)
    Series.objects.bulk_create(
        Series(run=each, metric=series.metric, node=1, count=20, mean=place, p95=place + 1)
        for place, each in enumerate(clones)
    )
    with django_assert_num_queries(1):
        found = statistics_of(QUESTIONS, [each.pk for each in clones], statistics=["mean", "p95"])
    assert np.array_equal(found.values["mean"], np.arange(300.0))
    assert np.array_equal(found.values["p95"], np.arange(300.0) + 1)


def test_an_unknown_statistic_or_phase_is_refused() -> None:
    for wrong in ({"statistics": ["median"]}, {"phase": "warm-up"}):
        with pytest.raises(ValueError, match="phases are measured and whole"):
            statistics_of(QUESTIONS, [1], **wrong)


def test_a_value_of_a_period_counts_in_the_phase_that_holds_the_middle_of_its_period() -> None:
    busy = "aws.rds.CPUUtilization"
    # Periods of a minute that end 20 s into the run, then 80 s, ...: the first covers -40 to 20 s.
    rows: Samples = [(20.0, {busy: 3.0}), (80.0, {busy: 70.0}), (140.0, {busy: 80.0}), (200.0, {busy: 9.0})]
    run = a_run({"cloudwatch:one": rows}, measured_from=10.0, measured_to=130.0)
    measured = statistics_of(busy, [run.pk], statistics=["count", "minimum", "maximum"])
    assert [measured.values[name].item() for name in ("count", "minimum", "maximum")] == [2, 70, 80]
