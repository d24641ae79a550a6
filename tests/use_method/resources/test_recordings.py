"""Real servers under known events: the panel lights the cells of the event and no others.

The machine was shared with other jobs: its CPUs were busy all the time, and what its row says is true of them.
"""

import pytest

from apps.use_method import engine
from apps.use_method.resource_table import RESOURCE_OF
from apps.use_method.values import Panel, RunFacts, UseLevel
from tests.use_method import recorded
from tests.use_method.builders import lit, reading

NODES = {"g1", "g2", "g3"}


def cells(facts: RunFacts, *levels: str) -> set[tuple[str, str]]:
    """(indicator, node) of the servers, their proxy and their replication, not of the machine that all shared."""
    found = lit(engine.panel(facts), levels=levels or ("saturated", "error"))
    return {(key, node) for key, node in found if RESOURCE_OF[key].layer not in ("machine", "client")}


def of_galera(facts: RunFacts, *levels: str) -> set[tuple[str, str]]:
    return {(key, node) for key, node in cells(facts, *levels) if RESOURCE_OF[key].key in ("galera", "service")}


def galera() -> RunFacts:
    return recorded.run("galera_120s")


def panel_of(name: str) -> Panel:
    return engine.panel(recorded.run(name))


@pytest.mark.parametrize("word", ["rate=100", "oltp_read_only"])
def test_quiet_loads_light_nothing(word: str) -> None:
    assert cells(recorded.phase(galera(), word)) == set()
    assert of_galera(recorded.phase(galera(), word), "watch") == set()


@pytest.mark.parametrize("word", ["phase1", "phase2"])
def test_quiet_loads_of_a_single_server_light_nothing(word: str) -> None:
    assert cells(recorded.phase(recorded.run("single_120s"), word)) == set()


def test_seconds_without_any_load_light_nothing() -> None:
    assert cells(recorded.between(galera(), 0.0, 7.0)) == set()


def test_a_node_without_cpu_pauses_all_and_is_the_one_that_asked() -> None:
    """Node 3 was held to 4 % CPU: all nodes stand still, and only its queue and its requests tell why."""
    start, end = (recorded.event(galera(), f"node3 cpu quota {word}").starts_at for word in ("4%", "removed"))
    held = recorded.between(galera(), start, end)
    assert of_galera(held) == {("galera.paused", node) for node in NODES} | {
        ("galera.asked", "g3"),
        ("galera.receive_queue", "g3"),
        ("galera.latency", "g3"),
    }
    asked = reading(engine.panel(held), "galera.asked", "g3")
    assert asked.words.replace("\u00a0", " ").startswith("22 requests to pause; at least 10 % for 5 s of 12 s")
    assert reading(engine.panel(held), "galera.asked", "g1").value == 0.0


def test_before_the_node_lost_its_cpu_the_same_load_lights_nothing_of_galera() -> None:
    start = recorded.event(galera(), "node3 cpu quota 4%").starts_at
    assert of_galera(recorded.between(galera(), start - 7, start)) == set()


def test_hot_rows_on_three_writers_fail_certification_on_all_and_pause_nobody_for_long() -> None:
    hot = recorded.phase(galera(), "hot")
    assert of_galera(hot) == {(key, node) for key in ("galera.certification", "galera.aborts") for node in NODES}
    assert {node for key, node in cells(hot) if key == "row_locks.deadlocks"} == NODES
    refused = reading(engine.panel(hot), "galera.certification", "g1")
    assert (refused.value, refused.level) == (531.0, UseLevel.ERROR)
    assert refused.words.replace("\u00a0", " ").endswith("22 % of its own transactions")


def test_a_frozen_writer_does_not_answer_and_the_others_miss_it() -> None:
    facts = recorded.run("sigstop_writer_12s")
    silent = reading(engine.panel(facts), "service.silent", "g2")
    frozen = recorded.event(facts, "SIGSTOP").starts_at, recorded.event(facts, "SIGCONT").starts_at
    assert [round(at) for at in silent.spans[0]] == [round(frozen[0]) + 1, round(frozen[1])]
    assert {
        ("galera.size", "g1"),
        ("galera.size", "g3"),
        ("galera.state", "g2"),
        ("service.silent", "g2"),
    } == of_galera(facts, "error") - {("galera.size", "g2")}
    assert reading(engine.panel(facts), "galera.state", "g2").words.startswith("alone for")


def test_stalls_of_a_reader_below_a_second_are_no_level() -> None:
    assert of_galera(recorded.run("sigstop_nonwriter_600ms_x3")) == set()


@pytest.mark.parametrize(("name", "node"), [("ftwrl_writer_6s", "g1"), ("ftwrl_nonwriter_6s", "g3")])
def test_a_node_under_a_global_read_lock_is_desynced_and_its_queue_grows_without_a_pause(name: str, node: str) -> None:
    panel = panel_of(name)
    assert reading(panel, "galera.state", node).level is UseLevel.WATCH
    assert reading(panel, "galera.state", node).words.startswith("donor or desynced for")
    assert of_galera(recorded.run(name)) == {("galera.receive_queue", node)}


@pytest.mark.parametrize(
    ("name", "dead"),
    [
        ("kill9_writer_node1_default", "g1"),
        ("kill9_nonwriter_node2_default", "g2"),
        ("kill9_writer_suspect1s_run1", "g2"),
        ("sigterm_writer_suspect1s_run1", "g1"),
    ],
)
def test_a_dead_node_is_silent_and_the_others_say_that_it_is_missing(name: str, dead: str) -> None:
    assert of_galera(recorded.run(name), "error") == {("service.silent", dead)} | {
        ("galera.size", node) for node in NODES - {dead}
    }


def test_survivors_without_a_majority_are_distinguished_from_survivors() -> None:
    panel = panel_of("kill9_writer_mixed_evs_quorum_loss")
    for node in ("g1", "g3"):
        assert reading(panel, "galera.size", node).value == 1.0
        assert "it refused statements for" in reading(panel, "galera.state", node).words


def test_a_schema_change_that_locks_its_table_stops_all_statements() -> None:
    facts = recorded.run("ddl.copy")
    change = recorded.event(facts, "ALTER TABLE")
    stood = reading(engine.panel(facts), "table_locks.standstill", "single")
    assert stood.level is UseLevel.SATURATED
    assert stood.spans[0][0] >= change.starts_at
    assert change.ends_at is not None
    assert stood.spans[0][1] <= change.ends_at + 1
    for name in ("ddl.inplace_rebuild", "ddl.instant"):
        assert reading(panel_of(name), "table_locks.standstill", "single").level is UseLevel.OK


def test_a_schema_change_on_galera_pauses_the_whole_cluster() -> None:
    facts = recorded.run("ddl_toi_galera")
    change = recorded.event(facts, "c_copy")
    for node in NODES:
        paused = reading(engine.panel(facts), "galera.paused", node)
        assert paused.level is UseLevel.SATURATED
        assert paused.peak is not None
        assert paused.peak <= 100.0
        assert change.starts_at <= paused.spans[0][0] + 1
    quiet = recorded.between(facts, change.starts_at - 5, change.starts_at)
    assert of_galera(quiet) == set()


def test_replicas_of_a_dead_source_receive_nothing_until_one_is_promoted_and_the_other_follows_it() -> None:
    facts = recorded.run("mha_kill9_source_run1")
    panel = engine.panel(facts)
    killed = recorded.event(facts, "kill -9").starts_at
    for node in ("r2", "r3"):
        stood = reading(panel, "replication.receiving", node)
        assert stood.level is UseLevel.ERROR
        assert "error reconnecting to master" in stood.words
        assert killed - 1 <= stood.spans[0][0] <= stood.spans[0][1] <= killed + 9
    assert ("service.silent", "r1") in cells(facts)
    assert not {node for key, node in cells(facts) if key == "replication.applying"}


def test_a_planned_switch_leaves_no_thread_standing_for_long() -> None:
    assert not {key for key, _ in cells(recorded.run("mha_online_switch_r1_to_r2")) if key.startswith("replication.")}


def test_what_was_not_received_is_seen_by_position_where_the_replica_itself_tells_of_no_delay() -> None:
    """The replicas' receiving threads were stopped for the last second of the source: they said 0 s behind."""
    panel = panel_of("mha_kill9_source_unreplicated_run3")
    behind = reading(panel, "replication.behind", "r3")
    assert behind.peak is not None
    assert behind.peak > 3
    assert behind.words.endswith("80.0 transactions behind")
    assert reading(panel, "replication.delay", "r3").level is UseLevel.OK


def test_a_failover_behind_a_proxy_lights_who_died_who_missed_it_and_what_the_proxy_refused() -> None:
    """The source of two replicas was killed; the manager of the failover had the proxy out of use for 2 s."""
    facts = recorded.phase(recorded.run("lab.mha_failover"), "measured")
    panel = engine.panel(facts)
    assert cells(facts) == {
        ("service.silent", "node2"),
        ("replication.receiving", "node1"),
        ("replication.receiving", "node3"),
        ("proxy.failed", "proxy"),
        ("proxy.down", "proxy"),
    }
    behind = reading(panel, "replication.behind", "node3")
    assert behind.peak is not None
    assert 2 < behind.peak < 3, "until it was repointed; nobody wrote in the 6 s before"
    killed, served = (recorded.event(facts, word).starts_at for word in ("kill -9", "first write acknowledged"))
    down = reading(panel, "proxy.down", "proxy")
    assert down.words.startswith("writer no server left for")
    assert killed < down.spans[0][0] < served
    assert reading(panel, "proxy.failed", "proxy").words.startswith("writer: 100 × could not connect")
    assert reading(panel, "replication.receiving", "node1").spans[0][1] <= served + 1


def test_a_failover_of_galera_behind_a_proxy_takes_one_server_out_and_leaves_one() -> None:
    facts = recorded.phase(recorded.run("lab.galera_failover"), "measured")
    assert of_galera(facts) == {("service.silent", "node2"), ("galera.size", "node1"), ("galera.size", "node3")}
    down = reading(engine.panel(facts), "proxy.down", "proxy")
    assert down.level is UseLevel.ERROR
    assert down.words.startswith("writer/node2 down for")
    assert "no server left" not in down.words
    assert reading(engine.panel(facts), "proxy.checks", "proxy").value == 2.0
