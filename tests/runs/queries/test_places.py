"""Places: where there are runs, the newest of each, and how many there are."""

from datetime import timedelta

import pytest

from apps.catalog.models import System, Workload
from apps.runs.amounts import Amount
from apps.runs.models import Run
from apps.runs.queries import places
from tests.support.builders import START, a_load_level, a_run, a_system, a_workload

pytestmark = pytest.mark.django_db


def _runs(system: System, workload: Workload, threads: int, count: int, **fields: object) -> list[Run]:
    """The newest first."""
    level = a_load_level(threads)
    times = [START + timedelta(hours=number) for number in range(count)]
    return [
        a_run(system=system, workload=workload, load_level=level, started_at=at, **fields) for at in reversed(times)
    ]


def test_each_system_workload_level_and_origin_is_a_place_with_its_newest_runs() -> None:
    system, other, workload = a_system(), a_system(), a_workload()
    four = _runs(system, workload, 4, 3)
    eight = _runs(system, workload, 8, 1)
    examples = _runs(system, workload, 4, 2, provenance="example")
    elsewhere = _runs(other, a_workload("oltp_insert"), 4, 1)
    found = {(each.system, each.level, each.kind): each for each in places.counted(newest=2)}
    level, next_level = a_load_level(4).pk, a_load_level(8).pk
    assert {place: each.newest for place, each in found.items()} == {
        (system.pk, level, ("agent",)): (four[0].pk, four[1].pk),
        (system.pk, level, ("example",)): (examples[0].pk, examples[1].pk),
        (system.pk, next_level, ("agent",)): (eight[0].pk,),
        (other.pk, level, ("agent",)): (elsewhere[0].pk,),
    }
    assert sorted(str(each.amount) for each in found.values()) == ["1", "1", "2", "3"]


def test_places_can_be_restricted_and_put_together() -> None:
    system, workload = a_system(), a_workload()
    _runs(system, workload, 4, 2), _runs(system, workload, 8, 1), _runs(system, a_workload("oltp_insert"), 4, 1)
    _runs(a_system(), workload, 4, 1)
    assert len(places.counted(pairs=[(system.pk, workload.pk)])) == 2
    (own,) = places.counted(pairs=[(system.pk, workload.pk)], by_level=False)
    assert (own.level, own.kind, own.amount) == (0, (), Amount(3))
    assert places.counted(systems=[]) == []


def test_what_does_not_count_is_grouped_by_state_and_outcome() -> None:
    system, workload = a_system(), a_workload()
    _runs(system, workload, 4, 2)
    failed = _runs(system, workload, 4, 1, outcome="failed", reason="disk full")
    ended = _runs(system, workload, 4, 1, state="ended", sealed_at=None)
    found = places.left_out(pairs=[(system.pk, workload.pk)], newest=5)
    assert {each.kind: each.newest for each in found} == {
        ("ended", "succeeded"): (ended[0].pk,),
        ("sealed", "failed"): (failed[0].pk,),
    }


def test_counting_stops_where_nobody_reads_on() -> None:
    system, workload = a_system(), a_workload()
    _runs(system, workload, 4, 3)
    (place,) = places.counted(most=2)
    assert place.amount == Amount(2, more=True)
    assert str(place.amount) == "more than 2"
    assert str(place.amount + Amount(1000)) == "more than 1,002"
