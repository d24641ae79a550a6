"""What other tools print is read to the digit, in the unit that it says; a file that is something else is refused."""

import pytest

from apps.runs.tool_output.parsers import go_tpc
from apps.runs.tool_output.parsers.attachments import perf
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, ParsedOutput
from tests.runs.tool_output.parsers.outputs import RUNS, TABLES, content, parsed, table


def values(found: ParsedOutput) -> dict[str, float]:
    return {value.metric: value.value for value in found.values}


@pytest.mark.parametrize("name", RUNS)
def test_each_complete_output_is_complete_and_leaves_no_line_unread(name: str) -> None:
    found = parsed(name)
    assert (found.reason, found.unparsed) == ("", ())
    assert found.values
    for series in found.series.values():
        assert len(series) == len(found.clock)


@pytest.mark.parametrize("name", RUNS)
def test_every_value_names_bytes_of_the_file_that_hold_numbers(name: str) -> None:
    text = content(name)
    for value in parsed(name).values:
        assert any(sign in b"0123456789" for sign in text[value.start : value.end])


def test_tpcc_mysql_gives_tpmc_all_transactions_and_new_orders_latency_in_ms() -> None:
    found = parsed("tpcc_mysql/two_intervals.txt")
    assert values(found) == {
        "client.new_orders.per_minute": 7680.0,
        "client.throughput": (2560 + 2560 + 256 + 255 + 256) / 20,
        "client.transactions": 5887,
        "client.errors.total": 1,
        "client.elapsed": 20,
        "client.new_order.latency.avg": 24.6,
        "client.payment.latency.avg": 9.8,
        "client.order_status.latency.avg": 2.1,
        "client.delivery.latency.avg": 90.4,
        "client.stock_level.latency.avg": 14.7,
    }
    assert found.series["client.new_order.latency.p95"] == (48.113, 45.02)
    assert found.series["client.throughput"] == (287.5, 301.2)
    assert (found.threads, found.events[0].count) == (8, 2)


def test_tpcc_mysqls_ramp_up_lies_before_the_measured_phase_as_it_states() -> None:
    found = parsed("tpcc_mysql/two_intervals.txt")
    assert found.measured == (5.0, 25.0)
    assert found.clock == (15.0, 25.0)


def test_of_tpcc_mysqls_older_form_no_response_time_is_read_since_its_unit_is_not_settled() -> None:
    found = parsed("tpcc_mysql/old_form.txt")
    assert not any("latency" in metric for metric in (*values(found), *found.series))
    assert values(found)["client.throughput"] == 92.0


def test_iibench_gives_rows_and_reads_of_each_interval_and_in_all() -> None:
    found = parsed("iibench_py/tabs.txt")
    assert values(found) == {
        "client.rows": 48387.1,
        "client.rows_inserted": 150000,
        "client.elapsed": 3.1,
        "client.reads": 813,
        "client.errors.total": 3,
    }
    assert found.series["client.rows"] == (51200, 48800, 45455)
    assert parsed("iibench_py/form_2009.txt").series["client.rows"] == (10204.1, 9803.9)


def test_mysqlslap_gives_times_in_seconds_and_no_rate_where_the_time_was_too_short_to_print() -> None:
    found = values(parsed("mysqlslap/innodb_t4.csv"))
    assert found["client.execution_time.avg"] == 0.018
    assert found["client.queries"] == pytest.approx(200 / 0.018)
    assert "client.queries" not in values(parsed("mysqlslap/innodb_t4.csv", ("0.018", "0.000")))


def test_hammerdb_gives_new_orders_and_the_servers_transactions_per_minute_in_either_order() -> None:
    assert values(parsed("hammerdb/mariadb.log")) == {
        "client.new_orders.per_minute": 12345,
        "server.transactions.per_minute": 28676,
    }
    assert values(parsed("hammerdb/version_3.log")) == {
        "client.new_orders.per_minute": 13207,
        "server.transactions.per_minute": 60501,
    }
    found = parsed("hammerdb/mariadb.log")
    assert (found.version, found.threads, found.measured) == ("4.10", 2, (60.0, 180.0))
    assert [event.label for event in found.events] == [
        "Deadlock found when trying to get lock; try restarting transaction"
    ]


def test_go_tpc_gives_tpmc_and_means_from_sums_as_its_histogram_is_coarse() -> None:
    found = parsed("go_tpc/tpcc.txt")
    read = values(found)
    assert (read["client.new_orders.per_minute"], read["client.tpcc_efficiency"]) == (1544.8, 12012.6)
    assert read["client.transactions"] == 22 + 304 + 22 + 314 + 19
    assert read["client.throughput"] == pytest.approx(681 / 11.8722, rel=1e-5)
    assert read["client.new_order.latency.avg"] == 24616.1 / 304
    assert read["client.payment.latency.p99"] == 234.9
    assert not any(metric.startswith("client.latency.p") for metric in read), "types' percentiles are not merged"


def test_go_tpcs_blocks_follow_each_other_at_equal_intervals_of_its_longest_takes() -> None:
    found = parsed("go_tpc/tpcc.txt")
    assert found.clock == (4.0, 8.0, 12.0)
    assert found.series["client.throughput"] == (156 / 4, 249 / 4, 272 / 4)
    assert found.series["client.new_order.latency.p95"] == (260.0, 151.0, 184.5)


def test_where_a_block_of_go_tpc_is_missing_no_series_is_read() -> None:
    block = b"[Current] PAYMENT - Takes(s): 10.0, Count: 100, TPM: 600.0, Sum(ms): 1.0\n"
    for takes, tpm, fits in (("29.8", "604.0", True), ("39.8", "452.3", False), ("49.9", "360.7", False)):
        total = f"[Summary] PAYMENT - Takes(s): {takes}, Count: 300, TPM: {tpm}, Sum(ms): 1.0\ntpmC: 1.0\n"
        found = go_tpc.parse(block * 3 + total.encode())
        assert found.clock == ((10.0, 20.0, 30.0) if fits else ())
        assert ["no series" in event.label for event in found.events] == [True] * (not fits)


def test_go_tpcs_failures_are_errors_and_no_throughput() -> None:
    failed = "[Summary] PAYMENT_ERR - Takes(s): 11.0, Count: 7, TPM: 38.2, Sum(ms): 1.0, Avg(ms): 1.0\ntpmC:"
    read = values(parsed("go_tpc/tpcc.txt", ("tpmC:", failed)))
    assert (read["client.errors.total"], read["client.transactions"]) == (7, 681)
    ch = parsed("go_tpc/ch.txt")
    assert "client.queries.per_hour" not in values(ch), "it counts the query that failed"
    assert [event.kind for event in ch.events] == ["error", "warning"]
    whole = parsed("go_tpc/ch.txt", ("[Summary] Q2_ERR", "[Summary] Q2    "))
    assert values(whole)["client.queries.per_hour"] == 9528.2


def test_go_tpcs_queries_have_their_means_and_one_pass_their_sum() -> None:
    read = values(parsed("go_tpc/tpch.txt"))
    assert (read["client.q1.latency.avg"], read["client.execution_time.avg"]) == (2340.0, 3.63)


def test_go_ycsb_gives_totals_and_rates_of_intervals_from_its_cumulative_rows() -> None:
    found = parsed("go_ycsb/run.txt")
    read = values(found)
    assert (read["client.throughput"], read["client.latency.p99"]) == (5487.3, 5.779)
    assert (read["client.update.latency.p9999"], read["client.transactions"]) == (22.031, 15000)
    assert (found.threads, found.measured) == (4, (0.0, 2.736189023))
    later = "READ   - Takes(s): 4.0, Count: 6999, OPS: 1.0\nTOTAL  - Takes(s): 4.0, Count: 13789, OPS: 1.0\n"
    end = "**********************************************\nRun finished"
    found = parsed("go_ycsb/run.txt", (end, later + end))
    assert (found.clock, found.series) == ((2.0, 4.0), {"client.throughput": (12789 / 2, 500.0)})


def test_ycsb_gives_each_operations_latency_in_ms_and_merges_no_percentiles() -> None:
    found = parsed("ycsb/workloada.txt")
    read = values(found)
    assert (read["client.throughput"], read["client.elapsed"]) == (1535.7208673751459, 32.558)
    assert (read["client.read.latency.p99"], read["client.update.latency.max"]) == (15.287, 121.087)
    assert read["client.latency.avg"] == pytest.approx((25020 * 2.8804182 + 24978 * 7.403212) / 49998)
    assert "client.latency.p99" not in read
    assert (read["client.errors.total"], found.threads) == (2, 8)
    assert found.clock == (9.958, 19.957, 29.957, 32.56)
    assert found.series["client.throughput"] == (1437.04, 1581.66, 1577.7, 1574.34)
    assert found.series["client.update.latency.p999"][0] == 77.375


# Of a read-modify-write YCSB says what its parts returned, and nothing of its own.
READ_MODIFY_WRITES = """[READ-MODIFY-WRITE], Operations, 24978
[READ-MODIFY-WRITE], AverageLatency(us), 10283.6
[READ-MODIFY-WRITE], MinLatency(us), 612
[READ-MODIFY-WRITE], MaxLatency(us), 150015
[READ-MODIFY-WRITE], 95thPercentileLatency(us), 24127
[READ-MODIFY-WRITE], 99thPercentileLatency(us), 39871
"""


def test_ycsbs_read_modify_writes_are_not_counted_beside_their_parts() -> None:
    last = "[UPDATE], Return=ERROR, 2\n"
    found = parsed("ycsb/workloada.txt", (last, last + READ_MODIFY_WRITES))
    read = values(found)
    assert "client.latency.avg" not in read
    assert read["client.read_modify_write.latency.p99"] == 39.871
    assert (read["client.errors.total"], found.reason) == (2, "")


def test_ycsbs_read_modify_writes_without_their_last_line_were_cut_off() -> None:
    last = "[UPDATE], Return=ERROR, 2\n"
    cut = READ_MODIFY_WRITES.rpartition("[READ-MODIFY-WRITE], 99th")[0]
    assert "ends before the result" in parsed("ycsb/workloada.txt", (last, last + cut)).reason


def test_ycsbs_inserts_that_wait_for_their_batch_are_no_errors() -> None:
    batched = parsed("ycsb/workloada.txt", ("[UPDATE], Return=OK, 24978", "[UPDATE], Return=BATCHED_OK, 24978"))
    assert values(batched)["client.errors.total"] == 2


def test_ycsb_does_not_know_its_threads_where_a_file_may_state_them() -> None:
    for before, threads in ((" -P workloads/workloada -threads 8", 8), (" -P workloads/workloada", None), ("", 1)):
        assert parsed("ycsb/workloada.txt", (" -P workloads/workloada -threads 8", before)).threads == threads


def test_go_ycsbs_target_may_have_more_digits_than_its_threads() -> None:
    threads = '"threadcount"="4"'
    found = parsed("go_ycsb/run.txt", (threads, f'{threads}\n"target"="200000"'))
    assert (found.threads, found.rate) == (4, 200_000)


def test_ycsbs_numbers_may_have_decimal_commas() -> None:
    found = parsed("ycsb/workloada.txt", ("1437.04 current", "1437,04 current"), ("Avg=3021.44", "Avg=3021,44"))
    assert found.series["client.throughput"][0] == 1437.04
    assert found.series["client.read.latency.avg"][0] == 3.02144


def test_benchbases_latencies_become_ms_from_the_unit_that_each_heading_names() -> None:
    found = values(parsed("benchbase/tpcc.summary.json"))
    assert (found["client.latency.p95"], found["client.latency.max"]) == (21.453, 120.514)
    assert found["client.elapsed"] == 30.000125042
    assert (found["client.throughput"], found["client.goodput"]) == (428.19821524713473, 426.13155721)
    ms, us = (parsed(f"benchbase/tpcc.{name}.csv").series["client.latency.p99"][0] for name in ("results", "samples"))
    assert ms == us == 31.4


def test_a_latency_in_a_unit_that_nobody_knows_is_refused_and_not_guessed() -> None:
    with pytest.raises(NotThisFormat, match="a known unit in the heading") as refused:
        parsed("benchbase/tpcc.samples.csv", ("Median Latency (microseconds)", "Median Latency (ticks)"))
    assert refused.value.line == 1
    with pytest.raises(NotThisFormat, match=r"Latency \(unit\)") as refused:
        parsed("benchbase/tpcc.summary.json", ("Median Latency (microseconds)", "Median Latency"))
    assert refused.value.line == 16


def test_a_summary_of_a_run_that_did_not_reach_its_end_is_no_result() -> None:
    found = parsed("benchbase/tpcc.summary.json", ('"EXIT"', '"ERROR"'))
    assert found.reason == "BenchBase ended in state ERROR"


@pytest.mark.parametrize(
    ("name", "change", "line", "said"),
    [
        ("tpcc_mysql/two_intervals.txt", ("max_rt: 131.447", "max_rt: fast"), 24, "an interval"),
        ("tpcc_mysql/two_intervals.txt", ("  20, trx", "  10, trx"), 27, "a second after 10"),
        ("iibench_py/tabs.txt", ("48800\t50000", "48800"), 3, "17 numbers"),
        ("iibench_py/form_2009.txt", ("#rows #seconds", "#rows #minutes"), 1, "the header of iibench.py"),
        ("mysqlslap/innodb_t4.csv", ("0.018", "18.4"), 1, "times with three decimals"),
        ("hammerdb/mariadb.log", ("12345 NOPM", "many NOPM"), 22, "TEST RESULT"),
        ("benchbase/tpcc.summary.json", ('"scalefactor": "1",', ""), 0, ""),
        ("benchbase/tpcc.summary.json", ('"terminals": "4"', '"terminals": "some"'), 12, "a whole number"),
        ("benchbase/tpcc.results.csv", ("5,436.200", "five,436.200"), 3, "12 numbers"),
    ],
)
def test_the_first_line_that_broke_is_named_with_what_was_expected(
    name: str, change: tuple[str, str], line: int, said: str
) -> None:
    if not line:
        assert parsed(name, change).reason == ""
        return
    with pytest.raises(NotThisFormat) as refused:
        parsed(name, change)
    assert refused.value.line == line
    assert said in str(refused.value)


@pytest.mark.parametrize("other", [*RUNS, *TABLES])
def test_a_file_of_one_format_is_refused_as_another(other: str) -> None:
    text = content(other)
    for name, parse in {**RUNS, **TABLES}.items():
        if name.rpartition("/")[0] != other.rpartition("/")[0]:
            with pytest.raises(NotThisFormat, match=r"line \d+"):
                parse(text)


@pytest.mark.parametrize("name", ["mysqlslap/two_results.csv", "hammerdb/mariadb.log", "tpcc_mysql/two_intervals.txt"])
def test_a_file_with_two_results_is_refused_at_the_second(name: str) -> None:
    parse = RUNS["mysqlslap/innodb_t4.csv" if "slap" in name else name]
    twice = content(name) * (1 if "slap" in name else 2)
    with pytest.raises(NotThisFormat, match=r"second|another"):
        parse(twice)


def test_unknown_lines_are_kept_as_they_are() -> None:
    found = parsed(
        "hammerdb/mariadb.log", ("ALL VIRTUAL USERS COMPLETE", "ALL VIRTUAL USERS COMPLETE\nnever seen before")
    )
    assert found.unparsed == ("never seen before",)


# ---------------------------------------------------------------- tables


def test_a_digest_lists_statements_by_their_total_time_in_seconds() -> None:
    found = table("pt_query_digest/slow_log.json")
    assert found.rows[0][:6] == ("COMMIT", 2884, 0.850642, 0.000295, 0.000445, 0.006982)
    assert [column.unit for column in found.columns[2:6]] == ["s"] * 4
    assert found.note.startswith("35,490 of 63,576 statements")


def test_a_perf_report_lists_symbols_by_their_share_whatever_its_columns() -> None:
    flat, children = table("perf/report_flat.txt"), table("perf/report_children.txt")
    assert flat.rows[0] == (19.71, "mariadbd", "[kernel.kallsyms]", "[k] finish_task_switch.isra.0")
    assert [column.name for column in children.columns[:2]] == ["children", "self"]
    assert children.rows[3][:2] == (74.71, 0.29)
    assert (flat.unparsed, children.unparsed) == ((), ())


def test_stacks_are_folded_into_shares_that_each_symbol_ran_itself_and_with_what_it_called() -> None:
    found = table("perf/script.txt")
    shares = {row[2]: (row[0], row[1]) for row in found.rows}
    assert shares["malloc"] == (20.0, 20.0)
    assert shares["do_command"] == (0.0, 80.0)
    assert sum(float(row[0] or 0) for row in found.rows) == pytest.approx(100)


def test_samples_are_weighted_by_their_period_and_a_recursion_counts_once() -> None:
    text = (
        b"db 7 1.000:   300 cycles: \n\t aa f+0x1 (/bin/db)\n\t ab f+0x2 (/bin/db)\n\n"
        b"db 7 1.100:   100 cycles: \n\t ac g+0x1 (/bin/db)\n\t ab f+0x2 (/bin/db)\n\n"
    )
    assert perf.parse_script(text).rows == ((75.0, 100.0, "f", "db"), (25.0, 25.0, "g", "db"))


def test_samples_of_two_events_are_not_added() -> None:
    text = b"db 7 1.0:  3 cycles: \n\t aa f+0x1 (db)\n\ndb 7 1.1:  1 faults: \n\t ac g+0x1 (db)\n\n"
    with pytest.raises(NotThisFormat, match="several events"):
        perf.parse_script(text)


CYCLES = b"db 7 1.000:   300 cycles: \n\t aa f+0x1 (/bin/db)\n\t ab g+0x2 (/bin/db)\n\n"
SWITCH = (
    b"db 7 [000] 1.050: sched:sched_switch: prev_comm=db prev_pid=7 ==> next_comm=swapper/0 next_pid=0\n"
    b"\tffffffff810 schedule+0x1 ([kernel.kallsyms])\n\t ab g+0x2 (/bin/db)\n\n"
)


@pytest.mark.parametrize(
    "other", [SWITCH, b"              db     7 [000]     1.050: sched:sched_switch: prev_comm=db\n"]
)
def test_samples_of_a_tracepoint_with_its_fields_are_not_added_to_those_of_cycles(other: bytes) -> None:
    with pytest.raises(NotThisFormat, match=r"several events \(cycles, sched:sched_switch\)"):
        perf.parse_script(CYCLES + other)
    assert perf.parse_script(SWITCH).rows == (
        (100.0, 100.0, "schedule", "[kernel.kallsyms]"),
        (0.0, 100.0, "g", "db"),
    )


def test_frames_below_a_heading_that_is_not_known_belong_to_no_stack() -> None:
    found = perf.parse_script(CYCLES + b"db 7, of another kind\n\t ac h+0x1 (/bin/db)\n\n" + CYCLES)
    assert (found.rows, found.unparsed) == (perf.parse_script(CYCLES).rows, ("db 7, of another kind",))
    # A line that is no frame ends no stack.
    within = CYCLES.replace(b"\t ab", b"\t odd\n\t ab")
    assert perf.parse_script(within).rows == perf.parse_script(CYCLES).rows


def test_hammerdbs_response_times_and_benchbases_outcomes_become_tables() -> None:
    assert table("hammerdb/timing.json").rows[0] == (
        *("NEWORD", 24690, 7.083, 6.993),
        *(10.272, 11.522, 133.943, 72.556),
    )
    assert table("benchbase/tpcc.histograms.json").rows[0] == ("NewOrder", 5781, 57, 0, 0)


def test_a_row_of_iibench_with_another_separator_is_refused() -> None:
    with pytest.raises(NotThisFormat, match="9 numbers"):
        parsed("iibench_py/form_2009.txt", ("\n100000 9.8", "\n5\t100000 9.8"))


def test_tpcc_mysqls_results_in_any_order_name_bytes_that_hold_them() -> None:
    text = content("tpcc_mysql/two_intervals.txt")
    head, mark, rest = text.partition(b"<Raw Results>\n")
    lines = rest.splitlines(keepends=True)
    found = RUNS["tpcc_mysql/two_intervals.txt"](head + mark + b"".join([*reversed(lines[:5]), *lines[5:]]))
    assert values(found) == values(parsed("tpcc_mysql/two_intervals.txt"))
    assert all(value.start < value.end for value in found.values)


def test_a_perf_reports_columns_are_shown_without_control_characters() -> None:
    names = [column.name for column in table("perf/report_flat.txt", ("Shared Object", "Shared\0Object")).columns]
    assert "shared\\x00object" in names
