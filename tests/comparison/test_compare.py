"""What is compared with what: which runs count, which past is like them, and what is said about the rest."""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.catalog.models import HardwareClass, Metric, System, Workload
from apps.comparison.comparability.acknowledgements import acknowledge
from apps.comparison.sections.all_metrics import everything
from apps.comparison.selection.sides import UnknownSide
from apps.comparison.stats import welch
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.welch import Verdict
from apps.comparison.wording import ratio_text, with_interval
from apps.core.problems import Invalid
from apps.dispatch.models import Campaign, Job, JobRun
from apps.runs.models import Configuration, Run, RunNode
from tests.comparison.compared import ERRORS, P95, P99, TPS, A, B, compare, counting, level_of, measure
from tests.support.builders import START, a_load_level, a_measured_run, a_metric, a_run, a_system, a_user, a_workload

pytestmark = pytest.mark.django_db


def test_every_level_has_values_ratio_and_verdict_of_each_side(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B)
    measure(a, A, threads=8), measure(b, A, threads=8)
    comparison = compare(workload)
    assert [(level.threads, level.text) for level in comparison.levels] == [(4, "4 threads"), (8, "8 threads")]
    assert [(side.slug, side.position, side.runs) for side in comparison.sides] == [("a", 0, 6), ("b", 1, 6)]
    cell = comparison.cell(side="b", level=level_of(comparison), metric=TPS)
    expected = welch.compare(Sample(A, sessions=(0,) * 3), Sample(B, sessions=(0,) * 3))
    assert cell.ratio is not None
    assert replace(cell.ratio, adjusted_p=None) == expected
    assert cell.words == "better"
    assert [each.value for each in cell.replicates] == list(B)
    assert cell.summary is not None
    assert cell.summary.value == pytest.approx(math.exp(sum(map(math.log, B)) / 3))
    assert comparison.cell(side="a", level=level_of(comparison), metric=TPS).ratio is None
    equal = comparison.cell(side="b", level=level_of(comparison, 8), metric=TPS)
    assert equal.words == "inconclusive"
    assert [(more.side, more.runs > 0) for more in equal.more] == [("a", True), ("b", True)]


def test_lower_latency_is_better(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B)
    comparison = compare(workload)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=P95)
    assert cell.ratio is not None
    assert (cell.ratio.verdict, cell.words) == (Verdict.LOWER, "better")
    assert cell.ratio.adjusted_p is not None


def test_too_few_repetitions_say_how_many_more_of_which_side(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B[:1])
    comparison = compare(workload)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=TPS)
    assert cell.ratio is not None
    assert (cell.words, cell.ratio.low) == ("too few repetitions", None)
    assert [(more.side, more.runs) for more in cell.more] == [("b", 2)]


def test_a_level_that_one_side_lacks_has_no_runs_and_no_ratio(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B), measure(a, A, threads=8)
    comparison = compare(workload)
    cell = comparison.cell(side="b", level=level_of(comparison, 8), metric=TPS)
    assert (cell.words, cell.summary, cell.replicates) == ("no runs", None, ())


def test_failed_and_unfinished_runs_do_not_count_but_are_said(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B)
    measure(a, (5000.0,), at=3, outcome="failed", reason="the server went away")
    measure(a, (5000.0,), at=4, outcome="cancelled")
    a_run(system=a, load_level=a_load_level(4), state="open", outcome="", ended_at=None, sealed_at=None)
    a_run(system=a, load_level=a_load_level(4), state="ended", sealed_at=None)
    a_run(system=a, load_level=a_load_level(4))
    comparison = compare(workload)
    assert sorted(run.left_out for run in comparison.left_out) == [
        "cancelled",
        "failed: the server went away",
        "no headline values",
        "still being stored",
        "still running",
    ]
    cell = comparison.cell(side="a", level=level_of(comparison), metric=TPS)
    assert [each.value for each in cell.replicates] == list(A)


def alike(values: tuple[float, ...], history: tuple[float, ...]) -> Sample:
    """All of one session."""
    return Sample(values, history, sessions=(0,) * len(values), history_sessions=(0,) * len(history))


def test_runs_of_the_same_configuration_before_are_its_history(workload: Workload, a: System, b: System) -> None:
    past = tuple(1000.0 + 7 * number for number in range(12))
    measure(a, past), measure(b, past)
    chosen = [run.pk for run in (*measure(a, A, at=5), *measure(b, B, at=5))]
    measure(a, (9000.0,) * 3, at=9)
    comparison = compare(workload, runs=chosen)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=TPS)
    newest = past[:1:-1]
    assert cell.ratio is not None
    assert replace(cell.ratio, adjusted_p=None) == welch.compare(alike(A, newest), alike(B, newest))
    assert cell.history == 10
    assert not cell.ratio.few_runs


@pytest.mark.parametrize(
    "unlike",
    [
        {"duration": 5},
        {"duration": None},
        {"warmup": 30},
        {"server_version": "11.8.2"},
        {"host": {"name": "another"}},
        {"outcome": "failed", "reason": "disk full"},
        {"state": "ended", "sealed_at": None},
    ],
)
def test_other_conditions_are_no_history(workload: Workload, a: System, b: System, unlike: dict[str, Any]) -> None:
    here: dict[str, Any] = {"host": {"name": "here"}}
    measure(a, A, **{**here, **unlike})
    chosen = [run.pk for run in (*measure(a, A, at=5, **here), *measure(b, B, at=5, **here))]
    comparison = compare(workload, runs=chosen)
    assert comparison.cell(side="a", level=level_of(comparison), metric=TPS).history == 0


def test_jitter_of_a_clock_does_not_make_another_duration(workload: Workload, a: System, b: System) -> None:
    measure(a, A, duration=60.004)
    chosen = [run.pk for run in (*measure(a, A, at=5, duration=60.013), *measure(b, B, at=5, duration=59.998))]
    comparison = compare(workload, runs=chosen)
    assert comparison.cell(side="a", level=level_of(comparison), metric=TPS).history == 3
    assert not [each for each in comparison.differences if each.field == "duration"]


def test_the_load_generators_hosts_are_distinguished(workload: Workload, a: System, b: System) -> None:
    facts = {"name": "here", "cpus": 2, "memory_bytes": 8 * 2**30, "kernel": "Linux 6.1"}
    measure(a, A, host=facts), measure(b, B, host=facts | {"cpus": 4})
    found = {each.field: each.values for each in compare(workload).differences}
    assert found["load_generator"] == ("here, 2 CPUs, 8 GiB, Linux 6.1", "here, 4 CPUs, 8 GiB, Linux 6.1")


def test_passing_facts_of_the_host_do_not_make_another_host(workload: Workload, a: System, b: System) -> None:
    measure(a, A, host={"name": "here", "load_1m": 0.5})
    host = {"name": "here", "load_1m": 1.5}
    chosen = [run.pk for run in (*measure(a, A, at=5, host=host), *measure(b, B, at=5, host=host))]
    comparison = compare(workload, runs=chosen)
    assert comparison.cell(side="a", level=level_of(comparison), metric=TPS).history == 3
    assert not [each for each in comparison.differences if each.field == "load_generator"]


def test_other_workloads_systems_and_levels_are_no_history(workload: Workload, a: System, b: System) -> None:
    measure(a, A, threads=8), measure(b, A), measure(a, A, workload=a_workload("oltp_read_only"))
    chosen = [run.pk for run in (*measure(a, A, at=5), *measure(b, B, at=5, threads=8))]
    comparison = compare(workload, runs=chosen)
    assert {cell.history for cell in comparison.cells} == {0}


def test_a_campaign_restricts_what_counts(workload: Workload, a: System, b: System) -> None:
    measure(a, (500.0,)), measure(b, (500.0,))
    campaign = Campaign.objects.create(name="Flush", repetitions=3)
    entry = campaign.entries.create(place=0, workload=workload, duration=60)
    for system, values in ((a, A), (b, B)):
        for number, run in enumerate(measure(system, values, at=2)):
            job = Job.objects.create(
                campaign=campaign,
                entry=entry,
                system=system,
                workload=workload,
                repetition=number + 1,
                position=number * 2 + (system == b),
                state="cancelled",
                finished_at=START,
            )
            JobRun.objects.create(run=run, job=job, attempt=1)
    comparison = compare(workload, campaign=campaign.pk)
    assert comparison.campaign is not None
    assert (comparison.campaign.id, comparison.campaign.name) == (campaign.pk, "Flush")
    assert len(comparison.runs) == 6
    assert compare(workload).campaign is None


def test_different_percentiles_are_never_mixed(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B)
    a_measured_run({TPS: 1300.0, P99: 40.0}, system=b, load_level=a_load_level(4))
    comparison = compare(workload)
    assert [metric.key for metric in comparison.metrics] == [TPS, P95, ERRORS]
    assert len(comparison.cell(side="b", level=level_of(comparison), metric=P95).replicates) == 3
    assert "1 run without p95 (p99 instead): left out of the latency figures." in comparison.notes


def test_the_percentile_that_all_runs_have_is_compared(workload: Workload, a: System, b: System) -> None:
    for system in (a, b):
        a_measured_run({TPS: 1300.0, P99: 40.0}, system=system, load_level=a_load_level(4))
    comparison = compare(workload)
    assert [metric.kind for metric in comparison.metrics] == ["throughput", "latency"]
    assert comparison.metrics[1].key == P99
    assert comparison.notes == ()


def test_no_errors_anywhere_are_words_not_a_ratio(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B)
    comparison = compare(workload)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=ERRORS)
    assert cell.words == "none on either side"
    assert cell.ratio is not None
    assert cell.ratio.value is None


def test_runs_that_are_lacking_are_counted_beside_runs_without_errors(workload: Workload, a: System, b: System) -> None:
    for system, errors in ((a, (0.0, 0.5, 0.25)), (b, (0.5,))):
        for number, each in enumerate(errors):
            values = {TPS: 1000.0 + number, ERRORS: each}
            a_measured_run(values, system=system, load_level=a_load_level(4), repetition=number + 1)
    comparison = compare(workload)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=ERRORS)
    assert cell.ratio is not None
    assert cell.ratio.verdict is Verdict.TOO_FEW
    assert [(more.side, more.runs) for more in cell.more] == [("b", 2)]


def test_settings_and_server_variables_that_differ_are_listed_once(workload: Workload, a: System, b: System) -> None:
    shared = {"sync_binlog": "1", "hostname": "x", "port": "1", "innodb_log_file_size": "100663296"}
    for system, commit, port in ((a, "1", "3306"), (b, "2", "3307")):
        configuration = Configuration.objects.create(
            content_hash=f"{system.pk:064x}",
            variables={
                **shared,
                "innodb_flush_log_at_trx_commit": commit,
                "port": port,
                "max_connections": f"{port}0",
                "wsrep_provider_options": f"base_host = {port}; gcache.size = 128M; evs.send_window = {commit}",
            },
        )
        for run in measure(system, A):
            RunNode.objects.create(run=run, number=1, name="db1", configuration=configuration)
    found = {each.field: each for each in compare(workload).differences}
    assert {field: each.values for field, each in found.items() if not each.hidden} == {
        "settings.innodb_flush_log_at_trx_commit": ("not set", "2"),
        "variables.max_connections": ("33060", "33070"),
        "variables.wsrep_provider_options.evs.send_window": ("1", "2"),
    }
    assert found["settings.innodb_flush_log_at_trx_commit"].marks == ("is 1", "")
    # Ports and addresses differ between any two servers: there, but not at first.
    assert {field for field, each in found.items() if each.hidden} == {
        "variables.port",
        "variables.wsrep_provider_options.base_host",
    }


def test_other_hardware_comes_first_and_withholds_the_verdict_until_accepted(workload: Workload, a: System) -> None:
    large = HardwareClass.objects.create(slug="large", name="large", vcpu=16, memory_bytes=64 * 2**30)
    b = a_system("b", hardware_class=large)
    measure(a, A), measure(b, B, server_version="11.8.2")
    comparison = compare(workload)
    assert [(each.field, each.values) for each in comparison.differences][:3] == [
        ("hardware", ("small", "large")),
        ("hardware.vCPU", ("2", "16")),
        ("hardware.Memory", ("8 GiB", "64 GiB")),
    ]
    assert comparison.withheld == ("hardware", "hardware.vCPU", "hardware.Memory")
    cell = comparison.cell(side="b", level=level_of(comparison), metric=TPS)
    assert cell.words == "verdict withheld"
    assert cell.ratio is not None
    assert cell.ratio.low is not None
    acknowledge(differences=comparison.obstacles, by=a_user(), reason="larger on purpose")
    accepted = compare(workload)
    assert accepted.withheld == ()
    assert accepted.cell(side="b", level=level_of(accepted), metric=TPS).words == "better"


def test_runs_of_one_side_that_differ_among_themselves_are_said(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(a, A, at=2, duration=5), measure(b, B)
    comparison = compare(workload)
    assert "The runs of a differ from each other: measured phase 5 s or 60 s." in comparison.notes
    assert {each.field for each in comparison.differences} >= {"duration"}


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([], "this one has 0"),
        (["a"], "this one has 1"),
        (["a", "b", "c", "d", "e"], "this one has 5"),
        (["a", "a"], "chosen once"),
    ],
)
def test_the_number_of_sides_is_checked(workload: Workload, a: System, sides: list[str], message: str) -> None:
    with pytest.raises(Invalid, match=message) as refused:
        compare(workload, sides=sides)
    assert [error.field for error in refused.value.errors] == ["side"]


def test_what_is_not_there_is_named(workload: Workload, a: System, b: System) -> None:
    with pytest.raises(UnknownSide, match="no system 'zz'"):
        compare(workload, sides=["a", "zz"])
    with pytest.raises(UnknownSide, match="no workload 999999"):
        compare(workload, workload_id=999_999)


def test_sides_without_runs_are_compared_to_nothing(workload: Workload, a: System, b: System) -> None:
    comparison = compare(workload)
    assert (comparison.levels, comparison.cells, comparison.runs) == ((), (), ())


def test_a_percentile_is_known_as_finely_as_its_tools_histogram(workload: Workload, a: System, b: System) -> None:
    """sysbench's has steps of 1.8 %: three runs that read alike are not known to be equal."""
    measure(a, (1000.0, 1000.001, 1000.002)), measure(b, (1000.0, 1000.001, 1000.002))
    comparison = compare(workload)
    assert [round(metric.resolution, 4) for metric in comparison.metrics] == [0.0, 0.0182, 0.0]
    percentile = comparison.cell(side="b", level=level_of(comparison), metric=P95).ratio
    assert percentile is not None
    assert percentile.high is not None
    assert percentile.high > 1.018
    assert comparison.cell(side="b", level=level_of(comparison), metric=TPS).words == "equivalent"


def test_a_latency_of_few_hundredths_is_known_to_the_last_decimal_only(
    workload: Workload, a: System, b: System
) -> None:
    shortest = "client.latency.min"
    for system, value in ((a, 0.07), (b, 0.08)):
        for _ in range(3):
            a_measured_run({TPS: 1000.0, shortest: value}, system=system, load_level=a_load_level(4))
    found = everything(compare(workload)).measured
    (one,) = (each for each in found if each.metric.key == shortest)
    assert one.metric.printed_step == 0.01
    assert one.cell.words == "inconclusive"  # 14 % apart, and rounded by up to 7 %


def test_single_events_need_three_runs_whatever_the_past_says(a: System) -> None:
    workload, _ = a_workload(), a_system("b")
    for slug, values in (("a", (10.0, 11.0, 40.0, 12.0, 13.0)), ("b", (30.0, 31.0, 33.0, 35.0, 90.0))):
        for number, value in enumerate(values):
            a_measured_run(
                {"failover.outage": value},
                system=System.objects.get(slug=slug),
                load_level=a_load_level(4),
                started_at=START + timedelta(minutes=number),
            )
    Workload.objects.update(primary_metric=Metric.objects.get(key="failover.outage"))
    newest = [run.pk for run in Run.objects.order_by("-started_at")[:4]]
    comparison = compare(workload)
    cell = comparison.cell(side="b", level=level_of(comparison), metric="failover.outage")
    assert cell.summary is not None
    assert (cell.summary.kind, cell.summary.maximum) == ("geometric mean", 90.0)
    baseline = comparison.cell(side="a", level=level_of(comparison), metric="failover.outage").summary
    assert cell.ratio is not None
    assert baseline is not None
    assert cell.ratio.value == pytest.approx(cell.summary.value / baseline.value)
    assert [each.value for each in cell.replicates] == [30.0, 31.0, 33.0, 35.0, 90.0]
    few = compare(workload, runs=newest)
    assert few.cell(side="b", level=level_of(few), metric="failover.outage").words == "too few repetitions"


def test_of_a_few_steps_of_a_clock_a_ratio_has_one_end(a: System) -> None:
    workload = Workload.objects.create(
        tool="ddl_under_load",
        name="copy",
        parameters={},
        content_hash="d" * 64,
        primary_metric=a_metric("ddl.gap", unit="s", direction="lower"),
    )
    for system, gaps in ((a, (0.05, 0.1, 0.05, 0.1, 0.05)), (a_system("b"), (1.91, 1.9, 1.92, 1.9, 1.91))):
        for number, gap in enumerate(gaps):
            a_measured_run(
                {"ddl.gap": gap}, system=system, workload=workload, started_at=START + timedelta(minutes=number)
            )
    for sides, words in ((["a", "b"], ("worse", "at least")), (["b", "a"], ("better", "at most"))):
        comparison = compare(workload, sides=sides)
        (cell,) = (cell for cell in comparison.cells if cell.ratio)
        assert cell.ratio is not None
        assert (cell.words, ratio_text(cell.ratio)[: len(words[1])]) == words
        assert with_interval(cell.ratio) == ratio_text(cell.ratio)


def test_more_runs_levels_and_sides_cost_no_more_queries(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B)
    few = counting(lambda: compare(workload))
    c = a_system("c")
    for threads in (1, 8, 16):
        for system in (a, b, c):
            measure(system, (*A, *B), threads=threads, at=threads)
    assert counting(lambda: compare(workload, sides=["c", "a", "b"])) <= few
    assert few <= 13  # with those for what is known of the sessions of the systems


def test_a_side_says_where_its_runs_come_from(workload: Workload, a: System, b: System) -> None:
    measure(a, A, provenance="example"), measure(a, A[:1], at=2, provenance="submitted"), measure(b, B)
    measure(b, B[:1], at=2, provenance="example", outcome="failed", reason="disk full")
    assert [side.origins for side in compare(workload).sides] == [("example", "submitted"), ("agent",)]
