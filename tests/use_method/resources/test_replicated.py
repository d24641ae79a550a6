"""What replicas, Aurora's instances and the proxy say, where nothing was recorded of it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from apps.use_method import engine
from apps.use_method.resources import aurora, galera, group_replication, proxy, replication, service
from apps.use_method.values import MetricSamples, Moment, NodeFacts, Panel, Reading, RunFacts, UseLevel
from tests.use_method.builders import a_node, facts, reading, samples, steady

REPLICATION, CLOUD, PROXY, GROUP = "mysql.replication.", "aws.rds.", "haproxy.", "mysql.group."


def judged(*nodes: NodeFacts, **more: object) -> Panel:
    own = (
        aurora.RESOURCE,
        galera.RESOURCE,
        group_replication.RESOURCE,
        proxy.RESOURCE,
        replication.RESOURCE,
        service.RESOURCE,
    )
    return engine.panel(facts(*nodes, **more), own)


def one(indicator: str, node: NodeFacts, *others: NodeFacts, **more: object) -> Reading:
    return reading(judged(node, *others, **more), indicator, node.name)


def a_replica(**series: MetricSamples) -> NodeFacts:
    known = {"io_running": steady(1), "sql_running": steady(1), "read_only": steady(1)} | series
    named = {REPLICATION + key.replace("__", "."): value for key, value in known.items()}
    return a_node("r2", "reader", series=named)


def test_a_delay_of_seconds_is_watched_and_of_many_is_saturated() -> None:
    assert one("replication.delay", a_replica(seconds_behind=steady(1))).level is UseLevel.OK
    assert one("replication.delay", a_replica(seconds_behind=steady(3))).level is UseLevel.WATCH
    assert one("replication.delay", a_replica(seconds_behind=steady(9))).level is UseLevel.SATURATED


def test_what_an_earlier_load_left_to_apply_is_worth_a_look_and_no_saturation_by_this_one() -> None:
    load = Moment("load", "", 10.0, 60.0)
    left = a_replica(seconds_behind=steady(90), unapplied_bytes=steady(2.0**25))
    for indicator in ("replication.delay", "replication.unapplied"):
        found = one(indicator, left, events=(load,))
        assert found.level is UseLevel.WATCH
        assert found.words.replace("\u00a0", " ").endswith("1 min it was still at what was written before this load")
    own = a_replica(seconds_behind=samples([0.0] * 30 + [9.0] * 30), unapplied_bytes=steady(2.0**25))
    for indicator in ("replication.delay", "replication.unapplied"):
        assert one(indicator, own, events=(load,)).level is UseLevel.SATURATED


def test_a_stopped_thread_is_an_error_with_what_the_server_said_of_it() -> None:
    said = Moment("node_state", "", 10.0, node="r2", detail={"what": "replication SQL error", "to": "Duplicate entry"})
    stood = one("replication.applying", a_replica(sql_running=samples([1] * 20 + [0] * 40)), events=(said,))
    assert (stood.level, stood.value) == (UseLevel.ERROR, 40.0)
    assert stood.words.endswith("(Duplicate entry)")


def test_threads_that_stand_on_a_promoted_server_stand_by_intention() -> None:
    promoted = a_replica(sql_running=samples([1] * 20 + [0] * 40), read_only=samples([1] * 20 + [0] * 40))
    assert one("replication.applying", promoted).level is UseLevel.OK


def test_of_several_connections_the_worst_is_named() -> None:
    found = one("replication.delay", a_replica(east__seconds_behind=steady(9), west__seconds_behind=steady(0)))
    assert found.words.startswith("east: ")
    assert found.metric == "mysql.replication.east.seconds_behind"


def test_relay_logs_are_measured_by_their_limit_where_there_is_one() -> None:
    replica = a_replica(relay_log_space=steady(95.0))
    assert one("replication.relay_logs", replica).level is UseLevel.OK
    limited = a_node("r2", "reader", series=replica.series, variables={"relay_log_space_limit": "100"})
    assert one("replication.relay_logs", limited).level is UseLevel.SATURATED
    assert one("replication.relay_logs", limited).value == 95.0


def test_a_replica_that_applies_slower_than_its_source_writes_falls_behind_by_position() -> None:
    source = a_node("r1", "writer", series={REPLICATION + "gtid_position": steady(100.0)})
    slow = a_replica(gtid_position=steady(50.0))
    found = one("replication.behind", slow, source)
    assert found.level is UseLevel.SATURATED
    assert found.peak == 29.5
    assert found.metric == REPLICATION + "gtid_position"
    replica = a_replica(gtid_position=steady(50.0), seconds_behind=steady(2.0))
    assert one("replication.behind", replica, source).metric == REPLICATION + "seconds_behind"
    assert one("replication.behind", a_replica(gtid_position=steady(100.0)), source).level is UseLevel.OK


def unobserved(rate: float, start: int, end: int) -> MetricSamples:
    """A counter's rate over a minute, of which the samples from `start` to `end` s are missing."""
    at = np.arange(1.0, 61.0)
    since, values = at - 1, np.full(60, rate)
    values[(at >= start) & (at <= end)] = np.nan
    since[at == end + 1] = start - 1
    return MetricSamples(at, values, since=since)


@pytest.mark.parametrize(("of_source", "of_replica"), [((0, 0), (20, 29)), ((20, 29), (0, 0)), ((1, 10), (15, 30))])
def test_a_replica_that_keeps_up_is_not_behind_after_seconds_without_samples(
    of_source: tuple[int, int], of_replica: tuple[int, int]
) -> None:
    source = a_node("r1", "writer", series={REPLICATION + "gtid_position": unobserved(1000.0, *of_source)})
    found = one("replication.behind", a_replica(gtid_position=unobserved(1000.0, *of_replica)), source)
    assert (found.level, found.peak) == (UseLevel.OK, 0.0)


def test_a_lag_is_seen_beside_seconds_without_samples() -> None:
    source = a_node("r1", "writer", series={REPLICATION + "gtid_position": unobserved(100.0, 20, 29)})
    for unseen, peak in (((15, 30), 29.5), ((1, 10), 24.5)):
        found = one("replication.behind", a_replica(gtid_position=unobserved(50.0, *unseen)), source)
        assert (found.level, found.peak) == (UseLevel.SATURATED, peak)


def test_a_node_that_joins_again_in_a_gap_makes_no_other_node_late() -> None:
    """It was dead for 26 s and took its position from another one."""
    source = a_node("r1", "writer", series={REPLICATION + "gtid_position": steady(100.0)})
    series = unobserved(100.0, 20, 45)
    late = series.values.copy()
    late[series.at <= 19] = 10.0
    joined = a_node("r3", "reader", series={REPLICATION + "gtid_position": replace(series, values=late)})
    found = one("replication.behind", a_replica(gtid_position=steady(100.0)), source, joined)
    assert (found.level, found.peak) == (UseLevel.OK, 0.0)


def test_a_reader_that_nobody_could_ask_beside_one_that_was_is_not_observable() -> None:
    unseen = a_node("r3", "reader", series={"mysql.status.Uptime": steady(1)})
    assert one("replication.delay", unseen, a_replica()).level is UseLevel.NOT_OBSERVABLE


def test_a_source_has_no_cell_of_its_own_replication() -> None:
    promoted = a_node("r1", "reader", series={REPLICATION + "read_only": steady(0)})
    for source in (a_node("r1", "writer", series={"mysql.status.Uptime": steady(1)}), promoted):
        panel = judged(source, a_replica())
        assert not [each for each in panel.readings if each.node == "r1" and each.indicator.startswith("replication.")]


def in_the_cloud(role: str = "writer", **series: MetricSamples) -> NodeFacts:
    return NodeFacts(
        name="cloudwatch:blast-1",
        role=role,
        series={CLOUD + key: value for key, value in series.items()},
        hardware_class="db.t3.medium",
        hardware_vcpu=2,
    )


def aurora_facts(node: NodeFacts) -> RunFacts:
    return facts(node, aws="cluster", platform="aurora")


def cloud(indicator: str, node: NodeFacts) -> Reading:
    return reading(engine.panel(aurora_facts(node), [aurora.RESOURCE]), f"aurora.{indicator}", node.name)


def minutes(*values: float) -> MetricSamples:
    return samples(values, step=60.0)


def test_a_reader_of_aurora_that_lags_a_second_is_as_late_as_a_replica() -> None:
    assert cloud("lag", in_the_cloud("reader", AuroraReplicaLag=minutes(18, 21, 19))).level is UseLevel.OK
    assert cloud("lag", in_the_cloud("reader", AuroraReplicaLag=minutes(18, 1400, 19))).level is UseLevel.SATURATED
    assert cloud("lag", in_the_cloud("writer")).words == "the writer has none"
    assert cloud("lag", in_the_cloud("reader", ReplicaLag=minutes(1, -1))).level is UseLevel.ERROR


@pytest.mark.parametrize(
    ("hardware_class", "level"),
    [("db.t2.medium", UseLevel.SATURATED), ("db.t3.medium", UseLevel.WATCH), ("db.t4g.medium", UseLevel.WATCH)],
)
def test_credits_that_run_out_limit_the_class_that_cannot_buy_more(hardware_class: str, level: UseLevel) -> None:
    def credits_of(*values: float) -> Reading:
        node = in_the_cloud(CPUCreditBalance=minutes(*values))
        return cloud("credits", replace(node, hardware_class=hardware_class))

    assert credits_of(80, 40).level is UseLevel.OK
    assert credits_of(80, 20).level is UseLevel.WATCH
    spent = credits_of(80, 20, 0)
    assert (spent.level, spent.value) == (level, 0.0)
    assert ("surplus credits are charged" in spent.words) is (level is UseLevel.WATCH)


def test_more_active_sessions_than_vcpus_wait() -> None:
    assert cloud("load", in_the_cloud(DBLoad=minutes(1.0, 1.2))).level is UseLevel.OK
    assert cloud("load", in_the_cloud(DBLoad=minutes(5.0, 6.0))).level is UseLevel.SATURATED


def test_what_a_guest_cannot_see_is_not_observable_with_its_reason() -> None:
    node = in_the_cloud(DatabaseConnections=minutes(40))
    assert "max_connections is not known" in cloud("connections", node).words
    assert cloud("commit", node).words == "CloudWatch has no value of CommitLatency"
    assert cloud("capacity", node).words.endswith("it is not serverless")


def test_the_volume_is_reported_for_the_cluster_and_for_no_instance() -> None:
    whole = in_the_cloud("cluster", VolumeReadIOPs=minutes(300), VolumeWriteIOPs=minutes(600))
    panel = engine.panel(aurora_facts(whole))
    assert {each.indicator for each in panel.readings} == {"aurora_volume.requests", "aurora_volume.errors"}
    assert reading(panel, "aurora_volume.requests", whole.name).value == 3.0
    errors = reading(panel, "aurora_volume.errors", whole.name)
    assert errors.words.startswith("Aurora repairs copies of its volume itself")


def test_an_uptime_that_falls_is_a_restart() -> None:
    assert cloud("restarts", in_the_cloud(EngineUptime=minutes(600, 660, 20))).level is UseLevel.ERROR


def a_proxy(**series: MetricSamples) -> NodeFacts:
    named = {PROXY + key.replace("__", "."): value for key, value in series.items()}
    return a_node("proxy", "proxy", series=named)


def test_a_queue_in_the_proxy_is_saturation() -> None:
    found = one("proxy.queue", a_proxy(writer__BACKEND__qcur=samples([0] * 30 + [4] * 30)))
    assert (found.level, found.metric) == (UseLevel.SATURATED, "haproxy.writer.BACKEND.qcur")
    assert found.words.startswith("writer: at least 1")
    waiting = one("proxy.queue", a_proxy(writer__BACKEND__qcur=steady(0), writer__node1__qcur=steady(2)))
    assert waiting.words.startswith("writer/node1: at least 1")


def test_a_proxy_that_waits_for_a_cpu_is_not_the_one_that_is_full() -> None:
    proxy_samples = {"derived.proxy.busy": steady(96)}
    waits = a_node("proxy", "proxy", series=proxy_samples | {"derived.cpu.server": steady(0.43)})
    found = one("proxy.busy", waits)
    assert (found.level, found.value) == (UseLevel.OK, 43.0)
    assert found.words.replace("\u00a0", " ").endswith("it took 0.43 CPUs and called itself 96 % busy")
    works = a_node("proxy", "proxy", series=proxy_samples | {"derived.cpu.server": steady(0.99)})
    assert one("proxy.busy", works).level is UseLevel.SATURATED


def test_a_server_that_goes_down_is_an_error_and_one_that_was_down_before_is_watched() -> None:
    always, fell = steady(0), samples([1] * 30 + [0] * 10 + [1] * 20)
    found = one("proxy.down", a_proxy(writer__node1__up=fell, writer__node2__up=steady(1)))
    assert (found.level, found.value) == (UseLevel.ERROR, 10.0)
    assert found.words.replace("\u00a0", " ") == "writer/node1 down for 10 s, from 30 s on"
    assert one("proxy.down", a_proxy(writer__node1__up=always, writer__node2__up=steady(1))).level is UseLevel.WATCH


def test_a_backend_without_any_server_is_said_so() -> None:
    found = one("proxy.down", a_proxy(writer__BACKEND__up=samples([1] * 50 + [0] * 10)))
    assert found.level is UseLevel.ERROR
    assert found.words.startswith("writer no server left for")


def test_failed_and_retried_connections_are_counted_once_by_backend() -> None:
    node = a_proxy(
        writer__BACKEND__wretr=samples([0] * 30 + [2] + [0] * 29),
        writer__node1__wretr=samples([0] * 30 + [2] + [0] * 29),
        writer__BACKEND__eresp=samples([0] * 30 + [17] + [0] * 29),
        writer__BACKEND__srv_abrt=samples([0] * 30 + [17] + [0] * 29),
        writer__BACKEND__econ=steady(0),
    )
    assert one("proxy.retries", node).value == 2.0
    assert one("proxy.failed", node).words.replace("\u00a0", " ") == "writer: 17 × broke off; first at 30 s"


def test_a_server_that_was_restarted_and_one_that_never_was_are_distinguished() -> None:
    again = MetricSamples(np.arange(1.0, 61.0), np.ones(60), resets=(33.0,))
    assert one("service.restarts", a_node(series={"mysql.status.Uptime": again})).level is UseLevel.ERROR
    assert one("service.restarts", a_node(series={"mysql.status.Uptime": steady(1)})).level is UseLevel.OK


def test_a_single_server_has_no_row_of_galera() -> None:
    alone = a_node(series={"mysql.status.wsrep_cluster_size": steady(0), "mysql.status.Uptime": steady(1)})
    assert {each.indicator for each in judged(alone).readings} == {"service.silent", "service.restarts"}


def test_the_limit_of_the_receive_queue_grows_with_the_cluster_unless_it_has_one_writer() -> None:
    state = {"mysql.status.wsrep_local_state": steady(4)}
    others = [a_node(f"g{number}", series=state) for number in (2, 3)]
    options = "gcs.fc_limit = 16; gcs.fc_single_primary = {}; "
    for word, limit in (("no", 27.7), ("yes", 16.0)):
        node = a_node("g1", series=state, variables={"wsrep_provider_options": options.format(word)})
        found = galera.flow_limit(node, facts(node, *others))
        assert found is not None
        assert round(found, 1) == limit


def test_a_receive_queue_is_judged_by_the_limit_that_its_node_reports_and_by_none_where_it_is_not_known() -> None:
    def queue(length: float, **series: MetricSamples) -> Reading:
        known = {"local_state": steady(4), "local_recv_queue": steady(length), **series}
        node = a_node("g1", series={f"mysql.status.wsrep_{key}": value for key, value in known.items()})
        return one("galera.receive_queue", node)

    unknown = queue(90)
    assert (unknown.level, unknown.value) == (UseLevel.OK, 90.0)
    assert "gcs.fc_limit is not known" in unknown.words
    assert queue(90, flow_control_interval_high=steady(173)).level is UseLevel.WATCH
    full = queue(180, flow_control_interval_high=steady(173))
    assert (full.level, "from 173 on" in full.words) == (UseLevel.SATURATED, True)


def a_member(own: Mapping[str, MetricSamples], *, name: str = "m1", **variables: str) -> NodeFacts:
    """`own`: its series, those of a group by the last word of their key."""
    known = {"state": steady(4), "online": steady(3), "members": steady(3), **own}
    series = {key if "." in key else GROUP + key: value for key, value in known.items()}
    return a_node(name, series=series, variables=variables)


def test_a_members_queues_are_measured_by_what_flow_control_allows() -> None:
    for queue, threshold in (("certification_queue", "certifier"), ("applier_queue", "applier")):
        indicator = f"group_replication.{queue}"
        levels = [one(indicator, a_member({queue: steady(size)})).level for size in (10, 2_000, 30_000)]
        assert levels == [UseLevel.OK, UseLevel.WATCH, UseLevel.SATURATED]
        variables = {f"group_replication_flow_control_{threshold}_threshold": "100"}
        small = one(indicator, a_member({queue: steady(100)}, **variables))
        assert small.level is UseLevel.SATURATED
        assert small.words.endswith("from 100 on flow control holds back writers")


def test_a_members_queues_hold_back_nobody_where_flow_control_is_off() -> None:
    off = {"group_replication_flow_control_mode": "DISABLED"}
    for queue in ("certification_queue", "applier_queue"):
        found = one(f"group_replication.{queue}", a_member({queue: steady(30_000)}, **off))
        assert found.level is UseLevel.WATCH
        assert found.words.endswith("flow control is off: nothing holds back writers")


def test_a_threshold_of_zero_holds_back_writers_from_the_first_transaction_on() -> None:
    zero = {"group_replication_flow_control_applier_threshold": "0"}
    levels = [
        one("group_replication.applier_queue", a_member({"applier_queue": steady(size)}, **zero)) for size in (0, 2)
    ]
    assert [each.level for each in levels] == [UseLevel.OK, UseLevel.SATURATED]


def test_a_transaction_held_back_all_the_time_is_saturation_and_without_the_component_unknown() -> None:
    assert (
        one("group_replication.throttled", a_member({"derived.group.throttled": steady(1.5)})).level
        is UseLevel.SATURATED
    )
    unknown = one("group_replication.throttled", a_member({}))
    assert (unknown.level, "INSTALL COMPONENT" in unknown.words) == (UseLevel.NOT_OBSERVABLE, True)


def test_conflicts_are_watched_from_the_first_and_an_error_from_one_in_a_hundred() -> None:
    checked = {"certified": steady(100)}
    few = a_member({"conflicts": samples([0.0] * 59 + [1.0])} | checked)
    assert one("group_replication.conflicts", few).level is UseLevel.WATCH
    assert one("group_replication.conflicts", a_member({"conflicts": steady(2)} | checked)).level is UseLevel.ERROR


def test_a_member_that_is_missing_or_not_online_is_an_error_and_one_that_recovers_is_watched() -> None:
    others = (a_member({}, name="m2"), a_member({}, name="m3"))
    missed = one("group_replication.size", a_member({"online": samples([3] * 40 + [2] * 20)}), *others)
    assert (missed.level, missed.value) == (UseLevel.ERROR, 2.0)
    recovers = one("group_replication.state", a_member({"state": samples([3] * 20 + [4] * 40)}))
    assert (recovers.level, recovers.value) == (UseLevel.WATCH, 20.0)
    assert recovers.words.startswith("RECOVERING ")
    left = one("group_replication.state", a_member({"state": samples([4] * 40 + [1] * 20)}))
    assert (left.level, left.words.startswith("ERROR ")) == (UseLevel.ERROR, True)


def test_servers_outside_a_group_have_no_row_of_it() -> None:
    assert not [each for each in judged(a_replica()).readings if each.indicator.startswith("group_replication.")]
