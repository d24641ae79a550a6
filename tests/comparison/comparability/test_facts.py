"""What two runs on one host share and what passes, what a load tool was called with, and lists that are shortened."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.comparison.comparability.command_lines import options, program
from apps.comparison.comparability.differences import FieldGroup, differences
from apps.comparison.comparability.facts import _host, _listed, lasting_facts


def test_neither_a_host_s_clock_nor_its_speed_makes_it_another() -> None:
    known = {
        "name": "vm",
        "cpus": 2,
        "clock_ahead_seconds": 0.0004,
        "clock_uncertainty_seconds": 0.001,
        "canary": {"cpu_ms": 80.1},
    }
    assert lasting_facts(known) == {"name": "vm", "cpus": 2}


@pytest.mark.parametrize("name", ["timezone", "loader", "bootargs", "pids_limit", "clocksource"])
def test_a_fact_that_only_begins_like_a_passing_one_lasts(name: str) -> None:
    assert lasting_facts({name: "one", "load": 0.5, "load_avg_15": 1, "time": 3, "boot_id": "x"}) == {name: "one"}


def test_nested_facts_of_a_host_are_compared_whatever_their_order_and_without_what_passes() -> None:
    one = {"name": "vm", "numa": {"nodes": 2, "sizes": [8, 8], "uptime": 7}}
    same = {"numa": {"uptime": 9, "sizes": [8, 8], "nodes": 2}, "name": "vm"}
    other = {"name": "vm", "numa": {"nodes": 2, "sizes": [8, 16], "uptime": 7}}
    assert _host(one) == _host(same) == 'vm, numa {"nodes":2,"sizes":[8,8]}'
    assert _host(other) != _host(one)


def test_options_with_underscores_are_those_with_hyphens_and_keep_their_values() -> None:
    here = options("sysbench oltp_read_write --skip_trx=on --point_selects=10 --mysql_host=db1 --threads=4 run")
    assert here == ("point-selects=10", "skip-trx=on")
    assert options("sysbench oltp_read_write --skip-trx=on --point-selects=10 run") == here
    assert options("sysbench oltp_read_write --skip_trx=off --point_selects=99 run") != here


@given(
    st.lists(st.text("ab-=_./ #;&\t\N{NO-BREAK SPACE}é", min_size=1), max_size=6),
    st.sampled_from([" ", "  ", "\t", "\n"]),
)
def test_words_mean_the_same_with_and_without_quotes(words: list[str], blank: str) -> None:
    plain = [part for word in words for part in re.split("[ \t]+", word) if part]
    quoted = blank.join(f"'{word}'" for word in plain)
    assert (program(blank.join(plain)), options(blank.join(plain))) == (program(quoted), options(quoted))


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("mysqlslap --concurrency 5 --query 'select 1' --verbose", ("concurrency=5", "query=select 1", "verbose")),
        ("mysqlslap -h db1 -psecret -c 5 -i10", ("c=5", "i=10")),
        ('tool run --parameters {"tables": 1, "at": 6} --threads 8', ("parameters={tables: 1, at: 6}",)),
        ("tool --text 'never closed --tables=3", ("tables=3", "text='never closed")),
        ("", ()),
    ],
)
def test_values_after_a_blank_are_shown_and_secrets_are_not(command: str, shown: tuple[str, ...]) -> None:
    assert options(command) == shown


def test_a_program_is_shown_without_its_directory() -> None:
    assert program("/usr/bin/sysbench /srv/lua/own.lua --tables=4 --time=5 run") == "sysbench own.lua"
    assert program("sysbench oltp_read_only --tables=4") == "sysbench oltp_read_only"
    assert program("") == ""


def test_lists_that_are_shortened_alike_are_different_and_are_then_shown_in_full() -> None:
    sides = [[_listed("tags", "Tags", FieldGroup.ORIGIN, list(tags))] for tags in ("abcd", "abce", "abcd")]
    assert [fact.text for (fact,) in sides] == ["a, b, c and 1 more"] * 3
    (found,) = differences(sides)
    assert found.values == ("a, b, c, d", "a, b, c, e", "a, b, c, d")
    assert differences([sides[0], sides[2]]) == ()
    (found,) = differences([sides[0], [_listed("tags", "Tags", FieldGroup.ORIGIN, ["z"])]])
    assert found.values == ("a, b, c and 1 more", "z")
