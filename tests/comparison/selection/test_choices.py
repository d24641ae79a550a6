"""What Compare offers to open."""

from datetime import timedelta

import pytest

from apps.catalog.models import Platform, Release
from apps.comparison.selection import choices
from tests.support.builders import START, a_measured_run, a_system, a_workload

pytestmark = pytest.mark.django_db


def test_platforms_are_offered_against_each_other_and_systems_of_one_by_themselves() -> None:
    mha, _ = Platform.objects.get_or_create(slug="mha", defaults={"name": "MHA"})
    workload = a_workload("oltp_read_write")
    for slug, runs, platform in (("old", 3, {}), ("new", 2, {}), ("third", 1, {"platform": mha})):
        system = a_system(slug, **platform)
        for _ in range(runs):
            a_measured_run({"client.throughput": 1.0}, system=system, workload=workload)
    a_measured_run({"client.throughput": 1.0}, system=a_system("alone"), workload=a_workload("oltp_insert"))
    offered = choices.suggestions()
    assert [([slug for slug, _ in each.sides], each.amount.runs) for each in offered] == [
        (["old", "third"], 4),
        (["new", "old"], 5),
    ]


def test_of_equal_systems_the_last_measured_is_offered_beside_another_release() -> None:
    workload = a_workload("oltp_read_write")
    for minute, slug in enumerate(("earlier", "again")):
        at = START + timedelta(minutes=minute)
        a_measured_run({"client.throughput": 1.0}, system=a_system(slug), workload=workload, started_at=at)
    assert [[slug for slug, _ in each.sides] for each in choices.suggestions()] == [["again", "earlier"]]
    platform = Platform.objects.get(slug="mariadb")
    newer = a_system("newer", release=Release.objects.create(platform=platform, version="11.8.2", version_key=[11, 8]))
    a_measured_run({"client.throughput": 1.0}, system=newer, workload=workload)
    assert [[slug for slug, _ in each.sides] for each in choices.suggestions()] == [["again", "newer"]]
