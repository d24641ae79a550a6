"""Texts of schema changes: the answers of a setting, what was not observed, and the label of a chart."""

from dataclasses import replace

import pytest

from apps.comparison.api import ChangeFilter, schema_changes
from apps.comparison.pure import SchemaChange
from apps.web.schema_changes.sheet import ChangeSheet, charts_of, sheet
from apps.web.schema_changes.wording import answers, paid
from tests.comparison.schema_changes.altered import a_ddl_workload, an_altered_run
from tests.support.builders import a_system

pytestmark = pytest.mark.django_db


def the_sheet() -> ChangeSheet:
    return sheet(schema_changes(ChangeFilter()), ())


def test_an_answer_names_the_longest_time_without_a_transaction_of_each_system() -> None:
    one, other = a_system("galera"), a_system("single")
    an_altered_run("copy", system=one, detail={"gap": 6.25, "metadata_lock_wait": 0.1, "metadata_lock_queue": 8})
    an_altered_run("instant", system=one)
    an_altered_run("copy", system=other, detail={"gap": 5.5})
    (setting,) = the_sheet().settings
    assert setting.answers == (
        "COPY: longest time without a transaction 6.25\xa0s on galera, 5.50\xa0s on single; "
        "8 transactions failed on galera, 8 transactions failed on single",
        "INSTANT: longest stall 0\xa0s on galera",
    )
    assert setting.manners[0].rows[0].cells[-1].below == ("8 behind it",)
    assert setting.manners[0].rows[1].cells[-1].text == "not observable: the process list was not sampled"


def the_change(**ends: tuple[float, float]) -> SchemaChange:
    """The only change, with these lowest and highest values of two runs."""
    (change,) = schema_changes(ChangeFilter()).changes
    ranges = [
        replace(each, count=2, median=ends[key][1], low=ends[key][0], high=ends[key][1], missing="")
        if (key := each.quantity.key) in ends
        else each
        for each in change.ranges
    ]
    return replace(change, ranges=tuple(ranges))


QUIET = {"gap": (0.05, 0.1), "gap_before": (0.05, 0.05), "failed": (0.0, 0.0)}


def test_who_paid_stands_beside_the_stall() -> None:
    an_altered_run("copy", system=a_system("single"))
    assert [each.words for each in paid(the_change(**QUIET))] == ["nobody"]
    assert [each.words for each in paid(the_change(failed=(0.0, 0.0)))] == ["not observable"]
    none = {"failed": (0.0, 0.0)}
    waiting = the_change(**none, gap=(6.0, 6.25), gap_before=(0.05, 0.05), lock_queue=(8.0, 8.0))
    assert [each.words for each in paid(waiting)] == ["8 connections waited for the lock"]
    silent = the_change(**none, gap=(6.0, 6.25), gap_before=(0.05, 0.05))
    assert [each.words for each in paid(silent)] == ["all writers: no transaction ended"]


def test_a_statement_that_killed_the_transaction_in_its_way_was_paid_for_by_it() -> None:
    lost, kept = {"holders_lost": 1}, {"holders_lost": 0}
    galera, behind = a_system("galera"), a_ddl_workload("instant", hold=5)
    for number, detail in enumerate((lost, lost, kept)):
        an_altered_run("instant", system=galera, workload=behind, detail=detail, repetition=number + 1)
    (change,) = schema_changes().changes
    first = paid(change)[0]
    assert (first.words, first.is_failure) == ("the transaction in its way was rolled back in 2 of 3 runs", True)
    (answer,) = answers([change])
    assert "; the transaction in its way was rolled back in 2 of 3 runs on galera" in answer


def test_what_became_of_a_transaction_in_the_way_is_not_guessed() -> None:
    an_altered_run("instant", system=a_system("single"), workload=a_ddl_workload("instant", hold=5))
    assert "what became of the transaction in its way is not known" in [
        each.words for each in paid(the_change(**QUIET))
    ]


def test_writers_of_other_tables_that_waited_are_part_of_the_answer() -> None:
    an_altered_run("copy", system=a_system("galera"))
    change = the_change(**QUIET, other_gap=(7.0, 7.6), other_gap_before=(0.06, 0.06))
    assert [each.words for each in paid(change)] == ["writers of another table waited 7.60\xa0s"]
    (answer,) = answers([change])
    assert answer.endswith("; writers of another table waited 7.60\xa0s on galera")
    untouched = the_change(**QUIET, other_gap=(0.06, 0.1), other_gap_before=(0.06, 0.06))
    assert [each.words for each in paid(untouched)] == ["nobody"]


def test_a_short_stall_that_failed_transactions_is_no_win() -> None:
    an_altered_run("instant", system=a_system("single"))
    change = the_change(**QUIET | {"failed": (1.0, 4.0)})
    assert [(each.words, each.is_failure) for each in paid(change)] == [("1 to 4 transactions failed", True)]
    (answer,) = answers([change])
    assert answer.endswith("; 1 to 4 transactions failed on single")
    (free,) = answers([the_change(**QUIET)])
    assert free.startswith("INSTANT: nobody paid, longest time without a transaction 0.100\xa0s on single")


def test_a_chart_is_described_by_its_worst_values() -> None:
    run = an_altered_run("copy", system=a_system("single"))
    (chart,) = charts_of(the_sheet())
    label = (
        "Throughput of 1 run of single, COPY: lowest 0\xa0transactions/s, 1 s after its start. Latency, p99 of 1 run"
    )
    assert chart.label.startswith(label)
    extreme = chart.panels[0].lines[0].extreme
    assert extreme is not None
    assert extreme.text.startswith(f"run {run.pk}: lowest 0")
