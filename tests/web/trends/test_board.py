"""The page Trends: which workload got worse, by how much, since when."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.catalog.models import Platform, Release, System
from apps.comparison.api import baselines
from apps.dispatch.models import Campaign, JobRun
from apps.regressions.findings.titles import percent
from apps.regressions.models import Change, Finding, Trend
from apps.regressions.trends.board import BoardFilter, load_board
from apps.regressions.trends.board_columns import MOST_COLUMNS
from apps.runs.models import Configuration, Measurement, Run, RunNode
from apps.web.trends.board_answer import board_answer
from apps.web.trends.board_heads import heads
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.builders import START, a_job, a_load_level, a_metric, a_system, a_user, a_workload
from tests.support.pages import data, element, elements, states, text

pytestmark = pytest.mark.django_db
NIGHTS = 8


def nightly(system: System, factors: Sequence[float], *, first: int = 0, seed: int = 1, **fields: Any) -> list[Run]:
    """Four runs a night, from the night `first` on."""
    noise = values(runs=4 * len(factors), seed=seed)
    return [
        run
        for night, factor in enumerate(factors)
        for run in runs_of(
            system, [value * factor for value in noise[4 * night : 4 * night + 4]], day=first + night, **fields
        )
    ]


@pytest.fixture
def fell(db: None) -> Trend:
    """Eight nights of two releases; the second, from the sixth night on, is slower by 15 %."""
    runs = nightly(a_release("10.11.19"), [1.0] * 5) + nightly(a_release("10.11.20"), [0.85] * 3, first=5, seed=2)
    followed(runs[-1:])
    return Trend.objects.get()


def page(client: Client, query: str = "", status: int = 200) -> str:
    response = client.get(f"/trends/{query}")
    assert response.status_code == status
    return response.content.decode()


def verdicts(html: str, trend: Trend) -> list[str]:
    return [str(kind) for (kind,) in states(html, f"tr[data-trend='{trend.pk}'] td[data-verdict]", "verdict")]


def day(night: int) -> str:
    return (START + timedelta(days=night)).date().isoformat()


def test_the_first_sentence_says_what_got_worse_by_how_much_since_when(client: Client, fell: Trend) -> None:
    html = page(client)
    (row,) = load_board(BoardFilter()).groups[0].rows
    ratio = row.cells[-1].ratio
    assert ratio is not None
    assert (ratio.value, ratio.low, ratio.high) != (None, None, None)
    since = START + timedelta(days=5)
    assert element(html, "[data-answer]").text() == (
        f"Client.throughput of {row.trend.workload.tool} {row.trend.workload.name} on MariaDB: "
        f"{percent(ratio.value or 0)} [{percent(ratio.low or 0)}, {percent(ratio.high or 0)}] in the last column; "
        f"worse since {since.day}\xa0{since:%b}\xa0{since.year}, at 4 threads."
    )


def test_cells_change_point_finding_and_versions_stand_at_their_nights(client: Client, fell: Trend) -> None:
    html = page(client)
    kinds = verdicts(html, fell)
    assert (kinds[0], kinds[5:]) == ("base", ["worse"] * 3)
    assert "worse" not in kinds[:5]
    row = elements(html, f"tr[data-trend='{fell.pk}'] > td")
    assert [place for place, cell in enumerate(row) if "board__change" in str(cell.attributes["class"])] == [5]
    change = Change.objects.get()
    flag = element(html, "a.board-flag")
    assert flag.attributes["href"] == f"/findings/{change.finding_id}/"
    assert [cell.attributes["colspan"] for cell in elements(html, "td.board__version")] == ["5", "3"]
    assert [cell.text() for cell in elements(html, "td.board__version")] == ["10.11.19", "10.11.20"]
    assert element(html, "a.button--primary").attributes["href"] == f"/findings/{change.finding_id}/"


def test_releases_and_builds_are_columns_too(client: Client, fell: Trend) -> None:
    Run.objects.filter(system__release__version="10.11.20").update(server_version="10.11.20-log")
    assert verdicts(page(client, "?by=release"), fell) == ["base", "worse"]
    board = load_board(BoardFilter(by="build"))
    assert [column.key for column in board.groups[0].columns if column] == ["10.11.19", "10.11.20-log"]


@pytest.fixture
def in_turns(db: None) -> Trend:
    """Four nights with three runs each of both releases, the second slower by 8 %."""
    for night in range(4):
        for system, factor in ((a_release("12.0.1"), 1.0), (a_release("12.0.2"), 0.92)):
            numbers = [value * factor for value in values(runs=3, seed=night, noise=0.003)]
            runs = runs_of(system, numbers, day=night)
    followed(runs[-1:])
    return Trend.objects.get()


@pytest.mark.parametrize("by", ["night", "campaign"])
def test_releases_measured_in_turns_in_one_night_have_a_column_each(client: Client, in_turns: Trend, by: str) -> None:
    board = load_board(BoardFilter(by=by))
    (group,) = board.groups
    assert [(column.key, column.version) for column in group.columns if column] == [
        (day(night), version) for night in range(4) for version in ("12.0.1", "12.0.2")
    ]
    (row,) = group.rows
    versions = [{row.points[run].version for run in cell.runs} for cell in row.cells]
    assert versions == [{"12.0.1"}, {"12.0.2"}] * 4
    html = page(client, f"?by={by}")
    assert verdicts(html, in_turns)[1::2] == ["worse"] * 4
    assert "worse" not in verdicts(html, in_turns)[::2]
    since = START
    assert f"worse since {since.day}\xa0{since:%b}\xa0{since.year} (12.0.2)" in element(html, "[data-answer]").text()
    assert [cell.text() for cell in elements(html, "td.board__version")] == ["12.0.1", "12.0.2"] * 4
    titles = [str(cell.attributes["title"]) for cell in elements(html, "td[data-verdict] > a[data-value]")]
    assert all(version in title for version, title in zip(["12.0.1", "12.0.2"] * 4, titles, strict=True))
    assert states(html, "tr[data-trend]", "kind") == states(page(client, "?by=release"), "tr[data-trend]", "kind")


def test_where_there_is_little_room_a_version_is_its_number(client: Client, in_turns: Trend) -> None:
    for release in Release.objects.filter(version__startswith="12.0"):
        release.version += "-MariaDB"
        release.save()
    lanes = elements(page(client, "?by=night"), "td.board__version")
    assert [lane.text() for lane in lanes] == ["12.0.1", "12.0.2"] * 4
    assert [lane.attributes["title"] for lane in lanes] == ["12.0.1-MariaDB", "12.0.2-MariaDB"] * 4


def test_a_night_chosen_as_baseline_is_its_oldest_release(in_turns: Trend) -> None:
    (row,) = load_board(BoardFilter(baseline=day(2))).groups[0].rows
    assert {cell.base for cell in row.cells} == {4}


def test_groups_with_fewer_releases_share_the_nights_columns(client: Client, in_turns: Trend) -> None:
    other = a_system("other", platform=Platform.objects.create(slug="galera", name="Galera"))
    followed(nightly(other, [1.0] * 4)[-1:])
    board = load_board(BoardFilter())
    assert board.times == tuple(day(night) for night in range(4) for _ in range(2))
    group = next(group for group in board.groups if group.rows[0].trend.platform.slug == "galera")
    assert [column is None for column in group.columns] == [True, False] * 4
    page(client)


def test_campaigns_are_columns_where_all_runs_are_of_one_night(client: Client, fell: Trend) -> None:
    for number, run in enumerate(Run.objects.order_by("started_at", "pk")):
        Run.objects.filter(pk=run.pk).update(started_at=START + timedelta(minutes=number))
        if number % 4 == 0:
            job = a_job()
            Campaign.objects.filter(pk=job.campaign_id).update(created_at=START + timedelta(minutes=number))
        JobRun.objects.create(run=run, job=job, attempt=1)
    at = [START + timedelta(minutes=4 * number) for number in range(NIGHTS)]
    board = load_board(BoardFilter())
    assert board.by == "campaign"
    assert board.times == tuple(f"{each:%Y-%m-%d %H:%M:%S}" for each in at)
    html = page(client)
    # All of one session: whether the fall is more than a session's, nothing tells.
    assert verdicts(html, fell)[5:] == ["unknown"] * 3
    heads = [cell.text() for cell in elements(html, "th.board__head")]
    assert heads[0] == f"{at[0].day}\xa0{at[0]:%b}\xa0{at[0]:%H}\xa0h:{at[0]:%M}"
    assert heads[1:] == [f":{each:%M}" for each in at[1:]]
    assert len(set(load_board(BoardFilter(by="night")).times)) == 1
    # Another series may be of another night.
    followed(nightly(System.objects.order_by("pk")[0], [1.0], first=20, workload=a_workload("of another night"))[-1:])
    assert Trend.objects.count() == 2
    assert load_board(BoardFilter()).by == "campaign"


def test_each_commit_stands_once_below_the_versions_where_the_server_states_it(client: Client, fell: Trend) -> None:
    assert elements(page(client), ".board__commits") == []
    for run in Run.objects.select_related("system__release"):
        is_old = run.system.release.version == "10.11.19"
        stated = {"version_source_revision": "abcdef123456789" if is_old else "0123456789abcdef"}
        own = Configuration.objects.get_or_create(
            content_hash=("0" if is_old else "1") * 64, defaults={"variables": stated}
        )[0]
        RunNode.objects.create(run=run, number=1, name="db", configuration=own)
    lanes = elements(page(client), ".board__commits td.board__version")
    assert [(lane.attributes["colspan"], lane.text()) for lane in lanes] == [
        ("5", "abcdef123456"),
        ("3", "0123456789ab"),
    ]


def test_a_baseline_is_chosen_in_the_address(client: Client, fell: Trend) -> None:
    html = page(client, f"?baseline={day(6)}")
    assert verdicts(html, fell)[:7] == ["better"] * 5 + [*verdicts(html, fell)[5:6], "base"]
    problem = element(page(client, "?baseline=2019-01-01", 400), "[data-field]")
    assert problem.attributes["data-field"] == "baseline"


def test_the_workloads_pinned_baseline_is_the_default(client: Client, fell: Trend) -> None:
    system = System.objects.get(release__version="10.11.20")
    baselines.pin(workload=fell.workload, system=system, note="", by=a_user())
    assert verdicts(page(client), fell)[5] == "base"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("by=week", "by"),
        ("metric=p42", "metric"),
        ("platform=oracle", "platform"),
        ("sort=x", "sort"),
        ("colour=1", "colour"),
    ],
)
def test_an_unknown_filter_is_refused_by_its_name(client: Client, fell: Trend, query: str, field: str) -> None:
    assert data(page(client, f"?{query}", 400), "field") == [field]


def test_the_worst_row_comes_first_and_changed_only_leaves_out_the_rest(client: Client, fell: Trend) -> None:
    system = a_release("10.11.19")
    even = nightly(system, [1.0] * NIGHTS, seed=3, load_level=a_load_level(16))
    worst = nightly(system, [1.0] * 5 + [0.5] * 3, seed=4, load_level=a_load_level(64))
    followed([even[-1], worst[-1]])
    order = [Trend.objects.get(load_level__threads=threads).pk for threads in (64, 4, 16)]
    assert data(page(client), "trend") == [str(pk) for pk in order]
    assert data(page(client, "?changed=1"), "trend") == [str(pk) for pk in order[:2]]
    assert ", at 2 of 3 loads" in element(page(client), "[data-answer]").text()
    counts = element(page(client), "[data-counts]").text().split()
    assert counts[:2] == ["▼", "2"]


def test_latency_is_worse_where_it_rises_and_has_no_change_points(client: Client, fell: Trend) -> None:
    latency = a_metric("client.latency.p99", direction="lower", unit="ms")
    stored = Measurement.objects.filter(metric=fell.metric)
    Measurement.objects.bulk_create(
        Measurement(
            run_id=each.run_id,
            metric=latency,
            value=10_000 / each.value,
            artifact_id=each.artifact_id,
            byte_start=0,
            byte_end=10,
            parser="sysbench",
            parser_version="1",
        )
        for each in stored
    )
    html = page(client, "?metric=p99")
    assert verdicts(html, fell)[5:] == ["worse"] * 3
    assert elements(html, ".board__change") == []
    shown = states(html, "td[data-verdict=worse] > a", "value")
    assert all(str(value).startswith("11.") for (value,) in shown)


def test_the_last_thirty_nights_are_shown_and_an_older_baseline_with_them(client: Client, db: None) -> None:
    runs = nightly(a_release("10.11.19"), [1.0] * (MOST_COLUMNS + 3))
    followed(runs[-1:])
    assert load_board(BoardFilter()).times == tuple(day(night) for night in range(3, MOST_COLUMNS + 3))
    pinned = load_board(BoardFilter(baseline=day(0)))
    assert (pinned.times[0], pinned.times[1], len(pinned.times)) == (day(0), day(4), MOST_COLUMNS)
    assert pinned.groups[0].rows[0].cells[0].ratio is None


def test_what_is_not_shown_to_be_worse_is_not_called_fine(client: Client, fell: Trend) -> None:
    """Left out are a series of one night and whatever has no series; open findings are named all the same."""
    followed(nightly(a_release("10.11.19"), [1.0], load_level=a_load_level(32))[-1:])
    change = Change.objects.get()
    place = {"platform": change.finding.platform, "kind": "change", "verdict": "worse", "changed_at": START}
    other = Finding.objects.create(**place, title="slower elsewhere", largest=0.01)
    Finding.objects.create(**place, title="accepted", family="x", state="fixed")
    html = page(client, f"?baseline={day(6)}")
    assert element(html, "[data-answer]").text().startswith("No row is shown to be worse than the baseline: ")
    assert "Not compared: 1 series with runs of a single night." in text(html, ".board-answer")
    assert states(html, "[data-open]", "open") == [("2",)]
    named = text(html, "[data-open]")
    title = " ".join(change.finding.title.split())
    assert f"{change.finding_id}, {title}; {other.pk}, slower elsewhere" in named
    assert named.count("(not flagged on this board)") == 1
    # Where the row says so itself, it is not said twice.
    assert states(page(client), "[data-open]", "open") == [("1",)]


def test_a_finding_is_linked_with_its_state_and_an_open_one_first(client: Client, fell: Trend) -> None:
    finding = Change.objects.get().finding
    assert element(page(client), "a.button--primary").text() == f"Finding {finding.pk}, new"
    finding.state, finding.reason, finding.accepted_until = "accepted", "known", START.date() + timedelta(days=9000)
    finding.save()
    assert element(page(client), "a.button--primary").text() == f"Finding {finding.pk}, accepted"


def test_a_cell_says_why_its_word_differs_from_the_findings(client: Client, fell: Trend) -> None:
    html = page(client, f"?baseline={day(7)}")
    assert verdicts(html, fell)[5] == "unknown"
    ((why,),) = states(html, "a.board-flag", "why")
    assert "judges a step in the trend" in str(why)
    assert states(page(client), "a.board-flag", "why") == [("",)]


def test_a_finding_that_begins_before_the_columns_is_linked_beside_the_newest(client: Client, fell: Trend) -> None:
    finding = Change.objects.get().finding
    followed(nightly(a_release("10.11.20"), [0.85] * MOST_COLUMNS, first=NIGHTS, seed=7)[-1:])
    assert [row.findings[0].column for row in load_board(BoardFilter()).groups[0].rows] == [None]
    flag = element(page(client), "td.board__last a.board-flag")
    assert flag.attributes["href"] == f"/findings/{finding.pk}/"


def test_verdicts_weaker_than_their_intervals_are_explained(client: Client, fell: Trend) -> None:
    assert f"the {NIGHTS - 1} comparisons of the board" in text(page(client), "[data-correction]")


def test_a_board_of_many_rows_takes_as_many_queries_as_one(
    client: Client, fell: Trend, django_assert_max_num_queries: Any
) -> None:
    for threads in (8, 16, 32, 64):
        followed(nightly(a_release("10.11.19"), [1.0] * NIGHTS, load_level=a_load_level(threads))[-1:])
    with django_assert_max_num_queries(10):
        page(client)


def test_without_two_columns_the_page_says_what_fills_it(client: Client, db: None) -> None:
    assert data(page(client), "state") == ["empty"]
    followed(nightly(a_release("10.11.19"), [1.0])[-1:])
    assert data(page(client), "state") == ["empty"]
    assert board_answer(load_board(BoardFilter())).answer == "No series with two columns yet."


def test_the_series_are_reached_from_the_board(client: Client, fell: Trend) -> None:
    html = page(client)
    links = {link.attributes.get("href") for link in elements(html, "main a")}
    assert {f"/trends/{fell.pk}/", "/trends/series/"} <= links
    assert states(html, "tr[data-trend]", "trend", "kind") == [(str(fell.pk), "worse")]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_cell_opens_its_card_by_key_and_by_click(browser_page: Page) -> None:
    runs = nightly(a_release("10.11.19"), [1.0] * 5) + nightly(a_release("10.11.20"), [0.85] * 3, first=5, seed=2)
    followed(runs[-1:])
    browser_page.goto("/trends/")
    cells = browser_page.locator("tr[data-trend] td > a[data-value]")
    card = browser_page.locator("[data-card]")
    cells.nth(5).click()
    expect(card).to_contain_text("10.11.20")
    expect(card.get_by_role("link", name="Finding")).to_be_visible()
    expect(card.get_by_role("link", name="Compare with the baseline")).to_be_visible()
    browser_page.keyboard.press("ArrowLeft")
    expect(cells.nth(4)).to_be_focused()
    expect(card).to_contain_text("10.11.19")
    expect(card.get_by_role("link", name="Open series")).to_be_visible()
    browser_page.keyboard.press("Escape")
    expect(card).to_be_hidden()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("query", ["?by=release", "?by=night"])
def test_on_a_phone_the_newest_column_and_the_change_come_first(browser_page: Page, query: str) -> None:
    runs = nightly(a_release("10.11.19"), [1.0] * 15) + nightly(a_release("10.11.20"), [0.85] * 5, first=15, seed=2)
    followed(runs[-1:])
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(f"/trends/{query}")
    newest = browser_page.locator("tr[data-trend] td[data-verdict]").last
    for cell in (newest, browser_page.locator("tr[data-trend] td.board__last")):
        expect(cell).to_be_in_viewport(ratio=0.99)
    name = browser_page.locator("tr[data-trend] th.board__name").bounding_box()
    box = newest.bounding_box()
    assert name is not None
    assert box is not None
    assert box["x"] >= name["x"] + name["width"] - 1


def test_labels_of_hours_leave_room_for_each_other() -> None:
    times = [f"2026-11-27 {at}:00" for at in ("05:02", "05:10", "06:25", "12:20", "12:30")] + ["2026-11-28 01:00:00"]
    found = [(head, label.replace("\N{NO-BREAK SPACE}", " ")) for head, label in heads(times)]
    assert found == [
        (":02", "27 Nov 05 h"),
        (":10", ""),
        (":25", ""),
        (":20", "12 h"),
        (":30", ""),
        (":00", "28 Nov 01 h"),
    ]
