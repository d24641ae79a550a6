"""The home page."""

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.catalog import services as catalog
from apps.catalog.models import Platform, System, Workload
from apps.comparison.api import ScorecardRow, load_scorecard
from apps.published import services as published
from apps.published.models import Figure
from apps.rig.models import StudyState
from apps.runs.api import exclusion
from apps.runs.models import Run
from apps.web.overview import wording
from apps.web.overview.scorecard import LONGEST
from tests.support.builders import a_job, a_load_level, a_measured_run, a_metric, a_system, a_user, a_workload, an_agent
from tests.support.pages import data, element, elements, text
from workers.protocol.workloads.kinds import MIXED

pytestmark = pytest.mark.django_db


def page_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def _system(slug: str, platform: str) -> System:
    found, _ = Platform.objects.get_or_create(slug=platform, defaults={"name": platform.upper()})
    return a_system(slug, platform=found)


def _measure(system: System, *values: float, **fields: object) -> None:
    for value in values:
        a_measured_run(
            {"client.throughput": value},
            system=system,
            load_level=a_load_level(8),
            workload=a_workload("oltp_read_write"),
            **fields,
        )


def _oltp() -> ScorecardRow:
    (row,) = (row for row in load_scorecard() if row.kind == MIXED)
    return row


def test_an_agent_whose_access_was_revoked_is_not_counted(client: Client) -> None:
    an_agent(last_seen_at=timezone.now()), an_agent(last_seen_at=None)
    an_agent(last_seen_at=timezone.now(), revoked_at=timezone.now())
    (link,) = elements(page_of(client, "/"), "#now header a")
    assert " ".join(link.text().split()) == "1 of 2 agents online"


def test_an_empty_warehouse_says_how_to_fill_it(client: Client) -> None:
    page = page_of(client, "/")
    assert data(page, "kind") == ["ingest", "mixed", "tpcc", "failover", "schema_change"]
    assert len(elements(page, "[data-kind] a")) == 5
    assert data(page, "state") == ["empty", "empty", "empty"]  # findings, campaigns, runs
    assert data(page, "value") == []


def test_home_says_how_far_the_examples_are_restored_and_renews_itself_then(client: Client) -> None:
    state = StudyState.objects.create(wanted=572, restored=310, changed_at=timezone.now())
    page = page_of(client, "/")
    assert data(page, "restoring") == ["310", "310"]  # above the figures, and among what runs now
    assert "310 of 572 runs: figures are not complete yet" in " ".join(
        element(page, "span[data-restoring]").text().split()
    )
    assert data(page, "answer") == []
    (address,) = [each.attributes["hx-get"] for each in elements(page, "#now")]
    assert "HX-Refresh" not in client.get(str(address), headers={"HX-Request": "true"})
    StudyState.objects.filter(pk=state.pk).update(loaded_at=timezone.now())
    assert client.get(str(address), headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    page = page_of(client, "/")
    assert data(page, "restoring") == []
    assert len(data(page, "answer")) == 1


def test_each_architecture_has_its_column_and_its_typical_value(client: Client) -> None:
    _measure(_system("g", "pxc"), 100.0, 102.0, 101.0)
    _measure(_system("m", "mha"), 200.0, 202.0, 201.0)
    page = page_of(client, "/")
    row = element(page, "[data-kind=mixed]")
    assert [each.attributes["data-family"] for each in elements(page, "thead [data-family]")] == [
        "aurora",
        "galera",
        "mha",
        "single",
    ]
    shown = {each.attributes["data-family"]: each.attributes for each in row.css("[data-value]")}
    assert {key: round(float(each["data-value"] or 0)) for key, each in shown.items()} == {"galera": 101, "mha": 201}
    assert (shown["galera"]["data-verdict"], shown["galera"]["data-runs"]) == ("worse", "3")
    assert len(row.css(".scorecard__best")) == 1


def test_the_two_behind_the_best_have_a_verdict_of_their_own(client: Client) -> None:
    _measure(_system("g", "pxc"), 100.0, 120.0, 101.0)
    _measure(_system("m", "mha"), 101.0, 119.0, 102.0)
    _measure(_system("s", "mariadb"), 400.0, 402.0, 401.0)
    page = page_of(client, "/")
    between = element(page, "[data-kind=mixed] [data-between]")
    assert " ".join(between.text().split()) == "PXC/Galera and MHA: inconclusive."
    assert (between.attributes["title"] or "").startswith("PXC/Galera 0.996\N{NO-BREAK SPACE}× [")
    assert "MHA and PXC/Galera: undecided in OLTP." in element(page, "[data-answer]").text()


def test_architectures_that_are_equivalent_are_called_so_and_not_undecided() -> None:
    same = [1000.0 + number % 3 for number in range(12)]
    _measure(_system("g", "pxc"), *same)
    _measure(_system("m", "mha"), *same)
    said = wording.answer(load_scorecard(), has_figures=False)
    assert said.startswith("PXC/Galera and MHA: equivalent in OLTP. Not compared yet: ")
    _measure(_system("au", "aurora"), *same)
    said = wording.answer(load_scorecard(), has_figures=False)
    assert said.startswith("Aurora, PXC/Galera and MHA: equivalent in OLTP. Not compared yet: ")


def test_two_that_are_alone_in_a_row_and_undecided_are_named(client: Client) -> None:
    _measure(_system("g", "pxc"), 100.0, 120.0, 101.0)
    _measure(_system("m", "mha"), 101.0, 119.0, 102.0)
    answer = element(page_of(client, "/"), "[data-answer]").text()
    assert answer.startswith("MHA and PXC/Galera: undecided in OLTP. Not compared yet: Ingest")


def test_a_decided_pair_behind_the_best_is_not_called_undecided(client: Client) -> None:
    _measure(_system("g", "pxc"), 50.0, 51.0, 50.5)
    _measure(_system("m", "mha"), 100.0, 101.0, 102.0)
    _measure(_system("s", "mariadb"), 400.0, 402.0, 401.0)
    page = page_of(client, "/")
    assert element(page, "[data-kind=mixed] [data-between]").text().endswith("] of MHA: worse.")
    assert "undecided in" not in element(page, "[data-answer]").text()


def test_a_fixed_rate_at_which_all_do_the_same_work_is_not_the_rows_load(client: Client) -> None:
    for slug, platform, value in (("g", "pxc", 100.0), ("m", "mha", 200.0)):
        system = _system(slug, platform)
        for level in (a_load_level(8, rate=60.0), a_load_level(8)):
            a_measured_run(
                {"client.throughput": 60.0 if level.rate else value},
                system=system,
                load_level=level,
                workload=a_workload("oltp_read_write"),
            )
    row = element(page_of(client, "/"), "[data-kind=mixed]")
    assert [round(float(each.attributes["data-value"] or 0)) for each in row.css("[data-value]")] == [100, 200]


def test_bars_of_a_row_share_one_scale(client: Client) -> None:
    _measure(_system("g", "pxc"), 100.0)
    _measure(_system("m", "mha"), 200.0)
    row = element(page_of(client, "/"), "[data-kind=mixed]")
    widths = [float((bar.attributes["style"] or "").split()[1].rstrip("%")) for bar in row.css(".track__bar")]
    assert widths == [LONGEST / 2, LONGEST]


def test_examples_are_marked_in_their_cell_and_in_the_head_only_if_the_whole_column_is_of_them(client: Client) -> None:
    systems = _system("g", "pxc"), _system("m", "mha")
    for system in systems:
        _measure(system, 100.0, provenance="example")

    def marks(selector: str) -> list[str]:
        return [each.text() for each in elements(page_of(client, "/"), f"{selector} .mark--example")]

    assert marks("thead [data-family=mha]") == marks("[data-kind=mixed] [data-family=mha] .is-in-head") == ["example"]
    tpcc = Workload.objects.create(
        tool="tpcc_like", name="TPC-C", parameters={}, content_hash="c" * 64, primary_metric=a_metric()
    )
    for system in systems:
        a_measured_run({"client.throughput": 50.0}, system=system, workload=tpcc)
    assert marks("thead") == []
    assert marks("[data-kind=mixed] [data-family=mha] .scorecard__origins:not(.is-in-head)") == ["example"]
    assert (marks("[data-kind=tpcc]"), len(elements(page_of(client, "/"), "[data-kind=tpcc] [data-value]"))) == ([], 2)


def test_runs_that_failed_a_check_are_counted_beside_the_figure(client: Client) -> None:
    system = _system("g", "pxc")
    _measure(system, 100.0)
    _measure(system, 101.0, failed_checks=["generator"])
    marks = element(page_of(client, "/"), "[data-kind=mixed] .mark--doubt")
    assert marks.text(strip=True) == "1/2"


def test_a_conclusion_says_what_failed_checks_make_of_it(client: Client) -> None:
    for slug, platform, value in (("g", "pxc", 100.0), ("m", "mha", 200.0)):
        system = _system(slug, platform)
        _measure(system, value, value * 1.01, value * 0.99)
    assert elements(page_of(client, "/"), "[data-limit]") == []
    Run.objects.filter(system__slug="m").update(failed_checks=["generator"])
    limit = element(page_of(client, "/"), "[data-kind=mixed] [data-limit]")
    assert limit.text().startswith("Lower bound for ")
    assert (limit.attributes["title"] or "").startswith("Lower bound: ")


def test_a_single_figure_that_no_bar_shows_is_one_figure(client: Client) -> None:
    catalog.seed()
    published.load_all(published.OWN_DATA)
    Figure.objects.exclude(question="failover", platform__slug="mha").delete()
    assert text(page_of(client, "/"), ".track--empty a") == "1 figure"


def test_published_figures_stand_beside_measured_ones_in_one_frame_each(client: Client) -> None:
    catalog.seed()
    published.load_all(published.OWN_DATA)
    page = page_of(client, "/")
    stated = {
        row.attributes["data-kind"]: [" ".join(each.text().split()) for each in row.css("[data-stated]")]
        for row in elements(page, "[data-kind]")
    }
    assert stated["ingest"] == ["≈ 0.11 ×", "≈ 0.33 ×", "fastest"]
    assert stated["failover"] == ["50 s", "15 s", "≥ 120 s"]
    # Other articles reverse the order: nothing is the fastest, and each mark says for which machine or year it holds.
    assert stated["tpcc"] == ["≈ 0.38 ×, 2015", "1 ×, 2015"]
    assert stated["mixed"] == ["≈ 0.33 ×, 4 vCPU", "1 ×, 4 vCPU"]


@pytest.mark.parametrize(
    ("galera", "mha", "words"),
    [
        ((100.0, 102.0, 101.0), (200.0, 202.0, 201.0), "MHA is best: PXC/Galera 0.502\u00a0×"),
        ((100.0,), (200.0,), "MHA and PXC/Galera: too few repetitions; needs at least 2 more runs per side"),
        ((100.0, 140.0, 120.0), (110.0, 150.0, 130.0), "MHA and PXC/Galera: inconclusive; about"),
        ((100.0,), (), "Only PXC/Galera is measured."),
        ((), (), "Not measured."),
    ],
)
def test_the_conclusion_says_who_is_best_and_how_sure(
    galera: tuple[float, ...], mha: tuple[float, ...], words: str
) -> None:
    _measure(_system("g", "pxc"), *galera)
    _measure(_system("m", "mha"), *mha)
    assert wording.conclusion(_oltp()).startswith(words)


def test_the_conclusion_names_the_side_that_lacks_runs() -> None:
    _measure(_system("g", "pxc"), 100.0, 102.0, 101.0)
    _measure(_system("m", "mha"), 200.0)
    words = "MHA and PXC/Galera: too few repetitions; needs at least 2 more runs of MHA."
    assert wording.conclusion(_oltp()) == words


@pytest.mark.parametrize(
    ("single", "shown", "words"),
    [
        ((100.0, 102.0, 101.0), ["best"], "MHA is best: "),
        ((110.0, 300.0, 190.0), ["ahead"], "MHA is ahead: PXC/Galera 0.502\u00a0×"),
    ],
)
def test_best_is_who_is_better_than_all_others_and_ahead_who_is_better_than_some(
    client: Client, single: tuple[float, ...], shown: list[str], words: str
) -> None:
    _measure(_system("g", "pxc"), 100.0, 102.0, 101.0)
    _measure(_system("m", "mha"), 200.0, 202.0, 201.0)
    _measure(_system("s", "mariadb"), *single)
    row = element(page_of(client, "/"), "[data-kind=mixed]")
    assert [each.text() for each in row.css(".scorecard__best")] == shown
    assert wording.conclusion(_oltp()).startswith(words)


def test_nobody_is_best_where_nothing_is_decided(client: Client) -> None:
    _measure(_system("g", "pxc"), 100.0, 140.0, 120.0)
    _measure(_system("m", "mha"), 110.0, 150.0, 130.0)
    assert not element(page_of(client, "/"), "[data-kind=mixed]").css(".scorecard__best")


def test_the_answer_names_what_is_not_compared() -> None:
    assert wording.answer(load_scorecard(), has_figures=True) == "Nothing is measured yet; published figures only."
    _measure(_system("g", "pxc"), 100.0, 102.0, 101.0)
    _measure(_system("m", "mha"), 200.0, 202.0, 201.0)
    said = wording.answer(load_scorecard(), has_figures=False)
    assert said == "MHA is ahead of PXC/Galera in OLTP. Not compared yet: Ingest, TPC-C, Failover and Schema change."


def test_the_newest_arrivals_are_listed_by_arrival_not_by_start(client: Client) -> None:
    late = a_measured_run({"client.throughput": 1.0}, started_at=datetime(2026, 1, 5, tzinfo=UTC))
    early = a_measured_run({"client.throughput": 1.0}, started_at=datetime(2026, 1, 2, tzinfo=UTC))
    assert data(page_of(client, "/"), "run") == [str(early.pk), str(late.pk)]


def test_many_runs_take_no_more_queries(client: Client, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(12):
        _measure(_system(f"s{number}", ("pxc", "mha", "mariadb")[number % 3]), 1.0, 2.0)
    # The first visit judges, and reads once more what it judged by.
    with django_assert_max_num_queries(46):
        client.get("/")
    with django_assert_max_num_queries(30):
        client.get("/")


def test_an_excluded_run_is_out_of_the_figures_at_the_next_visit(client: Client) -> None:
    _measure(_system("g", "pxc"), 100.0, 102.0, 101.0)
    _measure(_system("m", "mha"), 200.0, 202.0, 400.0)
    before = data(page_of(client, "/"), "value")
    assert data(page_of(client, "/"), "value") == before
    exclusion.exclude(run=Run.objects.latest("pk"), reason="the disk was full", by=a_user())
    after = data(page_of(client, "/"), "value")
    assert len(after) == len(before) == 2
    assert after != before


def test_what_runs_now_comes_alone_to_htmx(client: Client) -> None:
    part = client.get("/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert 'id="now-heading"' in part


def test_a_campaign_is_shown_with_its_progress_until_it_is_done(client: Client) -> None:
    job = a_job(state="running")
    page = page_of(client, "/")
    assert (data(page, "campaign"), data(page, "progress-state")) == ([str(job.campaign_id)], ["running"])
    a_job(state="succeeded")
    assert data(page_of(client, "/"), "campaign") == [str(job.campaign_id)]
