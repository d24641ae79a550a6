"""Work per transaction over runs, held against the samples of real servers."""

from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import System
from apps.comparison import compare
from apps.comparison.sections.serialisation import from_json, to_json
from apps.comparison.sections.work import SECTION, ComparedWork, work_of
from apps.comparison.values import Comparison
from apps.runs.samples.columns import SampledNode
from tests.comparison.sampled import a_node, a_sampled_run
from tests.support import recorded
from tests.support.builders import START, a_load_level, a_system, a_workload

pytestmark = pytest.mark.django_db
TPS = "client.throughput"
STATUS = "mysql.status."
KEYS = (
    *(STATUS + name for name in ("Innodb_os_log_written", "Innodb_data_fsyncs", "Handler_read_key", "Questions")),
    *("process.cpu.user", "process.cpu.system", "host.context_switches", "host.cpu.user", "host.cpu.idle"),
    *(STATUS + "Handler_read_next", "host.disk.vda.write_bytes", STATUS + "wsrep_replicated_bytes"),
)


def part_of(node: SampledNode, *, role: str = "writer") -> SampledNode:
    """A recorded node's counters that these tests look at."""
    changing = {key: node.changing[key] for key in KEYS if key in node.changing}
    constants = {key: node.constants[key] for key in KEYS if key in node.constants}
    return SampledNode(node.name, role, node.clock, changing, constants)


def a_redo_run(system: System, per_transaction: float, number: int, *, threads: int = 4, written: float = 0) -> None:
    """1,000 transactions/s, each of so many bytes of redo log; `written` more bytes from disks."""
    clock = np.arange(61.0)
    counters = {STATUS + "Innodb_os_log_written": (clock * 1000 * per_transaction).astype(np.int64)}
    if written:
        counters[STATUS + "Innodb_buffer_pool_reads"] = (clock * 1000 * written).astype(np.int64)
    still = {} if written else {STATUS + "Innodb_buffer_pool_reads": 5}
    a_sampled_run(
        [a_node("db1", clock, counters, {STATUS + "Threads_running": 3, **still})],
        {TPS: 1000.0},
        system=system,
        load_level=a_load_level(threads),
        repetition=number + 1,
        started_at=START + timedelta(minutes=number),
    )


def compared(*slugs: str) -> Comparison:
    return compare.compare(sides=slugs or ("a", "b"), workload_id=a_workload().pk)


def first(comparison: Comparison) -> ComparedWork:
    found = work_of(comparison)
    assert found
    return found[0]


def test_a_cluster_s_work_is_what_its_recorded_counters_say() -> None:
    """Recomputed here from the samples themselves."""
    nodes = [part_of(recorded.nodes()[name]) for name in ("g1", "g2", "g3")]
    for slug in ("a", "b"):
        a_sampled_run(
            nodes, {TPS: 250.0}, system=a_system(slug), load_level=a_load_level(4), measured_from=20, measured_to=80
        )
    work = first(compared())
    values = {cell.metric: cell.replicates[0].value for cell in work.cells if cell.side == "a"}

    def rate(node: SampledNode, key: str) -> float:
        inside = [(t, v) for t, v in zip(node.clock, node.changing[key].values.tolist(), strict=True)]
        middles = [(t0 + t1) / 2 for (t0, _), (t1, _) in pairwise(inside)]
        chosen = [place for place, middle in enumerate(middles) if 20 <= middle < 80]
        (t0, v0), (t1, v1) = inside[chosen[0]], inside[chosen[-1] + 1]
        return float(v1 - v0) / float(t1 - t0)

    redo = [rate(node, STATUS + "Innodb_os_log_written") / 250 for node in nodes]
    assert values["work.redo"] == pytest.approx(sum(redo))
    of_nodes = {each.node: each.value for each in work.nodes if (each.side, each.metric) == ("a", "work.redo")}
    assert of_nodes == {node.name: pytest.approx(value) for node, value in zip(nodes, redo, strict=True)}
    switches = [rate(node, "host.context_switches") / 250 for node in nodes]
    assert values["work.cpu.switches"] == pytest.approx(np.mean(switches))  # three nodes on one machine


def test_less_work_for_a_transaction_is_better_with_its_interval() -> None:
    for slug, typical in (("a", 2000.0), ("b", 1000.0)):
        system = a_system(slug)
        for number in range(4):
            a_redo_run(system, typical * (1 + 0.01 * number), number)
    work = first(compared())
    cell = next(cell for cell in work.cells if (cell.side, cell.metric) == ("b", "work.redo"))
    assert cell.ratio is not None
    assert cell.ratio.value == pytest.approx(0.5)
    assert cell.ratio.low is not None
    assert cell.ratio.high is not None
    assert cell.ratio.low < 0.5 < cell.ratio.high < 0.55
    assert cell.words == "better"


def test_what_one_side_never_did_is_judged_by_the_order_of_the_runs() -> None:
    for slug, written in (("a", 0.0), ("b", 0.5)):
        system = a_system(slug)
        for number in range(6):
            a_redo_run(system, 1000.0 + number, number, written=written and written + 0.1 * number)
    work = first(compared())
    cell = next(cell for cell in work.cells if (cell.side, cell.metric) == ("b", "work.innodb.missed"))
    assert cell.ratio is not None
    assert (cell.words, cell.ratio.value) == ("worse", None)


def test_sides_that_change_places_turn_every_verdict() -> None:
    for slug, typical in (("a", 2000.0), ("b", 1000.0)):
        system = a_system(slug)
        for number in range(4):
            a_redo_run(system, typical * (1 + 0.01 * number), number)
    words = []
    for slugs in (("a", "b"), ("b", "a")):
        work = first(compared(*slugs))
        words.append(next(each.words for each in work.cells if (each.side, each.metric) == (slugs[1], "work.redo")))
    assert words == ["better", "worse"]


def test_what_is_not_observed_is_said_with_its_reason() -> None:
    for slug in ("a", "b"):
        a_redo_run(a_system(slug), 1000.0, 0)
    work = first(compared())
    missing = {(each.side, each.metric): each.reason for each in work.not_observed}
    assert missing["b", "work.cpu.server"] == "not counted by any node, or not readable by the agent"
    assert "work.cpu.server" not in {metric.key for metric in work.metrics}


def test_runs_without_a_count_of_their_work_are_said() -> None:
    a = a_system("a")
    a_redo_run(a, 1000.0, 0)
    a_redo_run(a_system("b"), 1000.0, 0)
    a_sampled_run([], {TPS: 1000.0}, system=a, load_level=a_load_level(4))
    assert first(compared()).notes == (
        "1 run of a without counters or without a count of its transactions: left out of the work.",
    )


def test_without_counters_there_is_nothing_to_show() -> None:
    for slug in ("a", "b"):
        a_sampled_run([], {TPS: 1000.0}, system=a_system(slug), load_level=a_load_level(4))
    assert work_of(compared()) == ()


def test_it_asks_as_often_for_many_runs_as_for_few_and_is_kept_as_it_was() -> None:
    a, b = a_system("a"), a_system("b")
    for system in (a, b):
        a_redo_run(system, 1000.0, 0)
    asked = []
    for _ in range(2):
        comparison = compared()
        with CaptureQueriesContext(connection) as queried:
            found = work_of(comparison)
        asked.append(len(queried))
        assert from_json(to_json(found), SECTION.kind) == found
        for number in range(1, 5):
            a_redo_run(a, 1000.0 + number, number, threads=8)
    assert asked == [4, 4]
