"""200 mutations of an output of each format: read with the same numbers, or refused by the line. Never other numbers.

A number differs only where the mutation touched the line that it is read from. One is missing only where its line is
gone, stands among the lines that were not parsed, or is of a histogram that no longer fits the totals.
"""

from collections import Counter

import pytest

from apps.runs.tool_output.declaration import SubmittedOutput
from apps.runs.tool_output.formats import ATTACHED, SUBMITTED, NotThisFormat
from apps.runs.tool_output.parsers.parsed_output import OutputTable
from apps.runs.tool_output.recognition import NotRecognised, recognised
from tests.runs.tool_output.mutations import KINDS, Mutation, mutations
from tests.runs.tool_output.samples import ATTACHMENTS, READ, SAMPLES

# Attachments each of whose rows is of lines of its own; other numbers are shares of the whole.
ROWS = {"pt-query-digest", "perf-report", "hammerdb-timing"}


def test_there_are_200_of_each_format() -> None:
    assert sum(times for _, times in KINDS) == 200
    assert (set(SAMPLES), set(ATTACHMENTS)) == (set(SUBMITTED), set(ATTACHED))


@pytest.mark.parametrize("name", SUBMITTED)
def test_a_mutated_output_is_read_right_or_refused_by_its_line(name: str) -> None:
    whole = READ[name].read(SAMPLES[name])
    outcomes = Counter(_outcome(name, whole, each) for each in mutations(SAMPLES[name], seed=name))
    assert outcomes["read"] >= 20, outcomes  # deformed, and what touches no number


@pytest.mark.parametrize("name", ATTACHED)
def test_a_mutated_attachment_is_read_right_or_refused_by_its_line(name: str) -> None:
    whole = ATTACHED[name].read(ATTACHMENTS[name])
    outcomes = Counter(_table_outcome(name, whole, each) for each in mutations(ATTACHMENTS[name], seed=name))
    assert outcomes["read"] >= 20, outcomes


def _table_outcome(name: str, whole: OutputTable, mutated: Mutation) -> str:
    """Two files in one are no mistake here: perf script appends, and a first table is that of the first event."""
    refusal: NotThisFormat | None = None
    try:
        found = ATTACHED[name].read(mutated.content)
    except NotThisFormat as error:
        refusal = error
    if refusal is not None:
        return _refused(mutated, refusal)
    if mutated.is_read:
        assert found == whole, mutated.name
    elif mutated.touched and name in ROWS:
        lines = sum(ATTACHMENTS[name].count(b"\n", *each) + 1 for each in mutated.touched)
        assert len(set(whole.rows) & set(found.rows)) >= len(set(whole.rows)) - lines, mutated.name
    return "read"


def _outcome(name: str, whole: SubmittedOutput, mutated: Mutation) -> str:
    refusal: NotThisFormat | None = None
    try:
        found = READ[name].read(mutated.content)
    except NotThisFormat as error:
        refusal = error
    _recognise(mutated)
    if refusal is not None:
        return _refused(mutated, refusal)
    assert mutated.is_read is not False, f"{mutated.name} was read"
    if not found.output.complete or found.output.fatal:
        assert not mutated.is_read, mutated.name
        return "incomplete"
    _same(whole, found, mutated)
    return "read"


def _refused(mutated: Mutation, refusal: NotThisFormat) -> str:
    assert not mutated.is_read, f"{mutated.name}: {refusal}"
    assert 1 <= refusal.line <= mutated.content.count(b"\n") + 1, mutated.name
    assert refusal.expected, mutated.name
    return "refused"


def _recognise(mutated: Mutation) -> None:
    """In a sentence with a line, if not."""
    said = "line"
    try:
        recognised(mutated.content)
    except NotRecognised as error:
        said = str(error)
    assert "line" in said, mutated.name


def _same(whole: SubmittedOutput, found: SubmittedOutput, mutated: Mutation) -> None:
    before = {each.metric: each.value for each in whole.output.headlines}
    after = {each.metric: each.value for each in found.output.headlines}
    if not mutated.touched:
        assert after == before, mutated.name
        assert found.output.intervals == whole.output.intervals, mutated.name
        assert (found.threads, found.rate) == (whole.threads, whole.rate), mutated.name
        assert found.output.measured == whole.output.measured, mutated.name
        return
    is_shown = len(found.output.unparsed) > len(whole.output.unparsed)
    is_of_histogram = any(_touches(mutated, each.byte_start, each.byte_end) for each in whole.output.distributions)
    for each in whole.output.headlines:
        if mutated.is_letter or not _touches(mutated, each.byte_start, each.byte_end):
            is_lost = each.metric not in after and (is_shown or is_of_histogram)
            assert is_lost or after.get(each.metric) == each.value, f"{mutated.name}: {each.metric}"


def _touches(mutated: Mutation, start: int, end: int) -> bool:
    return any(start < to and from_ < end for from_, to in mutated.touched)
