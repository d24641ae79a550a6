"""The phases of a failover, from probe logs that real failovers left and from made-up ones."""

import gzip
import json
from typing import Any

import pytest

from tests.paths import RECORDINGS
from workers.agent.faults import onward
from workers.agent.faults.phases import (
    Gap,
    PhaseMoment,
    Sign,
    State,
    SteadyState,
    Write,
    baseline,
    detected,
    gaps,
    is_interruption,
    moment,
    outage,
    promoted,
    proxy_acted,
    rejoined,
)

INTERVAL = 0.05  # s between the recorded probes' inserts
# Runs whose recorded interruption the probe's log tells; None: it was not recovered.
RECORDED: list[dict[str, Any]] = json.loads(gzip.decompress((RECORDINGS / "failover.json.gz").read_bytes()))

# Of three members, polled by the probe while the primary was killed or frozen; what it then reported.
IN_GROUPS: list[dict[str, Any]] = json.loads(gzip.decompress((RECORDINGS / "group_replication.json.gz").read_bytes()))


def writes_of(run: dict[str, Any]) -> list[Write]:
    """s from the fault on."""
    return [Write(due / 1000, end / 1000, bool(port), str(port or "")) for due, end, port in run["attempts"]]


def steady(start: float, end: float, *, latency: float = 0.004, ok: bool = True) -> list[Write]:
    count = round((end - start) / INTERVAL)
    dues = [start + number * INTERVAL for number in range(count)]
    return [Write(due, due + latency, ok, "db1" if ok else "") for due in dues]


def view(t: float, node: str, words: str, *, writable: bool = True) -> State:
    return State(t=t, before=t - 0.04, node=node, answers=True, writable=writable, cluster=words)


@pytest.mark.parametrize("run", RECORDED, ids=[run["run"] for run in RECORDED])
def test_the_outage_of_a_recorded_failover_is_the_recorded_one_within_a_probe_interval(run: dict[str, Any]) -> None:
    writes = writes_of(run)
    start, until = min(write.due for write in writes), max(write.due for write in writes)
    found = outage(writes, fault=0.0, start=start, until=until)
    assert found is not None
    cut_off = is_interruption(found, writes, fault=0.0, start=start, interval=INTERVAL)
    if run["interruption"] is None:
        assert (found.end, cut_off) == (None, True)
    else:
        assert found.end is not None
        length = found.length if cut_off else 0.0
        assert length == pytest.approx(run["interruption"], abs=INTERVAL)


def test_a_gap_that_is_still_open_at_the_end_is_an_outage_and_no_small_one() -> None:
    writes = [*steady(0, 10), *steady(10, 16, ok=False)]
    found = outage(writes, fault=10.0, start=0.0, until=15.95)
    assert found is not None
    assert (found.end, found.until) == (None, 15.95)
    assert found.length == pytest.approx(5.996)


def test_a_probe_that_never_got_through_was_out_from_its_beginning() -> None:
    assert gaps(steady(0, 3, ok=False), start=0.0, until=2.95) == [Gap(0.0, None, 2.95)]


def test_a_gap_before_the_fault_is_not_its_outage() -> None:
    writes = [*steady(0, 2), *steady(5, 10), *steady(11, 20)]
    found = outage(writes, fault=9.98, start=0.0, until=19.95)
    assert found is not None
    assert found.length == pytest.approx(1.046, abs=0.01)


def test_the_ordinary_time_between_two_writes_is_no_interruption() -> None:
    writes = steady(0, 20)
    found = outage(writes, fault=10.0, start=0.0, until=19.95)
    assert found is not None
    assert not is_interruption(found, writes, fault=10.0, start=0.0, interval=INTERVAL)


def test_a_gap_in_which_writes_failed_is_an_interruption_however_unsteady_the_system_was_before() -> None:
    before = [*steady(0, 4), *steady(6, 10)]
    stalled = [*before, *steady(12, 20)]
    found = outage(stalled, fault=10.0, start=0.0, until=19.95)
    assert found is not None
    assert not is_interruption(found, stalled, fault=10.0, start=0.0, interval=INTERVAL)
    failed = [*stalled, Write(10.1, 11.2, False)]
    assert is_interruption(found, failed, fault=10.0, start=0.0, interval=INTERVAL)


def test_a_kill_came_after_the_last_answer_of_the_killed_node_and_a_stop_with_its_control() -> None:
    dead = State(t=12.09, before=12.05, node="db1", answers=False, writable=False)
    assert moment("kill", 12.0, 12.3, [dead], "db1") == 12.05
    assert moment("kill", 12.0, 12.3, [], "db1") == 12.3
    assert moment("stop", 12.0, 13.3, [dead], "db1") == 12.0


def test_a_cluster_that_notices_is_better_evidence_than_its_proxy_or_the_client() -> None:
    proxy, errors = [Sign(11.0, "db1 is DOWN")], [Sign(10.02, "2013 lost")]
    states = [view(0, "db2", "3 Primary"), view(10.01, "db1", "1 non-Primary"), view(15.2, "db2", "3 GATHER")]
    found = detected(fault=10.0, states=states, proxy=proxy, errors=errors, struck="db1")
    assert found == PhaseMoment(15.2, "cluster", "db2 reports 3 GATHER")
    found = detected(fault=10.0, states=states[:2], proxy=proxy, errors=errors, struck="db1")
    assert found == PhaseMoment(11.0, "proxy", "db1 is DOWN")
    manager = [Sign(3.0, "Ping succeeded"), Sign(12.4, "Got error on MySQL select ping")]
    found = detected(fault=10.0, manager=manager, proxy=proxy, errors=errors)
    assert found == PhaseMoment(12.4, "manager", "Got error on MySQL select ping")
    down = Sign(15.1, "[info] Master is down!")
    found = detected(fault=10.0, manager=[*manager, down, Sign(16.3, '{"event": "detected"}')], proxy=proxy)
    assert found == PhaseMoment(15.1, "manager", "[info] Master is down!", suspected=12.4)
    assert detected(fault=10.0, errors=errors) == PhaseMoment(10.02, "client", "2013 lost")
    assert detected(fault=10.0) is None


def test_the_proxy_acts_when_it_gives_up_the_struck_node_or_is_led_to_another_one() -> None:
    other, down = Sign(10.4, "HAProxy: writer/db2 is DOWN"), Sign(10.9, "HAProxy: writer/db1 is DOWN (L4CON)")
    back = Sign(10.5, "HAProxy: writer/db1 is UP")
    assert proxy_acted([other, back, down], fault=10.0, struck="db1") == down
    led = Sign(14.0, "HAProxy: writer/master address is 127.0.0.1:3307")
    assert proxy_acted([Sign(9.0, led.text), led], fault=10.0, struck="db1") == led
    assert proxy_acted([other], fault=10.0, struck="db1") is None


def test_a_replica_is_promoted_when_it_is_no_longer_read_only() -> None:
    states = [view(0.1, "db2", "", writable=False), view(0.1, "db3", "", writable=False), view(16.5, "db2", "")]
    assert promoted(fault=10.0, recovered=17.0, states=states, writer="db2") == PhaseMoment(
        16.5, "node", "until db2 accepts writes"
    )


def test_a_writer_that_could_write_all_along_was_not_promoted() -> None:
    assert promoted(fault=10.0, recovered=11.0, states=[view(0.1, "db2", "3")], writer="db2") is None


def test_a_writer_that_stalled_accepts_writes_again_when_its_cluster_has_a_view() -> None:
    states = [view(0.1, "db1", "3"), view(15.3, "db1", "3 GATHER", writable=False), view(16.4, "db1", "2")]
    found = promoted(fault=10.0, recovered=16.38, states=states, writer="db1")
    assert found == PhaseMoment(16.38, "node", "until db1 accepts writes: 2")  # the client was quicker than the poll


def test_a_new_view_of_the_cluster_is_evidence_where_the_poll_missed_the_stall() -> None:
    states = [view(0.1, "db2", "3"), State(t=12.3, before=12.1, node="db2", answers=True, writable=True, cluster="2")]
    found = promoted(fault=10.0, recovered=12.2, states=states, writer="db2")
    assert found == PhaseMoment(12.2, "node", "until db2 accepts writes: 2")
    assert promoted(fault=10.0, recovered=12.0, states=states, writer="db2") is None


def test_a_thawed_node_is_back_when_it_has_learnt_that_the_others_went_on_and_has_joined_them() -> None:
    old, waits = view(13.9, "db3", "3 Primary"), view(14.3, "db3", "3 GATHER", writable=False)
    joins, back = view(15.3, "db3", "1 non-Primary", writable=False), view(16.5, "db3", "3 Primary")
    states = [view(4.0, "db3", "3 Primary"), old, waits, joins, back, view(15.0, "db1", "3 GATHER", writable=False)]
    assert rejoined(states, node="db3", since=13.7, until=20.0) == 16.5
    assert rejoined([old], node="db3", since=13.7, until=20.0) == 13.9
    assert rejoined([old, waits], node="db3", since=13.7, until=20.0) == 20.0
    replica = [view(13.9, "db3", "", writable=False)]
    assert rejoined(replica, node="db3", since=13.7, until=20.0) == 13.9


def test_back_to_baseline_is_the_first_of_some_seconds_in_a_row_that_are_as_before() -> None:
    slow = steady(16, 20, latency=0.05)
    half = [write for number, write in enumerate(steady(20, 23)) if number % 2]
    writes = [*steady(0, 10), *slow, *half, *steady(23, 30)]
    rule = SteadyState(seconds=3, share=0.9, latency=3.0)
    found = baseline(writes, since=0.0, fault=10.0, recovered=16.0, until=29.95, rule=rule)
    # A second with two of its twenty writes missing still is as before.
    assert found == pytest.approx(22.85, abs=0.11)


def test_a_load_that_ends_too_early_was_not_seen_back_at_baseline() -> None:
    writes = [*steady(0, 10), *steady(16, 18)]
    assert baseline(writes, since=0.0, fault=10.0, recovered=16.0, until=17.95, rule=SteadyState()) is None
    assert baseline(writes, since=9.5, fault=10.0, recovered=16.0, until=30.0, rule=SteadyState()) is None


def test_the_return_of_a_thawed_node_costs_the_downtime_since_it_was_thawed_and_not_that_of_its_fault() -> None:
    writes = [*(Write(t, t + 0.1, True) for t in (0, 1, 2, 3)), *(Write(t, t + 4, False) for t in (4, 5, 6, 7, 8))]
    writes += [Write(t, t + 0.1, True) for t in (9, 10, 11)]
    assert onward.longest(writes, since=7) == Gap(7, 9.1, 11)
    # A later one may be longer.
    assert onward.longest([*writes, Write(14, 14.1, True)], since=7) == Gap(11.1, 14.1, 14)


@pytest.mark.parametrize("run", IN_GROUPS, ids=[run["run"] for run in IN_GROUPS])
def test_a_group_first_suspects_its_primary_then_elects_another_and_takes_it_back(run: dict[str, Any]) -> None:
    states = [State(**state) for state in run["states"]]
    control = run["run"].partition("_")[0]
    fault = moment(control, run["control"], run["ended"], states, run["struck"])
    assert fault == pytest.approx(run["fault"], abs=0.001)
    noticed = detected(fault=fault, states=states, struck=run["struck"])
    assert noticed is not None
    assert noticed.evidence == "cluster"
    assert noticed.t - fault == pytest.approx(run["detect"], abs=0.001)
    assert "2 of 3 members ONLINE, 127.0.0.1:" in noticed.text
    elected = promoted(fault=fault, recovered=run["recovered"], states=states, writer=run["writer"])
    assert elected is not None
    assert elected.t - fault == pytest.approx(run["promote"], abs=0.001)
    # A secondary that is back is never writable, and a thawed primary first shows the view of before.
    back = rejoined(states, node=run["struck"], since=run["repair"], until=run["rejoined"] + 1)
    assert back == pytest.approx(run["rejoined"], abs=0.5)
    assert sum(state.node == run["struck"] and state.in_sync for state in states) >= 2
