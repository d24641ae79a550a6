"""What is compared with a run stands wherever the run appears; who may write can leave it out."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from apps.runs.models import Exclusion, Run, RunCheck
from apps.runs.quality import exclusion
from tests.support.builders import START, a_campaign, a_load_level, a_measured_run, a_system, a_user, a_workload
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = pytest.mark.django_db
MARK = "mark--doubt"


@pytest.fixture
def doubted() -> Run:
    run = a_measured_run({"client.throughput": 100.0, "client.latency.p95": 5.0}, system=a_system("a", name="Alpha"))
    evidence = "The load generator was a limit: its one thread used 0.970 CPUs."
    RunCheck.objects.create(run=run, check_key="generator", status="failed", evidence=evidence)
    RunCheck.objects.create(run=run, check_key="errors", status="passed", evidence="There were none.")
    Run.objects.filter(pk=run.pk).update(failed_checks=["generator"])
    run.refresh_from_db()
    return run


def html(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def comparison_with(run: Run) -> str:
    other = a_system("b", name="Beta")
    for minute, value in enumerate((120.0, 121.0, 119.0)):
        place = {"workload": run.workload, "load_level": run.load_level}
        started_at = START + timedelta(minutes=minute)
        a_measured_run({"client.throughput": value}, system=other, started_at=started_at, **place)
        a_measured_run({"client.throughput": value - 20}, system=run.system, started_at=started_at, **place)
    return f"/compare/?side=a&side=b&workload={run.workload_id}"


PAGES: dict[str, Callable[[Run], str]] = {
    "runs": lambda _: "/runs/",
    "overview": lambda _: "/",
    "run": lambda run: f"/runs/{run.pk}/",
    "search": lambda run: f"/search/?q={run.pk}",
    "compare": comparison_with,
    "ladder": lambda run: comparison_with(run).replace("/compare/", "/compare/part/ladder/"),
    "timeline": lambda run: f"/timeline/?series={run.pk}:client.throughput:client",
}


@pytest.mark.parametrize("page", PAGES)
def test_a_failed_check_marks_the_run_wherever_it_appears(client: Client, doubted: Run, page: str) -> None:
    address = PAGES[page](doubted)
    assert MARK in html(client, address)
    Run.objects.update(failed_checks=[])
    RunCheck.objects.all().delete()
    assert MARK not in html(client, address)


@pytest.mark.parametrize("page", ["runs", "run", "search"])
def test_a_run_that_is_left_out_says_so_wherever_it_appears(client: Client, doubted: Run, page: str) -> None:
    exclusion.exclude(run=doubted, reason="a backup ran", by=a_user())
    assert '<span class="mark mark--excluded"' in html(client, PAGES[page](doubted))


def test_compare_says_above_its_answer_what_failed_on_which_side_and_what_was_left_out(
    client: Client, doubted: Run
) -> None:
    address = comparison_with(doubted)
    text = html(client, address)
    assert text.index('id="quality"') < text.index("data-answer")
    assert '4 <span class="mark mark--doubt" title="Failed: load generator"> 1 marked' in text
    assert f"run {doubted.pk}</a>" in text[text.index("Marked among them") :]
    assert "1 of 7 runs</span> that count failed a quality check" in text
    assert 'load generator</abbr> <span class="muted">(1 of Alpha)</span>' in text
    exclusion.exclude(run=doubted, reason="a backup ran", by=a_user())
    text = html(client, address)
    assert "No run that counts failed a quality check." in text
    assert "1 excluded</span> by a person" in text
    assert "excluded: a backup ran" in text


def test_the_runs_page_shows_each_check_with_its_evidence_what_failed_first(client: Client, doubted: Run) -> None:
    text = html(client, f"/runs/{doubted.pk}/")
    assert "1 failed, 1 passed" in text
    assert "its one thread used 0.970 CPUs." in text
    assert text.index('id="check-generator"') < text.index('id="check-errors"')


def test_a_run_sealed_before_there_were_checks_says_how_to_make_them(client: Client) -> None:
    run = a_measured_run({"client.throughput": 1.0})
    assert f"manage.py check_runs {run.pk}" in html(client, f"/runs/{run.pk}/")


def test_a_sealed_run_has_its_checks_on_its_page(client: Client) -> None:
    run = a_sealed_run()
    text = html(client, f"/runs/{run.pk}/")
    assert all(f'id="check-{key}"' in text for key in ("happened", "steady", "sampling", "told"))


def test_an_engineer_leaves_a_run_out_and_lets_it_count_again(engineer: Client, doubted: Run) -> None:
    page = reverse("web:run", args=[doubted.pk])
    text = html(engineer, page)
    assert 'id="exclude"' in text
    answer = engineer.post(reverse("web:run-exclude", args=[doubted.pk]), {"reason": "a backup ran"}, follow=True)
    text = " ".join(answer.content.decode().split())
    assert f"Run {doubted.pk} is excluded from all comparisons." in text
    assert "excluded</span> from all comparisons by ann" in text
    assert 'id="exclude"' not in text
    engineer.post(reverse("web:run-count-again", args=[doubted.pk]))
    assert "counts again since" in html(engineer, page)
    doubted.refresh_from_db()
    assert not doubted.is_excluded


def test_without_a_reason_nothing_is_changed(engineer: Client, doubted: Run) -> None:
    answer = engineer.post(reverse("web:run-exclude", args=[doubted.pk]), {"reason": " "}, follow=True)
    assert "Nothing was changed: reason: must state the reason" in answer.content.decode()
    assert not Exclusion.objects.exists()


def test_readers_and_strangers_leave_nothing_out(client: Client, doubted: Run) -> None:
    address = reverse("web:run-exclude", args=[doubted.pk])
    assert client.post(address, {"reason": "x"}).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.post(address, {"reason": "x"}).status_code == 403
    assert 'id="exclude"' not in html(client, f"/runs/{doubted.pk}/")
    assert not Exclusion.objects.exists()


def test_a_campaign_says_which_of_its_runs_do_not_count_or_are_doubted(client: Client) -> None:
    system = a_system()
    campaign = a_campaign(system, threads=(4,))
    job = campaign.jobs.get()
    place = {"system": system, "workload": job.workload, "load_level": a_load_level(4)}
    runs = [a_measured_run({"client.throughput": 1.0}, **place) for _ in range(3)]
    for attempt, run in enumerate(runs):
        job.job_runs.create(run=run, attempt=attempt + 1)
    exclusion.exclude(run=runs[1], reason="a backup ran", by=a_user())
    Run.objects.filter(pk=runs[0].pk).update(failed_checks=["steady"])
    text = html(client, f"/campaigns/{campaign.pk}/")
    assert "; 1 excluded by a person; 1 failed a quality check" in text
    assert "failed: steady state" in text
    assert ", excluded by a person" in text
    document = client.get(f"/api/v1/campaigns/{campaign.pk}/").json()
    assert (document["progress"]["runs_excluded"], document["progress"]["runs_doubted"]) == (1, 1)


def test_runs_are_filtered_by_their_quality(client: Client, doubted: Run) -> None:
    fine = a_measured_run({"client.throughput": 1.0}, workload=a_workload(tables=9))
    text = html(client, "/runs/?quality=failed-check")
    assert f'href="/runs/{doubted.pk}/"' in text
    assert f'href="/runs/{fine.pk}/"' not in text
