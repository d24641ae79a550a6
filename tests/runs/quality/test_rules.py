"""Single rules on values made for them."""

from dataclasses import replace

import numpy as np
import pytest

from apps.runs.quality import documentation
from apps.runs.quality.checklist import CHECKS, title_of
from apps.runs.quality.rules import errors, generator, network, noisy_neighbours, work_done
from apps.runs.quality.values import (
    CANNOT_TELL,
    FAILED,
    PASSED,
    QUESTIONS,
    QualityFacts,
    QualityNode,
    Stat,
    ToolCheck,
    ToolError,
)
from tests.paths import DOCS
from workers.protocol.workloads import WORKLOADS

PAGE = DOCS / "reference" / "quality-checks.md"
CLOCK = np.arange(0.0, 101.0)


def a_node(name: str = "db1", **more: object) -> QualityNode:
    stats = {key: Stat(float(value)) for key, value in dict(more.pop("stats", {})).items()}  # type: ignore[call-overload]
    return QualityNode(name=name, role="writer", clock=CLOCK, stats=stats, **more)  # type: ignore[arg-type]


def facts(*nodes: QualityNode, **headlines: float) -> QualityFacts:
    named = {f"client.{name}": value for name, value in headlines.items()}
    return QualityFacts(tool="sysbench", measured=(0.0, 100.0), headlines=named, nodes=nodes)


def test_what_the_agent_itself_asked_is_not_the_clients_work() -> None:
    node = a_node(stats={QUESTIONS: 1000, "agent.statements": 400})
    assert work_done.check(facts(node, queries=1000)).status == FAILED
    assert work_done.check(facts(node, queries=600)).status == PASSED


def test_replicas_that_insert_the_same_rows_once_more_are_no_proof_of_more_work() -> None:
    inserted = "mysql.status.Innodb_rows_inserted"
    nodes = [a_node(name, stats={QUESTIONS: 10, inserted: 500}) for name in ("db1", "db2", "db3")]
    assert work_done.check(facts(*nodes, rows=1400, throughput=5)).status == FAILED
    assert work_done.check(facts(*nodes, rows=500, throughput=5)).status == PASSED


def test_writes_that_replicas_count_once_more_are_not_taken_for_writes_that_matched_nothing() -> None:
    inserted = {QUESTIONS: 1000, "mysql.status.Com_insert": 500}
    nodes = [a_node(name, stats=inserted) for name in ("db1", "db2", "db3")]
    found = work_done.check(facts(*nodes, queries=1000, writes=500))
    assert (found.status, "500.0 writes/s by the client, 500.0 by the servers" in found.evidence) == (PASSED, True)


def test_updates_that_match_no_row_did_not_happen() -> None:
    node = a_node(stats={QUESTIONS: 1000, "mysql.status.Com_update": 500})
    found = work_done.check(facts(node, queries=1000, writes=60))
    assert (found.status, "Only 12" in found.evidence) == (FAILED, True)


def test_a_machine_benchmark_has_nothing_to_be_counted_twice() -> None:
    assert work_done.check(replace(facts(), has_database=False)).status == CANNOT_TELL


@pytest.mark.parametrize(("share", "status"), [(0.0, PASSED), (0.009, PASSED), (0.02, FAILED)])
def test_one_failing_attempt_in_a_hundred_is_the_limit(share: float, status: str) -> None:
    assert errors.check(facts(throughput=1000 * (1 - share), errors=1000 * share)).status == status


def test_one_lost_connection_is_enough_but_a_deadlock_is_not() -> None:
    quiet = facts(throughput=1000, errors=0)
    assert errors.check(replace(quiet, complaints=(ToolError("error 1213: Deadlock found", 1),))).status == PASSED
    assert errors.check(replace(quiet, complaints=(ToolError("returned error 2013 (Lost …)", 1),))).status == FAILED


def test_errors_are_the_subject_of_a_failover() -> None:
    assert WORKLOADS["failover"].faults
    assert errors.check(replace(facts(throughput=1, errors=99), faults=True)).status == PASSED


def test_a_second_generator_at_the_end_of_its_one_cpu_was_the_limit() -> None:
    assert generator.check(facts(cpu=0.97)).status == FAILED
    assert generator.check(facts(cpu=0.5)).status == PASSED
    assert generator.check(facts()).status == CANNOT_TELL


def test_a_generator_that_begins_late_measures_itself() -> None:
    late = {"latency.avg": 10.0, "schedule_lag": 2.0}
    assert generator.check(facts(**late, cpu=0.5)).status == FAILED


def test_nodes_of_one_machine_are_not_each_others_neighbours() -> None:
    own = {generator.BUSY: 95.0, generator.CPUS: 1.0, generator.SERVER: 0.3, noisy_neighbours.STEAL: 0.0}
    names = ("db1", "db2", "db3")
    together = facts(*(a_node(name, stats=own, apart=True) for name in names))
    assert noisy_neighbours.check(together).status == PASSED
    alone = facts(*(a_node(name, stats=own, apart=True, host=name) for name in names))
    assert noisy_neighbours.check(alone).status == FAILED
    with_others = facts(a_node("db1", stats=own, apart=True), a_node("db2", stats=own, apart=True))
    assert "took 0.350 of 1 CPUs on the host of db1, db2" in plainly(noisy_neighbours.check(with_others).evidence)


def on_one_host(*, tool: float, server: float, busy: float = 99.0, **more: float) -> tuple[QualityNode, QualityNode]:
    """A server and the agent on one host of two CPUs; the rest of what is busy is others'."""
    host = {generator.BUSY: busy, generator.CPUS: 2.0, generator.SERVER: server, noisy_neighbours.STEAL: 0.0}
    own = {generator.TOOL_CPU: tool, generator.ITSELF: 0.05, **more}
    return a_node(stats=host), a_node("agent", stats=own)


def test_a_generator_on_the_servers_host_is_judged_by_what_it_took_itself() -> None:
    taken = [generator.check(facts(*on_one_host(tool=tool, server=1.9 - tool))).status for tool in (0.6, 1.2)]
    assert taken == [PASSED, FAILED]


def test_what_neither_database_nor_load_took_of_a_shared_host_is_the_neighbours() -> None:
    assert noisy_neighbours.check(facts(*on_one_host(tool=0.6, server=1.3))).status == PASSED
    crowded = replace(facts(*on_one_host(tool=0.4, server=0.7)), neighbours={"mysqldump": 0.81, "cron": 0.02})
    found = noisy_neighbours.check(crowded)
    assert found.status == FAILED
    assert "took 0.830 of 2 CPUs on the host of db1 (mysqldump 0.810 and cron 0.0200)" in plainly(found.evidence)
    assert generator.check(crowded).status == PASSED


def test_a_generator_held_back_by_its_quota_or_busy_with_itself_was_the_limit() -> None:
    throttled = {generator.PERIODS: 10.0, generator.THROTTLED: 4.0}
    found = generator.check(facts(*on_one_host(tool=0.1, server=0.3, busy=30.0, **throttled)))
    assert (found.status, "used up in 40 % of the periods" in plainly(found.evidence)) == (FAILED, True)
    alone = replace(facts(*on_one_host(tool=0.95, server=0.3, busy=60.0)), threads=1)
    assert generator.check(alone).status == FAILED
    assert generator.check(replace(alone, threads=16)).status == PASSED


def test_what_others_wrote_is_not_taken_for_writes_that_matched_nothing() -> None:
    node = a_node(stats={QUESTIONS: 3000, "mysql.status.Com_update": 2000})
    found = work_done.check(facts(node, queries=1000, writes=500))
    assert found.status == PASSED
    assert noisy_neighbours.check(facts(node, queries=1000, writes=500, throughput=50)).status == FAILED


def test_a_storm_of_connections_of_ones_own_is_no_neighbour() -> None:
    # 100 transactions/s of 5 statements, each on a connection of its own, whose end is counted as one more.
    node = a_node(stats={QUESTIONS: 600, noisy_neighbours.STEAL: 0.0})
    storm = {"queries": 500.0, "throughput": 100.0}
    assert noisy_neighbours.check(facts(node, **storm, **{"connections.opened": 10_000.0})).status == PASSED
    crowd = a_node(stats={QUESTIONS: 900, noisy_neighbours.STEAL: 0.0})
    assert noisy_neighbours.check(facts(crowd, **storm, **{"connections.opened": 10_000.0})).status == FAILED


def plainly(text: str) -> str:
    return text.replace("\xa0", " ")


def test_a_full_link_is_the_limit_and_an_unknown_one_cannot_be_judged() -> None:
    flow = {f"host.net.eth0.{key}": 115e6 for key in ("rx_bytes", "tx_bytes")}
    assert network.check(facts(a_node(stats=flow, bandwidth=1e9))).status == FAILED
    assert network.check(facts(a_node(stats=flow, bandwidth=10e9))).status == PASSED
    assert network.check(facts(a_node(stats=flow))).status == CANNOT_TELL


def test_what_others_send_over_the_loopback_does_not_hide_what_a_network_loses() -> None:
    counted = {"host.net.splash0.rx_packets": 1051, "host.net.splash0.tx_packets": 696, "host.tcp.retransmits": 41}
    beside = {"host.net.lo.rx_packets": 10_400, "host.net.lo.tx_packets": 10_400}
    bytes_of = {"host.net.splash0.rx_bytes": 990_000, "mysql.status.Bytes_sent": 950_000}
    found = network.check(facts(a_node(stats=counted | beside | bytes_of, bandwidth=50e6)))
    assert (found.status, round(found.detail["lost"], 3)) == (FAILED, 0.023)


def test_a_tools_own_broken_claim_is_reported() -> None:
    found = CHECKS["told"].rule(
        replace(facts(), claims=(ToolCheck("rows are all there", False), ToolCheck("no gap", True)))
    )
    assert (found.status, "rows are all there" in found.evidence) == (FAILED, True)


def test_every_check_stands_in_the_documentation_with_its_limits() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == documentation.with_entries(text), "run manage.py write_quality_checks"


def test_a_check_that_is_no_more_is_named_by_its_key() -> None:
    assert (title_of("steady"), title_of("of-before")) == ("steady state", "of-before")
