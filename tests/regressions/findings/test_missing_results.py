"""What a schedule did not bring is a finding, once, until it comes."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from apps.dispatch.models import Schedule, ScheduledRun
from apps.dispatch.schedules import services
from apps.regressions.findings import missing_results, review
from apps.regressions.findings.filters import matching, read
from apps.regressions.models import Change, Finding, Note, Repetition
from tests.dispatch.jobs.test_races import at_once
from tests.dispatch.schedules.scheduled import PLAN, a_schedule, end_jobs
from tests.support.builders import a_campaign, a_user, an_agent
from workers import tasks

pytestmark = pytest.mark.django_db
NOW = timezone.now()
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def begun(schedule: Schedule, at: timedelta = timedelta(0)) -> ScheduledRun:
    Schedule.objects.filter(pk=schedule.pk).update(next_at=NOW + at)
    services.start_due(now=NOW + at)
    scheduled = schedule.slots.get(due_at=NOW + at)
    ScheduledRun.objects.filter(pk=scheduled.pk).update(begun_at=NOW + at)
    return scheduled


def look(at: timedelta) -> list[str]:
    return [finding.title for finding in missing_results.look(now=NOW + at)]


def test_a_campaign_that_succeeds_is_complete_and_no_finding() -> None:
    scheduled = begun(a_schedule())
    assert look(HOUR) == []
    scheduled.refresh_from_db()
    assert scheduled.state == "started", "there is patience left"
    end_jobs("succeeded")
    assert look(2 * HOUR) == []
    scheduled.refresh_from_db()
    assert (scheduled.state, scheduled.reason) == ("complete", "")
    assert not Finding.objects.exists()


def test_what_has_not_come_when_patience_is_over_is_one_finding_with_its_reasons() -> None:
    schedule = a_schedule()
    an_agent(name="lab", labels=["system:a"], last_seen_at=NOW - 3 * HOUR)
    scheduled = begun(schedule)
    assert look(13 * HOUR) == ["nightly: 2 expected results did not come"]
    scheduled.refresh_from_db()
    assert scheduled.state == "missing"
    seen = f"{NOW - 3 * HOUR:%Y-%m-%d %H:%M} UTC"
    reasons = list(Change.objects.order_by("system__slug").values_list("reason", flat=True))
    assert reasons == [f"agent lab not seen since {seen}", "no agent has the labels system:b"]
    assert scheduled.reason.splitlines()[0] == f"a × oltp_read_only: agent lab not seen since {seen}"
    finding = Finding.objects.get()
    assert (finding.kind, finding.verdict, finding.state, finding.schedule) == ("missing", "missing", "new", schedule)
    assert look(14 * HOUR) == []


def test_what_is_missing_is_found_by_the_place_where_it_is_missing() -> None:
    begun(a_schedule())
    look(13 * HOUR)
    finding, system = Finding.objects.get(), Change.objects.filter(system__slug="a").get().system
    of = {
        "platform": system.release.platform.slug,
        "hardware": system.hardware_class.slug,
        "release": system.release.version,
        "family": "sysbench_oltp",
    }
    for wanted in ({name: value} for name, value in of.items()):
        assert list(matching(read(wanted))) == [finding], wanted
    assert list(matching(read(of))) == [finding]
    assert not matching(read({**of, "platform": "galera"})).exists()


def test_a_failed_job_is_reported_as_soon_as_the_others_have_ended() -> None:
    scheduled = begun(a_schedule())
    end_jobs("failed", system__slug="a", reason="disk full")
    assert look(HOUR) == []
    end_jobs("succeeded")
    assert look(HOUR) == ["nightly: 1 expected result did not come"]
    assert "failed: disk full" in Change.objects.get().reason
    scheduled.refresh_from_db()
    assert scheduled.reason.startswith("a × oltp_read_only: job ")


def test_results_that_come_late_complete_the_slot_and_ask_for_a_look_at_the_finding() -> None:
    scheduled = begun(a_schedule())
    look(13 * HOUR)
    end_jobs("succeeded")
    # They ended after it was settled, whatever the clock of this test says.
    ScheduledRun.objects.update(settled_at=NOW - HOUR)
    assert look(20 * HOUR) == ["nightly: 2 expected results did not come"]
    scheduled.refresh_from_db()
    assert (scheduled.state, scheduled.reason) == ("complete", "came late")
    finding = Finding.objects.get()
    assert (finding.verdict, finding.state) == ("gone", "verify")


def test_the_next_campaign_that_brings_everything_makes_it_gone() -> None:
    schedule = a_schedule()
    begun(schedule)
    end_jobs("failed", reason="disk full")
    look(HOUR)
    begun(schedule, at=DAY)
    end_jobs("succeeded")
    look(DAY + HOUR)
    assert Finding.objects.get().state == "verify"


def test_a_repetition_of_the_finding_that_succeeds_makes_it_gone() -> None:
    scheduled = begun(a_schedule())
    end_jobs("failed", reason="disk full")
    look(HOUR)
    finding, campaign = Finding.objects.get(), scheduled.campaign
    assert campaign is not None
    workload = campaign.jobs.all()[0].workload
    other = a_campaign(*campaign.systems.all(), workloads=[workload])
    Repetition.objects.create(finding=finding, campaign=other, asked_by=a_user())
    look(2 * HOUR)
    assert Finding.objects.get().state == "new"
    end_jobs("succeeded")
    look(3 * HOUR)
    assert Finding.objects.get().state == "verify"


TWO_LOADS = f"""{PLAN}
  - tool: sysbench_oltp
    parameters: {{test: oltp_read_only, tables: 2, table_size: 1000}}
    climb: {{from: 2, to: 64, factor: 4, least_gain: 0.1}}
    duration: 3
    systems: [a]
"""


def test_every_load_of_a_workload_that_is_missing_is_measured_again_as_it_was() -> None:
    begun(a_schedule(plan=TWO_LOADS))
    end_jobs("failed", system__slug="a", reason="disk full")
    end_jobs("succeeded")
    look(HOUR)
    finding = Finding.objects.get()
    campaign = review.repeat(finding_id=finding.pk, by=a_user())
    listed, ramp = campaign.entries.all()
    assert [level.threads for level in listed.load_levels.all()] == [1, 4]
    assert (listed.ends_when_refused, listed.duration) == (False, 10)
    assert [level.threads for level in ramp.load_levels.all()] == [2, 8, 32, 64]
    assert (ramp.ends_when_refused, ramp.least_gain, ramp.duration) == (True, 0.1, 3)
    end_jobs("succeeded", entry=listed)
    look(2 * HOUR)
    finding.refresh_from_db()
    assert finding.state == "new", "the ramp is still missing"
    end_jobs("succeeded")
    look(3 * HOUR)
    finding.refresh_from_db()
    assert finding.state == "verify"


def test_missing_again_adds_no_twin_and_opens_no_acceptance() -> None:
    schedule = a_schedule()
    begun(schedule)
    end_jobs("failed", reason="disk full")
    look(HOUR)
    Finding.objects.update(state="accepted", reason="the lab is down", accepted_until="2099-01-01")
    begun(schedule, at=DAY)
    end_jobs("failed", reason="no route to host")
    assert look(DAY + HOUR) == []
    assert Finding.objects.get().state == "accepted"
    first, second = Change.objects.all()
    assert "no route to host; missing since" in first.reason
    assert first.reason.endswith("2 times")
    assert first.slot == second.slot


def test_missing_again_after_it_was_said_to_be_fixed_opens_the_finding_again() -> None:
    schedule = a_schedule()
    begun(schedule)
    end_jobs("failed", reason="disk full")
    look(HOUR)
    Finding.objects.update(state="fixed", reason="bigger disk")
    begun(schedule, at=DAY)
    end_jobs("failed", reason="disk full")
    assert look(DAY + HOUR) == ["nightly: 4 expected results did not come"]
    assert Finding.objects.get().state == "new"


def test_a_plan_that_is_refused_misses_what_the_campaign_before_it_brought() -> None:
    schedule = a_schedule()
    begun(schedule)
    end_jobs("succeeded")
    look(HOUR)
    Schedule.objects.update(plan=PLAN.replace("[a, b]", "[a, gone]"))
    begun(schedule, at=DAY)
    assert look(DAY) == ["nightly: 2 expected results did not come"]
    assert "the plan was refused: systems.1: line 2: there is no system 'gone'" in Change.objects.all()[0].reason
    assert look(DAY + HOUR) == []


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_tell_it_once() -> None:
    begun(a_schedule())
    end_jobs("failed", reason="disk full")
    outcomes = at_once(*[partial(look, HOUR)] * 3)
    assert sorted(map(str, outcomes)) == ["['nightly: 2 expected results did not come']", "[]", "[]"]
    assert (Finding.objects.count(), Change.objects.count(), Note.objects.count()) == (1, 2, 1)


def test_the_beat_begins_what_is_due_and_tells_what_did_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr(tasks, "enqueue", lambda task, **_: given.append(task.name))
    a_schedule(next_at=NOW)
    assert tasks.start_due() == 1
    assert given == ["workers.tasks.match_jobs"]
    end_jobs("failed", reason="disk full")
    assert tasks.look_for_missing() == 1
    assert (tasks.start_due(), tasks.look_for_missing()) == (0, 0)
