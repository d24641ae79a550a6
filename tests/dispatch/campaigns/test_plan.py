"""A plan is refused field by field, or becomes jobs in their interleaved order."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.catalog.models import System, Workload
from apps.core.problems import Invalid
from apps.dispatch import queries
from apps.dispatch.campaigns import plan
from apps.dispatch.models import Campaign, Job
from tests.support.builders import START, a_campaign, a_load_level, a_system, a_user, a_workload, an_entry


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
    assert (campaign.name, campaign.created_by) == ("flush 1 or 2", user)
    entry = campaign.entries.get()
    assert (entry.warmup, entry.duration) == (2.5, 5.0)
    assert [level.threads for level in entry.load_levels.all()] == [1, 8]
    assert set(campaign.jobs.values_list("state", "attempt")) == {("queued", 0)}


def test_the_same_thing_chosen_twice_counts_once(db: None) -> None:
    system, level = a_system(), a_load_level(4)
    campaign = a_campaign(system, system, load_levels=[level, level], workloads=[a_workload(), a_workload()])
    assert campaign.jobs.count() == 1
    assert campaign.entries.get().load_levels.count() == 1


def test_entries_have_their_own_levels_times_and_systems(db: None) -> None:
    a, b, c = a_system("a"), a_system("b"), a_system("c")
    entries = [
        an_entry(a_workload("oltp_insert"), threads=(2,), warmup=1.0, duration=7.0),
        an_entry(a_workload("oltp_read_only"), threads=(1, 8), systems=[c, a]),
    ]
    campaign = a_campaign(a, b, c, entries=entries, repetitions=2)
    assert order(campaign) == [
        (1, "oltp_insert", "a"),
        (1, "oltp_insert", "b"),
        (1, "oltp_insert", "c"),
        (1, "oltp_read_only", "a"),
        (1, "oltp_read_only", "c"),
        (2, "oltp_insert", "c"),
        (2, "oltp_insert", "b"),
        (2, "oltp_insert", "a"),
        (2, "oltp_read_only", "c"),
        (2, "oltp_read_only", "a"),
    ]
    first, second = campaign.entries.all()
    assert (first.warmup, first.duration, [level.threads for level in first.load_levels.all()]) == (1.0, 7.0, [2])
    assert {job.entry_id for job in campaign.jobs.filter(workload=second.workload)} == {second.pk}


def test_a_workload_may_have_several_entries(db: None) -> None:
    campaign = a_campaign(a_system("a"), entries=[an_entry(threads=(1, 2)), an_entry(threads=(20, 40))])
    assert [job.entry.place for job in campaign.jobs.order_by("position")] == [0, 1]


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
    with pytest.raises(Invalid) as refused:
        a_campaign(**({"systems": []} if field == "systems" else {field: value}))
    assert [error.field for error in plan.plainly(refused.value.errors)] == [field]
    assert all(error.message and error.remedy for error in refused.value.errors)
    assert not Campaign.objects.exists()


def test_every_field_at_fault_is_named_at_once(db: None) -> None:
    elsewhere = a_system("elsewhere")
    with pytest.raises(Invalid) as refused:
        a_campaign(
            name="", repetitions=0, entries=[an_entry(), an_entry(threads=(), duration=-1.0, systems=[elsewhere])]
        )
    fields = ["name", "entries.1.systems", "entries.1.load_levels", "entries.1.duration", "repetitions"]
    assert [error.field for error in refused.value.errors] == fields


def test_what_entries_share_is_named_once(db: None) -> None:
    workloads = [a_workload("oltp_insert"), a_workload("oltp_read_only")]
    with pytest.raises(Invalid) as refused:
        a_campaign(workloads=workloads, load_levels=[], warmup=-1.0)
    assert [error.field for error in plan.plainly(refused.value.errors)] == ["load_levels", "warmup"]


def test_archived_system_is_refused_by_name(db: None) -> None:
    with pytest.raises(Invalid, match="systems: old is archived"):
        a_campaign(a_system("old", archived_at=START))


@pytest.mark.parametrize(
    ("stated", "kept"), [(str(1 / 30), "0.03333"), ("0.0300", "0.03"), ("1", "1"), ("verdict", "verdict")]
)
def test_a_width_to_stop_at_is_kept_with_four_digits(db: None, stated: str, kept: str) -> None:
    assert a_campaign(a_system(), a_system(), repetitions=5, until=stated).until == kept


@pytest.mark.parametrize("stated", ["0.0", "0.0004", "1.5", "nan", "soon"])
def test_a_width_that_no_interval_would_have_is_refused(db: None, stated: str) -> None:
    with pytest.raises(Invalid) as refused:
        a_campaign(a_system(), a_system(), repetitions=5, until=stated)
    assert [error.field for error in refused.value.errors] == ["until"]


def test_too_many_jobs_are_refused_before_any_is_made(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MAX_JOBS", 5)
    with pytest.raises(Invalid, match="6 jobs with 12 runs"):
        a_campaign(a_system(), a_system(), repetitions=3)
    assert not Job.objects.exists()


def test_size_counts_runs_and_the_time_around_them() -> None:
    entries = plan.alike(workloads=[Workload()], load_levels=[1, 4, 8], warmup=1, duration=5)
    size = plan.size_of(systems=[System(), System()], entries=entries, repetitions=3)
    assert (size.jobs, size.runs) == (6, 18)
    assert timedelta(seconds=size.seconds) == timedelta(seconds=6 * 10 + 18 * (2 + 6))


def test_size_of_a_mixed_plan_counts_each_entry_by_its_own(db: None) -> None:
    entries = [
        an_entry(threads=(1, 2), warmup=1, duration=3),
        an_entry(threads=(1,), duration=20, systems=[a_system()]),
    ]
    size = plan.size_of(systems=[a_system(), a_system(), a_system()], entries=entries, repetitions=2)
    assert (size.jobs, size.runs) == (3 * 2 + 2, 3 * 2 * 2 + 2)
    assert size.seconds == 6 * (10 + 2 * 6) + 2 * (10 + 22)


def test_a_system_that_no_agent_reaches_is_named_with_the_remedy(db: None) -> None:
    campaign = a_campaign(a_system("far-away", labels=["system:far-away", "ssd"]))
    detail = queries.load_campaign(campaign.pk, now=timezone.now())
    assert detail is not None
    (obstacle,) = detail.obstacles
    assert obstacle.startswith("No agent is connected to far-away with the label ssd: ")
    assert "docs/howto/agent.md" in obstacle
