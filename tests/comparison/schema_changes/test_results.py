"""Schema changes side by side, on what sysbench printed while real tables were altered."""

import pytest
from pytest_django import DjangoAssertNumQueries

from apps.comparison.schema_changes.results import ChangeFilter, schema_changes
from apps.comparison.schema_changes.values import SchemaChange
from apps.runs.models import Run
from tests.comparison.schema_changes.altered import STATEMENTS, a_ddl_workload, an_altered_run
from tests.support.builders import a_system, a_workload

pytestmark = pytest.mark.django_db


def by_algorithm() -> dict[str, SchemaChange]:
    return {change.manner.algorithm: change for change in schema_changes().changes}


def test_the_deepest_change_comes_first_and_an_instant_one_last() -> None:
    system = a_system()
    for name in ("instant", "inplace_rebuild", "copy"):
        an_altered_run(name, system=system)
    changes = schema_changes().changes
    assert [change.manner.text for change in changes] == ["COPY", "INPLACE", "INSTANT"]
    assert [change.value("stall").median for change in changes] == [6.0, 1.0, 0.0]
    assert {change.operation for change in changes} == {"add column"}
    assert {change.setting for change in changes} == {"1 table of 1,000,000 rows, 8 threads, 120/s"}


def test_deviations_stand_beside_those_of_the_undisturbed_load() -> None:
    an_altered_run("copy")
    (copy,) = schema_changes().changes
    assert copy.latency == "client.latency.p99"
    assert copy.value("throughput_deviation").median == pytest.approx(222.68, abs=0.01)
    assert copy.value("throughput_deviation_before").median == pytest.approx(13.23, abs=0.01)
    assert (copy.value("latency_deviation").median or 0) > 100 * (copy.value("latency_deviation_before").median or 1)


def test_median_and_range_are_over_runs() -> None:
    system = a_system()
    for waited in (0.1, 0.4, 0.2):
        an_altered_run("instant", system=system, detail={"metadata_lock_wait": waited, "metadata_lock_queue": 3})
    lock_wait = by_algorithm()["instant"].value("lock_wait")
    assert (lock_wait.median, lock_wait.low, lock_wait.high, lock_wait.count) == (0.2, 0.1, 0.4, 3)
    assert lock_wait.words == "0.200 s (0.100 to 0.400 in 3 runs)".replace(" s", "\u00a0s")


def test_of_several_statements_the_worst_tells_of_a_run() -> None:
    sql = STATEMENTS["copy"][0]
    an_altered_run("copy", statements=((sql, 4.0, 4.1), (sql, 8.0, 14.3)), workload=a_ddl_workload(count=2))
    (change,) = schema_changes().changes
    (trial,) = change.trials
    assert [each.values["stall"] for each in trial.statements] == [0.0, 6.0]
    assert trial.values["stall"] == 6.0
    assert change.manner.text == "COPY, 2 statements a run"


def test_what_nobody_looked_at_is_said_so() -> None:
    an_altered_run("copy")
    (change,) = schema_changes().changes
    assert change.value("lock_wait").median is None
    assert change.value("lock_wait").words.startswith("not observable")
    assert change.value("gap").words.startswith("not observable")


def test_runs_that_failed_or_were_excluded_are_named_and_do_not_count() -> None:
    system = a_system()
    failed, excluded = an_altered_run("copy", system=system), an_altered_run("copy", system=system)
    Run.objects.filter(pk=failed.pk).update(outcome="failed", reason="the disk was full")
    Run.objects.filter(pk=excluded.pk).update(is_excluded=True)
    (change,) = schema_changes().changes
    assert change.trials == ()
    assert {each.run: each.why for each in change.left_out} == {
        failed.pk: "failed: the disk was full",
        excluded.pk: "excluded",
    }
    assert change.value("stall").words == "no run counted"


def test_an_uploaded_run_is_sorted_by_the_words_of_its_statement() -> None:
    sql = "ALTER TABLE t ADD KEY by_pad (pad), ALGORITHM=INPLACE, LOCK=NONE"
    an_altered_run("inplace_rebuild", workload=a_workload("oltp_read_write"), statements=((sql, 8.01, 12.16),))
    (change,) = schema_changes().changes
    assert (change.operation, change.manner.text) == ("add index", "INPLACE, LOCK=NONE")
    assert change.setting == "sysbench oltp_read_write, 8 threads, 120/s"


def test_a_filter_narrows_what_is_shown_and_not_what_can_be_chosen() -> None:
    small, large = a_system("small"), a_system("large")
    an_altered_run("copy", system=small)
    an_altered_run("instant", system=large)
    found = schema_changes(ChangeFilter(systems=("small",)))
    assert [change.system for change in found.changes] == ["small"]
    assert [slug for slug, _ in found.systems] == ["large", "small"]
    assert found.algorithms == ("copy", "instant")
    assert [each.system for each in schema_changes(ChangeFilter(algorithm="instant")).changes] == ["large"]
    assert schema_changes(ChangeFilter(operation="drop column")).changes == ()


def test_a_filter_finds_runs_that_are_older_than_the_newest_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.comparison.schema_changes.results.MOST_RUNS", 1)
    first = an_altered_run("copy", system=a_system("single"))
    an_altered_run("copy", system=a_system("cluster"))
    assert schema_changes().has_more
    found = schema_changes(ChangeFilter(systems=("single",)))
    assert [trial.run for change in found.changes for trial in change.trials] == [first.pk]
    assert not found.has_more


def test_more_runs_take_no_more_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    an_altered_run("copy")
    with django_assert_num_queries(11):
        schema_changes()
    an_altered_run("instant")
    an_altered_run("copy")
    with django_assert_num_queries(11):
        schema_changes()
