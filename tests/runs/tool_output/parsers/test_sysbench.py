"""Golden tests on output of sysbench 1.0.20 as recorded from real servers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.tool_output.parsers import sysbench
from apps.runs.tool_output.parsers.sysbench import Checkpoint, ParsedSysbench
from tests.paths import RECORDINGS
from tests.runs.uploads import OUTPUT

ALL = sorted(path.relative_to(RECORDINGS).as_posix() for path in RECORDINGS.glob("*/*.txt"))
OLTP = {"oltp_", "haproxy_", "direct_", "phase", "copy", "inplace", "instant", "deadlocks"}
# Scripts with report hooks of their own print JSON where sysbench's lines would be.
UNPARSED = {"lua/iibench_t2_json.txt": 13, "lua/oltp_read_write_t4_json.txt": 14, "lua/tpcc_lite_w2_t4_json.txt": 13}
# It died, never began, or was no run.
WITHOUT_TOTALS = {
    "sysbench_errors/conn_killed_ignore_all_t4.txt",
    "sysbench_errors/connect_refused.txt",
    "sysbench_errors/fatal_missing_table_t4.txt",
    "sysbench_errors/server_killed_fatal_t4.txt",
    "sysbench_errors/server_killed_ignore_all_ps_SEGFAULT_t4.txt",
    "own/cleanup.txt",
    "sysbench_single/fileio_prepare.txt",
    "sysbench_single/prepare_4x100k.txt",
    *UNPARSED,
}


def recorded(name: str) -> bytes:
    return (RECORDINGS / name).read_bytes()


def parsed(name: str) -> ParsedSysbench:
    return sysbench.parse(recorded(name))


def totals(name: str) -> dict[str, float]:
    return {key: figure.value for key, figure in parsed(name).totals.items()}


def section_length(result: ParsedSysbench) -> float:
    """Seconds that the final totals cover."""
    before = result.checkpoints[-1].figures["total_time"].value if result.checkpoints else 0
    return result.totals["total_time"].value - before


def test_the_recordings_are_there() -> None:
    assert len(ALL) == 47


@pytest.mark.parametrize("name", ALL)
def test_every_line_is_understood(name: str) -> None:
    unparsed = parsed(name).unparsed
    assert len(unparsed) == UNPARSED.get(name, 0)
    assert all(line.startswith('{"kind":') for line in unparsed)


@pytest.mark.parametrize("name", ALL)
def test_it_is_complete_exactly_when_the_final_report_is_there(name: str) -> None:
    assert parsed(name).complete == (name not in WITHOUT_TOTALS)


@pytest.mark.parametrize("name", sorted(set(ALL) - WITHOUT_TOTALS))
def test_every_total_stands_in_the_bytes_it_names(name: str) -> None:
    output, result = recorded(name), parsed(name)
    sections = [result.totals, *(checkpoint.figures for checkpoint in result.checkpoints)]
    figures = [figure for section in sections for figure in section.values()]
    figures += result.histogram.values if result.histogram else ()
    assert len(figures) >= 12
    assert [float(output[figure.start : figure.end]) for figure in figures] == [figure.value for figure in figures]


@pytest.mark.parametrize("name", sorted(set(ALL) - WITHOUT_TOTALS))
def test_totals_agree_with_each_other(name: str) -> None:
    result = parsed(name)
    value = {key: figure.value for key, figure in result.totals.items()}
    seconds = section_length(result)
    assert result.version == "1.0.20"
    assert value["thread_events_avg"] * (result.threads or 0) == pytest.approx(value["events"], rel=0.005)
    assert value["latency_sum"] / value["events"] == pytest.approx(value["latency_avg"], abs=0.006)
    assert value["latency_min"] <= value["latency_avg"] <= value["latency_max"]
    if "transactions" in value:
        assert value["reads"] + value["writes"] + value["others"] == value["queries_performed"] == value["queries"]
        assert value["transactions"] == value["events"]
        for count in ("transactions", "queries", "errors", "reconnects"):
            assert value[count] / seconds == pytest.approx(value[f"{count}_per_second"], rel=0.001, abs=0.006)
    else:
        assert not name.split("/")[1].startswith(tuple(OLTP))


@pytest.mark.parametrize("name", sorted(set(ALL) - WITHOUT_TOTALS))
def test_the_histogram_holds_every_event_and_gives_the_printed_percentile(name: str) -> None:
    result = parsed(name)
    assert (result.histogram is not None) == (b"Latency histogram" in recorded(name))
    if result.histogram:
        # A checkpoint parts an event's count and its place in the histogram, of at most one event a thread.
        astray = (result.threads or 0) if result.checkpoints else 0
        assert sum(result.histogram.counts) == pytest.approx(result.totals["events"].value, abs=astray)
        (printed,) = [key for key in result.totals if key.startswith("latency_p")]
        found = result.histogram.percentile(int(printed.removeprefix("latency_p")))
        assert found is not None
        assert found.value == pytest.approx(result.totals[printed].value, abs=0.006)
        assert [figure.value for figure in result.histogram.values] == sorted(f.value for f in result.histogram.values)


@pytest.mark.parametrize("name", sorted(set(ALL) - WITHOUT_TOTALS - {"own/oltp_write_only_t2_locked.txt"}))
def test_intervals_are_one_a_second_and_add_up_to_the_totals(name: str) -> None:
    result = parsed(name)
    seconds = [interval.second for interval in result.intervals]
    assert seconds == list(range(1, len(seconds) + 1))
    assert {interval.threads for interval in result.intervals} <= {result.threads, None}
    if "transactions" in result.totals:
        done = sum(interval.values["throughput"] or 0 for interval in result.intervals)
        counted = [
            figures["transactions"].value for figures in (result.totals, *(c.figures for c in result.checkpoints))
        ]
        # The last second may be missing.
        assert done == pytest.approx(sum(counted), rel=0.02 if len(seconds) % 5 == 0 else 0.1)


def test_oltp_read_write_as_read_by_hand() -> None:
    result = parsed("sysbench_single/oltp_read_write_t4_p95_hist.txt")
    assert {key: figure.value for key, figure in result.totals.items()} == {
        "reads": 334054,
        "writes": 95444,
        "others": 47722,
        "queries_performed": 477220,
        "transactions": 23861,
        "transactions_per_second": 1192.63,
        "queries": 477220,
        "queries_per_second": 23852.61,
        "errors": 0,
        "errors_per_second": 0,
        "reconnects": 0,
        "reconnects_per_second": 0,
        "total_time": 20.0061,
        "events": 23861,
        "latency_min": 0.81,
        "latency_avg": 3.35,
        "latency_max": 41.82,
        "latency_p95": 5.67,
        "latency_sum": 79965.85,
        "thread_events_avg": 5965.25,
        "thread_events_stddev": 100.96,
        "thread_time_avg": 19.9915,
        "thread_time_stddev": 0,
    }
    assert (result.threads, result.rate, result.report_interval) == (4, None, 1)
    assert result.histogram is not None
    assert [(v.value, c) for v, c in zip(result.histogram.values, result.histogram.counts, strict=True)][:3] == [
        (0.811, 1),
        (0.841, 1),
        (0.856, 2),
    ]


def test_totals_after_a_checkpoint_cover_only_what_came_after() -> None:
    result = parsed("sysbench_single/oltp_read_write_t4_checkpoints5.txt")
    (checkpoint,) = result.checkpoints
    assert isinstance(checkpoint, Checkpoint)
    assert checkpoint.second == 5
    before = checkpoint.figures
    assert (before["transactions"].value, before["total_time"].value, before["latency_max"].value) == (
        3874,
        5.0002,
        41.94,
    )
    assert (result.totals["transactions"].value, result.totals["total_time"].value) == (4032, 10.0084)
    assert result.totals["latency_p95"].value == 9.56
    # A checkpoint empties the histogram of the interval: no honest percentile for that second.
    assert [interval.values["latency"] for interval in result.intervals][3:6] == [9.73, None, 10.09]
    assert result.intervals[4].values["throughput"] == 775.78


def test_intervals_printed_in_the_middle_of_a_checkpoint_do_not_disturb_it() -> None:
    lines = recorded("sysbench_single/oltp_read_write_t4_checkpoints5.txt").splitlines(keepends=True)
    moved = next(i for i, line in enumerate(lines) if line.startswith(b"[ 5s ] thds"))
    heading = next(i for i, line in enumerate(lines) if b"Checkpoint report" in line)
    lines.insert(heading + 4, lines.pop(moved))
    result = sysbench.parse(b"".join(lines))
    assert result.checkpoints[0].figures["transactions"].value == 3874
    assert result.totals["transactions"].value == 4032
    assert [interval.second for interval in result.intervals] == list(range(1, 11))
    assert result.unparsed == []


def test_queue_lines_belong_to_their_interval() -> None:
    result = parsed("sysbench_single/oltp_read_write_t8_rate200_p99.txt")
    last = result.intervals[-1]
    assert result.rate == 200
    assert (last.second, last.threads, last.percentile) == (20, 8, 99)
    assert last.values == {
        "throughput": 190.24,
        "queries": 3916.32,
        "reads": 2745.01,
        "writes": 784.86,
        "others": 386.45,
        "latency": 81.48,
        "errors": 0.0,
        "reconnects": 0.0,
        "queue_length": 1,
        "concurrency": 7,
    }


def test_latency_of_a_second_in_which_nothing_finished_is_no_data() -> None:
    intervals = parsed("ddl/copy.sysbench.txt").intervals
    assert [interval.values["latency"] for interval in intervals[7:16]] == [36.24, *[None] * 6, 6247.39, 1069.86]
    assert intervals[13].values["throughput"] == 0.0
    assert intervals[13].values["errors"] == 7.97
    assert intervals[13].values["queue_length"] == 706


def test_transactions_that_ended_after_the_last_line_are_in_the_totals() -> None:
    result = parsed("own/oltp_write_only_t2_locked.txt")
    assert [interval.values["throughput"] for interval in result.intervals] == [0.0, 0.0, 0.0]
    assert [interval.values["latency"] for interval in result.intervals] == [None, None, None]
    assert (result.totals["transactions"].value, result.totals["total_time"].value) == (2, 3.7038)


def test_errors_of_a_hot_table_are_counted() -> None:
    values = totals("galera_120s/phase3_hot_allwriters_t12.txt")
    assert (values["errors"], values["errors_per_second"], values["latency_p99"]) == (23934, 1592.77, 161.51)
    deadlocks = parsed("sysbench_errors/deadlocks_hot_t16.txt")
    assert [interval.values["errors"] for interval in deadlocks.intervals][:2] == [745.53, 919.19]
    assert deadlocks.totals["errors"].value == 7291


def test_a_lost_server_leaves_its_messages_and_the_seconds_before() -> None:
    result = parsed("sysbench_errors/server_killed_fatal_t4.txt")
    assert [(m.level, m.count, m.after) for m in result.messages] == [("FATAL", 4, 4), ("FATAL", 1, 4)]
    assert result.fatal().startswith(
        "mysql_stmt_execute() returned error 2013 (Lost connection to server during query)"
    )
    assert [interval.values["throughput"] for interval in result.intervals] == [4702.41, 6214.83, 5964.44, 6000.12]
    assert result.totals == {}


def test_messages_before_the_start_belong_to_no_second() -> None:
    result = parsed("sysbench_errors/connect_refused.txt")
    assert [m.count for m in result.messages] == [1, 1, 1, 1, 2, 1]
    assert {m.after for m in result.messages} == {None}
    assert result.messages[1].text == "error 2002: Can't connect to server on '127.0.0.1' (115)"


def test_other_tests_of_sysbench() -> None:
    cpu = totals("sysbench_single/cpu_t2.txt")
    assert (cpu["events_per_second"], cpu["events"], cpu["latency_p95"]) == (5554.19, 55559, 0.52)
    assert parsed("sysbench_single/cpu_t2.txt").intervals[0].values == {"events": 5597.89, "latency": 0.46}
    memory = totals("sysbench_single/memory_t2.txt")
    assert (memory["operations"], memory["memory_mib_per_second"]) == (27560730, 5380.62)
    assert parsed("sysbench_single/memory_t2.txt").intervals[-1].values == {"memory_mib": 5269.56}
    files = totals("sysbench_single/fileio_rndrw_none_t4_hist.txt")
    assert (files["file_reads_per_second"], files["file_written_mib_per_second"]) == (28052.80, 292.22)
    assert parsed("sysbench_single/fileio_rndrw_none_t4_hist.txt").intervals[0].values == {
        "file_reads_mib": 262.48,
        "file_writes_mib": 174.96,
        "file_fsyncs": 2237.32,
        "latency": 0.702,
    }


def test_an_output_cut_anywhere_never_gives_a_number_that_was_not_printed() -> None:
    output = recorded("sysbench_single/oltp_read_write_t4_checkpoints5.txt")
    whole = sysbench.parse(output)
    for end in range(len(output) - 700, len(output)):
        cut = sysbench.parse(output[:end])
        assert cut.totals.items() <= whole.totals.items()
        assert cut.intervals == whole.intervals[: len(cut.intervals)]
        assert len(cut.unparsed) <= 1


def test_windows_line_ends_change_no_number() -> None:
    output = recorded("sysbench_errors/deadlocks_hot_t16.txt")
    windows = sysbench.parse(output.replace(b"\n", b"\r\n"))
    assert windows.unparsed == []
    assert {k: f.value for k, f in windows.totals.items()} == totals("sysbench_errors/deadlocks_hot_t16.txt")


def test_no_event_at_all_means_no_latency() -> None:
    output = recorded("sysbench_errors/deadlocks_hot_t16.txt").replace(
        b"events:              11187", b"events:              0"
    )
    result = sysbench.parse(output)
    assert not [key for key in result.totals if key.startswith("latency")]
    assert result.complete


def test_bytes_that_are_no_text_are_kept_as_unparsed() -> None:
    result = sysbench.parse(b"sysbench 1.0.20\n\xff\xfe hello\n[ 1s ] thds: x\n")
    assert result.unparsed == ["\\xff\\xfe hello", "[ 1s ] thds: x"]
    assert not result.complete


@given(st.binary() | st.text().map(str.encode))
def test_garbage_never_raises_and_is_never_lost(output: bytes) -> None:
    result = sysbench.parse(output)
    assert not result.complete
    lines = [line for line in output.split(b"\n") if line.strip()]
    assert len(result.unparsed) <= len(lines)


@given(st.data())
def test_a_damaged_line_is_unparsed_and_the_rest_is_read(data: st.DataObject) -> None:
    lines = recorded("sysbench_errors/deadlocks_hot_t16.txt").split(b"\n")
    at = data.draw(st.integers(12, 19), label="interval line")
    lines[at] = lines[at][: data.draw(st.integers(1, len(lines[at]) - 1), label="kept")]
    result = sysbench.parse(b"\n".join(lines))
    assert len(result.unparsed) == 1
    assert len(result.intervals) == 7


HEAD = OUTPUT[: OUTPUT.index(b"Threads started!")]
TOTALS = OUTPUT[OUTPUT.index(b"SQL statistics:") :]


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (OUTPUT + OUTPUT, len(OUTPUT)),
        (HEAD + OUTPUT, len(HEAD)),
        (HEAD + HEAD[HEAD.index(b"Running") :] + OUTPUT, len(HEAD) + HEAD.index(b"Number") - HEAD.index(b"Running")),
        (
            OUTPUT + b"[ 1s ] thds: 4 " + OUTPUT.partition(b"[ 1s ] thds: 4 ")[2].partition(b"\n")[0] + b"\n",
            len(OUTPUT),
        ),
        (OUTPUT + TOTALS.replace(b"23861", b"23862"), None),
        (b"sysbench 1.0.20 (using bundled LuaJIT)\nCreating table 'sbtest1'...\n" + OUTPUT, 0),
        (OUTPUT + TOTALS, 0),
    ],
)
def test_a_second_run_is_seen_where_it_begins_but_not_in_prepare_or_in_a_repeated_line(
    text: bytes, begins: "int | None"
) -> None:
    found = sysbench.parse(text).second_run
    assert found == begins if begins is not None else found > len(OUTPUT)
