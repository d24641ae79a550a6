"""The scorecard: which systems and load stand in a row, and the ratio of each to the best."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.catalog.models import HardwareClass, Metric, Node, Platform, Release, System, Workload
from apps.comparison import compare
from apps.comparison.comparability import acknowledgements
from apps.comparison.selection import row_versions
from apps.comparison.tables import scorecard
from apps.comparison.tables.scorecard import ScorecardRow, load_scorecard
from apps.comparison.values import Comparison
from apps.core.canonical import canonical_hash
from apps.dispatch.models import Campaign, JobRun
from apps.runs.api import deletion
from apps.runs.models import Configuration, Measurement, Run, RunCheck, RunNode
from apps.runs.quality import check, checklist, exclusion
from tests.support.builders import START, a_job, a_load_level, a_measured_run, a_system, a_user, a_workload
from workers.protocol.workloads.kinds import FAILOVER, INGEST, MIXED

pytestmark = pytest.mark.django_db

A, B = (100, 101, 102), (200, 202, 201)


def _system(slug: str, platform: str) -> System:
    found, _ = Platform.objects.get_or_create(slug=platform, defaults={"name": platform.upper()})
    return a_system(slug, platform=found)


def _row(kind: str) -> ScorecardRow:
    (row,) = (row for row in load_scorecard() if row.kind == kind)
    return row


def _measured(row: ScorecardRow) -> list[tuple[str, str]]:
    return [(cell.family.key, cell.side.slug) for cell in row.cells if cell.side]


def test_without_runs_each_row_is_there_and_empty() -> None:
    rows = load_scorecard()
    assert len(rows) == 5
    assert all(row.measured == () and len(row.cells) == 4 for row in rows)


def test_ratios_are_to_the_best_side_of_the_row() -> None:
    level, workload = a_load_level(8), a_workload("oltp_read_write")
    for slug, platform, values in (("g", "galera", A), ("m", "mha", B)):
        system = _system(slug, platform)
        for value in values:
            a_measured_run({"client.throughput": value}, system=system, load_level=level, workload=workload)
    row = _row(MIXED)
    assert _measured(row) == [("galera", "g"), ("mha", "m")]
    galera, mha = row.measured
    assert (mha.is_best, galera.is_best) == (True, False)
    assert galera.cell is not None
    assert galera.cell.ratio is not None
    assert galera.cell.ratio.value == pytest.approx(0.5, rel=0.01)
    assert galera.cell.words == "worse"


def test_the_best_side_has_the_best_figure_also_where_its_sessions_have_unlike_numbers_of_runs() -> None:
    level, workload = a_load_level(8), a_workload("oltp_read_write")
    for slug, platform, days in (("g", "galera", ((110.0,) * 4, (80.0,))), ("m", "mha", ((100.0,) * 2, (101.0,)))):
        system = _system(slug, platform)
        for day, values in enumerate(days):
            for value in values:
                started = START + timedelta(days=day)
                a_measured_run(
                    {"client.throughput": value}, system=system, load_level=level, workload=workload, started_at=started
                )
    galera, mha = _row(MIXED).measured
    assert (galera.is_best, mha.is_best) == (False, True)
    assert galera.cell is not None
    assert galera.cell.ratio is not None
    assert galera.cell.ratio.value == pytest.approx((110 * 80) ** 0.5 / (100 * 101) ** 0.5)


def test_those_behind_the_best_are_judged_against_each_other_too() -> None:
    level, workload = a_load_level(8), a_workload("oltp_read_write")
    for slug, platform, values in (("g", "galera", A), ("m", "mha", B), ("s", "mariadb", (400, 402, 401))):
        system = _system(slug, platform)
        for value in values:
            a_measured_run({"client.throughput": value}, system=system, load_level=level, workload=workload)
    behind = _row(MIXED).behind
    assert behind is not None
    assert [side.slug for side in behind.sides] == ["m", "g"]
    (_, galera) = behind.cells
    assert (galera.side, galera.words) == ("g", "worse")


def test_pxc_stands_in_the_column_of_galera() -> None:
    level, workload = a_load_level(8), a_workload("oltp_read_write")
    for slug, platform in (("p", "pxc"), ("m", "mha")):
        a_measured_run({"client.throughput": 1.0}, system=_system(slug, platform), load_level=level, workload=workload)
    assert [key for key, _ in _measured(_row(MIXED))] == ["galera", "mha"]


@pytest.mark.parametrize("stored", ["gpm", "mpg"])
def test_of_two_systems_of_a_column_the_one_measured_last_stands_there(stored: str) -> None:
    workload, days = a_workload("oltp_read_write"), {"g": 0, "p": 1, "m": 2}
    for slug in stored:
        system = _system(slug, {"g": "galera", "p": "pxc", "m": "mha"}[slug])
        started = START + timedelta(days=days[slug])
        a_measured_run({"client.throughput": 1.0}, system=system, workload=workload, started_at=started)
    assert _measured(_row(MIXED)) == [("galera", "p"), ("mha", "m")]


def test_the_load_is_the_one_that_most_architectures_share() -> None:
    workload = a_workload("oltp_read_write")
    one, other = _system("g", "galera"), _system("m", "mha")
    for threads, system in ((4, one), (4, one), (8, one), (8, other)):
        a_measured_run({"client.throughput": 1.0}, system=system, load_level=a_load_level(threads), workload=workload)
    row = _row(MIXED)
    assert row.level is not None
    assert (row.level.threads, len(row.measured)) == (8, 2)


@pytest.mark.parametrize("filler", ["example", "rig"])
def test_examples_make_room_for_other_runs_once_these_compare(filler: str) -> None:
    workload = a_workload("oltp_read_write")
    for slug, platform in (("g", "galera"), ("m", "mha")):
        a_measured_run({"client.throughput": 1.0}, system=_system(slug, platform), workload=workload, provenance=filler)
    assert len(_row(MIXED).measured) == 2
    a_measured_run({"client.throughput": 1.0}, system=_system("s", "mariadb"), workload=workload)
    assert _measured(_row(MIXED)) == [("galera", "g"), ("mha", "m")], "a single one does not answer the question"
    a_measured_run({"client.throughput": 1.0}, system=_system("n", "mha"), workload=workload)
    assert _measured(_row(MIXED)) == [("mha", "n"), ("single", "s")]


@pytest.mark.parametrize("filler", ["example", "rig"])
def test_examples_of_the_same_systems_do_not_count_beside_other_runs(filler: str) -> None:
    workload = a_workload("oltp_read_write")
    for slug, platform, values in (("g", "galera", A), ("m", "mha", B)):
        system = _system(slug, platform)
        for value in values:
            for provenance, factor in ((filler, 10.0), ("agent", 1.0)):
                measured = {"client.throughput": value * factor}
                a_measured_run(measured, system=system, workload=workload, provenance=provenance)
    for each, values in zip(_row(MIXED).measured, (A, B), strict=True):
        assert each.side
        assert each.side.origins == ("agent",)
        assert each.cell
        assert sorted(one.value for one in each.cell.replicates) == sorted(values)


def test_runs_that_count_nowhere_stand_in_no_row() -> None:
    workload = a_workload("oltp_read_write")
    a_measured_run(
        {"client.throughput": 1.0}, system=_system("g", "galera"), workload=workload, outcome="failed", reason="x"
    )
    assert _row(MIXED).measured == ()


def test_many_runs_systems_and_workloads_take_no_more_queries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(12):
        system = _system(f"s{number}", ("galera", "mha", "mariadb")[number % 3])
        for name in ("oltp_read_write", "oltp_insert"):
            a_measured_run({"client.throughput": 1.0}, system=system, workload=a_workload(name))
    # A first visit: its versions are read once more when it is judged.
    with django_assert_max_num_queries(29):
        load_scorecard()
    with django_assert_max_num_queries(10):
        load_scorecard()
    assert _row(INGEST).measured == ()
    assert _row(FAILOVER).measured == ()


# ---------------------------------------------------------------- judged anew only after a change


def _compared(*, nodes: HardwareClass | None = None) -> Run:
    """A run of two systems that the row of mixed loads compares, each with its variables and its campaign. `nodes`:
    hardware of the second's."""
    job, run = a_job(), None
    for slug, platform, values in (("g", "galera", A), ("m", "mha", B)):
        system = _system(slug, platform)
        if nodes and slug == "m":
            system.nodes.update(hardware_class=nodes)
        for hour, value in enumerate(values):
            variables = {"sort_buffer_size": slug}
            made, _ = Configuration.objects.get_or_create(
                content_hash=canonical_hash(variables), defaults={"variables": variables}
            )
            run = a_measured_run(
                {"client.throughput": value},
                system=system,
                load_level=a_load_level(8),
                workload=a_workload("oltp_read_write"),
                server_version="11.4",
                started_at=START + timedelta(hours=hour),
            )
            RunNode.objects.create(run=run, number=1, name="db1", role="writer", configuration=made)
            JobRun.objects.create(run=run, job=job, attempt=1)
    assert run is not None
    return run


def _anew() -> tuple[ScorecardRow, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scorecard, "last", scorecard.LastAnswer())
        return load_scorecard()


def _one_more(run: Run) -> None:
    a_measured_run({"client.throughput": 900.0}, system=run.system, load_level=run.load_level, workload=run.workload)


def _excluded(run: Run) -> None:
    exclusion.exclude(run=run, reason="the disk was full", by=a_user())


def _counted_again(run: Run) -> None:
    _excluded(run)
    load_scorecard()
    Run.objects.filter(pk=run.pk).update(tags=["again"])
    exclusion.count_again(run=run, by=a_user())


def _failed_a_check(run: Run) -> None:
    RunCheck.objects.create(
        run=run, check_key=checklist.REPRODUCIBLE, status="failed", evidence="far from its siblings"
    )
    check._note_failed([run.pk])


def _with_another_value(run: Run) -> None:
    """As a reseal does."""
    old = Measurement.objects.get(run=run)
    old.delete()
    Measurement.objects.bulk_create([Measurement(**{**_fields(old), "id": None, "value": 300.0})])
    run.save()


def _fields(row: Measurement) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def _with_another_platform(run: Run) -> None:
    aurora = Platform.objects.get_or_create(slug="aurora", defaults={"name": "Aurora"})[0]
    release = Release.objects.create(platform=aurora, version="3.08.0", version_key=[3, 8, 0])
    System.objects.filter(pk=run.system_id).update(release=release)


CHANGES: Sequence[Callable[[Run], object]] = (
    _one_more,
    _excluded,
    _counted_again,
    _failed_a_check,
    _with_another_value,
    _with_another_platform,
    lambda run: list(deletion.delete_runs(Run.objects.filter(pk=run.pk))),
    lambda run: System.objects.filter(pk=run.system_id).update(name="renamed", short_name="renamed"),
    lambda _: HardwareClass.objects.update(vcpu=64),
    lambda run: Node.objects.create(
        system=run.system, name="db2", role="reader", hardware_class=run.system.hardware_class
    ),
    lambda run: Workload.objects.filter(pk=run.workload_id).update(name="renamed"),
    lambda _: Metric.objects.filter(key="client.throughput").update(unit="commits/s"),
    lambda _: Campaign.objects.update(name="renamed"),
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_the_rows_rest_on_is_in_them_at_once(change: Callable[[Run], object]) -> None:
    run = _compared()
    before = load_scorecard()
    change(run)
    after = load_scorecard()
    assert after != before
    assert after == _anew()


def test_an_accepted_difference_shows_the_verdict_at_once_and_a_withdrawn_one_withholds_it() -> None:
    _compared(nodes=HardwareClass.objects.create(slug="large", name="large"))
    words = [[cell.words for cell in _comparison().cells]]
    (made,) = acknowledgements.acknowledge(
        differences=_comparison().obstacles, by=(by := a_user()), reason="on purpose"
    )
    words.append([cell.words for cell in _comparison().cells])
    acknowledgements.withdraw(acknowledgement=made.pk, by=by, now=START)
    words.append([cell.words for cell in _comparison().cells])
    assert words == [["", "verdict withheld"], ["", "worse"], ["", "verdict withheld"]]


def test_without_a_change_nothing_is_judged_again() -> None:
    run, other = _compared(), a_workload("oltp_point_select")
    before = load_scorecard()
    # Of a workload that no row shows.
    a_measured_run({"client.throughput": 1.0}, system=run.system, workload=other)
    with CaptureQueriesContext(connection) as queries:
        assert load_scorecard() is before
    assert not _tables(queries) & {"runs_measurement", "runs_runnode"}


def test_an_earlier_run_under_the_same_conditions_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_versions, "MOST_RUNS", 2)
    run = _compared()
    before = load_scorecard()
    oldest = Run.objects.filter(system=run.system).earliest("pk")
    assert oldest.pk not in {each.id for each in _comparison().runs}
    _excluded(oldest)
    assert load_scorecard() != before
    assert load_scorecard() == _anew()


def test_what_changes_while_it_is_judged_is_in_the_next_answer() -> None:
    run = _compared()
    judge = compare.judge

    def with_a_change(*arguments: Any, **options: Any) -> Any:
        drafts = judge(*arguments, **options)
        System.objects.filter(pk=run.system_id).update(name="renamed")
        return drafts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "judge", with_a_change)
        load_scorecard()
    assert load_scorecard() == _anew()


@pytest.mark.django_db(transaction=True)
def test_what_another_process_wrote_is_in_the_next_answer() -> None:
    run = _compared()
    before = load_scorecard()

    def write() -> None:
        Run.objects.filter(pk=run.pk).update(is_excluded=True)
        connection.close()

    elsewhere = Thread(target=write)
    elsewhere.start()
    elsewhere.join()
    assert load_scorecard() != before
    assert load_scorecard() == _anew()


def test_each_table_that_is_read_to_judge_has_its_versions_compared() -> None:
    """Or is only written together with the row of its run."""
    _compared(nodes=HardwareClass.objects.create(slug="large", name="large"))
    load_scorecard()
    with CaptureQueriesContext(connection) as queries:
        load_scorecard()
    compared = _tables(queries)
    with CaptureQueriesContext(connection) as queries:
        _anew()
    assert _tables(queries) - compared == {
        "runs_measurement",
        "runs_distribution",
        "runs_runnode",
        "runs_configuration",
        "runs_exclusion",
    }


def _tables(queries: CaptureQueriesContext) -> set[str]:
    found = {name for query in queries for name in re.findall(r'(?:FROM|JOIN) "?(\w+)"?', query["sql"])}
    return found & set(connection.introspection.table_names())


def _comparison() -> Comparison:
    found = _row(MIXED).comparison
    assert found is not None
    return found


def test_a_ratio_has_the_interval_that_compare_gives_it_beside_all_load_levels() -> None:
    workload, top = a_workload("oltp_read_write"), a_load_level(8)
    sides = {slug: _system(slug, platform) for slug, platform in (("m", "mha"), ("g", "galera"))}
    for level in (a_load_level(1), a_load_level(2), a_load_level(4), top):
        for day, noise in enumerate((1.0, 1.04, 0.95, 1.02, 0.97)):  # each day is a session
            for slug, base in (("m", 200.0), ("g", 150.0 * (1 + 0.02 * level.threads * (day % 2)))):
                a_measured_run(
                    {"client.throughput": base * noise * level.threads},
                    system=sides[slug],
                    load_level=level,
                    workload=workload,
                    started_at=START + timedelta(days=day),
                )
    (cell,) = (each.cell for each in _row(MIXED).measured if not each.is_best)
    whole = compare.compare(sides=["m", "g"], workload_id=workload.pk)
    (beside,) = (each for each in whole.cells if each.level == top.pk and each.side == "g" and each.ratio)
    assert cell is not None
    assert cell.ratio is not None
    assert beside.ratio is not None
    assert cell.ratio.replicates == "sessions with both sides"
    assert (cell.ratio.value, cell.ratio.low, cell.ratio.high) == pytest.approx(
        (beside.ratio.value, beside.ratio.low, beside.ratio.high)
    )
