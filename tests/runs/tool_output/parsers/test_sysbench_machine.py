"""sysbench's fileio and cpu, as recorded: the final report's figures become headline values."""

import re

import pytest

from apps.catalog.metrics.standard import CURATED
from apps.runs import tool_output
from apps.runs.tool_output.formats import SUBMITTED, NotThisFormat
from apps.runs.tool_output.parsers import sysbench as parser
from tests.paths import DATA, RECORDINGS

SYSBENCH_RECORDINGS = RECORDINGS / "sysbench_single"


@pytest.mark.parametrize(
    ("tool", "recording", "expected"),
    [
        ("cpu", "cpu_t2", {"client.events": 5554.19, "client.latency.p95": 0.52, "client.elapsed": 10.0021}),
        (
            "fileio",
            "fileio_rndrd_direct_t4_hist",
            {"client.file_reads": 32416.0, "client.file_read_mib": 506.5, "client.file_writes": 0.0},
        ),
        (
            "fileio",
            "fileio_rndrw_none_t4_hist",
            {
                "client.file_reads": 28052.8,
                "client.file_writes": 18701.87,
                "client.file_fsyncs": 3743.04,
                "client.file_read_mib": 438.33,
                "client.file_write_mib": 292.22,
                "client.latency.p95": 0.74,
            },
        ),
    ],
)
def test_the_final_report_is_read_with_its_place(tool: str, recording: str, expected: dict[str, float]) -> None:
    content = (SYSBENCH_RECORDINGS / f"{recording}.txt").read_bytes()
    said = tool_output.read(tool, content)
    assert (said.complete, said.unparsed) == (True, ())
    assert tool_output.artifact_name(tool) == f"{tool}.txt"
    found = {headline.metric: headline for headline in said.headlines}
    assert {metric: found[metric].value for metric in expected} == expected
    for metric in expected:
        assert metric in CURATED
    reads = found.get("client.file_reads") or found["client.events"]
    assert float(content[reads.byte_start : reads.byte_end]) == reads.value
    assert len(said.intervals) >= 9


def test_the_latencies_of_files_are_a_distribution() -> None:
    said = tool_output.read("fileio", (SYSBENCH_RECORDINGS / "fileio_rndrd_direct_t4_hist.txt").read_bytes())
    (read,) = said.distributions
    assert read.distribution.count == pytest.approx(389_100, abs=4)


def test_the_second_of_a_checkpoint_has_no_rates_of_files() -> None:
    """sysbench begins to count anew in it: what it prints is of a moment."""
    text = (
        b"[ 1s ] reads: 174.12 MiB/s writes: 116.11 MiB/s fsyncs: 740.99/s latency (ms,95%): 0.147\n"
        b"[ 2s ] Checkpoint report:\n"
        b"[ 2s ] reads: 0.31 MiB/s writes: 0.23 MiB/s fsyncs: 0.00/s latency (ms,95%): 1.163\n"
    )
    first, second = parser.parse(text).intervals
    assert first.values["file_reads_mib"] == 174.12
    assert set(second.values.values()) == {None}


FILES_OF_1_1 = (DATA / "outputs" / "sysbench" / "fileio_1_1.txt").read_bytes()


def test_fileio_of_sysbench_1_1_is_read_though_it_prints_neither_time_nor_events() -> None:
    read = SUBMITTED["fileio"].read(FILES_OF_1_1)
    assert (read.output.complete, read.output.unparsed, read.threads) == (True, (), 1)
    older = SUBMITTED["fileio"].read(MACHINE["fileio"]).output
    values = {one.metric: one.value for one in read.output.headlines}
    assert values == {one.metric: one.value for one in older.headlines if one.metric != "client.elapsed"}
    assert FILES_OF_1_1[read.output.headlines[0].byte_start :].startswith(b"39659.51 619.68 MiB/s")
    assert (read.output.measured, read.output.intervals) == ((0.0, 2.0), older.intervals)
    commas = re.sub(rb"(?<=\d)\.(?=\d{2})", b",", FILES_OF_1_1[FILES_OF_1_1.index(b"Throughput:") :])
    assert parser.parse(commas).totals.keys() == parser.parse(FILES_OF_1_1).totals.keys()


def test_fileio_of_sysbench_1_1_is_complete_from_its_last_line_on() -> None:
    last = FILES_OF_1_1.index(b"sum:")
    for cut in range(len(FILES_OF_1_1)):
        is_whole = cut > FILES_OF_1_1.index(b"\n", last)
        assert tool_output.read("fileio", FILES_OF_1_1[:cut]).complete == is_whole, cut


def test_a_checkpoint_of_sysbench_1_1_begins_what_its_totals_of_files_cover() -> None:
    report = FILES_OF_1_1[FILES_OF_1_1.index(b"Throughput:") :]
    early = b"[ 1s ] Checkpoint report:\n" + report.replace(b"39659.51", b"11111.11")
    text = FILES_OF_1_1.replace(b"[ 2s ]", early + b"[ 2s ]")
    read = tool_output.read("fileio", text)
    assert (read.complete, read.measured) == (True, (1.0, 2.0))
    assert next(one.value for one in read.headlines if one.metric == "client.file_reads") == 39659.51
    assert parser.parse(text).second_run == 0
    assert parser.parse(FILES_OF_1_1 + FILES_OF_1_1).second_run == len(FILES_OF_1_1)


def test_a_test_of_files_that_did_nothing_has_no_latency() -> None:
    idle = re.sub(rb"IOPS=\d+\.\d\d", b"IOPS=0.00", FILES_OF_1_1)
    read = tool_output.read("fileio", idle)
    assert read.complete
    assert not [one for one in read.headlines if one.metric.startswith("client.latency")]


MACHINE = {kind: (DATA / "outputs" / "sysbench" / f"{kind}.txt").read_bytes() for kind in ("cpu", "memory", "fileio")}


@pytest.mark.parametrize("kind", MACHINE)
def test_a_submitted_test_of_the_machine_is_read_in_its_own_format_and_refused_by_name_in_others(kind: str) -> None:
    read = SUBMITTED[kind].read(MACHINE[kind])
    assert (read.output.complete, read.output.unparsed, read.threads) == (True, (), 1)
    assert read.output.intervals
    assert {headline.metric for headline in read.output.headlines} <= CURATED.keys()
    for other in {"sysbench", *MACHINE} - {kind}:
        with pytest.raises(NotThisFormat, match=f"but of its {kind}: choose {kind}, not {other}"):
            SUBMITTED[other].read(MACHINE[kind])


def test_memory_is_measured_in_what_was_moved() -> None:
    values = {one.metric: one.value for one in SUBMITTED["memory"].read(MACHINE["memory"]).output.headlines}
    assert (values["client.memory_mib"], values["client.memory_operations"]) == (6305.55, 6456880.73)


@pytest.mark.parametrize("kind", MACHINE)
def test_decimal_commas_are_read_as_points(kind: str) -> None:
    with_commas = re.sub(rb"(?<=\d)\.(?=\d{2})", b",", MACHINE[kind])
    assert with_commas != MACHINE[kind]
    one, other = (SUBMITTED[kind].read(content).output for content in (MACHINE[kind], with_commas))
    assert (one.headlines, one.intervals) == (other.headlines, other.intervals)
    assert other.unparsed == ()
