"""The pages of schedules: what is due, what ran and what did not, the form and its actions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.dispatch.models import Campaign, Schedule, ScheduledRun
from apps.dispatch.pure import cron
from apps.dispatch.schedules import services
from apps.regressions.findings import missing_results
from apps.regressions.models import Finding
from tests.dispatch.schedules.scheduled import PLAN, a_schedule, end_jobs
from tests.support.builders import a_campaign, a_system, a_user
from tests.support.pages import data, element, elements, states, text

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
    page = client.get(f"/schedules/{schedule.pk}/").content.decode()
    assert states(page, "h1 [data-state]", "state") == [("on",)]
    assert not elements(page, "[data-last], [data-scheduled-run], [value=pause]")
    assert client.get("/schedules/").status_code == 200


def test_an_empty_list_says_how_to_fill_it(engineer: Client) -> None:
    assert elements(engineer.get("/schedules/").content.decode(), "[data-state=empty] a[href='/schedules/new/']")
    assert elements(engineer.get("/schedules/?archived=1").content.decode(), "[data-state=empty] a[href='/schedules/']")


def test_the_form_keeps_a_schedule_that_is_on(engineer: Client) -> None:
    a_system("a"), a_system("b")
    answer = engineer.post("/schedules/new/", typed())
    schedule = Schedule.objects.get()
    assert answer.headers["Location"] == f"/schedules/{schedule.pk}/"
    assert (schedule.created_by.username, schedule.patience, schedule.zone) == ("ann", 6.0, "Europe/Helsinki")
    page = engineer.get(f"/schedules/{schedule.pk}/").content.decode()
    assert text(page, "h1").split() == ["nightly", "on"]
    assert text(page, "[data-cron]") == cron.in_words("30 2 * * *")
    assert text(page, "span[data-zone]") == "Europe/Helsinki"
    assert "Europe/Helsinki" in text(page, "[data-clock-change]")


def test_what_is_wrong_stands_by_its_field_and_nothing_is_lost(engineer: Client) -> None:
    a_system("a")
    answer = engineer.post("/schedules/new/", typed(name="", cron="every night", zone="Mars", patience="<soon>"))
    page = answer.content.decode()
    assert answer.status_code == 422
    wrong = states(page, ".problem [data-field]", "field")
    assert wrong == [("name",), ("cron",), ("zone",), ("patience",), ("plan",)]
    assert text(page, "#patience-error").startswith("is not a number (use more than 0")
    assert "systems.1" in text(page, "#plan-error")
    assert element(page, ".problem [data-field=plan] a").attributes["href"] == "#id_plan"
    for field in ("name", "cron", "zone", "patience", "plan"):
        assert elements(page, f"#{field}-error"), field
    for field, kept in (("cron", "every night"), ("zone", "Mars"), ("patience", "<soon>")):
        assert element(page, f"#id_{field}").attributes["value"] == kept
    assert "systems: [a, b]" in text(page, "#id_plan")
    assert not Schedule.objects.exists()


def test_check_only_says_what_each_time_would_begin(engineer: Client) -> None:
    a_system("a"), a_system("b")
    page = engineer.post("/schedules/new/", typed(check="1")).content.decode()
    assert states(page, "[data-checked]", "jobs", "runs") == [("2", "4")]
    assert not Schedule.objects.exists()


def test_a_campaign_becomes_a_schedule_in_one_click(engineer: Client) -> None:
    campaign = a_campaign(a_system("a"), name="worth repeating")
    address = f"/schedules/new/?campaign={campaign.pk}"
    assert address in engineer.get(f"/campaigns/{campaign.pk}/").content.decode()
    page = engineer.get(address).content.decode()
    assert element(page, "#id_name").attributes["value"] == "worth repeating"
    assert "systems: [a]" in text(page, "#id_plan")
    assert engineer.get("/schedules/new/?campaign=999999").status_code == 404
    assert engineer.get("/schedules/new/?campaign=x").status_code == 200


def test_times_are_shown_while_they_are_typed(engineer: Client) -> None:
    page = engineer.get("/schedules/times/", {"cron": "0 22 * * MON-FRI", "zone": "UTC"}).content.decode()
    assert text(page, "[data-cron]") == cron.in_words("0 22 * * MON-FRI")
    assert {each.text()[-5:] for each in elements(page, "[data-zone=UTC] time")} == {"22:00"}
    assert not text(page, "[data-clock-change]")


@pytest.mark.parametrize(
    ("expression", "zone", "field"),
    [("61 2 * * *", "UTC", "cron"), ("30 2 * *", "UTC", "cron"), ("30 2 * * *", "Mars", "zone")],
)
def test_what_is_wrong_with_a_time_is_shown_while_it_is_typed(
    engineer: Client, expression: str, zone: str, field: str
) -> None:
    page = engineer.get("/schedules/times/", {"cron": expression, "zone": zone}).content.decode()
    (problem,) = services.time_problems(expression, zone)
    shown = element(page, f"[data-field={field}]").text()
    assert problem.message in shown
    assert problem.remedy in shown


def test_every_time_of_a_schedule_is_shown_in_its_own_zone_by_its_name(engineer: Client) -> None:
    schedule = a_schedule(next_at=datetime(2026, 11, 21, 15, 5, tzinfo=UTC), zone="Europe/Berlin")
    page = engineer.get(f"/schedules/{schedule.pk}/").content.decode()
    assert not elements(page, "[data-last]")
    assert [each.text() for each in elements(page, "[data-next]")] == ["2026-11-21 16:05 Europe/Berlin"] * 2
    listed = engineer.get("/schedules/").content.decode()
    assert text(listed, f"[data-schedule='{schedule.pk}'] [data-next]") == "2026-11-21 16:05 Europe/Berlin"
    assert "2026-11-21 16:05 Europe/Berlin" in text(listed, ".lede")
    ScheduledRun.objects.create(schedule=schedule, due_at=datetime(2026, 11, 20, 15, 5, tzinfo=UTC), state="started")
    page = engineer.get(f"/schedules/{schedule.pk}/").content.decode()
    assert text(page, "[data-last=started]") == "2026-11-20 16:05 Europe/Berlin"
    assert text(page, "[data-scheduled-run][data-state=started] [data-due]") == "2026-11-20 16:05"
    assert states(page, "th[data-zone]", "zone") == [("Europe/Berlin",)] * 2


def test_an_edit_begins_with_what_is_kept_and_keeps_the_rest(engineer: Client) -> None:
    schedule = a_schedule()
    address = f"/schedules/{schedule.pk}/edit/"
    assert element(engineer.get(address).content.decode(), "#id_cron").attributes["value"] == "30 2 * * *"
    assert engineer.post(address, typed(cron="0 5 * * *")).status_code == 302
    schedule.refresh_from_db()
    assert schedule.cron == "0 5 * * *"
    assert engineer.get("/schedules/999999/edit/").status_code == 404


def test_who_edits_what_another_has_edited_sees_it_and_keeps_it_by_a_second_press(engineer: Client) -> None:
    schedule = a_schedule()
    address = f"/schedules/{schedule.pk}/edit/"

    def seen(answer: Any) -> str:
        return element(answer.content.decode(), "[name=seen]").attributes["value"] or ""

    opened = seen(engineer.get(address))
    wrong = engineer.post(address, typed(cron="0 6 * *", seen=opened))
    assert (wrong.status_code, bool(opened), seen(wrong)) == (422, True, opened)
    schedule.cron = "0 5 * * *"
    schedule.save()
    shown = engineer.post(address, typed(cron="0 6 * * *", seen=opened))
    assert shown.status_code == 409
    assert len(elements(shown.content.decode(), ".problem [data-field]")) == 1
    assert element(shown.content.decode(), "#id_cron").attributes["value"] == "0 6 * * *"
    assert engineer.post(address, typed(cron="0 6 * * *", seen=seen(shown))).status_code == 302


def test_actions_are_done_and_listed(engineer: Client, enqueued: list[str]) -> None:
    schedule = a_schedule()

    def shown(action: str) -> tuple[list[str], list[str]]:
        """Level of the message, and state of the schedule."""
        page = engineer.post(f"/schedules/{schedule.pk}/act/", {"action": action}, follow=True).content.decode()
        return data(page, "message"), data(page, "state")[:1]

    assert shown("pause") == (["info"], ["paused"])
    assert shown("resume") == (["info"], ["on"])
    assert shown("run") == (["info"], ["on"])
    assert enqueued == ["workers.tasks.match_jobs"]
    assert shown("run") == (["error"], ["on"])
    assert Campaign.objects.count() == 1
    assert shown("archive") == (["info"], ["archived"])
    assert shown("resume") == (["error"], ["archived"])
    assert engineer.post(f"/schedules/{schedule.pk}/act/", {"action": "x"}).status_code == 404
    assert engineer.post("/schedules/999999/act/", {"action": "run"}).status_code == 404


def test_an_action_is_confirmed_in_words(engineer: Client) -> None:
    schedule = a_schedule()
    for action, done in (("pause", "paused"), ("resume", "resumed"), ("archive", "archived")):
        answer = engineer.post(f"/schedules/{schedule.pk}/act/", {"action": action}, follow=True)
        assert text(answer.content.decode(), "[data-message=info]") == f"{schedule} is {done}."


def test_what_did_not_come_is_shown_with_its_reason_and_its_finding(engineer: Client) -> None:
    schedule = a_schedule(next_at=NOW)
    services.start_due(now=NOW)
    end_jobs("failed", reason="disk full")
    missing_results.look(now=NOW + timedelta(hours=1))
    page = engineer.get(f"/schedules/{schedule.pk}/").content.decode()
    assert states(page, "[data-last]", "last") == [("missing",)]
    assert states(page, "[data-scheduled-run]", "state") == [("missing",)]
    assert states(page, "[data-succeeded]", "succeeded", "jobs") == [("0", "2")]
    reasons = ScheduledRun.objects.get().reason.splitlines()
    assert len(reasons) == 2
    shown = element(page, "[data-reasons='2']").text()
    assert all(reason in shown for reason in reasons)
    assert f"/findings/{Finding.objects.get().pk}/" in page
    listed = engineer.get("/schedules/").content.decode()
    assert states(listed, "[data-lacking]", "lacking", "count") == [("1", "1")]
    assert states(listed, "[data-schedule]", "schedule", "last") == [(str(schedule.pk), "missing")]
    campaign = Campaign.objects.get()
    assert f"/schedules/{schedule.pk}/" in engineer.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_a_plan_that_the_catalog_no_longer_fits_is_reported_before_it_is_due(engineer: Client) -> None:
    schedule = a_schedule()
    Schedule.objects.update(plan=PLAN.replace("[a, b]", "[a, gone]"))
    page = engineer.get(f"/schedules/{schedule.pk}/").content.decode()
    assert states(page, "[data-state=invalid] [data-field]", "field") == [("systems.1",)]


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
