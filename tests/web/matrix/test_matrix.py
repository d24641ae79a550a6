"""The Matrix page: several sides against one baseline, coloured by verdict; its exports; an article's ratios."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
import yaml
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.catalog import services as catalog
from apps.catalog.models import HardwareClass, Platform, System
from apps.comparison.selection import baselines
from apps.comparison.tables.matrix import compare_systems
from apps.published import services
from apps.published.wording import NO_INTERVAL
from apps.runs.models import Run
from apps.web.matrix.sheet import measured_sheet
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user, a_workload
from tests.support.pages import data, element, elements, states

pytestmark = pytest.mark.django_db

TPS, P95 = "client.throughput", "client.latency.p95"
A, B = (1000.0, 1012.0, 991.0), (1302.0, 1318.0, 1287.0)
ADDRESS = "/matrix/?side=a&side=b&side=c"
ARTICLE = "sysbench-engines-large-server-2017"


def measure(system: System, test: str, values: tuple[float, ...], *, threads: int = 4, **fields: Any) -> list[Run]:
    return [
        a_measured_run(
            {TPS: value, P95: 20_000 / value},
            system=system,
            workload=a_workload(test),
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(minutes=number),
            ended_at=START + timedelta(minutes=number + 1),
            **fields,
        )
        for number, value in enumerate(values)
    ]


@pytest.fixture
def measured(db: None) -> None:
    a, b = a_system("a"), a_system("b")
    large = HardwareClass.objects.create(slug="large", name="large", vcpu=8, memory_bytes=32 * 2**30)
    c = a_system("c", hardware_class=large)
    measure(a, "oltp_read_only", A), measure(b, "oltp_read_only", B), measure(c, "oltp_read_only", B)
    measure(a, "oltp_write_only", B), measure(b, "oltp_write_only", A[:1])
    measure(a, "oltp_insert", A), measure(b, "oltp_insert", B)


def rows_of(page: str) -> list[list[str]]:
    """The cells of the matrix as words, without the tests' names."""
    return [[" ".join(cell.text().split()) for cell in row.css("td")] for row in elements(page, ".matrix tbody tr")]


def cells_of(page: str) -> list[str]:
    return [cell for row in rows_of(page) for cell in row]


def page_of(client: Client, address: str = ADDRESS, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


@pytest.mark.usefixtures("measured")
def test_every_cell_has_its_ratio_interval_and_verdict_in_words(client: Client) -> None:
    page = page_of(client)
    many = compare_systems(sides=["a", "b", "c"], metrics=["primary"])
    shown = rows_of(page)
    assert len(shown) == len(many.rows) == 3
    assert shown[0][0] == "1,000"
    assert shown[0][1].startswith("1.30 × [1.2")
    assert shown[0][1].endswith("▲ better")
    assert shown[0][2].endswith("? verdict withheld")
    assert shown[1][2] == "no runs"
    assert shown[2][1] == "0.768 × ? too few repetitions"
    sheet = measured_sheet(many, address=lambda _row, _side: "")
    answers = [
        (each.attributes["data-answer"], each.css("span")[-1].text()) for each in elements(page, "[data-answer]")
    ]
    assert answers == [(head.name, text) for head, text in sheet.answers]
    assert element(page, ".matrix__method").text() == sheet.method


def test_a_side_is_summed_up_by_its_verdicts_with_the_range_of_its_ratios(measured: None) -> None:
    found = compare_systems(sides=["a", "b", "c"], metrics=["primary"])
    sheet = measured_sheet(found, address=lambda _row, _side: "")
    (b, first), (c, second) = sheet.answers
    assert (b.name, c.name) == ("b", "c")
    cell = sheet.groups[0].lines[0].cells[1]
    assert first == f"better in 2 of 3 ({cell.text} {cell.interval}); too few repetitions in 1"
    assert second == "verdict withheld in 1 of 3; no runs in 2"
    assert f" {found.tests} comparisons of this table" in sheet.method


def test_a_range_of_ratios_is_of_one_direction(measured: None) -> None:
    """27 × of a latency and 0.3 × of a throughput are both worse."""
    found = compare_systems(sides=["a", "b"], metrics=["primary", "latency"])
    ((_, answer),) = measured_sheet(found, address=lambda _row, _side: "").answers
    spans = r"1\.30.× \[[^]]*] where higher is better, 0\.769.× \[[^]]*] where lower is better"
    assert re.match(rf"better in 4 of 6 \({spans}\);", answer)


@pytest.mark.usefixtures("measured")
def test_where_lower_is_better_the_sign_of_an_improvement_points_down(client: Client) -> None:
    assert rows_of(page_of(client, f"{ADDRESS}&metric=latency"))[0][1].endswith("▼ better")


@pytest.mark.usefixtures("measured")
def test_a_cell_is_coloured_by_its_verdict_and_not_by_its_ratio(client: Client) -> None:
    cells = elements(page_of(client), "[data-kind]")
    kinds = [cell.attributes["data-kind"] for cell in cells]
    assert [cell.attributes["class"] for cell in cells] == [f"matrix__cell matrix__cell--{kind}" for kind in kinds]
    assert kinds == ["baseline", "better", "withheld", "baseline", "better", "none", "baseline", "unknown", "none"]


@pytest.mark.usefixtures("measured")
def test_a_cell_shows_sign_and_ratio_and_has_its_interval_on_a_card(client: Client) -> None:
    cell = elements(page_of(client), ".matrix tbody tr")[0].css("td")[1]
    assert cell.css(".matrix__ratio")[0].attributes["data-sign"] == "▲"
    card = cell.css("a .matrix__card")[0]  # within the link, which takes the focus
    assert card.css(".matrix__interval")[0].text().startswith("[1.2")
    assert "better" in card.text()


@pytest.mark.usefixtures("measured")
def test_a_head_counts_the_verdicts_of_its_column(client: Client) -> None:
    page = page_of(client)
    counts = [" ".join(each.text().split()) for each in elements(page, "[data-counts]")]
    assert counts == ["?1 ▲2", "?1"]
    shares = [each.attributes["style"] for each in elements(page, ".matrix__counts")[0].css("i")]
    assert shares == ["flex: 1", "flex: 2"]


@pytest.mark.usefixtures("measured")
def test_rows_stand_by_kind_of_load(client: Client) -> None:
    page = page_of(client)
    assert data(page, "load-kind") == ["reads", "writes"]
    assert [each.attributes["rowspan"] for each in elements(page, "tbody .matrix__kind")] == ["1", "2"]


@pytest.mark.usefixtures("measured")
def test_a_system_without_runs_is_a_narrow_column_with_the_action_that_fills_it(client: Client) -> None:
    a_system("idle")
    page = page_of(client, f"{ADDRESS}&side=idle")
    assert element(page, ".matrix__head--empty a").attributes["href"] == "/campaigns/new/?system=idle"
    assert elements(page, ".matrix tbody tr")[0].css("td")[3].text(strip=True) == "no runs"


@pytest.mark.usefixtures("measured")
def test_a_cell_leads_to_the_same_pair_in_compare(client: Client) -> None:
    page = page_of(client)
    links = [link.attributes["href"] for link in elements(page, "a[href^='/compare/']")]
    pair = f"/compare/?side=a&side=b&workload={a_workload('oltp_read_only').pk}"
    assert pair in links
    compared = page_of(client, pair)
    cell = elements(page, ".matrix tbody tr")[0].css("td")[1]
    ratio, interval = (cell.css(f".matrix__{part}")[0].text() for part in ("ratio", "interval"))
    assert ratio == "1.30\u00a0×"
    assert ratio in compared
    assert interval.replace(", ", ",\u00a0") in compared


@pytest.mark.usefixtures("measured")
def test_compare_leads_to_the_matrix_of_its_sides(client: Client) -> None:
    page = page_of(client, f"/compare/?side=a&side=b&workload={a_workload('oltp_insert').pk}")
    assert elements(page, "a[href='/matrix/?side=a&side=b']")


@pytest.mark.usefixtures("measured")
def test_withheld_verdicts_say_why_and_where_they_can_be_accepted(client: Client) -> None:
    page = page_of(client)
    assert states(page, "[data-withheld]", "side", "withheld") == [("c", "1")]
    withheld = element(page, "[data-withheld]")
    assert "Hardware class" in withheld.text()
    assert (withheld.css("a")[0].attributes["href"] or "").endswith("#comparability")


def test_runs_that_failed_a_check_are_marked_in_their_cell(client: Client) -> None:
    a, b = a_system("a"), a_system("b")
    measure(a, "oltp_insert", A), measure(b, "oltp_insert", B[:2])
    measure(b, "oltp_insert", B[2:], failed_checks=["steal"])
    cells = elements(page_of(client, "/matrix/?side=a&side=b"), "td")
    assert [cell.text() for cell in cells[1].css(".matrix__note")] == ["1 of 3 failed a check"]
    Run.objects.filter(system=b).update(failed_checks=["happened"])
    cells = elements(page_of(client, "/matrix/?side=a&side=b"), "td")
    assert [cell.text() for cell in cells[1].css(".matrix__note")] == ["3 of 3 failed a check; not usable"]


@pytest.mark.usefixtures("measured")
def test_without_sides_those_that_share_most_are_shown_the_pinned_one_as_baseline(client: Client) -> None:
    assert data(page_of(client, "/matrix/"), "baseline") == ["a"]
    user: User = a_user()
    baselines.pin(workload=a_workload("oltp_insert"), system=System.objects.get(slug="b"), note="", by=user)
    assert data(page_of(client, "/matrix/"), "baseline") == ["b"]


@pytest.mark.usefixtures("measured")
def test_markdown_has_the_cells_of_the_screen(client: Client) -> None:
    text = client.get(ADDRESS.replace("/matrix/?", "/matrix/matrix.md?")).content.decode()
    lines = [line for line in text.splitlines() if line.startswith("| sysbench")]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")][3:] for line in lines]
    assert cells == rows_of(page_of(client))
    assert "http://testserver/matrix/?side=a&side=b&side=c" in text


@pytest.mark.usefixtures("measured")
def test_csv_has_a_line_for_each_cell_with_all_digits(client: Client) -> None:
    text = client.get(ADDRESS.replace("/matrix/?", "/matrix/matrix.csv?")).content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    many = compare_systems(sides=["a", "b", "c"], metrics=["primary"])
    assert [line["shown"] for line in lines] == cells_of(page_of(client))
    for line, cell in zip(lines, [cell for row in many.rows for cell in row.cells], strict=True):
        if cell.ratio is not None and cell.ratio.low is not None:
            assert [float(line[name]) for name in ("value", "low", "high")] == [
                cell.ratio.value,
                cell.ratio.low,
                cell.ratio.high,
            ]
            assert line["verdict"] == cell.words


@pytest.mark.usefixtures("measured")
def test_json_has_the_same_table(client: Client) -> None:
    answer = client.get(ADDRESS.replace("/matrix/?", "/api/v1/matrix/?")).json()
    many = compare_systems(sides=["a", "b", "c"], metrics=["primary"])
    assert [side["slug"] for side in answer["sides"]] == ["a", "b", "c"]
    assert answer["tests"] == many.tests
    assert [[cell["words"] for cell in row["cells"]] for row in answer["rows"]] == [
        [cell.words for cell in row.cells] for row in many.rows
    ]
    assert answer["rows"][0]["cells"][1]["ratio"]["low"] == many.rows[0].cells[1].ratio.low  # type: ignore[union-attr]


@pytest.mark.usefixtures("measured")
def test_the_page_asks_as_many_queries_however_many_runs_rows_and_sides_there_are(client: Client) -> None:
    with CaptureQueriesContext(connection) as few:
        page_of(client, "/matrix/?side=a&side=c")
    for slug in ("a", "b", "c"):
        for test in ("oltp_read_only", "oltp_delete"):
            measure(System.objects.get(slug=slug), test, A, threads=16)
    with CaptureQueriesContext(connection) as many:
        page_of(client)
    assert len(many) == len(few) <= 30


def test_nothing_measured_says_what_would_fill_the_matrix(client: Client) -> None:
    page = page_of(client, "/matrix/")
    assert element(page, "[data-state=empty] a").attributes["href"] == "/campaigns/new/"


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("query", "status", "field", "value"),
    [
        ("side=a&side=gone", 404, "side", "'gone'"),
        ("side=a", 400, "side", "2 to 8"),
        ("side=a&side=b&metric=gone", 400, "metric", "'gone'"),
        ("side=a&side=b&campaign=x", 400, "campaign", ""),
        ("side=a%00&side=b", 400, "side", ""),
    ],
)
def test_what_cannot_be_shown_is_said(client: Client, query: str, status: int, field: str, value: str) -> None:
    problem = element(page_of(client, f"/matrix/?{query}", status), "[data-field]")
    assert (problem.attributes["data-field"], value in problem.text()) == (field, True)
    file = client.get(f"/matrix/matrix.csv?{query}")
    assert (file.status_code, file["Content-Type"]) == (status, "text/plain; charset=utf-8")
    assert file.content.decode() == problem.text()


def test_a_metric_or_tool_that_no_side_has_leaves_an_empty_matrix(client: Client, measured: None) -> None:
    page = page_of(client, f"{ADDRESS}&tool=tpcc")
    assert (data(page, "state"), elements(page, ".matrix")) == (["no-matches"], [])


@pytest.fixture
def articles(db: None) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)


@pytest.mark.usefixtures("articles")
def test_a_published_table_is_a_matrix_with_every_number_of_its_file(client: Client) -> None:
    page = page_of(client, f"/matrix/?article={ARTICLE}")
    stated = _stated_in_file()
    rows = rows_of(page)
    assert len(rows) == len(stated) == 36
    for row, (test, connections, values) in zip(rows, sorted(stated, key=_in_order(stated)), strict=True):
        assert [float(cell.removesuffix(" ×")) for cell in row] == values, (test, connections)
    answer = element(page, "[data-answer=MyRocks]").css("span")[-1].text()
    assert answer.startswith("stated 0.457 to 4.892\xa0× of InnoDB 5.6.35: above 1 in 16 of 36")
    assert len(elements(page, ".lede .mark--published")) == 1


@pytest.mark.usefixtures("articles")
def test_no_verdict_is_claimed_of_published_figures(client: Client) -> None:
    page = page_of(client, f"/matrix/?article={ARTICLE}")
    assert set(data(page, "kind")) == {"stated"}
    assert not {"better", "worse", "equivalent", "inconclusive"} & set(" ".join(cells_of(page)).split())
    titles = [cell.attributes["title"] or "" for cell in elements(page, "[data-kind=stated]")]
    assert [title.endswith(NO_INTERVAL) for title in titles] == [True] * 108
    assert NO_INTERVAL in element(page, ".matrix__method").text()
    text = client.get(f"/matrix/matrix.csv?article={ARTICLE}").content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 108
    assert {(line["verdict"], line["low"], line["high"]) for line in lines} == {("stated", "", "")}


@pytest.mark.usefixtures("articles")
def test_qualifiers_of_published_ratios_are_kept(client: Client) -> None:
    cells = cells_of(page_of(client, "/matrix/?article=aurora-galera-mha-2015"))
    assert any(cell.startswith(("about ", "at least ", "at most ")) for cell in cells)


@pytest.mark.usefixtures("articles")
def test_the_api_has_the_published_matrix(client: Client) -> None:
    answer = client.get(f"/api/v1/published/{ARTICLE}/matrix/").json()
    assert [side["name"] for side in answer["sides"]] == ["MyRocks", "InnoDB 5.7.17", "TokuDB"]
    assert len(answer["rows"]) == 36
    assert client.get("/api/v1/published/gone/matrix/").status_code == 404
    assert client.get("/matrix/?article=gone").status_code == 404


def _stated_in_file() -> list[tuple[str, int, list[float]]]:
    """(test, connections, ratios) as the file has them, read without the product's code."""
    (path,) = services.OWN_DATA.glob("sysbench-engines*.yaml")
    found = []
    for table in yaml.safe_load(path.read_text())["tables"]:
        connections = table["conditions"]["connections"]
        found += [(row[0], connections, [float(value) for value in row[1:]]) for row in table["rows"]]
    return found


def _in_order(stated: list[tuple[str, int, list[float]]]) -> Any:
    tests = list(dict.fromkeys(test for test, _, _ in stated))
    return lambda each: (tests.index(each[0]), each[1])


def test_without_sides_the_architectures_stand_against_the_single_server(client: Client) -> None:
    platforms = {slug: Platform.objects.create(slug=slug, name=slug) for slug in ("mha", "galera")}
    single, again = a_system("single"), a_system("again")
    mha, galera = (a_system(slug, platform=platform) for slug, platform in platforms.items())
    for test in ("oltp_read_only", "oltp_insert"):
        for system in (mha, galera, single):
            measure(system, test, A)
    measure(again, "oltp_insert", A)
    page = page_of(client, "/matrix/")
    assert data(page, "baseline") == ["single"]
    shown = [
        link.attributes["href"] or "" for link in elements(page, "a[href^='/matrix/json'], a[href^='/api/v1/matrix']")
    ]
    assert "side=single&side=galera&side=mha" in shown[0]
