"""Files that were cut, mixed up or made of anything: refused with a line, marked incomplete or read; never a crash."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.tool_output.parsers import sysbench
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, ParsedOutput
from tests.examples import examples
from tests.runs.tool_output.parsers.outputs import RUNS, TABLES, content
from tests.runs.uploads import OUTPUT, SEGFAULT

EVERY: dict[str, Callable[[bytes], object]] = {**RUNS, **TABLES}


def read(parse: Callable[[bytes], object], text: bytes) -> object:
    """Refusals name a line of the file."""
    refusal = None
    try:
        return parse(text)
    except NotThisFormat as error:
        refusal = error
    assert 1 <= refusal.line <= text.count(b"\n") + 1
    assert refusal.expected
    return None


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data())
@examples(60)
def test_what_was_mutilated_is_never_a_crash(name: str, data: st.DataObject) -> None:
    text = bytearray(content(name))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 40, len(text))))
        text[start:end] = data.draw(st.one_of(st.binary(max_size=8), st.sampled_from(NASTY)))
    read(EVERY[name], bytes(text))


NASTY = (
    b"\0",
    b"\xff",
    b"\r\n",
    b"1e999999999",
    b"-",
    b"NaN",
    b"9" * 400,
    b"{",
    b'"',
    b",,",
    b"\n\n",
    b"null",
    b"[]",
    b"true",
)


@pytest.mark.parametrize("name", RUNS)
def test_an_output_cut_anywhere_is_refused_incomplete_or_lacks_only_what_follows_the_result(name: str) -> None:
    text = content(name)
    whole = RUNS[name](text)
    for cut in range(len(text)):
        # Rows of time without an end mark: cut between two of them it is the output of a shorter run.
        if name.endswith((".csv", "pgbench/aggregated_one_thread.log")) and text[:cut].endswith(b"\n"):
            continue
        found = read(RUNS[name], text[:cut])
        if isinstance(found, ParsedOutput) and not found.reason and found != whole:
            assert found.values == whole.values, cut


@pytest.mark.parametrize("name", [name for name in EVERY if name.endswith(".json")])
def test_json_cut_anywhere_is_refused(name: str) -> None:
    text = content(name).rstrip()
    for cut in range(0, len(text), max(1, len(text) // 200)):
        assert read(EVERY[name], text[:cut]) is None, cut


@pytest.mark.parametrize("name", EVERY)
@given(text=st.binary(max_size=300))
@examples(40)
def test_bytes_of_any_kind_are_refused_or_read(name: str, text: bytes) -> None:
    read(EVERY[name], text)


@pytest.mark.parametrize("name", EVERY)
def test_an_empty_file_is_refused(name: str) -> None:
    for text in (b"", b"\n", b"  \n\n"):
        assert read(EVERY[name], text) is None


LONG = 50_000  # bytes that a line grows by
GROWTH = (
    b" ",
    b"\t",
    b"9",
    b"a",
    b".",
    b"1 ",
    b"a ",
    b"- ",
    b"[",
    b"(",
    b"a (",
    b"a=1 ",
    b"0 1: ",
    b"+0x0",
    b":1",
    b" [1]",
)
# Reading such a line takes ms where time grows with the length, and a minute where it grows with its square.
LONGEST = 10.0  # s


def grown(text: bytes) -> Iterator[bytes]:
    """The file up to a line of each kind, which grew at one of its words."""
    lines = text.splitlines(keepends=True)
    kinds = {re.sub(rb"\d+", b"9", re.sub(rb"[a-zA-Z]+", b"a", line))[:40]: number for number, line in enumerate(lines)}
    for number in list(kinds.values())[:10]:
        line = lines[number].rstrip(b"\n")
        words = [found.start() for found in re.finditer(rb"\b", line)]
        for place in {0, len(line), *words[1:6:2]}:
            for grain in GROWTH:
                part = line[:place] + grain * (LONG // len(grain)) + line[place:]
                yield b"".join((*lines[:number], part, b"\n"))


@pytest.mark.parametrize("name", [*EVERY, "sysbench", "sysbench, killed"])
def test_a_long_line_takes_time_in_proportion_to_its_length(name: str) -> None:
    sysbenchs = {"sysbench": OUTPUT, "sysbench, killed": SEGFAULT}
    parse = EVERY.get(name, sysbench.parse)
    for text in grown(sysbenchs[name] if name in sysbenchs else content(name)):
        began = time.process_time()
        read(parse, text)
        assert time.process_time() - began < LONGEST, text[-200:]
