"""pgbench's report and progress lines are read to the digit; what is of another kind, or of single scripts, is not."""

import pytest

from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, ParsedOutput
from apps.runs.tool_output.parsers.pgbench import log as pgbench_log
from apps.runs.tool_output.parsers.pgbench import report as pgbench
from tests.runs.tool_output.parsers.outputs import content


def read(name: str, *changes: tuple[str, str]) -> ParsedOutput:
    text = content(f"pgbench/{name}.txt")
    for before, after in changes:
        assert before.encode() in text, before
        text = text.replace(before.encode(), after.encode())
    return pgbench.parse(text)


def values(found: ParsedOutput) -> dict[str, float]:
    return {value.metric: value.value for value in found.values}


def test_the_report_gives_tps_without_connection_time_latencies_and_clients() -> None:
    found = read("select")
    assert values(found) == {
        "client.transactions": 9471,
        "client.errors.total": 0,
        "client.errors": 0,
        "client.latency.avg": 1.237,
        "client.latency.stddev": 2.24,
        "client.connect.first": 66.904,
        "client.throughput": 3227.502644,
        "client.elapsed": round(9471 / 3227.502644, 6),
    }
    assert (found.threads, found.version, found.is_rated) == (4, "15.18 (Debian 15.18-0+deb12u1)", False)


def test_progress_lines_become_series_with_rates_of_what_they_count() -> None:
    found = read("retries")
    assert found.clock == (1.0, 2.0, 3.0)
    assert found.series == {
        "client.throughput": (218.9, 270.9, 230.4),
        "client.latency.avg": (22.752, 22.133, 24.845),
        "client.latency.stddev": (15.986, 14.542, 15.18),
        "client.errors": (36, 46, 43),
        "client.retries": (214, 240, 209),
    }
    assert found.measured == (0.0, 3.0)


def test_an_interval_without_a_transaction_has_no_latency() -> None:
    found = read("version_14")
    assert found.series["client.throughput"] == (2043.4, 0.0)
    assert found.series["client.latency.avg"] == (3.902, None)
    assert found.series["client.skipped"] == (0, 9817 / 5)


def test_times_of_day_count_from_one_interval_before_the_first() -> None:
    assert read("ts").clock == (1.0, 2.0)


def test_a_rate_and_a_limit_give_lag_and_skipped_and_late_transactions() -> None:
    found = read("limit")
    assert found.is_rated
    assert found.parameters["latency_limit"] == 5.0
    assert (
        values(found).items()
        >= {
            "client.skipped.total": 4124,
            "client.late": 100.0,
            "client.start_delay.avg": 4.347,
            "client.start_delay.max": 5.0,
        }.items()
    )
    assert values(read("version_14"))["client.late"] == 100 * 11 / 10220
    assert "client.skipped.total" not in values(read("rate"))


def test_failures_and_retries_are_counted_and_named_once_for_all_clients() -> None:
    found = read("retries")
    assert (
        values(found).items()
        >= {
            "client.errors.total": 125,
            "client.retried.total": 432,
            "client.retries.total": 663,
        }.items()
    )
    events = read("retries_r").events
    assert [(each.kind, each.label) for each in events] == [
        (
            "error",
            "a client got an error in command 3 (SQL) of script 0; ERROR:  could not serialize access due to "
            "concurrent update",
        )
    ]


def test_a_mean_that_includes_failures_is_no_latency_of_transactions() -> None:
    assert "client.latency.avg" not in values(read("retries_r"))
    assert values(read("weights"))["client.latency.avg"] == 1.983


def test_figures_of_single_scripts_and_statements_are_not_the_runs() -> None:
    for name in ("weights", "version_16", "version_18", "version_19", "retries_r"):
        assert read(name).unparsed == ()
    assert values(read("weights"))["client.throughput"] == 1008.390072
    assert [values(read(f"version_{number}"))["client.errors.total"] for number in (16, 18, 19)] == [198, 232, 4]


@pytest.mark.parametrize(
    ("name", "tps", "version"),
    [
        ("version_13", 1027.698133, ""),
        ("version_14", 1023.944133, "14.9"),
        ("version_16", 80.541035, "16.14"),
        ("version_18", 99.799038, "18.4"),
        ("version_19", 809.721443, "19.0"),
    ],
)
def test_the_wording_of_other_releases_is_read(name: str, tps: float, version: str) -> None:
    found = read(name)
    assert (found.reason, values(found)["client.throughput"], found.version) == ("", tps, version)


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("select", {"script": "select-only", "scale": 1, "mode": "simple", "connect": False, "max_tries": 1}),
        ("simple", {"script": "simple-update"}),
        ("version_13", {"script": "tpcb-like", "scale": 100, "mode": "prepared", "max_tries": 1}),
        ("weights", {"script": "a.sql:9+b.sql:1"}),
        ("version_18", {"script": "tpcb-like:1+transfer-money.sql:1", "max_tries": 3}),
        ("connect", {"connect": True}),
        ("select_part", {"partition_method": "range", "partitions": 2}),
    ],
)
def test_the_report_states_the_work(name: str, stated: dict[str, object]) -> None:
    assert read(name).parameters.items() >= stated.items()


def test_that_each_transaction_connects_is_stated_only_where_the_report_says_so() -> None:
    """13 and older print tps with and without the connections, whatever -C."""
    assert "connect" not in read("version_13").parameters
    assert read("version_14").parameters["connect"] is False
    connecting = pgbench.parse(content("pgbench/version_13.txt"), connects=True)
    assert (values(connecting)["client.throughput"], connecting.unparsed) == (1027.113842, ())
    assert values(connecting)["client.elapsed"] == round(10279 / 1027.113842, 6)
    for stated in ("version_14", "connect"):
        assert pgbench.parse(content(f"pgbench/{stated}.txt"), connects=True) == read(stated)


def test_scale_1_of_a_script_of_ones_own_is_not_stated_since_it_is_only_the_default() -> None:
    assert "scale" not in read("weights").parameters
    assert read("weights", ("scaling factor: 1", "scaling factor: 7")).parameters["scale"] == 7


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("partial", "Run was aborted: a client script 0 aborted"),
        ("killed", "ends before"),
        ("fail", "too many clients"),
    ],
)
def test_a_run_that_broke_off_has_its_reason_and_no_values(name: str, reason: str) -> None:
    found = read(name)
    assert reason in found.reason
    assert found.values == ()


def test_two_runs_in_one_file_are_refused() -> None:
    for one in ("select", "version_13"):
        text = content(f"pgbench/{one}.txt")
        with pytest.raises(NotThisFormat, match="one run"):
            pgbench.parse(text + text)


def test_a_share_that_is_no_number_gives_no_value() -> None:
    found = read("limit", ("277/277 (100.000%)", "0/0 (NaN%)"), ("latency average = 25.766", "latency average = -nan"))
    assert not {"client.late", "client.latency.avg"} & values(found).keys()


def log(name: str) -> ParsedOutput:
    return pgbench_log.parse(content(f"pgbench/{name}.log"))


def test_logs_of_all_threads_are_one_series_without_a_rate_of_the_first_interval_that_is_not_whole() -> None:
    found = log("aggregated")
    assert found.clock == (1.0, 2.0, 3.0, 4.0)
    assert found.series["client.throughput"] == (None, 656 + 650, 525 + 459, 316 + 235)
    assert found.series["client.latency.avg"][1] == pytest.approx((1001267 + 1001538) / 1306 / 1000)
    assert found.series["client.latency.max"][0] == 24.613
    assert values(found)["client.transactions"] == 2843


EMPTY = b" 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
# In a stall, each thread writes such rows.
STALLED = b"".join(
    b"1795792402 2 1800 1620000 900 900 0 0 0 0 0 0 0 0 0\n1795792403" + EMPTY + b"1795792404" + EMPTY + after
    for after in (
        b"1795792405 3 3600 4320000 1200 1200 0 0 0 0 0 0 0 0 0\n",
        b"1795792405 3 3900 5070000 1300 1300 0 0 0 0 0 0 0 0 0\n",
    )
).replace(b" 900 900 ", b" 800 1000 ", 1)


def test_equal_rows_of_threads_that_did_nothing_in_a_stall_are_no_file_sent_twice() -> None:
    found = pgbench_log.parse(STALLED)
    assert found.series["client.throughput"] == (None, 0, 0, 6)
    assert found.series["client.latency.avg"] == (0.9, None, None, 1.25)
    with pytest.raises(NotThisFormat, match="twice"):
        pgbench_log.parse(STALLED + STALLED)


def test_an_aggregated_log_of_a_rate_has_lag_and_skipped_transactions() -> None:
    found = log("aggregated_rate")
    assert found.series["client.skipped"] == (None, 24, 22, 24)
    assert found.series["client.start_delay.avg"][1] == pytest.approx(345630 / 283 / 1000)


def test_what_pgbench_14_skipped_is_no_transaction_of_its_aggregated_log() -> None:
    """It counts skipped ones as transactions too; newer ones do not, and print more columns."""
    row = b" 4 6000 9000000 1500 1500 400 80000 100 200 2"
    rows = b"".join(b"%d%b\n" % (1795792402 + number, row) for number in range(3))
    found = pgbench_log.parse(rows)
    assert found.series["client.throughput"] == found.series["client.skipped"] == (None, 2, 2)
    assert found.series["client.latency.avg"] == (3.0, 3.0, 3.0)
    assert found.series["client.start_delay.avg"] == (0.2, 0.2, 0.2)
    assert (values(found)["client.transactions"], values(found)["client.latency.avg"]) == (6, 3.0)
    newer = pgbench_log.parse(rows.replace(b"\n", b" 0 0 0 0\n"))
    assert values(newer)["client.transactions"] == 12
    with pytest.raises(NotThisFormat, match="no more skipped transactions"):
        pgbench_log.parse(rows.replace(b" 200 2", b" 200 5"))


def test_a_log_of_single_transactions_gives_percentiles_of_each_second() -> None:
    found = log("transactions")
    rows = [line.split() for line in content("pgbench/transactions.log").decode().splitlines()]
    second = sorted(int(row[2]) for row in rows if row[4] == rows[20][4])
    assert found.series["client.latency.p50"][1] == second[9] / 1000
    assert found.series["client.throughput"] == (None, 20, None)


def rows_of(*, clients: range, every: int = 1) -> bytes:
    """The log of single transactions of these clients; `every`: one of so many is sampled."""
    return b"".join(
        b"%d %d 900 0 %d %d\n" % (client, number, 1795792400 + number, client)
        for client in clients
        for number in range(1, 8, every)
    )


def test_a_log_names_how_many_clients_ran_so_that_those_of_other_threads_are_missed() -> None:
    assert log("transactions").threads == 2
    assert pgbench_log.parse(rows_of(clients=range(2))).threads == 2
    with pytest.raises(NotThisFormat, match=r"line 8 .* from 0 to 3, and 2 of them are missing"):
        pgbench_log.parse(rows_of(clients=range(2, 4)))


def test_a_sampled_log_is_refused() -> None:
    with pytest.raises(NotThisFormat, match=r"line 1 .* 4 of 7 of this client, as with --sampling-rate"):
        pgbench_log.parse(rows_of(clients=range(2), every=2))
    # 9.6 gives what it skips the number of the next transaction.
    skipped = b"0 7 skipped 0 1795792406 9\n"
    assert pgbench_log.parse(rows_of(clients=range(2)) + skipped).threads == 2


def test_a_run_so_short_that_clients_may_have_ended_nothing_states_no_clients() -> None:
    text = b"0 1 900 0 1795792400 1\n3 1 900 0 1795792401 1\n4 1 900 0 1795792402 1\n"
    assert pgbench_log.parse(text).threads is None


def test_failed_and_skipped_rows_of_a_log_are_no_transactions() -> None:
    text = b"0 1 900 0 1795792400 1\n0 2 skipped 0 1795792401 2\n0 3 failed 0 1795792401 3\n0 4 700 0 1795792402 4\n"
    found = pgbench_log.parse(text.replace(b"02 4\n", b"01 4\n") + b"0 5 1000 0 1795792402 9\n")
    assert found.series["client.errors"] == (None, 1, None)
    assert found.series["client.skipped"] == (None, 1, None)
    assert values(found)["client.transactions"] == 3


@pytest.mark.parametrize("text", [b"a b c\n", b"1795792400 1 2\n", b"0 1 x 0 1795792400 1\n", b"0 1 2 0 99 1\n"])
def test_other_columns_are_no_log_of_pgbench(text: bytes) -> None:
    with pytest.raises(NotThisFormat, match="line 1"):
        pgbench_log.parse(text)
