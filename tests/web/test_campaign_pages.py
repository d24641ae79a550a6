"""Planning, following and cancelling campaigns, and looking after agents, in pages."""

import re
import tomllib
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.catalog.models import Workload
from apps.dispatch import leases
from apps.dispatch.models import Campaign, Job, JobRun
from apps.runs import ingest
from tests.builders import a_campaign, a_job, a_load_level, a_run, a_system, a_user, a_workload, an_agent
from tests.runs.uploads import an_open_run, an_upload
from workers import tasks, wire
from workers.agent import config

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def enqueue(task: Any, **_arguments: Any) -> bool:
        names.append(task.name)
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    return names


@pytest.fixture
def engineer(db: None, client: Client) -> Client:
    client.force_login(a_user(username="ann"))
    return client


def words(response: Any) -> str:
    """What a person reads: without tags, blanks joined."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).replace("\xa0", " ").split())


def a_form(**fields: Any) -> dict[str, Any]:
    return {
        "name": "flush 1 or 2",
        "systems": ["a", "b"],
        "workloads": [a_workload().pk],
        "test": "",
        "tables": "4",
        "table_size": "10000",
        "threads": "1, 4, 8",
        "repetitions": "3",
        "warmup": "1",
        "duration": "5",
        **fields,
    }


def measured(job: Job, *threads: int, outcome: str = "succeeded") -> None:
    for number in threads:
        run = a_run(system=job.system, workload=job.workload, load_level=a_load_level(number), outcome=outcome)
        JobRun.objects.create(run=run, job=job, attempt=job.attempt)


# ---------------------------------------------------------------- the plan


def test_stranger_is_asked_to_sign_in_and_a_reader_is_told(db: None, client: Client) -> None:
    assert client.get("/campaigns/new/").headers["Location"] == "/sign-in/?next=/campaigns/new/"
    assert client.post("/campaigns/new/", {}).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.get("/campaigns/new/").status_code == 403
    assert client.post("/campaigns/new/", {}).status_code == 403


def test_plan_becomes_a_campaign_and_is_matched(engineer: Client, enqueued: list[str]) -> None:
    a_system("a"), a_system("b")
    answer = engineer.post("/campaigns/new/", a_form())
    campaign = Campaign.objects.get()
    assert answer.headers["Location"] == f"/campaigns/{campaign.pk}/"
    entry = campaign.entries.get()
    assert (campaign.name, campaign.repetitions, entry.warmup, entry.duration) == ("flush 1 or 2", 3, 1.0, 5.0)
    assert campaign.created_by is not None
    assert campaign.created_by.username == "ann"
    assert [level.threads for level in entry.load_levels.all()] == [1, 4, 8]
    assert [job.system.slug for job in campaign.jobs.order_by("position")] == ["a", "b", "b", "a", "a", "b"]
    assert enqueued == ["workers.tasks.match_jobs"]


def test_new_workload_is_made_with_the_plan(engineer: Client) -> None:
    a_system("a"), a_system("b")
    engineer.post("/campaigns/new/", a_form(workloads=[], test="oltp_insert", tables="2", table_size="500"))
    workload = Campaign.objects.get().entries.get().workload
    assert workload.parameters == {"test": "oltp_insert", "tables": 2, "table_size": 500}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "is empty: say what the campaign is to find out"),
        ("systems", [], "none is chosen: choose at least one"),
        ("systems", ["gone"], "gone is no system in use"),
        ("workloads", [], "none is chosen: choose at least one"),
        ("threads", "1, four", "'four' is no number of threads"),
        ("threads", "0", "'0' is no number of threads"),
        ("threads", "", "none is given: give at least one number of threads"),
        ("repetitions", "0", "0 is out of range: use 1 to 100"),
        ("repetitions", "many", "is no number"),
        ("warmup", "-1", "-1 s is out of range"),
        ("warmup", "", "is empty: write a number"),
        ("duration", "0", "0 s is out of range"),
        ("duration", "nan", "is no number"),
        ("test", "made_up", "is no test of sysbench"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(
    engineer: Client, field: str, value: Any, said: str
) -> None:
    a_system("a"), a_system("b")
    form = a_form(name="my plan", threads="2, 16", tables="7", table_size="123", repetitions="5", warmup="2.5")
    page = engineer.post("/campaigns/new/", form | {field: value})
    html = page.content.decode()
    assert page.status_code == 422
    assert not Campaign.objects.exists()
    beside = re.search(rf'<span class="field__error" id="{field}-error">(.*?)</span>', html)
    assert beside, words(page)
    assert said in unescape(beside[1])
    kept = {"name": "my plan", "threads": "2, 16", "tables": "7", "table_size": "123", "repetitions": "5"}
    for name, typed in {**kept, "warmup": "2.5", "duration": "5"}.items():
        if name != field:
            assert re.search(rf'name="{name}"[^>]* value="{typed}"', html), name
    if field != "systems":
        assert len(re.findall(r'name="systems" value="[ab]" checked', html)) == 2


def test_size_that_is_too_large_is_refused_as_a_whole(engineer: Client) -> None:
    for number in range(101):
        a_system(f"s{number}")
    page = engineer.post("/campaigns/new/", a_form(systems=[f"s{n}" for n in range(101)], repetitions="100"))
    assert "10,100 jobs" in words(page)
    assert not Campaign.objects.exists()


def test_size_is_counted_while_typing(engineer: Client) -> None:
    a_system("a"), a_system("b")
    counted = engineer.get("/campaigns/new/size/", a_form(), headers=HTMX)
    assert "6 jobs, 18 runs, about 3 min 24 s" in words(counted)
    assert "<html" not in counted.content.decode()
    incomplete: list[dict[str, Any]] = [{"systems": []}, {"threads": "x"}, {"duration": ""}, {"repetitions": "-1"}]
    for missing in incomplete:
        answer = engineer.get("/campaigns/new/size/", a_form(**missing), headers=HTMX)
        assert answer.status_code == 200
        assert "Not countable yet" in words(answer)


def test_address_can_propose_a_plan(engineer: Client) -> None:
    a_system("a"), a_system("b")
    workload = a_workload("oltp_read_only")
    page = engineer.get(f"/campaigns/new/?system=a&system=b&workload={workload.pk}&threads=2&repetitions=5&workload=x")
    html = page.content.decode()
    assert len(re.findall(r'name="systems" value="[ab]" checked', html)) == 2
    assert re.search(rf'name="workloads" value="{workload.pk}" checked', html)
    assert "10 jobs, 10 runs" in words(page)


def test_archived_systems_are_not_offered(engineer: Client) -> None:
    a_system("new")
    a_system("old", archived_at=timezone.now())
    html = engineer.get("/campaigns/new/").content.decode()
    assert 'value="new"' in html
    assert 'value="old"' not in html


def test_without_systems_the_plan_says_where_they_come_from(engineer: Client) -> None:
    assert "No system is known yet" in words(engineer.get("/campaigns/new/"))


def test_everything_that_is_wrong_is_said_at_once_with_links_to_the_fields(engineer: Client) -> None:
    form = a_form(name="", systems=[], threads="four", repetitions="0", warmup="", test="oltp_insert", tables="0")
    html = engineer.post("/campaigns/new/", form).content.decode()
    said = re.search(r'<div class="problem" role="alert">(.*?)</div>', html, re.DOTALL)
    assert said
    fields = ["name", "systems", "tables", "threads", "repetitions", "warmup"]
    assert re.findall(r'href="#id_(\w+)"', said[1]) == fields
    for field in fields:
        assert f'id="id_{field}"' in html
        assert html.count(f'id="{field}-error"') == 1


def test_the_size_says_which_jobs_no_agent_could_take(engineer: Client) -> None:
    reached = a_system("a")
    a_system("b")
    an_agent(reached, last_seen_at=timezone.now())
    counted = words(engineer.get("/campaigns/new/size/", a_form(), headers=HTMX))
    assert "3 of 6 jobs wait for an agent that reaches b." in counted
    alone = words(engineer.get("/campaigns/new/size/", a_form(systems=["b"], repetitions="1"), headers=HTMX))
    assert "1 of 1 job waits for an agent that reaches b." in alone
    assert "wait" not in words(engineer.get("/campaigns/new/size/", a_form(systems=["a"]), headers=HTMX))


# ---------------------------------------------------------------- the list


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
    monkeypatch.setattr("apps.web.campaigns.PAGE", 2)
    names = [a_campaign(name=f"plan {number}").name for number in range(3)]
    first = client.get("/campaigns/")
    assert names[2] in words(first)
    assert names[0] not in words(first)
    older = re.search(r'href="(/campaigns/\?before=\d+)"', first.content.decode())
    assert older
    assert names[0] in words(client.get(older[1]))


# ---------------------------------------------------------------- one campaign


def test_campaign_that_is_not_there_is_404(db: None, client: Client) -> None:
    assert client.get("/campaigns/4711/").status_code == 404


def test_waiting_campaign_says_what_it_waits_for(db: None, client: Client) -> None:
    campaign = a_campaign(a_system("far-away"))
    page = client.get(f"/campaigns/{campaign.pk}/")
    assert "No agent that is alive can reach far-away: it needs the label system:far-away." in words(page)
    an_agent(campaign.systems.get(), last_seen_at=timezone.now())
    assert "No agent that is alive" not in words(client.get(f"/campaigns/{campaign.pk}/"))


def test_running_campaign_is_live(db: None, client: Client) -> None:
    job = a_job(state="running", progress="4 threads", started_at=timezone.now() - timedelta(minutes=10))
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
    assert "no second seen yet" in text


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
    assert "no run is done yet" in text
    assert "by the plan" in text


def test_finished_campaign_stops_asking_and_opens_its_comparison(db: None, client: Client) -> None:
    campaign = a_campaign(a_system("b"), a_system("a"), threads=(4,))
    for job in campaign.jobs.all():
        run = an_open_run(system=job.system, workload=job.workload, load_level=a_load_level(4))
        JobRun.objects.create(run=run, job=job, attempt=1)
        an_upload(run=run).send()
        assert "Open the comparison" not in words(client.get(f"/campaigns/{campaign.pk}/"))
        ingest.seal(run_id=run.pk)
    campaign.jobs.update(state="cancelled", finished_at=timezone.now())
    html = client.get(f"/campaigns/{campaign.pk}/").content.decode()
    address = f"/compare/?side=b&side=a&workload={Workload.objects.get().pk}&campaign={campaign.pk}"
    assert f'href="{address}"' in unescape(html)
    assert "hx-trigger" not in html
    assert client.get(address).status_code == 200


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
    assert "What went wrong" in text
    assert "was silent for longer than its lease" in text
    assert "tried again from" in text


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
    assert re.search(r"begun <time datetime=", page.content.decode())


# ---------------------------------------------------------------- cancel


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
    assert "is being cancelled already" in words(again)


def test_cancel_of_a_campaign_works_without_scripts_too(engineer: Client) -> None:
    campaign = a_campaign(a_system(), a_system())
    answer = engineer.post(f"/campaigns/{campaign.pk}/cancel/", follow=True)
    assert answer.redirect_chain == [(f"/campaigns/{campaign.pk}/", 302)]
    assert "Cancelled the 2 waiting jobs." in words(answer)
    assert set(campaign.jobs.values_list("state", flat=True)) == {"cancelled"}
    assert engineer.get(f"/campaigns/{campaign.pk}/cancel/").status_code == 405


# ---------------------------------------------------------------- agents


def test_no_agents_says_how_to_add_one(db: None, client: Client) -> None:
    text = words(client.get("/agents/"))
    assert "No agents yet" in text
    assert "manage.py register_agent NAME" in text


def test_documented_configuration_is_one_that_the_agent_reads(db: None, client: Client, tmp_path: Path) -> None:
    blocks = re.findall(r"<pre><code>(.*?)</code></pre>", client.get("/agents/").content.decode(), re.DOTALL)
    text = next(unescape(block) for block in blocks if "[server]" in block)
    (tmp_path / "agent.toml").write_text(text)
    for name in ("agent.token", "db.password"):
        (tmp_path / name).write_text("secret")
        (tmp_path / name).chmod(0o600)
    loaded = config.load(tmp_path / "agent.toml")
    assert list(loaded.systems) == [tomllib.loads(text)["systems"][0]["slug"]]
    assert loaded.url == "http://testserver"


def test_agents_say_how_they_fare(db: None, client: Client) -> None:
    now = timezone.now()
    job = a_job(state="running", progress="prepare")
    assert job.agent is not None
    job.agent.last_seen_at = now
    job.agent.health = {"spool_messages": 3, "spool_bytes": 2048, "refused_messages": 1, "free_disk_bytes": 2**30}
    job.agent.save()
    an_agent(name="gone", last_seen_at=now - timedelta(minutes=5))
    an_agent(name="new", last_seen_at=None, health={"spool_messages": "many"})
    an_agent(name="bad", last_seen_at=now, revoked_at=now)
    page = client.get("/agents/")
    text = words(page)
    for said in ("alive", "silent", "never seen", "revoked", "3 messages", "2.00 KiB", "1.00 GiB", "(prepare)"):
        assert said in text
    assert f'href="/campaigns/{job.campaign_id}/"' in page.content.decode()
    assert "not stated" in text


@pytest.mark.django_db
def test_the_plan_offers_first_what_an_agent_reaches_and_marks_the_rest(client: Client) -> None:
    client.force_login(a_user())
    a_system("alone")
    reached = a_system("reached")
    an_agent(reached, last_seen_at=timezone.now())
    page = client.get("/campaigns/new/").content.decode()
    assert page.index('value="reached"') < page.index('value="alone"')
    assert page.count("no agent reaches it now") == 1


def test_a_plan_that_is_refused_leaves_no_workload_behind(engineer: Client) -> None:
    for slug in ("a", "b"):
        a_system(slug=slug)
    form = a_form(name="", workloads=[], test="oltp_insert", table_size="77")
    known = Workload.objects.count()
    assert engineer.post("/campaigns/new/", form).status_code == 422
    assert Workload.objects.count() == known
