"""The list of campaigns and one campaign: progress, live figures, what went wrong, cancelling."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.catalog.models import System, Workload
from apps.dispatch.jobs import leases
from apps.dispatch.models import Job, JobRun, Skip
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
from tests.web.campaigns.pages import HTMX, measured, words
from tests.web.findings.found import a_finding
from workers.protocol import wire

pytestmark = pytest.mark.usefixtures("enqueued")


def test_empty_list_says_what_would_fill_it(db: None, client: Client) -> None:
    assert "No campaigns yet" in words(client.get("/campaigns/"))


def test_list_shows_progress_and_state(db: None, client: Client) -> None:
    job = a_job(state="running")
    measured(job, 1)
    page = client.get("/campaigns/")
    assert job.campaign.name in words(page)
    assert "running" in words(page)
    assert "1 of 2" in words(page)
    assert 'hx-trigger="every 5s"' in page.content.decode()
    assert "hx-trigger" not in client.get(f"/campaigns/?before={job.campaign_id}").content.decode()


def test_list_costs_the_same_for_many(
    db: None, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(12):
        a_campaign(a_system(), a_system(), repetitions=2)
    with django_assert_max_num_queries(10):
        client.get("/campaigns/")


def test_long_list_goes_on_with_older_campaigns(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.web.campaigns.campaigns.PAGE", 2)
    names = [a_campaign(name=f"plan {number}").name for number in range(3)]
    first = client.get("/campaigns/")
    assert names[2] in words(first)
    assert names[0] not in words(first)
    older = re.search(r'href="(/campaigns/\?before=\d+)"', first.content.decode())
    assert older
    assert names[0] in words(client.get(older[1]))


def test_campaign_that_is_not_there_is_404(db: None, client: Client) -> None:
    assert client.get("/campaigns/4711/").status_code == 404


def test_waiting_campaign_says_what_it_waits_for(db: None, client: Client) -> None:
    campaign = a_campaign(a_system("far-away"))
    page = client.get(f"/campaigns/{campaign.pk}/")
    assert "No live agent can reach far-away: it needs the label system:far-away." in words(page)
    an_agent(campaign.systems.get(), last_seen_at=timezone.now())
    assert "No live agent" not in words(client.get(f"/campaigns/{campaign.pk}/"))


def test_running_campaign_is_live(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    job = a_job(state="running", progress="4 threads", started_at=now - timedelta(minutes=10))
    measured(job, 1)
    run = an_open_run(system=job.system, workload=job.workload, load_level=a_load_level(4))
    JobRun.objects.create(run=run, job=job, attempt=1)
    part = client.get(f"/campaigns/{job.campaign_id}/", headers=HTMX)
    text, html = words(part), part.content.decode()
    assert "<html" not in html
    assert 'hx-trigger="every 2s"' in html
    assert "4 threads" in text
    assert "1 of 2" in text
    assert "6.00 runs/h" in text
    assert "about 10 min at this rate" in text
    assert f'href="/runs/{run.pk}/"' in html
    assert "no data yet" in text


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
    text = words(client.get(f"/campaigns/{job.campaign_id}/", headers=HTMX))
    assert "1,230 transactions/s" in text


def test_before_the_first_run_the_estimate_is_the_plan(db: None, client: Client) -> None:
    campaign = a_campaign(a_system(), a_system(), repetitions=2)
    an_agent(*campaign.systems.all(), last_seen_at=timezone.now())
    text = words(client.get(f"/campaigns/{campaign.pk}/"))
    assert "no completed run yet" in text
    assert "by the plan" in text


def test_finished_campaign_stops_asking_and_opens_its_comparison(db: None, client: Client) -> None:
    campaign = a_campaign(a_system("b"), a_system("a"), threads=(4,))
    for job in campaign.jobs.all():
        run = an_open_run(system=job.system, workload=job.workload, load_level=a_load_level(4))
        JobRun.objects.create(run=run, job=job, attempt=1)
        an_upload(run=run).send()
        assert "Open the comparison" not in words(client.get(f"/campaigns/{campaign.pk}/"))
        accept.seal(run_id=run.pk)
    campaign.jobs.update(state="cancelled", finished_at=timezone.now())
    html = client.get(f"/campaigns/{campaign.pk}/").content.decode()
    address = f"/compare/?side=b&side=a&workload={Workload.objects.get().pk}&campaign={campaign.pk}"
    assert f'href="{address}"' in unescape(html)
    assert "hx-trigger" not in html
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
    assert "Open the comparison" not in words(client.get(f"/campaigns/{campaign.pk}/"))


def test_reasons_of_lost_attempts_are_shown(db: None, client: Client) -> None:
    job = a_job(state="running")
    leases.expire_leases(now=timezone.now())
    text = words(client.get(f"/campaigns/{job.campaign_id}/"))
    assert "Problems" in text
    assert "was silent for longer than its lease" in text
    assert "next attempt from" in text


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
    assert "Left 4 jobs that no agent reaches" in words(client.get(f"/campaigns/{campaign.pk}/"))
    an_agent(near, last_seen_at=timezone.now())
    text = words(client.get(f"/campaigns/{campaign.pk}/"))
    assert "by the plan, without 2 jobs that no agent reaches" in text


def test_what_only_cleans_up_has_nothing_left_and_nothing_to_cancel(engineer: Client) -> None:
    job = a_job(state="cancelling")
    text = words(engineer.get(f"/campaigns/{job.campaign_id}/"))
    assert "Cancel" not in text
    assert "Left" not in text
    assert "stopping and cleaning up" in text
    assert "cleaning up" in words(engineer.get("/campaigns/"))


def test_a_run_that_nobody_cancelled_says_why_it_stopped(db: None, client: Client) -> None:
    job = a_job(state="running")
    run = a_run(system=job.system, workload=job.workload, outcome="cancelled", reason="the agent was stopped")
    JobRun.objects.create(run=run, job=job, attempt=job.attempt)
    page = client.get(f"/campaigns/{job.campaign_id}/")
    assert "– the agent was stopped" in words(page)
    assert "attempt 1: cancelled, the agent was stopped" in page.content.decode()
    assert re.search(r"started\s+<time datetime=", page.content.decode())


def test_only_writers_see_and_may_press_cancel(db: None, client: Client) -> None:
    job = a_job(state="running")
    assert "Cancel" not in words(client.get(f"/campaigns/{job.campaign_id}/"))
    client.post(f"/jobs/{job.pk}/cancel/")
    client.post(f"/campaigns/{job.campaign_id}/cancel/")
    client.force_login(a_user(role="reader"))
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 403
    job.refresh_from_db()
    assert job.state == "running"


def test_cancel_of_a_job_says_what_it_did(engineer: Client) -> None:
    job = a_job(state="running")
    page = engineer.post(f"/jobs/{job.pk}/cancel/", headers=HTMX)
    assert f"Job {job.pk} is being cancelled: agent {job.agent} stops and cleans up." in words(page)
    job.refresh_from_db()
    assert (job.state, job.reason) == ("cancelling", "cancelled by ann")
    again = engineer.post(f"/jobs/{job.pk}/cancel/", headers=HTMX)
    assert "is already being cancelled" in words(again)


def test_cancel_of_a_campaign_works_without_scripts_too(engineer: Client) -> None:
    campaign = a_campaign(a_system(), a_system())
    answer = engineer.post(f"/campaigns/{campaign.pk}/cancel/", follow=True)
    assert answer.redirect_chain == [(f"/campaigns/{campaign.pk}/", 302)]
    assert "Cancelled the 2 waiting jobs." in words(answer)
    assert set(campaign.jobs.values_list("state", flat=True)) == {"cancelled"}
    assert engineer.get(f"/campaigns/{campaign.pk}/cancel/").status_code == 405


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
    text = words(client.get(f"/campaigns/{job.campaign_id}/"))
    assert "1, 8, 64 threads until connections are refused" in text
    assert "8 threads refused" in text
    assert "connections refused: error 1040 (64 threads)" in text
    assert "1 of 1; 2 refused or not run" in text


def test_a_campaign_of_many_workloads_begins_with_a_table_of_all_its_cells(db: None, client: Client) -> None:
    systems = [a_system(f"s{number}") for number in range(3)]
    entries = [an_entry(a_workload(tables=number), threads=(number,), duration=number) for number in range(1, 9)]
    entries.append(an_entry(a_workload(tables=9), systems=systems[:1]))
    campaign = a_campaign(*systems, entries=entries, repetitions=3)
    page = client.get(f"/campaigns/{campaign.pk}/")
    text, html = words(page), page.content.decode()
    assert "9 workloads, each with its own load levels and times; 3 repetitions" in text
    assert "7 threads; 7 s measured" in text
    assert html.count('class="sign sign--queued"') == 8 * 3 * 3 + 3
    assert html.count("not included") == 2
    for entry in campaign.entries.all():
        assert f'href="#grid-{entry.pk}"' in html
        assert f'id="grid-{entry.pk}"' in html
