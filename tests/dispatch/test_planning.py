"""A plan is refused field by field, or becomes jobs in their interleaved order."""

from datetime import timedelta
from typing import Any

import pytest

from apps.core.problems import Invalid
from apps.dispatch import planning
from apps.dispatch.models import Campaign, Job
from tests.builders import START, a_campaign, a_load_level, a_system, a_user, a_workload


def order(campaign: Campaign) -> list[tuple[int, str, str]]:
    return list(campaign.jobs.order_by("position").values_list("repetition", "workload__name", "system__slug"))


def test_rounds_go_forward_and_backward(db: None) -> None:
    campaign = a_campaign(a_system("a"), a_system("b"), a_system("c"), repetitions=3)
    assert [slug for _, _, slug in order(campaign)] == ["a", "b", "c", "c", "b", "a", "a", "b", "c"]
    assert [repetition for repetition, _, _ in order(campaign)] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_each_workload_is_interleaved_by_itself(db: None) -> None:
    workloads = [a_workload("oltp_read_only"), a_workload("oltp_insert")]
    campaign = a_campaign(a_system("a"), a_system("b"), repetitions=2, workloads=workloads)
    assert order(campaign) == [
        (1, "oltp_read_only", "a"),
        (1, "oltp_read_only", "b"),
        (1, "oltp_insert", "a"),
        (1, "oltp_insert", "b"),
        (2, "oltp_read_only", "b"),
        (2, "oltp_read_only", "a"),
        (2, "oltp_insert", "b"),
        (2, "oltp_insert", "a"),
    ]


def test_campaign_holds_what_was_planned(db: None) -> None:
    user = a_user()
    campaign = a_campaign(name="  flush 1 or 2 ", threads=(8, 1), warmup=2.5, created_by=user)
    assert (campaign.name, campaign.warmup, campaign.created_by) == ("flush 1 or 2", 2.5, user)
    assert [level.threads for level in campaign.load_levels.all()] == [1, 8]
    assert set(campaign.jobs.values_list("state", "attempt")) == {("queued", 0)}


def test_the_same_thing_chosen_twice_counts_once(db: None) -> None:
    system, level = a_system(), a_load_level(4)
    campaign = a_campaign(system, system, load_levels=[level, level])
    assert campaign.jobs.count() == 1
    assert campaign.load_levels.count() == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", " "),
        ("name", "x" * 121),
        ("systems", []),
        ("workloads", []),
        ("load_levels", []),
        ("repetitions", 0),
        ("repetitions", 101),
        ("warmup", -1.0),
        ("warmup", 3601.0),
        ("warmup", float("nan")),
        ("duration", 0.0),
        ("duration", -5.0),
        ("duration", float("inf")),
        ("duration", 86_401.0),
    ],
)
def test_refusal_names_the_field_and_the_remedy(db: None, field: str, value: Any) -> None:
    plan: dict[str, Any] = {
        "name": "a plan",
        "systems": [a_system()],
        "workloads": [a_workload()],
        "load_levels": [a_load_level()],
        "repetitions": 3,
        "warmup": 0.0,
        "duration": 5.0,
        "created_by": None,
    }
    with pytest.raises(Invalid) as refused:
        planning.create_campaign(**{**plan, field: value})
    assert [error.field for error in refused.value.errors] == [field]
    assert all(error.message and error.remedy for error in refused.value.errors)
    assert not Campaign.objects.exists()


def test_every_field_at_fault_is_named_at_once(db: None) -> None:
    with pytest.raises(Invalid) as refused:
        a_campaign(name="", workloads=[], repetitions=0)
    assert [error.field for error in refused.value.errors] == ["name", "workloads", "repetitions"]


def test_archived_system_is_refused_by_name(db: None) -> None:
    with pytest.raises(Invalid, match="systems: old is archived"):
        a_campaign(a_system("old", archived_at=START))


def test_too_many_jobs_are_refused_before_any_is_made(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "MAX_JOBS", 5)
    with pytest.raises(Invalid, match="6 jobs with 12 runs"):
        a_campaign(a_system(), a_system(), repetitions=3)
    assert not Job.objects.exists()


def test_size_counts_runs_and_the_time_around_them() -> None:
    size = planning.size_of(systems=2, workloads=1, load_levels=3, repetitions=3, warmup=1, duration=5)
    assert (size.jobs, size.runs) == (6, 18)
    assert timedelta(seconds=size.seconds) == timedelta(seconds=6 * 10 + 18 * (2 + 6))
