"""Schedules begin campaigns: once, however many look; after an absence one; never while the last one is not done."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db import DataError, OperationalError
from django.utils import timezone

from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.dispatch.campaigns import file
from apps.dispatch.models import Campaign, Schedule, ScheduledRun
from apps.dispatch.schedules import cron, services
from tests.dispatch.jobs.test_races import at_once
from tests.dispatch.schedules.scheduled import PLAN, a_schedule, end_jobs, stated
from tests.support.builders import a_system, a_user

pytestmark = pytest.mark.django_db
NOW = timezone.now()
DAY = timedelta(days=1)


def slots(schedule: Schedule) -> list[tuple[str, str]]:
    return [(scheduled.state, scheduled.reason) for scheduled in schedule.slots.order_by("due_at")]


def test_it_begins_a_campaign_of_its_plan_and_is_due_again_later() -> None:
    schedule = a_schedule(next_at=NOW)
    assert services.start_due(now=NOW) == 1
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.created_by) == ("nightly", schedule.created_by)
    assert campaign.jobs.count() == 2
    assert slots(schedule) == [("started", "")]
    schedule.refresh_from_db()
    assert schedule.next_at is not None
    assert timedelta(0) < schedule.next_at - NOW <= DAY
    assert services.start_due(now=NOW) == 0


def test_a_zone_that_is_no_longer_known_delays_no_other_schedule() -> None:
    lost = a_schedule(name="lost")
    Schedule.objects.filter(pk=lost.pk).update(zone="Mars/Olympus")
    a_schedule(next_at=NOW)
    assert services.start_due(now=NOW) == 1


@pytest.mark.django_db(transaction=True)
def test_two_beats_begin_one_campaign() -> None:
    a_schedule(next_at=NOW)
    begun = at_once(*[partial(services.start_due, now=NOW)] * 3)
    assert sorted(map(str, begun)) == ["0", "0", "1"]
    assert (Campaign.objects.count(), ScheduledRun.objects.count()) == (1, 1)


def test_after_an_absence_one_is_caught_up_and_the_others_say_why_not() -> None:
    schedule = a_schedule(next_at=NOW - 2 * DAY, cron=f"{NOW.minute} {NOW.hour} * * *")
    assert services.start_due(now=NOW) == 1
    assert [state for state, _ in slots(schedule)] == ["not started", "not started", "started"]
    assert "the server was down" in slots(schedule)[0][1]


def test_a_long_absence_tells_the_latest_times_and_counts_the_others() -> None:
    schedule = a_schedule(next_at=NOW - DAY, cron="*/5 * * * *")
    assert services.start_due(now=NOW) == 1
    assert len(slots(schedule)) == services.LISTED_MISSED + 1
    assert "earlier times are not listed" in slots(schedule)[0][1]


def test_after_the_clock_was_ahead_it_is_due_at_its_next_time_and_not_when_it_is_that_late_again() -> None:
    schedule = a_schedule(next_at=NOW)
    assert services.start_due(now=NOW + 100 * DAY) == 1
    end_jobs("succeeded")
    assert services.start_due(now=NOW) == 0
    schedule.refresh_from_db()
    assert schedule.next_at == cron.next_after(NOW, expression=schedule.cron, zone="UTC")
    assert not schedule.slots.filter(due_at__gt=NOW, state="not started").exists(), "those were not missed"
    assert schedule.next_at
    assert services.start_due(now=schedule.next_at) == 1


def test_what_a_clock_that_was_ahead_began_is_not_begun_again() -> None:
    schedule = a_schedule(next_at=NOW)
    services.start_due(now=NOW + 100 * DAY)
    end_jobs("succeeded")
    begun = schedule.slots.get(state="started").due_at
    a_day_before = begun - DAY
    services.start_due(now=a_day_before - DAY / 2)
    assert services.start_due(now=a_day_before) == 1
    schedule.refresh_from_db()
    assert schedule.next_at == begun + DAY
    assert services.start_due(now=a_day_before + DAY / 2) == 0
    schedule.refresh_from_db()
    assert schedule.next_at == begun + DAY


def test_while_the_campaign_before_is_not_done_none_is_begun() -> None:
    schedule = a_schedule(next_at=NOW)
    services.start_due(now=NOW)
    assert services.start_due(now=NOW + DAY) == 0
    state, reason = slots(schedule)[-1]
    assert state == "not started"
    assert "is not done: 2 of its 2 jobs have not ended" in reason
    end_jobs("succeeded")
    assert services.start_due(now=NOW + 2 * DAY) == 1


def test_a_plan_that_is_wrong_by_now_brings_nothing_and_says_why() -> None:
    schedule = a_schedule(next_at=NOW)
    schedule.plan = PLAN.replace("[a, b]", "[a, gone]")
    schedule.save()
    assert services.start_due(now=NOW) == 0
    ((state, reason),) = slots(schedule)
    assert state == "missing"
    assert "there is no system 'gone'" in reason
    schedule.refresh_from_db()
    assert schedule.next_at is not None


def start_fails(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Of plans with the word broken."""
    start = file.start

    def started(content: bytes, *, by: User | None) -> Campaign:
        if b"broken" in content:
            raise error
        return start(content, by=by)

    monkeypatch.setattr(file, "start", started)


def test_one_that_fails_for_want_of_the_database_is_tried_again_and_keeps_no_other_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = a_schedule(next_at=NOW - DAY, plan=PLAN.replace("nightly", "broken"), name="broken")
    a_schedule(next_at=NOW)
    start_fails(monkeypatch, OperationalError("the connection is lost"))
    assert services.start_due(now=NOW) == 1
    broken.refresh_from_db()
    assert broken.next_at == NOW - DAY, "it is tried again"
    assert not broken.slots.exists()


def test_a_start_that_always_fails_is_listed_with_its_reason_and_not_tried_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = a_schedule(next_at=NOW, plan=PLAN.replace("nightly", "broken"), name="broken")
    start_fails(monkeypatch, DataError("value too long for type character varying(12)\nmore"))
    assert services.start_due(now=NOW) == 0
    ((state, reason),) = slots(broken)
    assert (state, reason.splitlines()[1]) == ("missing", "DataError: value too long for type character varying(12)")
    broken.refresh_from_db()
    assert broken.next_at is not None
    assert broken.next_at > NOW


def test_paused_it_begins_nothing_and_makes_up_for_nothing_when_resumed() -> None:
    schedule = a_schedule(next_at=NOW)
    services.pause(schedule_id=schedule.pk)
    assert services.start_due(now=NOW + DAY) == 0
    resumed = services.resume(schedule_id=schedule.pk, now=NOW + 5 * DAY)
    assert resumed.next_at is not None
    assert resumed.next_at > NOW + 5 * DAY
    assert not ScheduledRun.objects.exists()


def test_a_paused_one_stays_paused_when_it_is_edited() -> None:
    schedule = services.pause(schedule_id=a_schedule().pk)
    edited = services.edit(schedule_id=schedule.pk, stated=replace(stated(), cron="0 4  * * *"), now=NOW)
    assert (edited.cron, edited.next_at) == ("0 4 * * *", None)


def test_what_is_due_is_started_as_it_is_when_it_was_edited_before() -> None:
    schedule = a_schedule(next_at=NOW - 2 * DAY, cron=f"{NOW.minute} {NOW.hour} * * *")
    asked = stated(cron=schedule.cron, plan=PLAN.replace("[a, b]", "[a]"))
    services.edit(schedule_id=schedule.pk, stated=asked, now=NOW)
    assert services.start_due(now=NOW) == 1
    assert Campaign.objects.get().jobs.count() == 1
    assert [state for state, _ in slots(schedule)] == ["not started", "not started", "started"]


def test_what_was_due_when_the_times_were_changed_is_listed_as_not_started() -> None:
    schedule = a_schedule(next_at=NOW - DAY, cron=f"{NOW.minute} {NOW.hour} * * *")
    edited = services.edit(schedule_id=schedule.pk, stated=stated(cron="0 4 * * *"), now=NOW)
    assert edited.next_at == cron.next_after(NOW, expression="0 4 * * *", zone="UTC")
    assert [state for state, _ in slots(schedule)] == ["not started"] * 2
    assert {reason for _, reason in slots(schedule)} == {
        f"its times were changed {services.in_utc(NOW)}, before it was started"
    }
    assert services.start_due(now=NOW) == 0


def test_who_edits_an_older_version_is_refused() -> None:
    schedule = a_schedule()
    with pytest.raises(services.ScheduleChanged, match="was edited by somebody else after you had opened it"):
        services.edit(schedule_id=schedule.pk, stated=stated(), now=NOW, seen="0" * 64)


def test_an_archived_one_begins_nothing_and_can_no_longer_be_changed() -> None:
    schedule = a_schedule(next_at=NOW)
    services.archive(schedule_id=schedule.pk, now=NOW)
    assert services.start_due(now=NOW + DAY) == 0
    changes: list[Callable[[], object]] = [
        partial(services.edit, schedule_id=schedule.pk, stated=stated(), now=NOW),
        partial(services.resume, schedule_id=schedule.pk, now=NOW),
        partial(services.run_now, schedule_id=schedule.pk, by=schedule.created_by, now=NOW),
    ]
    for change in changes:
        with pytest.raises(Invalid, match="is archived"):
            change()


def test_run_now_is_a_slot_of_its_own_and_waits_for_what_is_not_done() -> None:
    schedule, ann = a_schedule(), a_user(username="ann")
    scheduled = services.run_now(schedule_id=schedule.pk, by=ann, now=NOW)
    assert scheduled.campaign is not None
    assert scheduled.campaign.created_by == ann
    with pytest.raises(Invalid, match="is not done: 2 of its 2 jobs"):
        services.run_now(schedule_id=schedule.pk, by=ann, now=NOW)
    end_jobs("failed", reason="broken")
    services.run_now(schedule_id=schedule.pk, by=ann, now=NOW + timedelta(seconds=1))


def test_everything_that_is_wrong_is_said_at_once_by_its_field() -> None:
    a_schedule(), a_system("c")
    wrong = replace(
        stated(), cron="61 * * * *", zone="Mars/Olympus", patience=float("nan"), plan=PLAN.replace("[a, b]", "[x]")
    )
    with pytest.raises(Invalid) as refused:
        services.create(stated=wrong, by=a_user(), now=NOW)
    assert [problem.field for problem in refused.value.errors] == ["name", "cron", "zone", "patience", "plan.systems.0"]
    assert "line 2: there is no system 'x'" in str(refused.value)
    assert "zone: there is no time zone 'Mars/Olympus' (use one such as Europe/Berlin)" in str(refused.value)
    assert "cron: cannot be read: bad minute, which is 0 to 59 (30 2 * * * is every day at 02:30" in str(refused.value)


def test_no_schedule_is_no_schedule() -> None:
    with pytest.raises(services.NoSuchSchedule):
        services.pause(schedule_id=77)


def test_its_next_time_is_that_of_its_zone() -> None:
    schedule = a_schedule(
        cron="30 2 * * *", zone="Asia/Kolkata", now=datetime.fromisoformat("2026-01-05T00:00:00+00:00")
    )
    assert schedule.next_at == datetime.fromisoformat("2026-01-05T21:00:00+00:00")
