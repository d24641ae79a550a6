"""What Compare offers to open."""

import pytest

from apps.catalog.models import Platform
from apps.comparison.selection import choices
from tests.support.builders import a_measured_run, a_system, a_workload

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
