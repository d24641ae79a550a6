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
from apps.use_method.values import UseLevel
from tests.comparison.sampled import a_node, a_sampled_run
from tests.support.builders import a_load_level, a_measured_run, a_system, a_workload
from tests.use_method.made import keep, panel
from tests.web.compare.compared import TPS, text_of
from tests.web.runs.test_use_method import IDLE

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


def test_the_answer_asks_for_what_limits_the_sides_as_soon_as_the_page_is_open(
    client: Client, workload: Workload
) -> None:
    page = client.get(f"/compare/?side=a&side=b&workload={workload.pk}").content.decode()
    assert 'id="use" aria-labelledby="use-title" hx-get="/compare/part/use/' in page
    assert 'hx-trigger="load"' in page
    assert page.index('id="limits"') < page.index("</table>")


def test_each_side_has_its_bottleneck_with_the_evidence_and_where_nodes_disagree(
    client: Client, workload: Workload
) -> None:
    text = text_of(part(client, workload)).replace("\u00a0", " ")
    assert "Alpha limited by CPU from 4 threads on" in text
    assert "54.0 % from 4 threads on; at 1 thread 51.0 %" in text
    assert "CPU: on g1 alone, g2 is not saturated." in text
    assert "Beta nothing of what could be observed saturated up to 16 threads" in text
    assert "Throughput does not grow above 4 threads" in text
    assert "Not observable: memory." in text


def test_htmx_gets_the_answers_line_too_and_a_page_by_itself_does_not(client: Client, workload: Workload) -> None:
    alone = part(client, workload, HX_Request="true")
    line = alone[alone.index('id="limits"') :]
    assert 'hx-swap-oob="true"' in line
    assert "limited by CPU from 4\u00a0threads on" in line or "limited by CPU from 4 threads on" in line
    assert "hx-swap-oob" not in part(client, workload)


def test_every_level_is_told_in_words_and_quiet_resources_are_marked(client: Client, workload: Workload) -> None:
    html = part(client, workload)
    cpu = text_of(html[html.index('data-resource="cpu"') : html.index("</tbody>")])
    assert cpu.endswith("CPU Alpha ok saturated saturated Beta ok ok watch")
    assert 'data-resource="memory" data-quiet' in html
    assert "Alpha node by node, 16 threads" in text_of(html)


def test_a_cell_opens_the_run_that_its_value_is_of(client: Client, workload: Workload) -> None:
    runs = set(System.objects.filter(slug="a").values_list("runs__id", flat=True))
    html = part(client, workload)
    assert any(f'href="/runs/{run}/?use=cpu.' in html for run in runs)


def test_what_an_article_says_of_the_platform_stands_beside_marked_as_published(client: Client) -> None:
    call_command("seed_catalog", stdout=StringIO())
    call_command("load_published", stdout=StringIO())
    a_ramp(a_system("a", platform=Platform.objects.get(slug="aurora")), OK, FULL, FULL)
    a_ramp(a_system("b"), OK, FULL, FULL)
    html = part(client, a_workload())
    text = text_of(html[html.index('data-stated="aurora"') :])
    assert "Aurora was limited by cpu and replication lag" in text.replace("CPU", "cpu")
    assert "PXC" not in text[: text.index("other hardware")]


def test_the_part_asks_again_until_all_runs_are_judged(client: Client, workload: Workload) -> None:
    for repetition in range(2, 8):
        a_measured_run(
            {TPS: 100.0}, system=System.objects.get(slug="a"), load_level=a_load_level(1), repetition=repetition
        )
    html = part(client, workload)
    assert 'hx-trigger="load delay:2s"' in html
    assert "10 of 12 runs are judged so far" in text_of(html)
    assert "are judged so far" not in part(client, workload)


def test_sides_without_samples_have_nothing_to_show(client: Client) -> None:
    for slug in ("a", "b"):
        a_measured_run({TPS: 100.0}, system=a_system(slug))
    assert "No data for these sides." in part(client, a_workload())


def test_the_api_gives_the_same_answer(client: Client, workload: Workload) -> None:
    address = f"/api/v1/comparisons/?side=a&side=b&workload={workload.pk}&include=use"
    alpha, beta = client.get(address).json()["use"]["sides"]
    assert alpha["headline"].replace("\u00a0", " ") == "limited by CPU from 4 threads on"
    [onset] = alpha["found"]["first"]
    assert (onset["resource"], onset["threads"], onset["nodes"], onset["others"]) == ("cpu", 4, ["g1"], ["g2"])
    assert (beta["found"]["kind"], beta["found"]["stands"]) == ("nothing saturated", 4)


def test_a_cell_has_the_line_of_the_run_that_its_value_is_of_and_many_runs_ask_no_more(client: Client) -> None:
    systems = [a_system(slug) for slug in ("a", "b")]

    def measure() -> None:
        clock = np.arange(0.0, 41.0)
        for place, system in enumerate(systems):
            used = np.cumsum(np.full(41, 0.3 + 0.2 * place))
            counters = {"host.cpu.user": used, "host.cpu.idle": 2 * clock - used}
            run = a_sampled_run([a_node("db1", clock, counters, IDLE)], {TPS: 100.0}, system=system, measured_to=40)
            panels.judge(run_id=run.pk)

    def asked() -> tuple[str, int]:
        with CaptureQueriesContext(connection) as captured:
            html = part(client, a_workload())
        return html, len(captured)

    measure()
    html, before = asked()
    beside = html[html.index("compare-use-panels") :]
    cpu = beside[beside.index('data-resource="cpu"') :]
    assert cpu[: cpu.index("</tr>")].count('class="spark"') >= len(systems)
    measure()
    measure()
    assert asked()[1] == before
