"""Of very many runs the newest are compared, and that is said; runs from before an upgrade remain history."""

import pytest

from apps.catalog.models import System, Workload
from apps.comparison.selection import runs
from tests.comparison.compared import TPS, A, B, compare, counting, level_of, measure
from tests.support.stores import apply_again

pytestmark = pytest.mark.django_db


def test_only_the_newest_runs_count_and_that_is_said(workload: Workload, a: System, b: System) -> None:
    measure(a, A), measure(b, B)
    newest = measure(a, tuple(1000.0 + number for number in range(runs.MOST_RUNS)), at=1)
    comparison = compare(workload)
    cell = comparison.cell(side="a", level=level_of(comparison), metric=TPS)
    assert [each.run for each in cell.replicates] == [run.pk for run in newest]
    assert [(side.slug, side.runs) for side in comparison.sides] == [("a", 100), ("b", 3)]
    assert comparison.notes[0] == (
        "Only the newest 100 of 103 runs of a at 4 threads count; choose runs or a campaign to compare others."
    )
    assert cell.history == 3  # those that no longer count still tell the spread
    assert counting(lambda: compare(workload)) <= 14


def test_the_newest_are_taken_of_each_level_and_of_runs_that_do_not_count(
    workload: Workload, a: System, b: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_RUNS", 2)
    monkeypatch.setattr(runs, "MOST_LEFT_OUT", 2)
    measure(a, A), measure(a, A, threads=8), measure(b, B)
    measure(a, A, at=2, outcome="failed", reason="disk full")
    measure(a, A[:1], at=3, outcome="cancelled")
    comparison = compare(workload)
    assert sorted((run.side, run.level) for run in comparison.counted) == sorted(
        [("a", level_of(comparison)), ("a", level_of(comparison, 8)), ("b", level_of(comparison))] * 2
    )
    assert [run.left_out for run in comparison.left_out] == ["failed: disk full", "cancelled"]
    assert {(each.left_out, each.amount.runs) for each in comparison.tallies if each.left_out} == {
        ("failed", 3),
        ("cancelled", 1),
    }
    assert comparison.notes[:2] == (
        "Only the newest 2 of 3 runs of a at 4 threads, of 3 runs of b at 4 threads and of 3 runs of a at 8 threads"
        " count; choose runs or a campaign to compare others.",
        "Only the newest 2 of 4 runs of a at 4 threads that are not counted are listed.",
    )


def test_runs_named_one_by_one_all_count(
    workload: Workload, a: System, b: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_RUNS", 2)
    chosen = [run.pk for run in (*measure(a, A), *measure(b, B))]
    comparison = compare(workload, runs=chosen)
    assert [run.id for run in comparison.counted] == sorted(chosen, key=lambda pk: (chosen.index(pk) % 3, pk))
    assert comparison.notes == ()


def test_many_places_with_older_runs_are_named_together(
    workload: Workload, a: System, b: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_RUNS", 2)
    for threads in (1, 2, 4, 8, 16):
        measure(a, A, threads=threads)
    assert compare(workload).notes[0] == (
        "Only the newest 2 runs of each side at each load level (of 15 in 5 such places) count;"
        " choose runs or a campaign to compare others."
    )


def test_runs_of_unknown_length_from_before_the_upgrade_are_history(workload: Workload, a: System, b: System) -> None:
    measure(a, A, duration=0), measure(b, B, duration=0)
    apply_again("runs", "0024_unknown_lengths")
    chosen = [run.pk for run in (*measure(a, A, at=5, duration=None), *measure(b, B, at=5, duration=None))]
    comparison = compare(workload, runs=chosen)
    assert comparison.cell(side="a", level=level_of(comparison), metric=TPS).history == 3
