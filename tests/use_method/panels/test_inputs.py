"""Which sampled values belong to the measured phase, and for how long each of them stands."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from apps.runs.models import Run
from apps.runs.samples.columns import SampledNode
from apps.runs.storage import codec
from apps.runs.storage.codec import Number
from apps.use_method import engine
from apps.use_method.panels import inputs
from apps.use_method.values import Panel, Reading
from tests.comparison.sampled import a_sampled_run
from tests.use_method.builders import reading

pytestmark = pytest.mark.django_db
LOST, UPTIME = "mysql.status.Aborted_clients", "mysql.status.Uptime"


def a_server(clock: Sequence[float], series: Mapping[str, Sequence[Number]]) -> SampledNode:
    """None: not observed."""
    columns = {key: codec.column(values) for key, values in series.items()}
    return SampledNode("db1", "writer", np.array(clock), columns, {})


def judged(indicator: str, node: SampledNode) -> Reading:
    """In a run measured from 10 s to 70 s."""
    return reading(panel_of(node), indicator, node.name)


def panel_of(*nodes: SampledNode) -> Panel:
    run = a_sampled_run(nodes, {})
    Run.objects.filter(pk=run.pk).update(measured_from=10.0, measured_to=70.0)
    return engine.panel(inputs.facts(inputs.RELATED.get(pk=run.pk)))


def at_scrapes(key: str, values: Sequence[Number]) -> SampledNode:
    """A server that is scraped every 15 s, at -3, 12, 27, ... 87 s."""
    return a_server(np.arange(-3.0, 88.0, 15.0).tolist(), {key: values})


def test_events_of_the_warm_up_do_not_count_and_those_of_the_last_scrape_do() -> None:
    lost = judged("connections.lost", at_scrapes(LOST, [0, 100, 100, 100, 100, 107, 150]))
    assert (lost.value, lost.words.partition(",")[0].replace("\u00a0", " ")) == (7.0, "7 connections")


def test_a_restart_after_the_phase_is_none_of_the_phase() -> None:
    assert judged("service.restarts", at_scrapes(UPTIME, [10, 25, 40, 55, 70, 5, 20])).value == 0.0
    assert judged("service.restarts", at_scrapes(UPTIME, [10, 25, 40, 55, 5, 20, 35])).value == 1.0


@pytest.mark.parametrize("number", [15, 100])
def test_clients_lost_while_nobody_could_look_are_all_counted(number: int) -> None:
    clock = [float(t) for t in range(80)]
    unseen: list[Number] = [None if 20 <= t < 50 else number * (t >= 50) for t in range(80)]
    lost = judged("connections.lost", a_server(clock, {LOST: unseen, UPTIME: list(range(100, 180))}))
    assert lost.value == number
    assert lost.spans == ((19.0, 50.0),)


def test_a_counter_that_is_scraped_less_often_than_others_of_its_server_is_counted_whole() -> None:
    clock = [float(t) for t in range(0, 91, 5)]
    seldom: list[Number] = [t if t % 15 == 0 else None for t in range(0, 91, 5)]
    lost = judged("connections.lost", a_server(clock, {LOST: seldom, "host.cpu.user": list(range(19))}))
    # One a second; the middles of the intervals from 15 s to 75 s are in the phase.
    assert lost.value == 60.0
