"""A campaign from a file: what it says is planned, and whatever is wrong with it is said at once, with its line."""

from textwrap import dedent
from typing import Any

import pytest

from apps.catalog.models import Workload
from apps.core.problems import Invalid
from apps.dispatch.campaigns import file
from apps.dispatch.campaigns import text as campaign_text
from apps.dispatch.models import Campaign, Entry
from tests.support.builders import a_system

WORKLOAD = "tool: sysbench, parameters: {test: oltp_insert, tables: 1, table_size: 100}"
WHOLE = f"""
name: small and large
systems: [a, b]
repetitions: 2
warmup: 1
duration: 5
load_levels: [1, 4]
workloads:
  - {{{WORKLOAD}}}
  - {{{WORKLOAD}, climb: {{from: 1, to: 100, factor: 4}}, duration: 3}}
  - {{{WORKLOAD}, storm: {{base: 8, factors: [1, 2.5, 10]}}, warmup: 0, systems: [b]}}
  - {{{WORKLOAD}, load_levels: [2, {{threads: 8, rate: 200}}], name: fixed}}
"""


@pytest.fixture(autouse=True)
def systems(db: None) -> None:
    a_system("a"), a_system("b")


def refused(text: str, **options: Any) -> list[str]:
    with pytest.raises(Invalid) as caught:
        file.start(dedent(text).encode(), by=None, **options)
    return [problem.sentence() for problem in caught.value.errors]


def levels(entry: Entry) -> list[str]:
    return [str(level) for level in entry.load_levels.all()]


def test_what_a_file_says_is_planned() -> None:
    campaign = file.start(WHOLE.encode(), by=None)
    shared, ramp, storm, fixed = campaign.entries.all()
    assert (campaign.name, campaign.repetitions, campaign.jobs.count()) == ("small and large", 2, 14)
    assert levels(shared) == ["1 thread", "4 threads"]
    assert levels(ramp) == ["1 thread", "4 threads", "16 threads", "64 threads", "100 threads"]
    assert levels(storm) == ["8 threads", "20 threads", "80 threads"]
    assert levels(fixed) == ["2 threads", "8 threads, 200/s"]
    assert [(entry.warmup, entry.duration) for entry in (shared, ramp, storm)] == [(1, 5), (1, 3), (0, 5)]
    ramps = [(entry.ends_when_refused, entry.least_gain) for entry in (shared, ramp, storm)]
    assert ramps == [(False, None), (True, 0.05), (True, None)]
    assert {job.system.slug for job in storm.jobs.all()} == {"b"}


def test_loading_a_dump_is_asked_for_no_duration_and_its_plan_states_none() -> None:
    campaign = file.start(b"{name: restore, systems: [a], workloads: [{tool: data_load}]}", by=None)
    assert campaign.entries.get().workload.tool == "data_load"
    assert "duration" not in campaign_text.of(campaign)
    timed = "{name: restore, systems: [a], load_levels: [1], workloads: [{tool: index_cost}]}"
    assert any("duration: line 1: is missing" in each for each in refused(timed))


OWN_LOAD = """
name: what fails over, what loads
systems: [a, b]
load_levels: [4, 8]
duration: 5
workloads:
  - {tool: failover, parameters: {fault: kill_writer}}
  - {tool: data_load, load_levels: [{threads: 2, rate: 100}]}
  - {tool: index_cost}
"""


def test_a_workload_that_makes_its_own_load_runs_once_however_many_levels_are_listed() -> None:
    assert file.check(OWN_LOAD.encode()).size.runs == 2 * 3 * (1 + 1 + 2)
    campaign = file.start(OWN_LOAD.encode(), by=None)
    assert [levels(entry) for entry in campaign.entries.all()] == [
        ["1 thread"],
        ["1 thread"],
        ["4 threads", "8 threads"],
    ]
    again = file.start(campaign_text.of(campaign).encode(), by=None)
    assert [levels(entry) for entry in again.entries.all()] == [levels(entry) for entry in campaign.entries.all()]


@pytest.mark.parametrize("load", ["climb: {to: 64}", "storm: {base: 8, factors: [1, 2]}"])
def test_a_load_that_grows_is_refused_where_the_workload_makes_its_own(load: str) -> None:
    (said,) = refused(f"""
        name: how many failovers at once
        systems: [a]
        duration: 5
        workloads:
          - tool: failover
            {load}
        """)
    assert said.startswith("workloads.0.load_levels: line 6: failover makes its own load")


def test_json_is_read_as_well_and_a_second_start_is_a_second_campaign() -> None:
    text = b"""{"name": "x", "systems": ["a"], "duration": 1, "load_levels": [1], "workloads": [
        {"tool": "sysbench", "parameters": {"test": "oltp_insert", "tables": 1, "table_size": 100}}]}"""
    first, second = (file.start(text, by=None) for _ in range(2))
    assert first.pk != second.pk
    assert first.repetitions == second.repetitions == 3
    assert Workload.objects.count() == 1


def test_other_systems_and_fewer_repetitions_can_be_asked_for() -> None:
    a_system("c")
    campaign = file.start(WHOLE.encode(), by=None, instead={"b": "c"}, repetitions=1)
    assert [system.slug for system in campaign.systems.order_by("slug")] == ["a", "c"]
    assert {job.system.slug for job in campaign.entries.get(place=2).jobs.all()} == {"c"}
    assert campaign.jobs.count() == 7
    said = refused(WHOLE, instead={"b": "nowhere", "z": "a"})
    assert said[0].startswith("systems.1: line 3: there is no system 'nowhere' (instead of 'b')")
    assert said[1].startswith("systems: line 3: 'z', which is to be replaced, is not in the file")


def test_checking_stores_nothing() -> None:
    checked = file.check(WHOLE.encode())
    assert (checked.size.jobs, checked.size.runs) == (14, 4 * 2 + 4 * 5 + 2 * 3 + 4 * 2)
    assert not Campaign.objects.exists()
    assert not Workload.objects.exists()


def test_everything_that_is_wrong_is_said_at_once_with_its_line_and_a_remedy() -> None:
    said = refused("""
        name: ""
        systems: [a, b, nowhere]
        repetition: 3
        repetitions: 0
        workloads:
          - tool: sysbench
            parameters: {test: oltp_insert, tables: 0, table_size: 100}
            load_levels: [1]
            duration: 5
          - tool: unheard-of
            load_levels: [0, 2]
            duration: 5
          - tool: sysbanch
            load_levels: [2]
            duration: 5
          - parameters: {test: oltp_insert, tables: 1, table_size: 100}
            duration: -1
          - tool: sysbench
            parameters: {test: oltp_insert, tables: 1, table_size: 100}
            climb: {from: 8, to: 4}
            systems: [a, c]
        """)
    beginnings = [
        "name: line 2: is '' (use the campaign's question",
        "repetition: line 4: is unknown (use one of name, systems, repetitions",
        "repetitions: line 5: is 0 (use a whole number from 1 to 100",
        "workloads.1.load_levels.0: line 12: is 0 (use a number of threads",
        "workloads.3.duration: line 18: is -1 (use seconds of each run's measured phase",
        "workloads.3.tool: line 17: is missing (give a load tool",
        "systems.2: line 3: there is no system 'nowhere'",
        "workloads.0.parameters.tables: line 8:",
        "workloads.2.tool: line 14: no agent runs 'sysbanch' (use one of app_ingest",
        "workloads.4.climb.to: line 21: is below `from` (use a larger number)",
        "workloads.4.duration: line 19: is missing (give it here or, for all workloads, at the top)",
        "workloads.4.systems.1: line 22: 'c' is not among the campaign's systems",
    ]
    for beginning in beginnings:
        assert any(sentence.startswith(beginning) for sentence in said), (beginning, said)
    assert len(said) == len(beginnings)
    assert not Campaign.objects.exists()
    assert not Workload.objects.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "use a mapping with name, systems"),
        ("- a", "use a mapping with name, systems"),
        ("name: [", "line 1: is not YAML"),
        ("name: a\nname: b\n", "line 2: is not YAML: key 'name' is given twice"),
        ("name: &x [a]\nsystems: *x\n", "line 2: an alias (*name) is not supported"),
        ("name: a\n1: b\n", "has the name 1, which is not a text"),
        ("name: .nan\n", "name: line 1: is nan"),
        ('name: "\\0"\n', "contains NUL, which cannot be stored"),
        ('name: "\\ud800"\n', "line 1: is not YAML: a text contains half a character"),
        ("? [a]\n: b\n", "is not YAML"),
        ("name: !!binary aGFsbG8=\n", "name: line 1: is b'hallo'"),
        ("a: " + "[" * 5000, "is nested too deeply"),
        ("name: " + "x" * 300_000, "at most 262,144 are read"),
    ],
)
def test_what_is_no_campaign_file_is_refused(text: str, words: str) -> None:
    said = refused(text)
    assert any(words in sentence for sentence in said), said


def test_halves_of_a_character_as_json_writes_them_are_one() -> None:
    campaign = file.start(WHOLE.replace("small and large", '"\\ud83d\\ude80"').encode(), by=None)
    assert campaign.name == "\N{ROCKET}"


def test_two_kinds_of_load_in_one_entry_are_refused() -> None:
    both = WHOLE.replace("duration: 3}", "duration: 3, load_levels: [1]}")
    assert any("has load_levels and climb" in sentence for sentence in refused(both))


@pytest.mark.parametrize(
    ("first", "last", "factor", "found"),
    [
        (1, 8, 2, [1, 2, 4, 8]),
        (1, 10, 2, [1, 2, 4, 8, 10]),
        (1, 3, 1.1, [1, 2, 3]),
        (5, 5, 2, [5]),
        (8, 4, 2, []),
        (2, 9, 1.5, [2, 3, 4, 7, 9]),
    ],
)
def test_rungs_grow_by_the_factor_up_to_the_last(first: int, last: int, factor: float, found: list[int]) -> None:
    assert file.ramp_levels(first, last, factor) == found
