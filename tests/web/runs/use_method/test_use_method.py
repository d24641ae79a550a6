"""What limits a run, on its page."""

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
from tests.support.pages import data, element, elements, states, text

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
    content: str = answer.content.decode()
    return content


def test_the_answer_names_what_is_saturated_where_and_with_its_evidence(client: Client) -> None:
    page = part(client, a_cluster(g1=20.0, g2=99.0))
    (saturated,) = elements(page, ".use-answer [data-use-level=saturated]")
    (use,) = saturated.css("[data-use]")
    assert use.attributes["data-use"] == "cpu.busy@g2"
    evidence = (use.attributes["title"] or "").replace("\xa0", " ")
    assert evidence.startswith("at least 95 % for 30 s of 1 min")
    assert f"({evidence})" in " ".join(saturated.text().split())


def test_without_trouble_the_answer_counts_the_resources_with_room_and_names_those_not_monitored(
    client: Client,
) -> None:
    page = part(client, a_cluster(g1=20.0))
    ((room, unseen),) = states(page, ".use-answer", "room", "unseen")
    assert int(room or "") > 0
    assert int(unseen or "") > 0
    assert not elements(page, ".use-answer [data-state=unsaturated]")
    assert f" {unseen} of " in text(page, ".use-answer [data-state=partly-monitored]")
    assert "memory" in text(page, ".use-answer [data-not-monitored]")
    assert room in text(page, ".use-answer > .small").split()


@pytest.mark.parametrize(
    ("readings", "state"),
    [
        ([("cpu.busy", "g1", UseLevel.OK), ("memory.used", "g1", UseLevel.WATCH)], "unsaturated"),
        ([("cpu.busy", "g1", UseLevel.OK), ("memory.used", "g1", UseLevel.NOT_OBSERVABLE)], "partly-monitored"),
        ([("cpu.busy", "g1", UseLevel.NOT_OBSERVABLE)], "not-monitored"),
        ([("client.host", "client", UseLevel.OK), ("cpu.busy", "g1", UseLevel.NOT_OBSERVABLE)], "not-monitored"),
        ([("cpu.busy", "g1", UseLevel.SATURATED), ("memory.used", "g1", UseLevel.NOT_OBSERVABLE)], ""),
    ],
)
def test_only_what_was_monitored_is_called_unsaturated(readings: list[tuple[str, str, UseLevel]], state: str) -> None:
    answer = laid(*readings).answer
    assert answer.state == state
    assert bool(answer.headline) == bool(state)


def test_room_is_claimed_as_far_as_a_resource_was_monitored() -> None:
    """Of the memory only its use was seen, not whether pages were swapped."""
    answer = laid(
        ("cpu.busy", "g1", UseLevel.OK),
        ("memory.used", "g1", UseLevel.OK),
        ("memory.swapping", "g1", UseLevel.NOT_OBSERVABLE),
    ).answer
    assert (answer.quiet, answer.partly) == (2, 1)


def test_the_whole_is_shown_and_every_node_below_it(client: Client) -> None:
    page = part(client, a_cluster(g1=20.0, g2=99.0))
    whole = "tr[data-resource=cpu]:not([data-node])"
    assert elements(page, f"{whole} [data-use-level=saturated] [data-use='cpu.busy@g2']")
    assert elements(page, "tr[data-resource=cpu][data-node=g1] [data-use-level=ok] [data-use='cpu.busy@g1']")
    assert elements(page, "tr[data-resource=cpu][data-node=g2] [data-use-level=saturated] [data-use='cpu.busy@g2']")
    assert elements(page, "tr[data-resource=cpu][data-node=g1] svg")


def test_quiet_resources_are_folded_beside_those_that_are_not(client: Client) -> None:
    page = part(client, a_cluster(g1=99.0))
    folded = "tr[data-resource]:not([data-node])[data-quiet]"
    assert states(page, "tr[data-resource=cpu]:not([data-node])", "quiet") == [(None,)]
    assert elements(page, folded)
    calm = part(client, a_cluster(g1=20.0))
    assert not elements(calm, ".level--watch, .level--saturated")
    assert not elements(calm, folded)


def test_a_value_opens_its_reading_with_evidence_formula_limits_and_what_else_is_known(client: Client) -> None:
    run = a_cluster(g1=20.0, g2=99.0)
    opened = part(client, run, "cpu.busy@g2/")
    indicator = INDICATORS["cpu.busy"]
    assert data(opened, "key") == ["cpu.busy@g2"]
    assert "g2" in text(opened, "#use-opened-title")
    assert text(opened, "[data-zoom]") == "30 s to 1 min"
    assert text(opened, "[data-counters]").startswith("derived.cpu.busy = ")
    assert text(opened, "[data-formula]") == indicator.formula
    assert text(opened, "[data-limits]") == " ".join(indicator.limits.split())
    assert text(opened, "[data-literature]") == indicator.literature
    assert data(opened, "metrics") == ["derived.cpu.busy"]
    assert "cpu.busy@g1" in data(opened, "use")


def test_an_address_opens_the_panel_with_a_reading_and_one_that_there_is_not_opens_none(client: Client) -> None:
    run = a_cluster(g1=99.0)
    assert data(part(client, run, use="cpu.busy@g1"), "key") == ["cpu.busy@g1"]
    assert not data(part(client, run, use="gone@g1"), "key")
    assert client.get(f"/runs/{run.pk}/use/gone@g1/", headers={"HX-Request": "true"}).status_code == 404
    assert client.get("/runs/999999/use/").status_code == 404


def test_by_itself_it_is_a_whole_page_without_a_chart_that_nothing_draws(client: Client) -> None:
    run = a_cluster(g1=99.0)
    page = client.get(f"/runs/{run.pk}/use/cpu.busy@g1/").content.decode()
    assert str(run.pk) in text(page, "h1")
    assert data(page, "key") == ["cpu.busy@g1"]
    assert not data(page, "metrics")


def test_the_runs_page_fetches_it_at_once(client: Client) -> None:
    run = a_cluster(g1=99.0)
    page = client.get(f"/runs/{run.pk}/?use=cpu.busy@g1").content.decode()
    panel = element(page, "#use-panel").attributes
    assert (panel["hx-get"], panel["hx-trigger"]) == (f"/runs/{run.pk}/use/?use=cpu.busy%40g1", "load")
    assert panel["hx-swap"] == "outerHTML"
    assert not elements(part(client, run), "[hx-trigger='every 5s']")


def test_a_run_that_nobody_sampled_says_what_would_help(client: Client) -> None:
    assert elements(part(client, a_run(state=Run.State.SEALED)), "[data-state=not-monitored] a[href='/agents/']")


def test_a_live_run_is_judged_again_every_few_seconds(client: Client) -> None:
    page = part(client, an_open_run())
    assert element(page, "#use-panel").attributes["hx-trigger"] == "every 5s"


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
