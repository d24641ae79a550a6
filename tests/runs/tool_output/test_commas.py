"""Commas in numbers: decimal ones are read where a format has them; else a number is lost or refused, never another."""

import re
from collections.abc import Iterator

import pytest

from apps.runs.tool_output.declaration import SubmittedOutput
from apps.runs.tool_output.formats import SUBMITTED, NotThisFormat
from apps.runs.tool_output.parsers import benchbase, own_rows, ycsb
from tests.runs.tool_output.parsers.outputs import content
from tests.runs.tool_output.samples import READ, SAMPLES

PLACES = 60
# A point between digits, not of a version; and a whole number of four to six digits.
POINT = re.compile(rb"(?<![\w.])(\d+)\.(?=\d+(?![\w.]))")
THOUSANDS = re.compile(rb"(?<![\w.:-])(\d{1,3})(?=\d{3}(?![\w:-]))")


def _with_commas(text: bytes) -> Iterator[bytes]:
    """One number each with a comma for its point, or between its thousands."""
    for pattern in (POINT, THOUSANDS):
        found = list(pattern.finditer(text))
        for each in found[:: len(found) // PLACES + 1]:
            yield text[: each.start()] + each[1] + b"," + text[each.end() :]


@pytest.mark.parametrize(
    "name", sorted(SUBMITTED.keys() - {"benchbase-windows", "failover-report", "schema-change-report"})
)
def test_a_comma_in_one_number_never_makes_another_number_of_it(name: str) -> None:
    text = SAMPLES[name]
    whole = READ[name].read(text)
    for changed in _with_commas(text):
        try:
            found = READ[name].read(changed)
        except NotThisFormat:
            continue
        assert not _others(whole, found), next(
            each for each, other in zip(changed.splitlines(), text.splitlines(), strict=True) if each != other
        )


def _others(whole: SubmittedOutput, found: SubmittedOutput) -> list[str]:
    """Metrics with a number that the whole output has not."""
    before = {each.metric: each.value for each in whole.output.headlines}
    others = [each.metric for each in found.output.headlines if before.get(each.metric) != each.value]
    for end, values in found.output.intervals.items():
        had = whole.output.intervals.get(end, {})
        others += [metric for metric, value in values.items() if value is not None and had.get(metric) != value]
    return others


@pytest.mark.parametrize("name", ["results", "samples"])
def test_benchbases_windows_of_a_jvm_with_decimal_commas_are_the_same(name: str) -> None:
    text = content(f"benchbase/tpcc.{name}.csv")
    changed = re.sub(rb"(?<=\d)\.(?=\d)", b",", text)
    assert changed != text
    before, after = benchbase.parse_csv(text), benchbase.parse_csv(changed)
    assert after.series == before.series
    assert [each.value for each in after.values] == [each.value for each in before.values]


@pytest.mark.parametrize(
    "row", [b"5,431,20,9,160", b"5,431,2,9.160", b"5,431.200,9,160", b"5,431,200,9", b"5,4,31,200,9"]
)
def test_cells_of_a_window_that_are_not_what_benchbase_prints_are_not_joined(row: bytes) -> None:
    head = b"Time (seconds),Throughput (requests/second),Average Latency (millisecond)\n0,421.400,9.480\n"
    with pytest.raises(NotThisFormat, match="3 numbers") as refused:
        benchbase.parse_csv(head + row + b"\n")
    assert refused.value.line == 3


def test_a_window_without_requests_keeps_its_columns_with_decimal_commas() -> None:
    head = b"Time (seconds),Throughput (requests/second),Average Latency (millisecond)\n"
    found = benchbase.parse_csv(head + b"0,421,400,9,480\n5,0,000,NaN\n10,84,000,9,520\n")
    assert dict(found.series) == {"client.throughput": (421.4, 0.0, None), "client.latency.avg": (9.48, None, 9.52)}


@pytest.mark.parametrize("change", [(b"Avg=3021.44", b"Avg=3,021"), (b"1437.04 current", b"1,437 current")])
def test_a_comma_of_thousands_in_ycsbs_status_is_refused_by_its_line(change: tuple[bytes, bytes]) -> None:
    text = content("ycsb/workloada.txt")
    with pytest.raises(NotThisFormat, match=r"at most two decimals after a comma, not [13],") as refused:
        ycsb.parse(text.replace(*change))
    assert refused.value.line == text.partition(change[0])[0].count(b"\n") + 1


def test_a_comma_in_a_file_of_ones_own_that_may_separate_thousands_is_refused_by_its_line() -> None:
    with pytest.raises(NotThisFormat, match=r"1,234 may be 1\.234 or 1234") as refused:
        own_rows.csv_file(b"second;tps\n1;980\n2;1,234\n3;2,345\n")
    assert refused.value.line == 3


@pytest.mark.parametrize("proof", [b"0,512", b"1,5", b"1234,567"])
def test_one_decimal_comma_shows_what_the_others_of_the_file_are(proof: bytes) -> None:
    file = own_rows.csv_file(b"second;tps\n1;1,234\n2;" + proof + b"\n")
    assert float(file.number("1,234") or 0) == 1.234
