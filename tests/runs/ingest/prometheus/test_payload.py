"""Files of series: what is read, and what is refused in words."""

import gzip
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.ingest.prometheus.payload import BadPayload, read
from tests.runs.ingest.prometheus.sent import a_file, packed

HEAD = json.dumps({"splashboard": "prometheus series", "version": 1, "source": "x"})
CLOCK = json.dumps({"clock": 0, "at": [1, 2, 3]})
SERIES = json.dumps({"clock": 0, "labels": {"__name__": "up"}, "values": [1, None, 3]})


def test_series_share_clocks_and_missing_values_are_not_zeros() -> None:
    found = read(packed("\n".join([HEAD, CLOCK, SERIES, ""])))
    (one,) = found.series
    assert found.clocks[0].tolist() == [1, 2, 3]
    assert one.values[[0, 2]].tolist() == [1, 3]
    assert math.isnan(one.values[1])


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "line 1"),
        (["{}"], "line 1"),
        ([HEAD[:-1] + ', "more": ' + "[" * 100_000], "line 1"),
        ([json.dumps({"splashboard": "prometheus series", "version": 2})], "'prometheus series' 1 is read here"),
        ([HEAD], "no series"),
        ([HEAD, "nonsense"], "line 2"),
        ([HEAD, SERIES], "line 2: a series needs labels, and a clock that is stated before it"),
        ([HEAD, CLOCK, CLOCK], "line 3: clock 0 is stated twice"),
        ([HEAD, json.dumps({"clock": 0, "at": [2, 1]})], "do not rise"),
        ([HEAD, json.dumps({"clock": 0, "at": []})], "do not rise"),
        ([HEAD, CLOCK, json.dumps({"clock": 0, "labels": {"__name__": "up"}, "values": [1]})], "1 values for the 3"),
        (
            [HEAD, CLOCK, json.dumps({"clock": 0, "labels": {"__name__": "u p"}, "value": 1})],
            "not the name of a metric",
        ),
        ([HEAD, CLOCK, json.dumps({"clock": 0, "labels": {"__name__": "up"}, "value": 1, "node": "a" * 81})], "80"),
        ([HEAD, CLOCK, json.dumps({"clock": 0, "labels": {"__name__": "up"}, "valeu": 1})], "valeu"),
    ],
)
def test_an_unusable_file_is_refused_with_line_and_reason(lines: list[str], words: str) -> None:
    with pytest.raises(BadPayload) as refused:
        read(packed("\n".join(lines)))
    assert words in str(refused.value)


def test_a_small_file_of_many_values_is_refused_before_they_are_made() -> None:
    """A line for each series, whose one value counts at each time of a clock."""
    clock = json.dumps({"clock": 0, "at": list(range(1_000_000))})
    lines = [json.dumps({"clock": 0, "labels": {"__name__": f"a{number}"}, "value": 1}) for number in range(21)]
    with pytest.raises(BadPayload, match=r"line 23: a file has at most 20,000,000 values"):
        read(packed("\n".join([HEAD, clock, *lines])))


@pytest.mark.parametrize(
    "line", [{"labels": {"__name__": "up", "a": "\0"}}, {"labels": {"__name__": "up"}, "type": "\0"}]
)
def test_texts_that_cannot_be_stored_are_refused(line: dict[str, object]) -> None:
    with pytest.raises(BadPayload, match="line 3: a text contains NUL"):
        read(packed("\n".join([HEAD, CLOCK, json.dumps({"clock": 0, "value": 1, **line})])))
    with pytest.raises(BadPayload, match="line 1: source contains NUL"):
        read(packed(json.dumps({"splashboard": "prometheus series", "version": 1, "source": "\0"})))


def test_what_is_no_gzip_is_refused() -> None:
    for content in (b"", b"up 1", a_file(("up", {}, [1.0], 1.0))[:-9]):
        with pytest.raises(BadPayload, match="the file"):
            read(content)


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_break_it(some: bytes, place: int) -> None:
    good = "\n".join([HEAD, CLOCK, SERIES]).encode()
    for content in (some, gzip.compress(some), gzip.compress(good[:place] + some + good[place:])):
        try:
            read(content)
        except BadPayload:
            continue
