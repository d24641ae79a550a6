"""The scorecard: which systems and load stand in a row, and the ratio of each to the best."""

import pytest
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.catalog.models import Platform, System
from apps.comparison.tables.scorecard import ScorecardRow, load_scorecard
from tests.support.builders import a_load_level, a_measured_run, a_system, a_workload
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


def test_of_two_systems_of_a_column_the_one_measured_last_stands_there() -> None:
    workload = a_workload("oltp_read_write")
    for slug, platform in (("g", "galera"), ("p", "pxc"), ("m", "mha")):
        a_measured_run({"client.throughput": 1.0}, system=_system(slug, platform), workload=workload)
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
def test_examples_make_room_for_any_other_run_of_the_kind(filler: str) -> None:
    workload = a_workload("oltp_read_write")
    for slug, platform in (("g", "galera"), ("m", "mha")):
        a_measured_run({"client.throughput": 1.0}, system=_system(slug, platform), workload=workload, provenance=filler)
    assert len(_row(MIXED).measured) == 2
    a_measured_run({"client.throughput": 1.0}, system=_system("s", "mariadb"), workload=workload)
    assert _measured(_row(MIXED)) == [("single", "s")]


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
    with django_assert_max_num_queries(16):
        load_scorecard()
    assert _row(INGEST).measured == ()
    assert _row(FAILOVER).measured == ()
