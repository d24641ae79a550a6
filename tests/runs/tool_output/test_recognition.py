"""A format is recognised by the content of an output; what is of none, or of several, is refused with what was seen."""

import json
from typing import Any

import pytest

from apps.runs.tool_output.formats import SUBMITTED
from apps.runs.tool_output.recognition import NotRecognised, recognised
from tests.fuzz.test_corpus import corpus
from tests.runs.tool_output.deformed import DEFORMED
from tests.runs.tool_output.samples import SAMPLES
from tests.runs.uploads import OUTPUT

# Lines of numbers alone, and files of any form.
UNMARKED = {"pgbench-log", "own"}


def test_all_others_have_a_mark() -> None:
    assert {name for name, one in SUBMITTED.items() if not one.mark} == UNMARKED


@pytest.mark.parametrize("name", sorted(UNMARKED))
def test_what_has_no_mark_is_not_recognised_and_the_remedy_names_its_format(name: str) -> None:
    with pytest.raises(NotRecognised) as refused:
        recognised(SAMPLES[name])
    assert name in refused.value.remedy


@pytest.mark.parametrize("name", sorted(SUBMITTED.keys() - UNMARKED))
def test_each_format_is_recognised_by_its_sample_however_deformed(name: str) -> None:
    sample = SAMPLES[name]
    assert recognised(sample).name == name
    assert {recognised(deform(sample)).name for deform in DEFORMED.values()} == {name}


@pytest.mark.parametrize("name", ["fio", "benchbase-summary"])
@pytest.mark.parametrize("layout", [{"separators": (",", ":")}, {"sort_keys": True, "indent": 1}, {}])
def test_json_is_recognised_and_read_however_it_is_laid_out(name: str, layout: dict[str, Any]) -> None:
    sample = SAMPLES[name]
    text = json.dumps(json.loads(sample[sample.index(b"{") :]), **layout).encode()
    assert recognised(text).name == name
    own, other = (SUBMITTED[name].read(each).output.headlines for each in (sample, text))
    assert {(each.metric, each.value) for each in own} == {(each.metric, each.value) for each in other}


def test_what_was_taken_as_sysbenchs_without_its_first_lines_still_is() -> None:
    for text in (*corpus("sysbench"), OUTPUT.partition(b"SQL statistics:")[2], b"FATAL: no such table\n"):
        try:
            SUBMITTED["sysbench"].read(text)
        except ValueError:
            continue
        assert recognised(text).name == "sysbench", text[:200]
    assert recognised(SAMPLES["cpu"].partition(b"Threads started!")[2]).name == "cpu"


def test_an_unknown_output_is_refused_with_what_was_looked_for_what_was_seen_and_the_remedy() -> None:
    with pytest.raises(NotRecognised) as refused:
        recognised(b"\n\nhello\nworld\n")
    said = str(refused.value)
    assert "line 3 is 'hello'" in said
    assert all(f"({name})" in said for name in SUBMITTED.keys() - UNMARKED)
    assert all(name in refused.value.remedy for name in ("state format", *SUBMITTED))


def test_lines_of_two_containers_are_refused_with_the_line_at_which_they_mix() -> None:
    text = DEFORMED["docker compose logs"](OUTPUT).replace(b"bench-1  | [ 3s", b"db-1     | [ 3s", 1)
    number = text.partition(b"db-1 ")[0].count(b"\n") + 1
    with pytest.raises(
        NotRecognised, match=f"line {number} does not begin as the lines of docker compose logs before it"
    ):
        recognised(text)


def test_an_output_of_several_formats_is_refused_with_their_lines() -> None:
    text = OUTPUT + SAMPLES["tpcc-mysql"]
    with pytest.raises(NotRecognised) as refused:
        recognised(text)
    line = OUTPUT.count(b"\n") + SAMPLES["tpcc-mysql"].partition(b"TPC-C Load")[0].count(b"\n") + 1
    assert "sysbench by line 1, 'sysbench 1.0" in str(refused.value)
    assert f"tpcc-mysql by line {line}, '*** " in str(refused.value)
    assert "by itself" in refused.value.remedy


def test_what_ycsbs_own_stand_in_for_a_database_prints_is_ycsbs() -> None:
    text = SAMPLES["ycsb"].replace(b"Loading workload...", b"***************** properties *****************")
    assert recognised(text).name == "ycsb"
