"""What terminals, logs and redirections put around an output is removed: nothing else, and no number changes."""

import re

import pytest

from apps.runs.tool_output import plain_text
from apps.runs.tool_output.formats import SUBMITTED
from tests.runs.tool_output.deformed import DEFORMED, PREFIXED, prefixed
from tests.runs.uploads import OUTPUT

READ = SUBMITTED["sysbench"].read


@pytest.mark.parametrize("name", DEFORMED)
def test_a_deformed_output_has_the_same_numbers_at_its_own_bytes(name: str) -> None:
    raw = DEFORMED[name](OUTPUT)
    whole, found = READ(OUTPUT), READ(raw)
    assert (found.threads, found.rate) == (whole.threads, whole.rate)
    assert found.output.intervals == whole.output.intervals
    assert (found.output.complete, found.output.unparsed) == (True, whole.output.unparsed)
    numbers = [(each.metric, each.value) for each in whole.output.headlines]
    assert [(each.metric, each.value) for each in found.output.headlines] == numbers
    for one, other in zip(whole.output.headlines, found.output.headlines, strict=True):
        assert (
            raw[other.byte_start : other.byte_end].replace(b"\0", b"").replace(b",", b".")
            == (OUTPUT[one.byte_start : one.byte_end])
        )


@pytest.mark.parametrize(
    "text",
    [
        OUTPUT,
        OUTPUT.replace(b"\n", b"\r\n"),
        b"",
        b"\n\n",
        b"2026-11-27 15:09:32:123 10 sec: 1000 operations; 100 current ops/sec\n",
        b"Nov 27 15:09:32 sysbench 1.0.20\nNumber of threads: 4\n",
        b"bench-1  | sysbench 1.0.20\ndb-1     | ready\n",
        b"i_sec\tt_sec\n1\t2\n",
        b"time,tps\n2026-11-27 15:09:32 ,1\n",
        b"Vuser 1:TEST RESULT\nVuser 2:FINISHED SUCCESS\n",
    ],
)
def test_what_has_nothing_around_it_stays_as_it_is(text: bytes) -> None:
    plain = plain_text.of(text)
    assert (plain.content, plain.steps) == (text, ())


def test_a_line_cut_off_within_its_prefix_does_not_keep_the_others_from_being_read() -> None:
    raw = prefixed(b"2026-11-27T15:09:32.123456789Z ")(OUTPUT) + b"2026-11-27T15:1"
    assert READ(raw).output.complete


def test_lines_of_the_journal_itself_are_left_out() -> None:
    head = b"-- Journal begins at Fri 2026-11-20 10:00:00 UTC, ends at Fri 2026-11-27 15:09:32 UTC. --\n"
    raw = head + PREFIXED["journalctl"](OUTPUT)
    assert READ(raw).output.unparsed == READ(OUTPUT).output.unparsed


def test_an_empty_line_may_have_lost_the_blank_of_its_prefix() -> None:
    raw = re.sub(rb" +$", b"", PREFIXED["kubectl logs --timestamps"](OUTPUT), flags=re.MULTILINE)
    assert READ(raw).output.headlines
    assert len(READ(raw).output.intervals) == len(READ(OUTPUT).output.intervals)


def test_utf_16_of_any_length_is_read_up_to_where_it_breaks() -> None:
    raw = DEFORMED["UTF-16 LE"](OUTPUT)
    assert plain_text.of(raw[:-1]).content[:-3] == OUTPUT[: len(plain_text.of(raw[:-1]).content) - 3]
    accents = "sysbench 1.0.20 (é𝄞)\nNumber of threads: 4\n"
    plain = plain_text.of(accents.encode("utf-16"))
    place = plain.content.index(b"4")
    start, end = plain.span(place, place + 1)
    assert accents.encode("utf-16")[start:end] == "4".encode("utf-16-le")
