"""The list of campaigns and one campaign: progress, live figures, what went wrong, cancelling."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.catalog.models import System, Workload
from apps.dispatch import queries
from apps.dispatch.jobs import leases
from apps.dispatch.models import Campaign, Job, JobRun, Skip
from apps.regressions.models import Finding
from apps.runs.ingest import accept
from tests.runs.uploads import an_open_run, an_upload
from tests.support.builders import (
    a_campaign,
    a_job,
    a_load_level,
    a_run,
    a_system,
    a_user,
    a_workload,
    an_agent,
    an_entry,
)
from tests.support.pages import data, element, elements, states, text
from tests.web.campaigns.pages import HTMX, measured
from tests.web.findings.found import a_finding
from workers.protocol import wire

pytestmark = pytest.mark.usefixtures("enqueued")
CANCEL = "form[action$='/cancel/']"


def html(response: Any) -> str:
    content: str = response.content.decode()
    return content


def test_empty_list_says_what_would_fill_it(db: None, client: Client) -> None:
    assert elements(html(client.get("/campaigns/")), "[data-state=empty] a[href='/campaigns/new/']")


def test_list_shows_progress_and_state(db: None, client: Client) -> None:
    job = a_job(state="running")
    measured(job, 1)
    page = client.get("/campaigns/")
    row = f"[data-campaign='{job.campaign_id}']"
    assert text(html(page), f"{row} .campaign-name") == job.campaign.name
    assert states(html(page), f"{row} .mark", "state") == [("running",)]
    assert states(html(page), f"{row} [data-runs]", "runs-done", "runs") == [("1", "2")]
    assert element(html(page), "#campaigns").attributes["hx-trigger"] == "every 5s"
    assert not elements(html(client.get(f"/campaigns/?before={job.campaign_id}")), "[hx-trigger]")


def test_campaign_whose_agent_is_gone_waits_and_has_no_estimate(db: None, client: Client) -> None:
    now = timezone.now()
    campaign = a_campaign(a_system(), repetitions=2)
    begun = now - timedelta(minutes=10)
    first = campaign.jobs.order_by("position").first()
    assert first
    measured(first, 1, 4)
    Job.objects.filter(pk=first.pk).update(state="succeeded", started_at=begun, finished_at=now)

    def shown() -> tuple[object, ...]:
        page, home = html(client.get("/campaigns/")), html(client.get("/"))
        estimated = ["left" in text(home, "[data-campaign] small"), "about" in text(page, "tr[data-campaign]")]
        marks = states(page, "tr[data-campaign] .mark", "state")
        return marks, data(page, "left"), data(home, "progress-state"), estimated

    assert shown() == ([("waiting",)], ["unreachable"], ["waiting"], [False, False])
    an_agent(campaign.systems.get(), last_seen_at=now)
    assert shown() == ([("running",)], [], ["running"], [True, True])


def test_list_costs_the_same_for_many(
    db: None, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(12):
        a_campaign(a_system(), a_system(), repetitions=2)
    with django_assert_max_num_queries(10):
        client.get("/campaigns/")


def test_long_list_goes_on_with_older_campaigns(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.web.campaigns.campaigns.PAGE", 2)
    keys = [str(a_campaign().pk) for _ in range(3)]
    first = html(client.get("/campaigns/"))
    assert data(first, "campaign") == [keys[2], keys[1]]
    older = element(first, "a[href*='before=']").attributes["href"]
    assert older
    assert data(html(client.get(older)), "campaign") == [keys[0]]


def test_campaign_that_is_not_there_is_404(db: None, client: Client) -> None:
    assert client.get("/campaigns/4711/").status_code == 404


def test_waiting_campaign_says_what_it_waits_for(db: None, client: Client) -> None:
    campaign = a_campaign(a_system("far-away"))
    page = html(client.get(f"/campaigns/{campaign.pk}/"))
    detail = queries.load_campaign(campaign.pk, now=timezone.now())
    assert detail is not None
    (sentence,) = detail.obstacles
    assert "far-away" in sentence
    assert text(page, "[data-state=unreachable]").startswith(sentence.partition(":")[0])
    assert elements(page, "[data-state=unreachable] a[href='/help/howto/agent/']")
    an_agent(campaign.systems.get(), last_seen_at=timezone.now())
    assert not elements(html(client.get(f"/campaigns/{campaign.pk}/")), "[data-state=unreachable]")


def test_running_campaign_is_live(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    job = a_job(state="running", progress="4 threads", started_at=now - timedelta(minutes=10))
    measured(job, 1)
    run = an_open_run(system=job.system, workload=job.workload, load_level=a_load_level(4))
    JobRun.objects.create(run=run, job=job, attempt=1)
    part = client.get(f"/campaigns/{job.campaign_id}/", headers=HTMX)
    page = html(part)
    assert "<html" not in page
    assert element(page, "#live").attributes["hx-trigger"] == "every 2s"
    current = f"article[data-job='{job.pk}'][data-state=running]"
    assert text(page, f"{current} [data-doing]") == "4 threads"
    assert states(page, "dd[data-runs]", "runs-done", "runs") == [("1", "2")]
    assert text(page, "[data-rate]") == "6.00 runs/h"
    assert "about 10 min" in text(page, "[data-left][data-by=rate]")
    assert elements(page, f"{current} [data-run='{run.pk}'] a[href='/runs/{run.pk}/']")
    assert elements(page, f"{current} [data-run='{run.pk}'] [data-state=no-data]")


def test_live_throughput_is_the_last_second_seen(db: None, client: Client) -> None:
    job = a_job(state="running")
    run = an_open_run(system=job.system, workload=job.workload, load_level=a_load_level(4))
    JobRun.objects.create(run=run, job=job, attempt=1)
    encoder = wire.BatchEncoder(run=str(run.uid))
    for second, tps in ((1, 100.0), (2, 1234.5)):
        line = f"[ {second}s ] thds: 4 tps: {tps:.2f} qps: 5.00 (r/w/o: 3.00/1.00/1.00) lat (ms,95%): 9.00 "
        line += "err/s: 0.00 reconn/s: 0.00"
        encoder.add_output(t=float(second), line=line)
    sequence, payload = encoder.flush()
    run.batches.create(sequence=sequence, checksum=wire.checksum(payload), payload=payload)
    page = html(client.get(f"/campaigns/{job.campaign_id}/", headers=HTMX))
    assert text(page, f"[data-run='{run.pk}'] [data-throughput]") == "1,230 transactions/s"


def test_before_the_first_run_the_estimate_is_the_plan(db: None, client: Client) -> None:
    campaign = a_campaign(a_system(), a_system(), repetitions=2)
    an_agent(*campaign.systems.all(), last_seen_at=timezone.now())
    page = html(client.get(f"/campaigns/{campaign.pk}/"))
    assert elements(page, "[data-rate] [data-state=no-run]")
    assert states(page, "[data-left]", "by", "unreachable") == [("plan", "0")]


def test_finished_campaign_stops_asking_and_opens_its_comparison(db: None, client: Client) -> None:
    campaign = a_campaign(a_system("b"), a_system("a"), threads=(4,))
    for job in campaign.jobs.all():
        run = an_open_run(system=job.system, workload=job.workload, load_level=a_load_level(4))
        JobRun.objects.create(run=run, job=job, attempt=1)
        an_upload(run=run).send()
        assert not elements(html(client.get(f"/campaigns/{campaign.pk}/")), "[href^='/compare/?']")
        accept.seal(run_id=run.pk)
    campaign.jobs.update(state="cancelled", finished_at=timezone.now())
    page = html(client.get(f"/campaigns/{campaign.pk}/"))
    address = f"/compare/?side=b&side=a&workload={Workload.objects.get().pk}&campaign={campaign.pk}"
    assert element(page, "#compare").attributes["href"] == address
    assert not elements(page, "[hx-trigger]")
    assert client.get(address).status_code == 200


def test_finished_campaign_leads_to_open_findings_of_its_releases(db: None, client: Client) -> None:
    finding = a_finding()
    newer = System.objects.get(release=finding.release)
    campaign = a_campaign(newer)
    link = f'href="/findings/{finding.pk}/"'
    assert link not in client.get(f"/campaigns/{campaign.pk}/").content.decode()
    campaign.jobs.update(state="cancelled", finished_at=timezone.now())
    assert link in client.get(f"/campaigns/{campaign.pk}/").content.decode()
    Finding.objects.update(state="fixed")
    assert link not in client.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_campaign_with_one_measured_system_has_nothing_to_compare(db: None, client: Client) -> None:
    campaign = a_campaign(a_system(), a_system())
    job = campaign.jobs.first()
    assert job is not None
    measured(job, 1)
    assert not elements(html(client.get(f"/campaigns/{campaign.pk}/")), "[href^='/compare/?']")


def test_reasons_of_lost_attempts_are_shown(db: None, client: Client) -> None:
    job = a_job(state="running")
    leases.expire_leases(now=timezone.now())
    page = html(client.get(f"/campaigns/{job.campaign_id}/"))
    job.refresh_from_db()
    assert "was silent for longer than its lease" in job.reason
    assert job.reason in text(page, f"li[data-job='{job.pk}'][data-state=queued]")
    assert elements(page, f"li[data-job='{job.pk}'] [data-ready] time")


def test_campaign_costs_the_same_for_many_jobs(
    db: None, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    campaign = a_campaign(a_system(), a_system(), a_system(), repetitions=10)
    for job in campaign.jobs.all()[:10]:
        measured(job, 1, 4)
    with django_assert_max_num_queries(20):
        client.get(f"/campaigns/{campaign.pk}/")


def test_jobs_that_no_agent_reaches_are_not_in_what_is_left(db: None, client: Client) -> None:
    near = a_system("near")
    campaign = a_campaign(near, a_system("far"), repetitions=2)
    assert states(html(client.get(f"/campaigns/{campaign.pk}/")), "[data-left]", "by", "unreachable") == [(None, "4")]
    an_agent(near, last_seen_at=timezone.now())
    assert states(html(client.get(f"/campaigns/{campaign.pk}/")), "[data-left]", "by", "unreachable") == [("plan", "2")]


def test_what_only_cleans_up_has_nothing_left_and_nothing_to_cancel(engineer: Client) -> None:
    job = a_job(state="cancelling")
    page = html(engineer.get(f"/campaigns/{job.campaign_id}/"))
    assert not elements(page, CANCEL)
    assert not elements(page, "[data-left]")
    assert elements(page, f"article[data-job='{job.pk}'][data-state=cancelling] [data-doing]")
    assert elements(html(engineer.get("/campaigns/")), "[data-left=cleanup]")


def test_a_run_that_nobody_cancelled_says_why_it_stopped(db: None, client: Client) -> None:
    job = a_job(state="running")
    run = a_run(system=job.system, workload=job.workload, outcome="cancelled", reason="the agent was stopped")
    JobRun.objects.create(run=run, job=job, attempt=job.attempt)
    page = html(client.get(f"/campaigns/{job.campaign_id}/"))
    cell = element(page, f"[data-run='{run.pk}'][data-outcome=cancelled]")
    assert "the agent was stopped" in cell.text()
    assert "the agent was stopped" in (cell.attributes["title"] or "")
    assert elements(page, f"article[data-job='{job.pk}'] [data-doing] time")


def test_only_writers_see_and_may_press_cancel(db: None, client: Client) -> None:
    job = a_job(state="running")
    assert not elements(html(client.get(f"/campaigns/{job.campaign_id}/")), CANCEL)
    client.post(f"/jobs/{job.pk}/cancel/")
    client.post(f"/campaigns/{job.campaign_id}/cancel/")
    client.force_login(a_user(role="reader"))
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 403
    job.refresh_from_db()
    assert job.state == "running"


def test_cancel_of_a_job_says_what_it_did(engineer: Client) -> None:
    job = a_job(state="running")
    assert elements(html(engineer.get(f"/campaigns/{job.campaign_id}/")), CANCEL)
    first = text(html(engineer.post(f"/jobs/{job.pk}/cancel/", headers=HTMX)), "[data-message]")
    job.refresh_from_db()
    assert (job.state, job.reason) == ("cancelling", "cancelled by ann")
    again = text(html(engineer.post(f"/jobs/{job.pk}/cancel/", headers=HTMX)), "[data-message]")
    assert f"Job {job.pk} " in first
    assert f"Job {job.pk} " in again
    assert first != again


def test_cancel_of_a_campaign_works_without_scripts_too(engineer: Client) -> None:
    campaign = a_campaign(a_system(), a_system())
    answer = engineer.post(f"/campaigns/{campaign.pk}/cancel/", follow=True)
    assert answer.redirect_chain == [(f"/campaigns/{campaign.pk}/", 302)]
    assert elements(html(answer), "[data-message=info]")
    assert set(campaign.jobs.values_list("state", flat=True)) == {"cancelled"}
    assert engineer.get(f"/campaigns/{campaign.pk}/cancel/").status_code == 405


def test_one_cancelled_job_does_not_make_its_campaign_a_cancelled_one(db: None, client: Client) -> None:
    done = a_job(state="succeeded")
    second = {"repetition": 2, "position": 2, "state": "cancelled", "finished_at": timezone.now()}
    shared = {name: getattr(done, name) for name in ("campaign", "entry", "system", "workload")}
    Job.objects.create(**shared, **second)
    assert text(html(client.get("/campaigns/")), "td [data-state=done]") == "done, 1 job cancelled"
    with pytest.raises(CommandError, match="is done, but 1 job was cancelled"):
        call_command("campaign", "status", str(done.campaign_id), "--wait")
    Campaign.objects.filter(pk=done.campaign_id).update(cancelled_at=timezone.now())
    assert elements(html(client.get("/campaigns/")), "td [data-state=cancelled]")


def test_a_ladder_that_ended_shows_what_was_refused_and_what_was_not_run(db: None, client: Client) -> None:
    entry = an_entry(threads=(1, 8, 64), ends_when_refused=True, least_gain=None)
    job = a_campaign(a_system(), entries=[entry]).jobs.get()
    Job.objects.filter(pk=job.pk).update(state="cancelled", finished_at=timezone.now())
    measured(job, 1)
    measured(job, 8, outcome="failed")
    for level, reason in (
        (8, "connections refused: error 1040"),
        (64, "not run: connections were refused at 8 threads"),
    ):
        Skip.objects.create(job=job, load_level=a_load_level(level), reason=reason)
    page = html(client.get(f"/campaigns/{job.campaign_id}/"))
    detail = queries.load_campaign(job.campaign_id, now=timezone.now())
    assert detail is not None
    assert detail.row.entries[0].climbs
    assert text(page, ".lede [data-load]") == f"1, 8, 64 threads {detail.row.entries[0].climbs}"
    assert [" ".join(each.text().split()) for each in elements(page, "[data-outcome=failed]")] == [
        "8 threads refused failed"
    ]
    assert "error 1040" in text(page, f"[data-job='{job.pk}'] [data-skips='2']")
    assert states(page, "dd[data-runs]", "runs-done", "runs", "skipped") == [("1", "1", "2")]


def test_a_campaign_of_many_workloads_begins_with_a_table_of_all_its_cells(db: None, client: Client) -> None:
    systems = [a_system(f"s{number}") for number in range(3)]
    entries = [an_entry(a_workload(tables=number), threads=(number,), duration=number) for number in range(1, 9)]
    entries.append(an_entry(a_workload(tables=9), systems=systems[:1]))
    campaign = a_campaign(*systems, entries=entries, repetitions=3)
    page = html(client.get(f"/campaigns/{campaign.pk}/"))
    assert (text(page, "[data-workloads]"), text(page, "[data-repetitions]")) == ("9", "3")
    assert len(elements(page, ".sign--queued")) == 8 * 3 * 3 + 3
    assert len(elements(page, "[data-state=not-included]")) == 2
    for entry in campaign.entries.all():
        row = f"th[data-workload='{entry.workload_id}']"
        assert elements(page, f"{row} [href='#grid-{entry.pk}']")
        assert elements(page, f"#grid-{entry.pk}")
        if entry.duration == 7:
            assert (text(page, f"{row} [data-load]"), text(page, f"{row} [data-duration]")) == ("7 threads", "7 s")


def test_a_campaign_says_which_runs_its_early_stop_lacks(db: None, client: Client) -> None:
    campaign = a_campaign(a_system("a"), a_system("b"), threads=(1, 4), repetitions=5, until="verdict")
    for job in campaign.jobs.filter(repetition__lte=2):
        measured(job, 1, 4)
        Job.objects.filter(pk=job.pk).update(state="succeeded", finished_at=timezone.now())
    address = f"/campaigns/{campaign.pk}/"
    assert not elements(html(client.get(address)), "[data-state=missing-runs]")
    lost = JobRun.objects.get(job__system__slug="b", job__repetition=2, run__load_level__threads=4).run
    lost.is_excluded = True
    lost.save()
    said = text(html(client.get(address)), "[data-state=missing-runs]")
    assert said.endswith(f"{lost.system.short_name} has 1 of 2 repetitions at 4 threads.")
