"""The pages of schedules: what is due, what ran and what did not, the form and its deeds."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.dispatch.models import Campaign, Schedule, ScheduledRun
from apps.dispatch.schedules import services
from apps.regressions.findings import missing_results
from apps.regressions.models import Finding
from tests.dispatch.schedules.scheduled import PLAN, a_schedule, end_jobs
from tests.support.builders import a_campaign, a_system, a_user
from tests.web.campaigns.pages import words

pytestmark = pytest.mark.usefixtures("enqueued")
NOW = timezone.now()


def typed(**fields: Any) -> dict[str, Any]:
    return {"name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Helsinki", "patience": "6", "plan": PLAN, **fields}


def test_strangers_sign_in_first_and_readers_may_only_look(db: None, client: Client) -> None:
    schedule = a_schedule()
    writing = ("/schedules/new/", f"/schedules/{schedule.pk}/edit/")
    assert [client.get(address).status_code for address in writing] == [302, 302]
    client.force_login(a_user(role="reader"))
    assert [client.get(address).status_code for address in writing] == [403, 403]
    assert client.post(f"/schedules/{schedule.pk}/act/", {"action": "pause"}).status_code == 403
    page = words(client.get(f"/schedules/{schedule.pk}/"))
    assert "Not due yet" in page
    assert "Pause" not in page
    assert client.get("/schedules/").status_code == 200


def test_an_empty_list_says_how_to_fill_it(engineer: Client) -> None:
    assert "No schedules yet Create one" in words(engineer.get("/schedules/"))
    assert "No archived schedules" in words(engineer.get("/schedules/?archived=1"))


def test_the_form_keeps_a_schedule_that_is_on(engineer: Client) -> None:
    a_system("a"), a_system("b")
    answer = engineer.post("/schedules/new/", typed())
    schedule = Schedule.objects.get()
    assert answer.headers["Location"] == f"/schedules/{schedule.pk}/"
    assert (schedule.created_by.username, schedule.patience, schedule.zone) == ("ann", 6.0, "Europe/Helsinki")
    page = words(engineer.get(f"/schedules/{schedule.pk}/"))
    assert "nightly on" in page
    assert "At 02:30 every day , Europe/Helsinki" in page
    assert "Clocks in Europe/Helsinki go" in page


def test_what_is_wrong_stands_by_its_field_and_nothing_is_lost(engineer: Client) -> None:
    a_system("a")
    answer = engineer.post("/schedules/new/", typed(name="", cron="every night", zone="Mars", patience="<soon>"))
    page = answer.content.decode()
    assert answer.status_code == 422
    shown = words(answer)
    assert "cron : has 2 fields instead of 5" in shown
    assert "plan.systems.1 : line 2: there is no system 'b'" in shown
    assert "name : is empty" in shown
    for kept in ('value="every night"', 'value="Mars"', 'value="&lt;soon&gt;"', "systems: [a, b]"):
        assert kept in page
    assert not Schedule.objects.exists()


def test_check_only_says_what_each_time_would_begin(engineer: Client) -> None:
    a_system("a"), a_system("b")
    page = words(engineer.post("/schedules/new/", typed(check="1")))
    assert "each scheduled run starts 2 jobs with 4 runs" in page
    assert not Schedule.objects.exists()


def test_a_campaign_becomes_a_schedule_in_one_click(engineer: Client) -> None:
    campaign = a_campaign(a_system("a"), name="worth repeating")
    address = f"/schedules/new/?campaign={campaign.pk}"
    assert address in engineer.get(f"/campaigns/{campaign.pk}/").content.decode()
    page = engineer.get(address).content.decode()
    assert 'value="worth repeating"' in page
    assert "systems: [a]" in page
    assert engineer.get("/schedules/new/?campaign=999999").status_code == 404
    assert engineer.get("/schedules/new/?campaign=x").status_code == 200


def test_times_are_told_while_they_are_typed(engineer: Client) -> None:
    shown = words(engineer.get("/schedules/times/", {"cron": "0 22 * * MON-FRI", "zone": "UTC"}))
    assert "At 22:00 on Monday through Friday" in shown
    assert "Clocks in" not in shown


@pytest.mark.parametrize(
    ("cron", "zone", "shown"),
    [
        ("61 2 * * *", "UTC", "cron : cannot be read: bad minute, which is 0 to 59 (30 2 * * * is every day at 02:30"),
        ("30 2 * *", "UTC", "cron : has 4 fields instead of 5 (30 2 * * * is every day at 02:30"),
        ("30 2 * * *", "Mars", "zone : there is no time zone 'Mars' (use one such as Europe/Berlin)"),
    ],
)
def test_what_is_wrong_with_a_time_is_told_while_it_is_typed(
    engineer: Client, cron: str, zone: str, shown: str
) -> None:
    assert shown in words(engineer.get("/schedules/times/", {"cron": cron, "zone": zone}))


def test_every_time_of_a_schedule_is_told_in_its_own_zone_by_its_name(engineer: Client) -> None:
    schedule = a_schedule(next_at=datetime(2026, 11, 21, 15, 5, tzinfo=UTC), zone="Europe/Berlin")
    page = words(engineer.get(f"/schedules/{schedule.pk}/"))
    assert "Not due yet. Next 2026-11-21 16:05 Europe/Berlin" in page
    assert "Next start: 2026-11-21 16:05 Europe/Berlin" in page
    assert "nightly 2026-11-21 16:05 Europe/Berlin" in words(engineer.get("/schedules/"))
    ScheduledRun.objects.create(schedule=schedule, due_at=datetime(2026, 11, 20, 15, 5, tzinfo=UTC), state="started")
    page = words(engineer.get(f"/schedules/{schedule.pk}/"))
    assert "The last time, 2026-11-20 16:05 Europe/Berlin" in page
    assert "Settled, Europe/Berlin 2026-11-20 16:05" in page


def test_an_edit_begins_with_what_is_kept_and_keeps_the_rest(engineer: Client) -> None:
    schedule = a_schedule()
    address = f"/schedules/{schedule.pk}/edit/"
    assert 'value="30 2 * * *"' in engineer.get(address).content.decode()
    assert engineer.post(address, typed(cron="0 5 * * *")).status_code == 302
    schedule.refresh_from_db()
    assert schedule.cron == "0 5 * * *"
    assert engineer.get("/schedules/999999/edit/").status_code == 404


def test_who_edits_what_another_has_edited_is_told_and_keeps_it_by_a_second_press(engineer: Client) -> None:
    schedule = a_schedule()
    address = f"/schedules/{schedule.pk}/edit/"

    def seen(answer: Any) -> str:
        found = re.search(r'name="seen" value="(\w+)"', answer.content.decode())
        assert found
        return found[1]

    opened = seen(engineer.get(address))
    wrong = engineer.post(address, typed(cron="0 6 * *", seen=opened))
    assert (wrong.status_code, seen(wrong)) == (422, opened)
    schedule.cron = "0 5 * * *"
    schedule.save()
    shown = engineer.post(address, typed(cron="0 6 * * *", seen=opened))
    assert shown.status_code == 409
    assert "was edited by somebody else after you had opened it" in words(shown)
    assert 'value="0 6 * * *"' in shown.content.decode()
    assert engineer.post(address, typed(cron="0 6 * * *", seen=seen(shown))).status_code == 302


def test_deeds_are_done_and_told(engineer: Client, enqueued: list[str]) -> None:
    schedule = a_schedule()

    def shown(action: str) -> str:
        return words(engineer.post(f"/schedules/{schedule.pk}/act/", {"action": action}, follow=True))

    assert "nightly is paused" in shown("pause")
    assert "nightly is resumed" in shown("resume")
    assert "Campaign nightly started" in shown("run")
    assert enqueued == ["workers.tasks.match_jobs"]
    assert "is not done: 2 of its 2 jobs have not ended (wait for it, or cancel it)" in shown("run")
    assert "nightly is archived" in shown("archive")
    assert "is archived" in shown("resume")
    assert engineer.post(f"/schedules/{schedule.pk}/act/", {"action": "x"}).status_code == 404
    assert engineer.post("/schedules/999999/act/", {"action": "run"}).status_code == 404


def test_what_did_not_come_is_told_with_its_reason_and_its_finding(engineer: Client) -> None:
    schedule = a_schedule(next_at=NOW)
    services.start_due(now=NOW)
    end_jobs("failed", reason="disk full")
    missing_results.look(now=NOW + timedelta(hours=1))
    page = engineer.get(f"/schedules/{schedule.pk}/")
    assert "brought nothing: 0 of 2 jobs" in words(page)
    assert "a × oltp_read_only: job" in words(page)
    assert "failed: disk full" in words(page)
    assert f"/findings/{Finding.objects.get().pk}/" in page.content.decode()
    assert "1 of 1 brought not everything the last time: nightly" in words(engineer.get("/schedules/"))
    campaign = Campaign.objects.get()
    assert f"/schedules/{schedule.pk}/" in engineer.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_a_plan_that_the_catalog_no_longer_fits_is_told_before_it_is_due(engineer: Client) -> None:
    schedule = a_schedule()
    Schedule.objects.update(plan=PLAN.replace("[a, b]", "[a, gone]"))
    assert "The next scheduled run would fail" in words(engineer.get(f"/schedules/{schedule.pk}/"))


def test_the_list_costs_as_many_queries_however_many_there_are(engineer: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as counted:
            assert engineer.get("/schedules/").status_code == 200
        return len(counted)

    a_schedule(next_at=NOW)
    services.start_due(now=NOW)
    one = queries()
    for number in range(3):
        a_schedule(name=f"other {number}", next_at=NOW)
    services.start_due(now=NOW)
    assert queries() == one
