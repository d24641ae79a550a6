"""The Failover page: every trial as a bar of phases, what was lost, what explains it, what articles state beside it."""

import csv
import html
import io
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import Platform, System
from apps.catalog.services import seed
from apps.comparison.failovers.results import FailoverFilter, load_failovers
from apps.published import services as published
from tests.support.builders import a_campaign, a_run, a_system
from tests.support.failed_over import FAULT_AT, OFFSET, a_failover, a_failover_workload, made_up, recordings, reported

pytestmark = pytest.mark.django_db


def words_of(fragment: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", fragment)).split())


def page_of(client: Client, query: str = "", status: int = 200) -> str:
    response = client.get(f"/failovers/{query}")
    assert response.status_code == status
    return response.content.decode()


def trials_of(page: str) -> list[str]:
    """Each row of the tables of trials in words."""
    tables = re.findall(r'<table class="data failover-trials">.*?</table>', page, flags=re.DOTALL)
    bodies = [body for table in tables for body in re.findall(r"<tbody>.*?</tbody>", table, flags=re.DOTALL)]
    return [words_of(row) for body in bodies for row in re.findall(r"<tr.*?</tr>", body, flags=re.DOTALL)]


def bars_of(page: str) -> list[list[tuple[str, float, float]]]:
    """Of each trial the parts of its bar: kind, and from where to where (% of the scale)."""
    part = re.compile(r'failover-part--(\w+)"\s+style="--from: ([\d.]+)%; --to: ([\d.]+)%"')
    tracks = re.findall(r'<div class="failover-track".*?</div>', page, flags=re.DOTALL)
    return [[(kind, float(start), float(end)) for kind, start, end in part.findall(track)] for track in tracks]


@pytest.fixture
def galera(db: None) -> System:
    platform = Platform.objects.create(slug="galera", name="MariaDB Galera", color=4)
    settings = {"evs.suspect_timeout": "PT5S"}
    return a_system("cluster", name="three nodes", platform=platform, settings=settings)


@pytest.fixture
def mha(db: None) -> System:
    platform = Platform.objects.create(slug="mha", name="MHA", color=2)
    return a_system("replicas", name="one source", platform=platform, settings={"ping_interval": "1"})


def test_before_anything_failed_over_the_page_says_what_would_fill_it(client: Client) -> None:
    assert "No failovers yet" in page_of(client)


def test_recorded_failovers_have_their_recorded_median_and_range(client: Client, galera: System) -> None:
    runs = ["kill9_writer_suspect1s_run1", "kill9_writer_suspect1s_run2"]
    for name in runs:
        a_failover(galera, reported(name))
    low, high = sorted(recordings()[name]["interruption"] for name in runs)
    (found,) = load_failovers(FailoverFilter()).groups
    assert found.interruption.low == pytest.approx(low, abs=0.05)
    assert found.interruption.high == pytest.approx(high, abs=0.05)
    assert found.interruption.median == pytest.approx((low + high) / 2, abs=0.05)
    shown = re.search(r"MariaDB Galera writer killed : (\d\.\d\d) s \(median of 2, ([\d.]+) to ([\d.]+) s\)",
                      words_of(page_of(client)))  # fmt: skip
    assert shown is not None
    assert float(shown[1]) == pytest.approx((low + high) / 2, abs=0.05)


def test_a_trial_that_did_not_recover_counts_as_such_and_never_as_short(client: Client, galera: System) -> None:
    a_failover(galera, reported("kill9_writer_suspect1s_run1"))
    a_failover(galera, reported("kill9_writer_mixed_evs_quorum_loss"), outcome="failed", reason="node1 is not in step")
    page = page_of(client)
    assert re.search(r"not recovered in 1 of 2 \(16\.\d s watched\); the other 2\.\d+ s", words_of(page))
    first, second = trials_of(page)
    assert "≥ 16." in first
    assert "not recovered in 16." in first
    assert "run failed" in first
    assert re.search(r" 2\.\d\d ", second)
    last_kind, _, end = bars_of(page)[0][-1]
    assert (last_kind, end) == ("open", 100.0)  # further than any other, however long it was watched
    assert max(part[2] for part in bars_of(page)[1]) < 90


def test_the_parts_of_a_bar_are_its_phases_on_one_scale(client: Client, galera: System, mha: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(mha, made_up(8.0))
    quick, slow = (parts for parts in bars_of(page_of(client)))
    assert [kind for kind, _, _ in slow][:2] == ["detect", "client"]
    ends = [max(end for _, _, end in parts) for parts in (quick, slow)]
    assert ends[0] / ends[1] == pytest.approx(2 / 8, abs=0.01)


def test_settings_explain_part_of_the_outage(client: Client, galera: System, mha: System) -> None:
    a_failover(galera, made_up(6.5, proxy=0.9))
    a_failover(mha, made_up(7.6))
    words = words_of(page_of(client))
    assert "Up to 1 of 6.50 s are the proxy's interval × fall (500ms × 2); acted 0.900 s after the fault" in words
    assert "Up to 5 of 6.50 s are the cluster's evs.suspect_timeout (PT5S)" in words
    assert "they do not add up" in words
    assert "Up to 4 of 7.60 s are the manager's ping_interval × pings (1 s × 4)" in words


def test_lost_and_doubled_writes_are_counted_and_listed(client: Client, galera: System) -> None:
    counts = {"missing": [161, 162, 163], "failed_present": [170], "duplicated": [12, 14]}
    a_failover(galera, made_up(3.0, counts=counts))
    words = words_of(page_of(client))
    assert "3 acknowledged writes lost, 2 twice, 1 failed, yet present" in words
    assert "Acknowledged and not in the table 161 to 163 (-1.95 to -1.85 s)" in words
    assert "In the table more than once 12 (-9.40 s), 14 (-9.30 s)" in words


def test_rows_that_a_report_does_not_list_are_said_to_be_in_its_artifact(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0, counts={"missing": [161]}))
    run.measurements.filter(metric__key="failover.stale_reads").update(value=18)
    assert "acknowledged insert 18, not listed in the run's report; its artifact holds" in words_of(page_of(client))


def test_a_run_without_a_read_back_says_so_and_never_zero(client: Client, galera: System) -> None:
    a_failover(galera, made_up(3.0, is_whole=False), outcome="failed", reason="it broke off")
    page = page_of(client)
    assert "the table was not read back" in words_of(page)
    assert trials_of(page)[0].count("not read back") == 4


def test_a_trial_leads_to_its_runs_clock_at_the_fault(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0))
    found = re.search(rf'href="/runs/{run.pk}/\?from=([\d.]+)&amp;to=([\d.]+)"', page_of(client))
    assert found is not None
    start, end = map(float, found.groups())
    assert start < FAULT_AT + OFFSET < FAULT_AT + OFFSET + 3 < end


def test_of_many_trials_the_longest_are_open_and_the_others_on_demand(client: Client, galera: System) -> None:
    for number in range(14):
        a_failover(galera, made_up(2.0 + number / 10))
    page = page_of(client)
    before, _, folded = page.partition("2 more trials, with shorter outages")
    assert [len(trials_of(part)) for part in (before, folded)] == [12, 2]
    assert " 2.10 " in trials_of(folded)[0]


def test_a_run_leads_to_all_trials_of_its_fault(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0), fault="kill_reader")
    assert 'href="/failovers/?fault=kill_reader"' in client.get(f"/runs/{run.pk}/").content.decode()


def test_excluded_and_held_up_trials_are_shown_and_do_not_count(client: Client, galera: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(galera, made_up(9.0), is_excluded=True)
    words = words_of(page_of(client))
    assert "2.00 s (1 trial)" in words
    assert "not counted: excluded by a person" in words


def test_a_fault_that_never_came_is_told_apart(client: Client, galera: System) -> None:
    a_run(system=galera, workload=a_failover_workload(), outcome="failed", reason="kill did not work")
    words = words_of(page_of(client))
    assert "Runs without their fault" in words
    assert "kill did not work" in words
    a_run(system=galera, workload=a_failover_workload("none"))  # nobody asked for a fault
    assert len(load_failovers(FailoverFilter()).untold) == 1


def test_trials_under_another_load_or_patience_stand_apart(client: Client, galera: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(galera, made_up(4.0), parameters={"rate": 100})
    a_failover(galera, made_up(5.0), parameters={"fault_at": 30})  # when it comes makes no other load
    lengths = {
        group.parameters["rate"]: [trial.course.outage for trial in group.trials]
        for group in load_failovers(FailoverFilter()).groups
    }
    assert {rate: len(found) for rate, found in lengths.items()} == {20: 2, 100: 1}
    assert len(load_failovers(FailoverFilter(rate=100)).groups) == 1


def test_made_up_trials_stand_in_no_groups_figures_but_their_own(client: Client, galera: System) -> None:
    a_failover(galera, made_up(9.0), provenance="rig")
    a_failover(galera, made_up(2.0))
    measured, invented = load_failovers(FailoverFilter()).groups
    assert measured.interruption.median == pytest.approx(2.0)
    assert invented.interruption.median == pytest.approx(9.0)
    assert "writer killed made up : 9.00 s (1 trial)" in words_of(page_of(client))


def test_system_fault_and_campaign_narrow_the_trials(client: Client, galera: System, mha: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(galera, made_up(3.0), fault="kill_reader")
    a_failover(mha, made_up(4.0))
    assert len(trials_of(page_of(client))) == 3
    assert len(trials_of(page_of(client, "?system=cluster"))) == 2
    assert len(trials_of(page_of(client, "?system=cluster&fault=kill_reader"))) == 1
    assert len(trials_of(page_of(client, "?rate=20&fault=&system="))) == 3
    other = page_of(client, f"?campaign={a_campaign(galera).pk}")
    assert trials_of(other) == []
    assert "No matches" in other


@pytest.mark.parametrize("query", ["?fault=flood", "?campaign=x", "?rate=nan", "?rate=-1", "?system=%00"])
def test_an_address_that_asks_for_nonsense_is_told_so(client: Client, query: str) -> None:
    assert 'role="alert"' in page_of(client, query, status=400)
    assert client.get(f"/failovers/failovers.csv{query}").status_code == 400


def test_published_interruptions_stand_beside_measured_ones_hatched_and_marked(client: Client, galera: System) -> None:
    seed()
    published.load_all(published.OWN_DATA)
    a_failover(galera, made_up(6.0))
    page = page_of(client)
    table = page[page.index('<table class="data failover-bars">') : page.index("failover-trials")]
    rows = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)[1:]
    stated = {words_of(row) for row in rows if "published-row" in row}
    assert len(rows) == len(stated) + 1
    for who, what in (("PXC", "15 s"), ("Aurora", "50 s"), ("MHA", "at least 120 s"), ("PXC", "of which 6 s")):
        assert any(text.startswith(who) and what in text and "published" in text for text in stated)
    assert all(("failover-bar--stated" in row) == ("published-row" in row) for row in rows)


def test_exports_and_the_api_say_what_the_page_says(client: Client, galera: System) -> None:
    run = a_failover(galera, made_up(3.0, counts={"missing": [161]}))
    a_failover(galera, made_up(None))
    rows = list(csv.DictReader(io.StringIO(client.get("/failovers/failovers.csv").content.decode())))
    assert [row["recovered"] for row in rows] == ["no", "yes"]
    assert (rows[1]["run"], rows[1]["lost"], rows[0]["client_recovered_s"]) == (str(run.pk), "1", "")
    assert f"/runs/{run.pk}/?from=" in rows[1]["address"]
    markdown = client.get("/failovers/failovers.md").content.decode()
    assert "not recovered in 1 of 2" in markdown
    (group,) = client.get("/api/v1/failovers/?fault=kill_writer").json()["groups"]
    assert group["interruption"]["not_recovered"] == 1
    assert [trial["course"]["recovered"] for trial in group["trials"]] == [False, True]
    assert group["trials"][1]["course"]["rows"]["lost"][0]["number"] == 161
    assert group["trials"][1]["course"]["outage"] == pytest.approx(float(rows[1]["outage_s"]))
    assert (group["platform_name"], group["trials"][1]["provenance"]) == (galera.release.platform.name, "agent")
    assert client.get("/api/v1/failovers/?faults=x").status_code == 400
    refused = client.get("/api/v1/failovers/?fault=kill_writer&fault=x").json()
    assert refused["errors"][0]["field"] == "fault"
    assert "'x' is not known; choose from: kill_writer, " in refused["detail"]


def test_the_number_of_queries_does_not_grow_with_the_trials(client: Client, galera: System, mha: System) -> None:
    report = made_up(3.0)
    a_failover(galera, report)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page_of(client)
        return len(captured)

    few = queries()
    for number in range(6):
        a_failover((galera, mha)[number % 2], report)
    assert queries() == few
