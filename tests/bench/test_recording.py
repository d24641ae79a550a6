import numpy as np

from apps.runs.samples.batches import decode
from apps.runs.samples.columns import SampledNode
from bench import recording
from workers.protocol import wire


def test_the_recording_is_half_an_hour_of_two_servers() -> None:
    assert [(node.name, len(node.clock)) for node in recording.recorded()] == [("db1", 1800), ("db2", 1800)]


def test_a_run_made_from_it_is_the_same_each_time_and_no_two_are_alike() -> None:
    keys = ["mysql.status.Questions"]
    first, again, other = (recording.a_run(number, keys=keys)[0].changing[keys[0]] for number in (1, 1, 2))
    assert first.same_as(again)
    assert not first.same_as(other)


def test_counters_of_a_made_run_only_rise_by_steps_that_were_recorded() -> None:
    key = "mysql.status.Questions"
    recorded = set(np.diff(recording.recorded()[0].changing[key].values).tolist())
    made = recording.a_run(3, keys=[key])[0].changing[key].values
    assert set(np.diff(made).tolist()) <= recorded


def test_series_that_were_equal_stay_equal() -> None:
    key, copy = "mysql.status.Innodb_lsn_current", "host.cpu.user"
    node = recording.recorded()[0]
    twins = dict.fromkeys((key, copy), node.changing[key])
    made = recording.shuffled(SampledNode("db1", "writer", node.clock, twins), np.random.default_rng(1))
    assert made.changing[key].same_as(made.changing[copy])


def test_peers_are_sent_as_many_samples_as_we_are() -> None:
    nodes = recording.a_run(1, keys=["mysql.status.Questions", "host.cpus"])
    parts = recording.series("r", nodes, start=1_760_000_000)
    assert sum(int(part.observed.sum()) for part in parts) == recording.samples_in(nodes) == 2 * 2 * 1800
    assert [part.at[0] for part in parts] == [1_760_000_000_000 + round(node.clock[0] * 1000) for node in nodes]


def test_batches_are_those_of_an_agent() -> None:
    nodes = recording.a_run(1, keys=["mysql.status.Questions"])
    payloads = list(recording.batches("00000000-0000-0000-0000-000000000001", nodes, seconds=600))
    decoded = decode(payloads)
    assert len(payloads) == 3
    assert {node.name: node.clock.tolist() for node in decoded.nodes} == {
        n.name: n.clock.round(6).tolist() for n in nodes
    }
    assert all(wire.read_lines(payload) for payload in payloads)
