"""Texts of failovers: the answer of a group, what explains the outage, and which writes were affected."""

import re

import pytest

from apps.catalog.models import System
from apps.comparison.failovers.results import load_failovers
from apps.comparison.failovers.values import FailoverFilter, TrialGroup
from apps.web.failovers import wording
from tests.support.failed_over import a_failover, made_up, reported

pytestmark = pytest.mark.django_db


def the_group(system: System) -> TrialGroup:
    (found,) = load_failovers(FailoverFilter(systems=(system.slug,))).groups
    return found


def test_the_answer_is_the_median_with_its_range(galera: System) -> None:
    a_failover(galera, made_up(2.0))
    assert wording.answer(the_group(galera)) == "2.00\xa0s (1 trial); no acknowledged write lost"
    a_failover(galera, made_up(3.0))
    assert wording.answer(the_group(galera)) == (
        "2.50\xa0s (median of 2, 2.00 to 3.00\xa0s); no acknowledged write lost"
    )


def test_what_did_not_recover_comes_first(galera: System) -> None:
    a_failover(galera, reported("kill9_writer_suspect1s_run1"))
    a_failover(galera, reported("kill9_writer_mixed_evs_quorum_loss"), outcome="failed", reason="node1 is not in step")
    group = the_group(galera)
    text = wording.interruption(group.interruption)
    assert re.match(r"not recovered in 1 of 2 \(16\.\d\xa0s watched\); the other 2\.\d+\xa0s", text)
    lasting, recovered = group.trials
    assert wording.state(lasting.course).startswith("not recovered in 16.")
    assert wording.outage(lasting.course).startswith("≥ 16.")
    assert wording.state(recovered.course) == ""


def test_a_card_begins_with_what_did_not_recover_then_with_the_median_and_a_far_longest(
    galera: System, mha: System
) -> None:
    a_failover(galera, made_up(2.0))
    assert wording.headline(the_group(galera)).endswith("is back in 2.00\xa0s")
    for outage in (2.0, 9.0):
        a_failover(galera, made_up(outage))
    assert wording.headline(the_group(galera)).endswith("is back in 2.00\xa0s, longest 9.00\xa0s")
    a_failover(mha, made_up(None))
    assert wording.headline(the_group(mha)).endswith("did not recover in 1 of 1 trial")


def test_one_side_is_ahead_where_its_longest_trial_is_shorter_than_any_of_the_other(
    galera: System, mha: System
) -> None:
    for system, outages in ((galera, (2.0, 3.0)), (mha, (4.0,))):
        for outage in outages:
            a_failover(system, made_up(outage))
    assert wording.ahead(the_group(galera), [the_group(mha)]) == ""  # one trial is too few
    a_failover(mha, made_up(3.5))
    assert wording.ahead(the_group(galera), [the_group(mha)]) == "each trial shorter than any of MHA"
    assert wording.ahead(the_group(mha), [the_group(galera)]) == ""


def test_affected_writes_are_counted_and_listed(galera: System) -> None:
    counts = {"missing": [161, 162, 163], "failed_present": [170], "duplicated": [12, 14]}
    a_failover(galera, made_up(3.0, counts=counts))
    group = the_group(galera)
    assert wording.answer(group).endswith("; 3 acknowledged writes lost, 2 twice, 1 failed, yet present")
    course = group.trials[0].course
    assert dict(wording.rows(course.rows, course.counts)) == {
        "Acknowledged and not in the table": "161 to 163 (-1.95 to -1.85\xa0s)",
        "In the table more than once": "12 (-9.40\xa0s), 14 (-9.30\xa0s)",
        "Failed for the client and in the table": "170 (-1.50\xa0s)",
    }


def test_rows_that_a_report_does_not_list_are_in_its_artifact(galera: System) -> None:
    run = a_failover(galera, made_up(3.0))
    run.measurements.filter(metric__key="failover.stale_reads").update(value=18)
    course = the_group(galera).trials[0].course
    assert dict(wording.rows(course.rows, course.counts)) == {
        "Reads that missed an earlier acknowledged insert": (
            "18, not listed in the run's report; its artifact holds every write and read"
        )
    }


def test_without_a_read_back_nothing_is_said_of_writes(galera: System) -> None:
    a_failover(galera, made_up(3.0, is_whole=False), outcome="failed", reason="it broke off")
    assert wording.answer(the_group(galera)).endswith("; the table was not read back")


def test_trials_that_were_not_read_back_are_counted_beside_what_the_others_lost(galera: System, mha: System) -> None:
    for outage in (2.0, 2.2):
        a_failover(galera, made_up(outage))
    a_failover(galera, made_up(2.4, is_whole=False), outcome="failed", reason="it broke off")
    none_lost = "no acknowledged write lost in 2 of 3 trials"
    assert wording.answer(the_group(galera)).endswith(f"; {none_lost}, 1 not read back")
    assert wording.race([the_group(galera)]) == f"3 trials, each from its fault; {none_lost}; 1 not read back"
    a_failover(mha, made_up(3.0, counts={"missing": [161, 162], "errant": [170, 171]}))
    unread = a_failover(mha, made_up(3.0, counts={"missing": [161, 162], "errant": []}))
    unread.measurements.filter(metric__key="failover.errant_rows").delete()
    assert wording.writes(the_group(mha)) == (
        "2 acknowledged writes lost, 2 rows only on the old source in 1 of 2 trials"
    )
    assert wording.race([the_group(galera), the_group(mha)]).endswith(
        "; up to 2 acknowledged writes lost in 4 of 5 trials; 1 not read back"
    )


def test_settings_explain_part_of_the_outage(galera: System, mha: System) -> None:
    a_failover(galera, made_up(6.5, proxy=0.9))
    a_failover(mha, made_up(7.6))
    of = "of 6.50\xa0s are the"
    assert [*wording.shares(the_group(galera))] == [
        f"Up to 1 {of} proxy's interval × fall (500ms × 2); acted 0.900\xa0s after the fault.",
        f"Up to 5 {of} cluster's evs.suspect_timeout (5 s).",
        "They start at the fault and overlap: they do not add up.",
    ]
    assert [*wording.shares(the_group(mha))] == [
        "Up to 4 of 7.60\xa0s are the manager's ping_interval × pings (1 s × 4)."
    ]


def test_a_verdict_says_which_system_waits_how_much_longer(galera: System, mha: System) -> None:
    for outages in ((2.0, 6.0), (2.05, 6.3), (2.1, 6.1)):
        for system, outage in zip((galera, mha), outages, strict=True):
            a_failover(system, made_up(outage))
            a_failover(system, made_up(0.05 if system is galera else outage), fault="kill_reader")
            a_failover(system, made_up(0.05), fault="switch")
    killed, reader, switch = load_failovers(FailoverFilter()).verdicts
    names = galera.short_name, mha.short_name
    assert re.fullmatch(rf"{names[1]} 2\.\d+\xa0× \[2\.\d+,\xa03\.\d+\] of {names[0]}: worse", wording.verdict(killed))
    assert wording.verdict(reader) == f"{names[0]} was not interrupted, {names[1]} for 6.10\xa0s: worse"
    assert wording.verdict(switch) == f"{names[1]} and {names[0]} were not interrupted"
    a_failover(mha, made_up(None))
    killed, *_ = load_failovers(FailoverFilter()).verdicts
    assert wording.verdict(killed) == f"{names[1]} did not recover in 1 of 4 trials"
