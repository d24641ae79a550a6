"""CPU, memory and network of a machine, and the load generator beside it or apart."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from apps.use_method import engine
from apps.use_method.resources import client, cpu, memory, network
from apps.use_method.values import MetricSamples, NodeFacts, Reading, RunFacts, UseLevel
from tests.use_method.builders import a_node, facts, reading, samples, steady

BUSY, RUNNING = "derived.cpu.busy", "derived.threads.running_per_cpu"
RESOURCES = [cpu.RESOURCE, memory.RESOURCE, network.RESOURCE, client.RESOURCE]


def reading_of(indicator: str, found: RunFacts, node: str = "db1") -> Reading:
    return reading(engine.panel(found, RESOURCES), indicator, node)


def of(series: Mapping[str, float | MetricSamples], **more: Any) -> NodeFacts:
    held = {key: one if isinstance(one, MetricSamples) else steady(one) for key, one in series.items()}
    return a_node(series=held, **more)


def a_client(series: Mapping[str, float | MetricSamples]) -> NodeFacts:
    held = {key: one if isinstance(one, MetricSamples) else steady(one) for key, one in series.items()}
    return NodeFacts("client", "client", held)


# ---------------------------------------------------------------- CPU


def test_threads_that_run_while_the_cpus_have_room_wait_for_something_else() -> None:
    found = reading_of("cpu.threads_running", facts(of({BUSY: 12.0, RUNNING: 8.0})))
    assert (found.level, found.value) == (UseLevel.OK, 8.0)
    assert "they wait for something else" in found.words
    assert reading_of("cpu.threads_running", facts(of({BUSY: 99.0, RUNNING: 8.0}))).level is UseLevel.SATURATED


def test_threads_and_cpu_count_together_by_the_second() -> None:
    busy = samples([99.0] * 30 + [10.0] * 30)
    running = samples([1.0] * 30 + [9.0] * 30)
    assert reading_of("cpu.threads_running", facts(of({BUSY: busy, RUNNING: running}))).level is UseLevel.OK
    swapped = samples([9.0] * 30 + [1.0] * 30)
    found = reading_of("cpu.threads_running", facts(of({BUSY: busy, RUNNING: swapped})))
    assert (found.level, found.spans) == (UseLevel.SATURATED, ((0.0, 30.0),))


def test_threads_of_replication_and_of_the_sampler_are_no_statements_that_share_the_cpus() -> None:
    source = {"mysql.status.Slaves_connected": 2.0}
    replica = {"mysql.replication.io_running": 1.0, "mysql.replication.sql_running": 1.0}
    for own in (source, replica):
        # Seven threads run on two CPUs, four of them for clients.
        found = reading_of("cpu.threads_running", facts(of({BUSY: 99.0, RUNNING: 3.5, "host.cpus": 2.0} | own)))
        assert (found.level, found.value) == (UseLevel.WATCH, 2.0)


def test_a_second_task_for_each_cpu_is_a_queue_and_stolen_time_is_reported() -> None:
    found = facts(
        of(
            {
                BUSY: 99.0,
                "derived.cpu.runnable": 2.5,
                "host.cpus": 2.0,
                "derived.cpu.steal": 4.0,
                "derived.cpu.pressure": 71.0,
            }
        )
    )
    queue = reading_of("cpu.run_queue", found)
    assert (queue.level, queue.value) == (UseLevel.SATURATED, 2.0)  # without the sampler itself
    assert reading_of("cpu.steal", found).level is UseLevel.WATCH
    assert reading_of("cpu.pressure", found).level is UseLevel.SATURATED


def test_tasks_that_wake_together_on_cpus_with_room_are_no_queue() -> None:
    quiet = {BUSY: 20.0, "derived.cpu.runnable": 4.0, "host.cpus": 2.0, "derived.cpu.pressure": 10.0}
    found = reading_of("cpu.run_queue", facts(of(quiet)))
    assert (found.level, found.value) == (UseLevel.OK, 3.5)
    assert "the CPUs had room" in found.words


def test_the_busy_time_says_how_much_of_it_the_server_took() -> None:
    found = reading_of("cpu.busy", facts(of({BUSY: 97.0, "derived.cpu.server_share": 31.0})))
    assert found.words.endswith("the server took 31 of 97 %")


def test_aurora_shows_its_cpu_by_the_minute_and_no_run_queue() -> None:
    minutes = MetricSamples(np.array([60.0, 120.0, 180.0]), np.array([97.0, 98.0, 99.0]))
    found = facts(of({"aws.rds.CPUUtilization": minutes}), aws="cluster")
    assert reading_of("cpu.busy", found).level is UseLevel.SATURATED
    assert "AWS shows its guests" in reading_of("cpu.run_queue", found).words


# ---------------------------------------------------------------- memory


def test_swapping_is_reported_as_soon_as_it_goes_on_and_no_swap_is_no_trouble() -> None:
    found = facts(of({"derived.memory.swapping": 250.0, "host.memory.SwapTotal": 0.0}))
    assert reading_of("memory.swapping", found).level is UseLevel.SATURATED
    assert reading_of("memory.swap", found).words == "the machine has no swap"
    assert reading_of("memory.pressure", found).level is UseLevel.NOT_OBSERVABLE


def test_a_process_killed_for_want_of_memory_is_an_error_at_its_second() -> None:
    found = reading_of("memory.killed", facts(of({"host.vmstat.oom_kill": samples([0.0] * 20 + [1.0] + [0.0] * 20)})))
    assert (found.level, found.value, found.spans) == (UseLevel.ERROR, 1.0, ((20.0, 21.0),))


# ---------------------------------------------------------------- network


def net(name: str, received: float, sent: float) -> dict[str, float | MetricSamples]:
    return {f"host.net.{name}.rx_bytes": received, f"host.net.{name}.tx_bytes": sent}


def test_the_bandwidth_is_that_of_the_busier_way_and_the_loopback_has_none() -> None:
    series = {**net("lo", 9e9, 9e9), **net("eth0", 2e6, 115e6), **net("eth1", 0.0, 0.0)}
    known = of(series, hardware_network=1e9, hardware_class="small")
    found = reading_of("network.bandwidth", facts(known))
    assert (found.level, found.metric) == (UseLevel.SATURATED, "host.net.eth0.tx_bytes")
    assert found.value == pytest.approx(92.0)
    assert reading_of("network.loopback", facts(known)).level is UseLevel.OK
    unknown = facts(of(series))
    assert "states no bandwidth" in reading_of("network.bandwidth", unknown).words
    assert reading_of("network.bytes", unknown).value == pytest.approx(115e6)


def test_packets_sent_again_count_where_there_are_packets() -> None:
    def lost(packets: float) -> UseLevel:
        series = {"derived.net.sent_again": 3.0, "host.net.eth0.tx_packets": packets, "host.net.eth0.rx_packets": 0.0}
        return reading_of("network.sent_again", facts(of(series))).level

    assert lost(20_000.0) is UseLevel.SATURATED
    assert lost(30.0) is UseLevel.OK


def test_what_is_sent_again_over_the_loopback_is_for_want_of_a_cpu() -> None:
    series = {"derived.net.sent_again": 3.0, "host.net.lo.tx_packets": 90_000.0, "host.net.eth0.tx_packets": 50.0}
    found = reading_of("network.sent_again", facts(of(series)))
    assert found.level is UseLevel.WATCH
    assert "a task without CPU" in found.words


def test_a_segment_that_only_tcp_refuses_is_no_damaged_packet() -> None:
    found = reading_of("network.errors", facts(of({"host.tcp.errors": samples([0.0] * 10 + [4.0] * 2)})))
    assert (found.level, found.value) == (UseLevel.WATCH, 8.0)


def test_damaged_packets_are_an_error_of_their_interface() -> None:
    series = {"host.net.eth0.rx_errors": samples([0.0] * 10 + [4.0] * 2), "host.tcp.errors": steady(0.0, seconds=12)}
    found = reading_of("network.errors", facts(of(series)))
    assert (found.level, found.value, found.metric) == (UseLevel.ERROR, 8.0, "host.net.eth0.rx_errors")


# ---------------------------------------------------------------- load generator


def test_a_generator_on_a_busy_machine_of_its_own_is_the_limit() -> None:
    found = facts(
        of({BUSY: 20.0}, apart=True), client=a_client({BUSY: 96.0, "derived.cpu.runnable": 3.0, "host.cpus": 4.0})
    )
    assert reading_of("client.host", found, "client").level is UseLevel.SATURATED
    assert reading_of("client.run_queue", found, "client").level is UseLevel.SATURATED
    assert reading_of("client.shared", found, "client").words == "it has a machine of its own"


def test_a_generator_on_the_servers_machine_says_what_it_takes_and_is_not_called_the_limit() -> None:
    machine = {BUSY: 98.0, "host.cpus": 2.0}
    nodes = [
        NodeFacts(
            name, "reader", {key: steady(value) for key, value in {**machine, "derived.cpu.server": used}.items()}
        )
        for name, used in (("g1", 0.4), ("g2", 0.3))
    ]
    found = facts(*nodes, client=a_client({"agent.cpu.seconds": 0.06}))
    shared = reading_of("client.shared", found, "client")
    assert shared.level is UseLevel.WATCH
    assert shared.value == pytest.approx(98 - 20 - 15 - 3)
    assert "shares the machine with g1 and g2" in shared.words
    assert "see the CPU of g1" in reading_of("client.host", found, "client").words


def test_of_a_shared_machine_only_what_the_load_tool_took_is_the_generators() -> None:
    machine = {BUSY: 98.0, "host.cpus": 2.0, "derived.cpu.server": 0.5}
    node = NodeFacts("g1", "reader", {key: steady(value) for key, value in machine.items()})
    found = facts(node, client=a_client({"agent.cpu.seconds": 0.06, "agent.tool.cpu.seconds": 0.4}))
    shared = reading_of("client.shared", found, "client")
    assert shared.level is UseLevel.OK
    assert shared.value == pytest.approx(23)


def test_a_queue_with_all_threads_at_work_is_the_servers_and_with_idle_threads_the_generators() -> None:
    def queued(at_work: float) -> Reading:
        series: dict[str, float | MetricSamples] = {"client.queue_length": 40.0, "client.concurrency": at_work}
        return reading_of("client.queue", facts(client=a_client(series), threads=16, rate=500.0), "client")

    assert (queued(16.0).level, queued(5.0).level) == (UseLevel.WATCH, UseLevel.SATURATED)
    assert "the servers did not keep up with the rate" in queued(16.0).words


def test_a_stall_of_the_server_is_not_the_generators_although_its_end_finds_threads_idle() -> None:
    series = {"client.queue_length": samples([0.0] * 6 + [95.0, 180.0, 161.0, 4.0] + [0.0] * 4)}
    series["client.concurrency"] = samples([2.0] * 6 + [8.0, 8.0, 8.0, 5.0] + [1.0] * 4)
    found = facts(client=a_client(series), threads=8, rate=100.0)
    assert reading_of("client.queue", found, "client").level is UseLevel.WATCH


def test_our_single_threaded_client_near_one_cpu_or_late_is_the_limit() -> None:
    headlines = {"client.cpu": 0.97, "client.schedule_lag": 0.6, "client.latency.avg": 3.0}
    found = facts(client=a_client({}), rate=100.0, headlines=headlines)
    assert reading_of("client.thread", found, "client").level is UseLevel.SATURATED
    assert reading_of("client.late", found, "client").value == pytest.approx(20.0)
    unset = facts(client=a_client({}))
    assert "no rate is set" in reading_of("client.late", unset, "client").words


def test_updates_that_match_nothing_are_not_the_load_that_they_are_called() -> None:
    found = reading_of(
        "client.unmatched", facts(client=a_client({"client.unmatched": 66.0, "client.writes": 100.0})), "client"
    )
    assert (found.level, found.value) == (UseLevel.ERROR, 66.0)
