"""What is compared with a run stands wherever the run appears; who may write can leave it out."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.dispatch import queries as dispatch
from apps.runs import queries
from apps.runs.models import Exclusion, Run, RunCheck
from apps.runs.pure import title_of
from apps.runs.quality import exclusion
from apps.web.campaigns.wording import run_title
from apps.web.runs import quality
from tests.support.builders import START, a_campaign, a_load_level, a_measured_run, a_system, a_user, a_workload
from tests.support.pages import data, element, elements, states, text
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = pytest.mark.django_db
MARK = ".mark--doubt"


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
    content: str = answer.content.decode()
    return content


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
    assert elements(html(client, address), MARK)
    Run.objects.update(failed_checks=[])
    RunCheck.objects.all().delete()
    assert not elements(html(client, address), MARK)


@pytest.mark.parametrize("page", ["runs", "run", "search"])
def test_a_run_that_is_left_out_says_so_wherever_it_appears(client: Client, doubted: Run, page: str) -> None:
    exclusion.exclude(run=doubted, reason="a backup ran", by=a_user())
    assert elements(html(client, PAGES[page](doubted)), "span.mark--excluded")


def test_the_checks_stand_beside_the_outcome(client: Client, doubted: Run) -> None:
    page = html(client, f"/runs/{doubted.pk}/")
    assert text(page, "[data-checks]") == "checks: 1 failed: load generator; 1 passed"
    assert "tab=checks" in (element(page, "[data-checks]").attributes["href"] or "")
    RunCheck.objects.filter(status="failed").update(status="cannot_tell")
    assert text(html(client, f"/runs/{doubted.pk}/"), "[data-checks]") == "checks: 1 passed, 1 cannot tell"


def test_compare_says_what_failed_on_which_side_and_what_was_left_out(client: Client, doubted: Run) -> None:
    address = comparison_with(doubted) + "&tab=all"
    page = html(client, address)
    assert text(page, "[data-tab=runs] [data-mark]") == "! 1"
    runs = element(page, "#results tr[data-side=a] [data-label=Runs]")
    assert runs.text().split()[:2] == ["4", "1"]
    assert (
        element(page, "#results tr[data-side=a] [data-doubted='1']").attributes["title"]
        == f"Failed: {title_of('generator')}"
    )
    assert not elements(page, "tr[data-side=b] [data-doubted]")
    assert data(page, "marked") == [str(doubted.pk)]
    assert elements(page, f"[data-marked='{doubted.pk}'][href='/runs/{doubted.pk}/']")
    assert states(page, "#quality", "doubted", "counted", "excluded") == [("1", "7", "0")]
    assert states(page, "#quality [data-check]", "check", "count") == [("generator", "1")]
    assert text(page, "#quality [data-check]") == "(1 of Alpha)"
    exclusion.exclude(run=doubted, reason="a backup ran", by=a_user())
    page = html(client, address)
    assert states(page, "#quality", "doubted", "counted", "excluded") == [("0", "6", "1")]
    assert not elements(page, "[data-check]")
    assert states(page, "tr[data-left-out]", "run", "left-out") == [(str(doubted.pk), "excluded: a backup ran")]


def test_the_runs_page_shows_each_check_with_its_evidence_what_failed_first(client: Client, doubted: Run) -> None:
    page = html(client, f"/runs/{doubted.pk}/")
    assert states(page, "[data-check]", "check", "status") == [("generator", "failed"), ("errors", "passed")]
    evidence = doubted.checks.get(check_key="generator").evidence
    assert text(page, "[data-check=generator] .evidence").startswith(evidence)
    detail = queries.load_run(doubted.pk)
    assert detail is not None
    assert text(page, "[data-summary]") == quality.shown(detail).summary == "1 failed, 1 passed"


def test_a_run_sealed_before_there_were_checks_says_how_to_make_them(client: Client) -> None:
    run = a_measured_run({"client.throughput": 1.0})
    assert text(html(client, f"/runs/{run.pk}/"), "[data-state=not-checked]") == f"manage.py check_runs {run.pk}"


def test_a_sealed_run_has_its_checks_on_its_page(client: Client) -> None:
    run = a_sealed_run()
    assert {"happened", "steady", "sampling", "told"} <= set(data(html(client, f"/runs/{run.pk}/"), "check"))


def test_an_engineer_leaves_a_run_out_and_lets_it_count_again(engineer: Client, doubted: Run) -> None:
    page = reverse("web:run", args=[doubted.pk])
    assert elements(html(engineer, page), "#exclude")
    answer = engineer.post(reverse("web:run-exclude", args=[doubted.pk]), {"reason": "a backup ran"}, follow=True)
    after = answer.content.decode()
    assert f"Run {doubted.pk} " in text(after, "[data-message=info]")
    assert "a backup ran" in text(after, "[data-excluded-by=ann]")
    assert not elements(after, "#exclude")
    engineer.post(reverse("web:run-count-again", args=[doubted.pk]))
    again = html(engineer, page)
    assert data(again, "included-by") == ["ann"]
    assert not elements(again, "[data-excluded-by]")
    doubted.refresh_from_db()
    assert not doubted.is_excluded


def test_without_a_reason_nothing_is_changed(engineer: Client, doubted: Run) -> None:
    answer = engineer.post(reverse("web:run-exclude", args=[doubted.pk]), {"reason": " "}, follow=True)
    assert "reason" in text(answer.content.decode(), "[data-message=error]")
    assert not Exclusion.objects.exists()


def test_readers_and_strangers_leave_nothing_out(client: Client, doubted: Run) -> None:
    address = reverse("web:run-exclude", args=[doubted.pk])
    assert client.post(address, {"reason": "x"}).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.post(address, {"reason": "x"}).status_code == 403
    assert not elements(html(client, f"/runs/{doubted.pk}/"), "#exclude")
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
    detail = dispatch.load_campaign(campaign.pk, now=timezone.now())
    assert detail is not None
    page = html(client, f"/campaigns/{campaign.pk}/")
    assert states(page, "dd[data-runs]", "excluded", "doubted") == [("1", "1")]
    titles = [element(page, f".job [data-run='{run.pk}']").attributes["title"] or "" for run in runs]
    assert titles == [run_title(cell) for job in detail.jobs for cell in job.runs]
    assert [text(page, f".job [data-run='{run.pk}']").split()[-2] for run in runs] == ["✓!", "excluded", "✓"]
    document = client.get(f"/api/v1/campaigns/{campaign.pk}/").json()
    assert (document["progress"]["runs_excluded"], document["progress"]["runs_doubted"]) == (1, 1)


def test_runs_are_filtered_by_their_quality(client: Client, doubted: Run) -> None:
    fine = a_measured_run({"client.throughput": 1.0}, workload=a_workload(tables=9))
    page = html(client, "/runs/?quality=failed-check")
    assert data(page, "run") == [str(doubted.pk)]
    assert not elements(page, f"a[href='/runs/{fine.pk}/']")
