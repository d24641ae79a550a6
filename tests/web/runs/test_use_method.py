"""What limits a run, on its page."""

import re
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.runs.models import Run
from apps.use_method.panels import panels
from apps.use_method.resource_table import INDICATORS, RESOURCE_OF
from apps.use_method.values import Panel, Reading, UseLevel
from apps.web.runs.use_method import panel as use_method_panel
from tests.comparison.sampled import a_node, a_sampled_run
from tests.runs.uploads import an_open_run
from tests.support.builders import a_run
from tests.support.pages import squeezed

pytestmark = pytest.mark.django_db
IDLE = dict.fromkeys(("host.cpu.nice", "host.cpu.system", "host.cpu.irq", "host.cpu.softirq"), 0)


def a_cluster(*, seconds: float = 70, **busy: float) -> Run:
    """Nodes by name, each so many % of its two CPUs busy from 30 s to 60 s, else 5 %; kept as judged."""
    clock = np.arange(0.0, seconds + 1)
    at_work = (clock > 30) & (clock <= 60)
    nodes = []
    for place, (name, share) in enumerate(busy.items()):
        used = np.cumsum(np.where(at_work, share, 5.0) / 50)
        counters = {"host.cpu.user": used, "host.cpu.idle": 2 * clock - used}
        nodes.append(a_node(name, clock, counters, IDLE, role="reader" if place else "writer"))
    run = a_sampled_run(nodes, {"client.throughput": 500.0}, measured_to=seconds - 10)
    panels.judge(run_id=run.pk)
    return run


def part(client: Client, run: Run, address: str = "", **query: str) -> str:
    answer = client.get(f"/runs/{run.pk}/use/{address}", query, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return squeezed(answer.content.decode())


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_the_answer_names_what_is_saturated_where_and_with_its_evidence(client: Client) -> None:
    page = part(client, a_cluster(g1=20.0, g2=99.0))
    answer = text(page.partition('class="use-answer"')[2].partition("</div>")[0])
    assert "saturated CPU on g2: busy" in answer
    assert "(at least 95 % for 30 s of 1 min" in answer


def test_without_trouble_it_says_so_and_how_many_resources_were_seen(client: Client) -> None:
    answer = text(part(client, a_cluster(g1=20.0)).partition("use-answer")[2])
    assert "No resource is saturated." in answer
    assert re.search(r"\d+ (other )?resources? had room", answer)


def test_the_whole_is_told_and_every_node_below_it(client: Client) -> None:
    page = part(client, a_cluster(g1=20.0, g2=99.0))
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page)
    [whole] = [row for row in rows if '<th scope="row"> CPU' in row]
    assert "busy, g2" in whole
    of = {name: next(row for row in rows if f"CPU on </span>{name} " in row) for name in ("g1", "g2")}
    assert "level--ok" in of["g1"]
    assert "level--saturated" in of["g2"]
    assert "<svg" in of["g1"]


def test_quiet_resources_are_folded_beside_those_that_are_not(client: Client) -> None:
    page = part(client, a_cluster(g1=99.0))
    assert '<tr> <th scope="row"> CPU' in page
    assert "<tr data-quiet>" in page
    calm = part(client, a_cluster(g1=20.0))
    if "level--watch" not in calm:
        assert "<tr data-quiet>" not in calm


def test_a_value_opens_its_reading_with_evidence_formula_limits_and_what_else_is_known(client: Client) -> None:
    run = a_cluster(g1=20.0, g2=99.0)
    opened = part(client, run, "cpu.busy@g2/")
    words = text(opened)
    assert "CPU on g2: busy" in words
    assert "30 s to 1 min" in words
    assert "derived.cpu.busy = " in words
    assert "watch from" in words
    assert "Systems Performance" in words
    assert 'data-metrics="derived.cpu.busy"' in opened
    assert "cpu.busy@g1" in opened


def test_an_address_opens_the_panel_with_a_reading_and_one_that_there_is_not_opens_none(client: Client) -> None:
    run = a_cluster(g1=99.0)
    assert 'data-key="cpu.busy@g1"' in part(client, run, use="cpu.busy@g1")
    assert "data-key" not in part(client, run, use="gone@g1")
    assert client.get(f"/runs/{run.pk}/use/gone@g1/", headers={"HX-Request": "true"}).status_code == 404
    assert client.get("/runs/999999/use/").status_code == 404


def test_by_itself_it_is_a_whole_page_without_a_chart_that_nothing_draws(client: Client) -> None:
    run = a_cluster(g1=99.0)
    page = client.get(f"/runs/{run.pk}/use/cpu.busy@g1/").content.decode()
    assert "<h1>What limits run" in page
    assert "data-metrics" not in page


def test_the_runs_page_fetches_it_when_it_comes_into_view(client: Client) -> None:
    run = a_cluster(g1=99.0)
    page = client.get(f"/runs/{run.pk}/?use=cpu.busy@g1").content.decode()
    request = f'hx-get="/runs/{run.pk}/use/?use=cpu.busy%40g1"'
    assert f'hx-trigger="revealed" hx-swap="outerHTML" {request}>' in squeezed(page)
    assert 'hx-trigger="every 5s"' not in part(client, run)


def test_a_run_that_nobody_sampled_says_what_would_help(client: Client) -> None:
    assert "An <a href" in part(client, a_run(state=Run.State.SEALED))


def test_a_live_run_is_judged_again_every_few_seconds(client: Client) -> None:
    page = part(client, an_open_run())
    assert 'hx-trigger="every 5s"' in page


def test_it_asks_as_little_of_the_database_for_many_nodes_as_for_one(client: Client) -> None:
    def queries(run: Run) -> int:
        with CaptureQueriesContext(connection) as asked:
            part(client, run)
        return len(asked)

    assert queries(a_cluster(g1=99.0)) == queries(a_cluster(a1=20.0, a2=30.0, a3=99.0)) <= 10


def panel(*readings: tuple[str, str, UseLevel]) -> Panel:
    found = [Reading(indicator, node, level, 1.0, "words") for indicator, node, level in readings]
    return Panel((0.0, 60.0), tuple(dict.fromkeys((node, "") for _, node, _ in readings)), tuple(found))


def laid(*readings: tuple[str, str, UseLevel]) -> Any:
    return use_method_panel.lay_out(panel(*readings), run="/runs/1/", sparks={})


def test_in_a_layer_the_worst_resource_comes_first() -> None:
    found = laid(("cpu.busy", "g1", UseLevel.OK), ("memory.used", "g1", UseLevel.WATCH))
    assert [row.resource.key for row in found.layers[0].rows] == ["memory", "cpu"]


def test_a_load_generator_at_its_limit_is_said_apart() -> None:
    generator = next(one for one in INDICATORS.values() if RESOURCE_OF[one.key].layer == "client")
    assert laid((generator.key, "client", UseLevel.SATURATED)).answer.client
    assert not laid((generator.key, "client", UseLevel.WATCH)).answer.client
