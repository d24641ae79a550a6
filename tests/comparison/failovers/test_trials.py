"""What a run's events say of a failover, on recorded and made-up ones; what settings explain of it."""

import pytest
from msgspec.structs import replace

from apps.comparison.failovers.timeouts import shares
from apps.comparison.failovers.trials import Course, course, interruption
from apps.runs.tool_output import Output
from tests.support.failed_over import INTERVAL, made_up, recordings, reported


def course_of(report: Output, *, rate: float = 20.0) -> Course:
    values = {headline.metric: headline.value for headline in report.headlines}
    found = course(report.events, values, rate=rate)
    assert found is not None
    return found


KILLED = [name for name in recordings() if "kill9" in name]


@pytest.mark.parametrize("name", KILLED)
def test_a_recorded_kill_has_the_outage_that_was_recorded_or_did_not_recover(name: str) -> None:
    found, recorded = course_of(reported(name)), recordings()[name]["interruption"]
    if recorded is None:
        assert found.not_recovered
        assert found.outage is not None
        assert found.outage > 15
        assert "client" not in found.reached
    else:
        assert found.recovered
        assert found.outage == pytest.approx(recorded, abs=INTERVAL)
        assert found.reached["client"] == pytest.approx(recorded, abs=2 * INTERVAL)


def test_phases_follow_each_other_from_the_fault_to_the_baseline() -> None:
    found = course_of(reported("kill9_writer_node1_default"))
    assert found.phases[0].start == 0.0
    for earlier, later in zip(found.phases, found.phases[1:], strict=False):
        assert later.start == earlier.end <= later.end
    assert [phase.key for phase in found.phases] == ["detect", "client", "baseline"]


def test_a_run_that_broke_off_after_the_load_still_tells_its_outage_but_no_counts() -> None:
    found = course_of(made_up(3.0, is_whole=False))
    assert found.outage == pytest.approx(3.0, abs=2 * INTERVAL)
    assert found.recovered
    assert set(found.counts.values()) == {None}


def test_older_reports_say_in_words_alone_that_nothing_recovered() -> None:
    report = made_up(None)
    for event in report.events:
        event.detail.clear()
    found = course(report.events, {})
    assert found is not None
    assert found.not_recovered


def test_without_a_fault_there_is_no_trial() -> None:
    events = [event for event in made_up(1.0).events if event.kind != "fault"]
    assert course(events, {}) is None


def test_a_switch_that_nobody_noticed_is_no_interruption() -> None:
    found = course_of(made_up(0.0, control="switch"))
    assert (found.interrupted, found.recovered) == (False, True)
    assert found.phases == ()


def test_what_rdss_journal_says_of_a_failover_does_not_stand_for_the_probes_own_evidence() -> None:
    report = made_up(3.0)
    fault = next(event for event in report.events if event.kind == "fault")
    own = replace(fault, kind="promotion", label="db2 accepts writes", starts_at=fault.starts_at + 2, ends_at=None)
    begun = replace(own, label="Started cross AZ failover", starts_at=fault.starts_at + 0.1)
    journal = replace(begun, detail={"clock": "that of RDS"})
    values = {headline.metric: headline.value for headline in report.headlines} | {"failover.promote": 2.0}
    for events, words in (([journal, own], own.label), ([journal], journal.label)):
        found = course([*report.events, *events], values)
        assert found is not None
        assert [phase.words for phase in found.phases if phase.key == "promote"] == [words]


def test_each_lost_write_is_shown_by_its_number_and_when_it_was_due() -> None:
    found = course_of(made_up(3.0, counts={"missing": [161, 162], "duplicated": [7]}))
    assert found.counts["lost"] == 2
    assert [one.number for one in found.rows.lost] == [161, 162]
    assert found.rows.lost[1].due == pytest.approx(162 / 20 - 10)
    assert [one.number for one in found.rows.duplicated] == [7]


def test_an_outage_that_did_not_end_is_longer_than_any_that_did() -> None:
    short, long, never = course_of(made_up(2.0)), course_of(made_up(4.0)), course_of(made_up(None))
    two = interruption([short, long])
    assert (two.trials, two.not_recovered) == (2, 0)
    assert two.median == pytest.approx(3.0, abs=INTERVAL)
    three = interruption([never, long, short])
    assert (three.median, three.not_recovered) == (long.outage, 1)
    assert three.watched is not None
    assert three.watched > 19
    mostly = interruption([never, never, long])
    assert (mostly.median, mostly.low, mostly.high) == (None, long.outage, long.outage)
    assert interruption([]).median is None


def test_the_proxy_explains_its_interval_times_fall_when_the_writer_is_gone() -> None:
    (found,) = shares("kill_writer", settings={}, checks={"inter": "3s", "fall": "2"})
    assert (found.who, found.formula, found.seconds) == ("the proxy", "3s × 2", 6.0)
    (plain,) = shares("kill_writer", settings={}, checks={"inter": "2000", "fall": "3"})
    assert plain.seconds == 6.0  # without a unit it means ms
    assert shares("kill_reader", settings={}, checks={"inter": "3s", "fall": "2"}) == []
    assert shares("switch", settings={"ping_interval": "1"}, checks={"inter": "3s", "fall": "2"}) == []


def test_the_cluster_explains_its_deadline_by_what_its_nodes_reported() -> None:
    (found,) = shares("kill_reader", settings={"evs.suspect_timeout": "PT5S"}, checks={})
    assert (found.who, found.seconds) == ("the cluster", 5.0)
    provider_options = ["base_dir = /; evs.suspect_timeout = PT1S; x = 1", "evs.suspect_timeout = PT0M5S;"]
    (mixed,) = shares("kill_writer", settings={"evs.suspect_timeout": "PT9S"}, checks={}, provider=provider_options)
    assert (mixed.formula, mixed.seconds) == ("1 s, 5 s", 5.0)
    assert "differs between the nodes" in mixed.setting


def test_a_group_explains_its_silence_its_expel_timeout_and_the_time_to_the_next_look() -> None:
    (found,) = shares("kill_writer", settings={"group_replication_member_expel_timeout": "0"}, checks={})
    assert (found.who, found.formula, found.seconds) == ("the group", "5 s of silence + 0 s", 5.0)
    stated = ["group_replication_member_expel_timeout = 5"] * 3
    (longer,) = shares("freeze_reader", settings={}, checks={}, provider=stated)
    assert (longer.formula, longer.seconds) == ("5 s of silence + 5 s + up to 15 s to the next look", 25.0)
    assert shares("switch", settings={}, checks={}, provider=stated) == []


def test_the_manager_explains_four_pings() -> None:
    (found,) = shares("stop_writer", settings={"ping_interval": "3"}, checks={})
    assert (found.who, found.seconds) == ("the manager", 12.0)


@pytest.mark.parametrize("text", ["", "soon", "PT", "5 s"])
def test_a_setting_that_cannot_be_read_explains_nothing(text: str) -> None:
    settings = {"evs.suspect_timeout": text, "ping_interval": text}
    assert shares("kill_writer", settings=settings, checks={"inter": text, "fall": "2"}) == []


def test_when_the_proxy_acted_and_how_it_checks_is_read_from_the_run() -> None:
    found = course_of(made_up(3.0, proxy=1.2))
    assert found.proxy == pytest.approx(1.2)
    assert found.proxy_checks == {"inter": "500ms", "fall": "2"}


def test_what_is_switched_serves_until_its_outage_begins() -> None:
    found = course_of(reported("mha_online_switch_r1_to_r2", control="switch"))
    (last,) = [phase for phase in found.phases if phase.key == "client"]
    assert last.start > 1
    assert last.end - last.start == pytest.approx(0.47, abs=INTERVAL)
