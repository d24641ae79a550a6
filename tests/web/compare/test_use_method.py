"""The part "Limits" of Compare."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import Platform, System, Workload
from apps.use_method.panels import panels
from apps.use_method.values import Panel, Reading, UseLevel
from apps.web.compare.node_clock import USUALLY_DRAWN
from tests.comparison.sampled import a_node, a_sampled_run
from tests.support.builders import a_load_level, a_measured_run, a_system, a_workload
from tests.support.pages import data, element, elements, page_data, states
from tests.use_method.made import keep, panel
from tests.web.compare.compared import TPS
from tests.web.runs.use_method.test_use_method import IDLE

pytestmark = pytest.mark.django_db
OK, WATCH, FULL, UNSEEN = UseLevel.OK, UseLevel.WATCH, UseLevel.SATURATED, UseLevel.NOT_OBSERVABLE


def a_ramp(system: System, *levels: UseLevel, **others: UseLevel) -> None:
    """CPU at 1, 4 and 16 threads; throughput stands from 4 threads on."""
    for threads, value, level in zip((1, 4, 16), (100.0, 390.0, 395.0), levels, strict=True):
        run = a_measured_run({TPS: value}, system=system, load_level=a_load_level(threads))
        keep(run, panel(50.0 + threads, cpu={"g1": level, "g2": OK}, **others))


@pytest.fixture
def workload() -> Workload:
    workload = a_workload()
    a_ramp(a_system("a", name="Alpha"), OK, FULL, FULL, memory=OK)
    a_ramp(a_system("b", name="Beta"), OK, OK, WATCH, memory=UNSEEN)
    return workload


def part(client: Client, workload: Workload, **headers: str) -> str:
    return client.get(f"/compare/part/use/?side=a&side=b&workload={workload.pk}", headers=headers).content.decode()


def texts(html: str, selector: str) -> list[str]:
    return [" ".join(each.text().split()) for each in elements(html, selector)]


def test_the_answer_has_a_place_for_what_limits_each_side(client: Client, workload: Workload) -> None:
    page = client.get(f"/compare/?side=a&side=b&workload={workload.pk}").content.decode()
    assert data(page, "limit-of") == ["a", "b"]
    leads = {each.attributes["href"] for each in elements(page, "[data-limit-of]")}
    assert leads == {element(page, "a[data-tab=limits]").attributes["href"]}


def test_each_side_has_its_bottleneck_with_the_evidence_and_where_nodes_disagree(
    client: Client, workload: Workload
) -> None:
    html = part(client, workload)
    address = f"/api/v1/comparisons/?side=a&side=b&workload={workload.pk}&include=use"
    sides = client.get(address).json()["use"]["sides"]
    assert len(sides) == 2
    for side in sides:
        place = f"[data-limits={side['side']}]"
        assert texts(html, f"{place} [data-headline]") == [side["headline"]]
        assert texts(html, f"{place} [data-evidence]") == side["evidence"]
        assert texts(html, f"{place} [data-throughput]") == [side["throughput"]] * bool(side["throughput"])
        assert texts(html, f"{place} li") == [f"{note}." for note in side["notes"]]


def test_the_strip_has_every_side_and_load_with_level_and_evidence(client: Client, workload: Workload) -> None:
    html = part(client, workload)
    for side, levels in (("a", ["ok", "saturated", "saturated"]), ("b", ["ok", "ok", "watch"])):
        cells = elements(html, f".use-strip tr[data-resource=cpu] td[data-side={side}]")
        assert [cell.attributes["data-level"] for cell in cells] == ["1", "4", "16"]
        shown = [cell.css("[data-aspect=utilization]")[0] for cell in cells]
        assert [each.attributes["data-use-level"] for each in shown] == levels
        # A problem leads to its series; what is quiet is no link.
        assert [each.tag for each in shown] == ["span" if level == "ok" else "a" for level in levels]
    title = elements(html, ".use-strip td[data-side=a][data-level='4'] a")[0].attributes["title"] or ""
    assert title.startswith("Utilization saturated: ")
    assert "54.0" in title
    assert "saturated in 1 of 1 repetitions" in title
    assert elements(html, ".use-strip tr[data-resource=memory][data-quiet]")
    unseen = elements(html, ".use-strip tr[data-resource=memory] td[data-side=b] [data-use-level]")
    assert {each.attributes["data-use-level"] for each in unseen} == {"not_observable"}
    assert ("a", "16") in states(html, "[data-nodes-of]", "nodes-of", "level")


def test_a_cell_opens_the_run_that_its_value_is_of(client: Client, workload: Workload) -> None:
    runs = set(System.objects.filter(slug="a").values_list("runs__id", flat=True))
    html = part(client, workload)
    assert any(elements(html, f"a[href^='/runs/{run}/?use=cpu.']") for run in runs)


def test_what_an_article_says_of_the_platform_stands_beside_marked_as_published(client: Client) -> None:
    call_command("seed_catalog", stdout=StringIO())
    call_command("load_published", stdout=StringIO())
    a_ramp(a_system("a", platform=Platform.objects.get(slug="aurora")), OK, FULL, FULL)
    a_ramp(a_system("b"), OK, FULL, FULL)
    html = part(client, a_workload())
    first = elements(html, "[data-stated=aurora]")[0]
    words = " ".join(first.text().split())
    assert first.css(".mark--published")
    assert "Aurora" in words
    assert "cpu and replication lag" in words.lower()
    assert "PXC" not in words


def test_the_part_asks_again_until_all_runs_are_judged(client: Client, workload: Workload) -> None:
    for repetition in range(2, 8):
        a_measured_run(
            {TPS: 100.0}, system=System.objects.get(slug="a"), load_level=a_load_level(1), repetition=repetition
        )
    html = part(client, workload)
    assert element(html, "#use").attributes["hx-trigger"] == "load delay:2s"
    assert states(html, "[data-judged]", "judged", "total") == [("10", "12")]
    assert not data(part(client, workload), "judged")


def test_sides_without_samples_have_nothing_to_show(client: Client) -> None:
    for slug in ("a", "b"):
        a_measured_run({TPS: 100.0}, system=a_system(slug))
    assert data(part(client, a_workload()), "state") == ["empty"]


def test_the_api_gives_the_same_answer(client: Client, workload: Workload) -> None:
    address = f"/api/v1/comparisons/?side=a&side=b&workload={workload.pk}&include=use"
    alpha, beta = client.get(address).json()["use"]["sides"]
    assert alpha["headline"].replace("\u00a0", " ") == "limited by CPU from 4 threads on"
    said = " ".join([*alpha["evidence"], *alpha["notes"]]).replace("\u00a0", " ")
    assert "54.0 % from 4 threads on; at 1 thread 51.0 %" in said
    assert "CPU: on g1 alone, g2 is not saturated" in said
    assert "Not observable: memory" in beta["notes"]
    assert beta["headline"].replace("\u00a0", " ") == ("nothing of what could be observed saturated up to 16 threads")
    [onset] = alpha["found"]["first"]
    assert (onset["resource"], onset["threads"], onset["nodes"], onset["others"]) == ("cpu", 4, ["g1"], ["g2"])
    assert (beta["found"]["kind"], beta["found"]["stands"]) == ("nothing saturated", 4)


def measure() -> None:
    """A run of each side on two nodes, of which one is busier."""
    clock = np.arange(0.0, 41.0)
    for place, slug in enumerate(("a", "b")):
        used = np.cumsum(np.full(41, 0.3 + 0.2 * place))
        counters = {"host.cpu.user": used, "host.cpu.idle": 2 * clock - used}
        nodes = [a_node(name, clock, counters, IDLE) for name in ("db1", "db2")]
        system = System.objects.filter(slug=slug).first() or a_system(slug)
        run = a_sampled_run(nodes, {TPS: 100.0}, system=system, measured_to=40)
        panels.judge(run_id=run.pk)


def test_all_nodes_of_all_sides_lie_on_one_clock(client: Client) -> None:
    measure()
    clock = page_data(part(client, a_workload()), "clock-data")
    drawn = [each for each in clock["indicators"] if each["drawn"]]
    assert 1 <= len(drawn) <= USUALLY_DRAWN
    [busy] = next(each["rows"] for each in clock["indicators"] if each["key"] == "cpu.busy")
    assert sorted((each["side"], each["node"]) for each in busy["series"]) == [
        (side, node) for side in (0, 1) for node in ("db1", "db2")
    ]
    for each in busy["series"]:
        found = client.get(f"/api/v1/runs/{each['run']}/series/?metric={each['metric']}&align=measured").json()[
            "series"
        ]
        assert each["node"] in [one["node"] for one in found]


def test_sides_whose_metrics_differ_share_a_row_in_one_unit_alone(client: Client) -> None:
    own = {"disk.await_read": "derived.disk.sda.await_read", "memory.used": "derived.memory.used"}
    cloud = {"disk.await_read": "aws.rds.ReadLatency", "memory.used": "aws.rds.FreeableMemory"}
    for slug, metrics in (("a", own), ("b", cloud)):
        run = a_measured_run({TPS: 100.0}, system=a_system(slug))
        readings = tuple(Reading(key, "db1", OK, 5.0, "words", metric) for key, metric in metrics.items())
        keep(run, Panel((0.0, 60.0), (("db1", "writer"),), readings))
    clock = page_data(part(client, a_workload()), "clock-data")
    rows = {each["key"]: each["rows"] for each in clock["indicators"]}
    [await_read] = rows["disk.await_read"]
    assert (await_read["title"], await_read["unit"]) == ("Disk: response time of reads", "ms")
    assert [(each["side"], each["factor"]) for each in await_read["series"]] == [(0, 1.0), (1, 1000.0)]
    used, free = rows["memory.used"]
    assert [(each["title"], each["unit"]) for each in (used, free)] == [("Memory: used", "%"), ("Memory free", "bytes")]
    assert [[each["side"] for each in row["series"]] for row in (used, free)] == [[0], [1]]


def test_the_address_names_the_indicators_on_the_clock_and_unknown_ones_are_refused(client: Client) -> None:
    measure()
    address = f"/compare/?side=a&side=b&workload={a_workload().pk}&tab=limits"
    html = client.get(f"{address}&see=cpu.busy").content.decode()
    assert [each["key"] for each in page_data(html, "clock-data")["indicators"] if each["drawn"]] == ["cpu.busy"]
    assert data(client.get(f"{address}&see=nothing").content.decode(), "field") == ["see"]


def test_a_cell_has_the_line_of_the_run_that_its_value_is_of_and_many_runs_ask_no_more(client: Client) -> None:
    def asked() -> tuple[str, int]:
        with CaptureQueriesContext(connection) as captured:
            html = part(client, a_workload())
        return html, len(captured)

    measure()
    html, before = asked()
    assert len(elements(html, ".compare-use-panels [data-resource=cpu] .spark")) >= 2
    measure()
    measure()
    # Three for what is known of the systems' sessions: a cell with an interval tells that each side has one.
    assert asked()[1] <= before + 3
