"""Results of other tools through the API: what is stored of them, what is refused and how it says so."""

from io import BytesIO
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.runs import seal
from apps.runs.ingest import accept
from apps.runs.models import Artifact, Run
from apps.runs.pure import DEFAULT, SUBMITTED
from tests.rest.submissions import POINT_SELECT, a_description, a_file, fields_of, send
from tests.runs.tool_output.deformed import DEFORMED
from tests.runs.tool_output.parsers.outputs import content, table
from tests.support.builders import a_run, a_system

WORKLOADS: dict[str, dict[str, Any]] = {
    "tpcc-mysql": {"parameters": {"warehouses": 10}},
    "iibench-py": {"parameters": {"rows_per_commit": 1000, "secondary_indexes": 3}},
    "mysqlslap": {"parameters": {"engine": "innodb", "load_type": "mixed"}},
    "hammerdb": {"parameters": {"warehouses": 100}},
    "benchbase-summary": {"parameters": {"benchmark": "tpcc", "scale_factor": 1}},
    "benchbase-windows": {"parameters": {"benchmark": "tpcc", "scale_factor": 1}},
    "pgbench": {"parameters": {}},
    "pgbench-log": {"parameters": {"script": "select-only"}},
    "fio": {"parameters": {}},
    "cpu": {"parameters": {}},
    "memory": {"parameters": {"block_size": "1K"}},
    "fileio": {"parameters": {"mode": "rndrw"}},
    "go-tpc": {"parameters": {"benchmark": "tpcc", "warehouses": 1}},
    "ycsb": {"parameters": {"workload": "workloada"}},
    "go-ycsb": {"parameters": {"workload": "workloada", "recordcount": 2000}},
}
FILES = {
    "tpcc-mysql": ("tpcc_mysql/two_intervals.txt", "client.new_orders.per_minute", 7680.0, "orders/min"),
    "iibench-py": ("iibench_py/tabs.txt", "client.rows", 48387.1, "rows/s"),
    "mysqlslap": ("mysqlslap/innodb_t4.csv", "client.execution_time.avg", 0.018, "s"),
    "hammerdb": ("hammerdb/mariadb.log", "server.transactions.per_minute", 28676.0, "transactions/min"),
    "benchbase-summary": ("benchbase/tpcc.summary.json", "client.latency.p99", 31.007, "ms"),
    "benchbase-windows": ("benchbase/tpcc.samples.csv", "client.throughput", 419.0, "transactions/s"),
    "pgbench": ("pgbench/select.txt", "client.throughput", 3227.502644, "transactions/s"),
    "pgbench-log": ("pgbench/aggregated.log", "client.throughput", 947.0, "transactions/s"),
    "fio": ("fio/randrw.json", "client.file_read.latency.p99", 7.569408, "ms"),
    "cpu": ("sysbench/cpu.txt", "client.events", 4414.03, "events/s"),
    "memory": ("sysbench/memory.txt", "client.memory_mib", 6305.55, "MiB/s"),
    "fileio": ("sysbench/fileio.txt", "client.file_reads", 39659.51, "reads/s"),
    "go-tpc": ("go_tpc/tpcc.txt", "client.new_orders.per_minute", 1544.8, "orders/min"),
    "ycsb": ("ycsb/workloada.txt", "client.update.latency.p99", 29.583, "ms"),
    "go-ycsb": ("go_ycsb/run.txt", "client.throughput", 5487.3, "transactions/s"),
}


# Made by a program of the agent, or with a mapping: tests/rest/runs/test_evidence_from_elsewhere.py and
# test_own_results.py send them.
REPORTS = {"failover-report", "schema-change-report", "own"}


def test_each_format_is_sent_here_once() -> None:
    assert set(FILES) == set(SUBMITTED) - {DEFAULT} - REPORTS


def describe(name: str, **changes: Any) -> dict[str, Any]:
    description = a_description(format=name, workload=WORKLOADS[name], load_level={"threads": 4})
    if name in ("tpcc-mysql", "hammerdb", "cpu", "memory", "fileio", "pgbench", "fio", "ycsb", "go-ycsb"):
        del description["load_level"]  # their outputs say it
    return {field: value for field, value in (description | changes).items() if value is not ...}


@pytest.mark.parametrize("name", FILES)
def test_each_format_becomes_a_run_with_its_numbers_in_their_unit(engineer: APIClient, name: str) -> None:
    file, metric, value, unit = FILES[name]
    answer = send(engineer, describe(name), content(file))
    assert answer.status_code == 201, answer.content
    document = answer.json()
    values = {one["metric"]: (one["value"], one["unit"]) for one in document["measurements"]}
    assert values[metric] == (value, unit)
    assert (document["state"], document["outcome"], document["unparsed_lines"]) == ("sealed", "succeeded", 0)
    assert engineer.get(document["api"]).json()["provenance"] == "submitted"


@pytest.mark.parametrize("name", [name for name in FILES if SUBMITTED[name].mark])
def test_a_format_that_is_left_out_is_recognised_and_the_answer_names_it(engineer: APIClient, name: str) -> None:
    file, metric, value, _ = FILES[name]
    answer = send(engineer, describe(name, format=...), content(file))
    assert (answer.status_code, answer.json()["format"]) == (201, name), answer.content
    assert {one["metric"]: one["value"] for one in answer.json()["measurements"]}[metric] == value


def test_an_output_of_no_known_format_is_refused_with_what_was_looked_for(engineer: APIClient) -> None:
    answer = send(engineer, a_description(), b"\n\nhello\n")
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    (error,) = answer.json()["errors"]
    assert "line 3 is 'hello'; looked for “sysbench 1.0.20 (using …)” (sysbench)" in error["message"]
    assert error["remedy"].startswith("state format, one of sysbench, ")
    assert not Run.objects.exists()


@pytest.mark.parametrize("name", ["UTF-16 LE", "docker compose logs -t", "ANSI"])
def test_a_deformed_output_is_kept_as_it_came_and_sealed_again_with_the_same_numbers(
    engineer: APIClient, name: str
) -> None:
    raw = DEFORMED[name](POINT_SELECT.read_bytes())
    answer = send(engineer, a_description(), raw)
    assert (answer.status_code, answer.json()["unparsed_lines"]) == (201, 0), answer.content
    measurements = answer.json()["measurements"]
    throughput = next(one for one in measurements if one["metric"] == "client.throughput")
    assert throughput["value"] == 44980.11
    assert raw[throughput["byte_start"] : throughput["byte_end"]].replace(b"\0", b"") == b"44980.11"
    artifact = Artifact.objects.get()
    assert b"".join(engineer.get(f"{answer.json()['api']}artifacts/{artifact.name}")) == raw
    assert seal.reseal(run_id=answer.json()["id"])
    assert engineer.get(answer.json()["api"]).json()["measurements"] == measurements


def test_a_password_in_utf_16_is_refused_too(engineer: APIClient) -> None:
    text = DEFORMED["UTF-16 LE"](content("tpcc_mysql/two_intervals.txt").replace(b"[pass]: ", b"[pass]: hunter2"))
    answer = send(engineer, describe("tpcc-mysql"), text)
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert "password" in answer.json()["detail"]


def test_intervals_become_series_on_a_clock_that_begins_with_the_stated_ramp_up(engineer: APIClient) -> None:
    document = send(engineer, describe("tpcc-mysql"), content("tpcc_mysql/two_intervals.txt")).json()
    series = engineer.get(f"{document['api']}series/?metric=client.throughput").json()["series"][0]
    assert (series["at"], series["values"]) == ([15.0, 25.0], [287.5, 301.2])
    run = Run.objects.get(pk=document["id"])
    assert (run.warmup, run.measured_from, run.measured_to) == (5.0, 5.0, 25.0)
    assert [(event.kind, event.detail["count"]) for event in run.events.all()] == [("error", 2)]


def test_a_run_of_another_tool_is_sealed_again_from_the_file_as_it_is_kept(engineer: APIClient) -> None:
    document = send(engineer, describe("benchbase-summary"), content("benchbase/tpcc.summary.json")).json()
    assert [one.name for one in Artifact.objects.all()] == ["benchbase-summary.json"]
    before = document["measurements"]
    assert seal.reseal(run_id=document["id"])
    assert engineer.get(document["api"]).json()["measurements"] == before


def test_the_same_sent_twice_is_one_run_also_where_the_output_states_the_warmup(engineer: APIClient) -> None:
    text = content("tpcc_mysql/two_intervals.txt")
    first, second = (send(engineer, describe("tpcc-mysql"), text) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]


def test_a_file_of_another_format_is_refused_with_its_first_line(engineer: APIClient) -> None:
    answer = send(engineer, describe("tpcc-mysql"), POINT_SELECT.read_bytes())
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert "line 1 is 'sysbench 1.0.20" in answer.json()["detail"]
    answer = send(engineer, a_description(format="sysbench"), content("iibench_py/tabs.txt"))
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert "line 1 is 'i_sec" in answer.json()["detail"]
    assert not Run.objects.exists()


def test_a_file_that_broke_off_is_taken_only_as_a_failed_run(engineer: APIClient) -> None:
    text = content("tpcc_mysql/two_intervals.txt").partition(b"STOPPING")[0]
    answer = send(engineer, describe("tpcc-mysql"), text)
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert "ends before the result" in answer.json()["detail"]
    answer = send(engineer, describe("tpcc-mysql", outcome="failed", reason="the client died"), text)
    assert answer.status_code == 201, answer.content
    assert answer.json()["measurements"] == []
    assert engineer.get(f"{answer.json()['api']}series/?metric=client.throughput").json()["series"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"format": "wrk"}, "format"),
        ({"workload": {"tool": "sysbench", "parameters": {}}}, "workload.tool"),
        ({"workload": {"parameters": {}}}, "workload.parameters.warehouses"),
        ({"workload": {"parameters": {"warehouses": 10, "note": "two words"}}}, "workload.parameters.note"),
        ({"load_level": {"threads": 16}}, "load_level.threads"),
        ({"warmup": 10}, "warmup"),
    ],
)
def test_what_contradicts_the_output_or_the_format_is_refused_by_field(
    engineer: APIClient, changes: dict[str, Any], field: str
) -> None:
    answer = send(engineer, describe("tpcc-mysql", **changes), content("tpcc_mysql/two_intervals.txt"))
    assert (answer.status_code, fields_of(answer)) == (422, [field])


def test_threads_have_to_be_stated_where_the_output_does_not_say_them(engineer: APIClient) -> None:
    answer = send(engineer, describe("iibench-py", load_level={}), content("iibench_py/tabs.txt"))
    assert (answer.status_code, fields_of(answer)) == (422, ["load_level.threads"])


@pytest.mark.parametrize(("parameters", "tps"), [({}, 1027.698133), ({"connect": True}, 1027.113842)])
def test_of_pgbench_13_the_sender_says_whether_each_transaction_connects(
    engineer: APIClient, parameters: dict[str, Any], tps: float
) -> None:
    answer = send(engineer, describe("pgbench", workload={"parameters": parameters}), content("pgbench/version_13.txt"))
    assert answer.status_code == 201, answer.content
    assert seal.reseal(run_id=answer.json()["id"])
    run = engineer.get(answer.json()["api"]).json()
    assert {one["metric"]: one["value"] for one in run["measurements"]}["client.throughput"] == tps
    assert Run.objects.get().workload.parameters["connect"] is bool(parameters)


def test_the_log_of_one_thread_of_several_is_not_taken_for_the_run(engineer: APIClient) -> None:
    text = content("pgbench/transactions.log")
    answer = send(engineer, describe("pgbench-log"), text)
    assert (answer.status_code, fields_of(answer)) == (422, ["load_level.threads"])
    assert "4 in the description, 2 in the output" in answer.json()["detail"]
    assert send(engineer, describe("pgbench-log", load_level={"threads": 2}), text).status_code == 201


def test_a_password_in_a_file_is_refused_and_not_repeated(engineer: APIClient) -> None:
    text = content("tpcc_mysql/two_intervals.txt").replace(b"[pass]: ", b"[pass]: hunter2")
    answer = send(engineer, describe("tpcc-mysql"), text)
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert b"hunter2" not in answer.content


def test_benchbases_windows_go_with_the_totals_of_its_summary(engineer: APIClient) -> None:
    summary, windows = (content(f"benchbase/tpcc.{name}") for name in ("summary.json", "results.csv"))
    answer = send(engineer, describe("benchbase-summary"), summary, series=a_file(windows))
    assert answer.status_code == 201, answer.content
    values = {one["metric"]: one["value"] for one in answer.json()["measurements"]}
    assert values["client.throughput"] == 428.19821524713473
    found = engineer.get(f"{answer.json()['api']}series/?metric=client.latency.p99&raw=true").json()["series"][0]
    assert (found["at"], found["values"]) == ([5.0, 10.0, 15.0], [31.4, 30.551, None])
    assert seal.reseal(run_id=answer.json()["id"])
    again = send(engineer, describe("benchbase-summary"), summary, series=a_file(windows))
    assert (again.status_code, again.json()["measurements"]) == (200, answer.json()["measurements"])
    other = send(engineer, describe("benchbase-summary"), summary, series=a_file(content("benchbase/tpcc.samples.csv")))
    assert (other.status_code, fields_of(other)) == (409, ["series"])


def test_series_apart_are_refused_where_the_format_has_none_and_where_they_are_something_else(
    engineer: APIClient,
) -> None:
    summary = content("benchbase/tpcc.summary.json")
    answer = send(engineer, describe("benchbase-summary"), summary, series=a_file(b"Time,Requests\n"))
    assert (answer.status_code, fields_of(answer)) == (422, ["series"])
    assert "line 1 is 'Time,Requests'" in answer.json()["detail"]
    answer = send(engineer, describe("hammerdb"), content("hammerdb/mariadb.log"), series=a_file(summary))
    assert (answer.status_code, fields_of(answer)) == (422, ["series"])
    assert not Run.objects.exists()


def test_logs_of_all_threads_are_the_series_of_pgbenchs_report_and_one_threads_alone_is_refused(
    engineer: APIClient,
) -> None:
    report = content("pgbench/aggregated.txt")
    one = send(engineer, describe("pgbench"), report, series=a_file(content("pgbench/aggregated_one_thread.log")))
    assert (one.status_code, fields_of(one)) == (422, ["series"])
    assert "1,498 of 3,688 transactions: send the logs of all worker threads" in one.json()["detail"]
    answer = send(engineer, describe("pgbench"), report, series=a_file(content("pgbench/aggregated.log")))
    assert answer.status_code == 201, answer.content
    values = {each["metric"]: each["value"] for each in answer.json()["measurements"]}
    assert values["client.throughput"] == 934.220539
    found = engineer.get(f"{answer.json()['api']}series/?metric=client.throughput&raw=true").json()["series"][0]
    assert (found["at"], found["values"]) == ([1.0, 2.0, 3.0, 4.0], [None, 1306.0, 984.0, 551.0])


# ---------------------------------------------------------------- the work, as the output states it


def test_the_work_is_taken_from_the_output_and_equals_what_was_described(engineer: APIClient) -> None:
    stated = send(engineer, describe("fio"), content("fio/randrw.json")).json()
    run = engineer.get(stated["api"]).json()
    assert run["workload"]["name"] == "fio, randrw, size=16m, bs=16k"
    assert run["load_level"]["threads"] == 1
    again = send(engineer, describe("fio", workload=run["workload"]["id"]), content("fio/randrw.json"))
    assert (again.status_code, again.json()["id"]) == (200, run["id"])


def test_bins_of_jsonplus_are_kept_as_a_distribution(engineer: APIClient) -> None:
    document = send(engineer, describe("fio"), content("fio/libaio_plus.json")).json()
    run = Run.objects.get(pk=document["id"])
    found = engineer.get(f"{document['api']}distributions/").json()["distributions"]
    assert [(one["metric"], one["count"]) for one in found] == [
        ("client.file_read.latency", 58),
        ("client.file_write.latency", 62),
    ]
    before = document["measurements"]
    assert seal.reseal(run_id=run.pk)
    assert engineer.get(document["api"]).json()["measurements"] == before


@pytest.mark.parametrize(
    ("name", "file", "changes", "field"),
    [
        ("pgbench", "pgbench/select.txt", {"workload": {"parameters": {"scale": 10}}}, "workload.parameters.scale"),
        ("pgbench", "pgbench/select.txt", {"load_level": {"threads": 8}}, "load_level.threads"),
        ("pgbench", "pgbench/select.txt", {"load_level": {"rate": 100}}, "load_level.rate"),
        ("pgbench", "pgbench/rate.txt", {}, "load_level.rate"),
        ("pgbench", "pgbench/partial.txt", {}, "output"),
        ("fio", "fio/randrw.json", {"workload": {"parameters": {"bs": "4k"}}}, "workload.parameters.bs"),
        ("fio", "fio/full.txt", {}, "output"),
        ("fio", "fio/stonewall.json", {}, "output"),
    ],
)
def test_what_contradicts_the_work_or_load_in_the_output_is_refused_by_field(
    engineer: APIClient, name: str, file: str, changes: dict[str, Any], field: str
) -> None:
    answer = send(engineer, describe(name, **changes), content(file))
    assert (answer.status_code, fields_of(answer)) == (422, [field])
    assert not Run.objects.exists()


def test_a_rate_of_pgbench_is_stated_beside_its_report(engineer: APIClient) -> None:
    answer = send(engineer, describe("pgbench", load_level={"rate": 200}), content("pgbench/rate.txt"))
    assert answer.status_code == 201, answer.content
    assert engineer.get(answer.json()["api"]).json()["load_level"]["rate"] == 200


def test_an_aborted_pgbench_is_kept_as_a_failed_run_with_its_reason(engineer: APIClient) -> None:
    answer = send(engineer, describe("pgbench", outcome="failed"), content("pgbench/partial.txt"))
    assert answer.status_code == 201, answer.content
    assert "division by zero" in answer.json()["reason"]


# ---------------------------------------------------------------- attached files


def attach(client: APIClient, run: Run, name: str, text: bytes) -> Any:
    file = BytesIO(text)
    file.name = "any"
    return client.post(f"/api/v1/runs/{run.pk}/files/", {"format": name, "file": file}, format="multipart")


@pytest.fixture
def sealed(engineer: APIClient) -> Run:
    return Run.objects.get(pk=send(engineer, a_description()).json()["id"])


def test_a_digest_is_attached_to_a_complete_run_and_its_table_can_be_read(engineer: APIClient, sealed: Run) -> None:
    answer = attach(engineer, sealed, "pt-query-digest", content("pt_query_digest/slow_log.json"))
    assert answer.status_code == 201, answer.content
    (found,) = engineer.get(f"/api/v1/runs/{sealed.pk}/files/").json()["files"]
    assert found == answer.json()
    assert found["artifact"] == "pt-query-digest.json"
    assert found["columns"][2] == {"name": "total time", "unit": "s"}
    assert found["rows"][0][:3] == ["COMMIT", 2884.0, 0.850642]
    assert b'"fingerprint": "commit"' in b"".join(engineer.get(found["address"]))


@pytest.mark.parametrize("name", ["UTF-16 LE with CRLF", "colours in docker compose"])
def test_an_attached_file_is_read_without_what_stands_around_its_lines_and_kept_as_it_came(
    engineer: APIClient, sealed: Run, name: str
) -> None:
    raw = DEFORMED[name](content("perf/report_flat.txt"))
    answer = attach(engineer, sealed, "perf-report", raw)
    assert answer.status_code == 201, answer.content
    assert answer.json()["rows"] == [list(row) for row in table("perf/report_flat.txt").rows]
    assert b"".join(engineer.get(answer.json()["address"])) == raw


def test_a_password_in_an_attached_file_in_utf_16_is_refused(engineer: APIClient, sealed: Run) -> None:
    text = content("perf/report_flat.txt") + b"+ sysbench --mysql-password=hunter2 run\n"
    answer = attach(engineer, sealed, "perf-report", DEFORMED["UTF-16 BE"](text))
    assert (answer.status_code, fields_of(answer)) == (422, ["file"])
    assert "hunter2" not in answer.content.decode()


def test_attached_again_it_is_the_same_and_another_of_its_format_gets_a_name_of_its_own(
    engineer: APIClient, sealed: Run
) -> None:
    text = content("perf/report_flat.txt")
    codes = [attach(engineer, sealed, "perf-report", text).status_code for _ in range(2)]
    other = attach(engineer, sealed, "perf-report", content("perf/report_children.txt")).json()
    assert (codes, other["artifact"]) == ([201, 200], "perf-report.2.txt")


def test_attaching_changes_no_number_of_the_run(engineer: APIClient, sealed: Run) -> None:
    address = f"/api/v1/runs/{sealed.pk}/"
    before = engineer.get(address).json()["measurements"]
    attach(engineer, sealed, "perf-script", content("perf/script.txt"))
    assert seal.reseal(run_id=sealed.pk)
    assert engineer.get(address).json()["measurements"] == before
    assert len(engineer.get(f"{address}files/").json()["files"]) == 1


def test_what_is_no_digest_is_refused_with_its_line(engineer: APIClient, sealed: Run) -> None:
    answer = attach(engineer, sealed, "pt-query-digest", b"# Query 1: 0 QPS\n")
    assert (answer.status_code, fields_of(answer)) == (422, ["file"])
    assert "line 1 is '# Query 1: 0 QPS'" in answer.json()["detail"]
    assert attach(engineer, sealed, "flamegraph", b"x").json()["errors"][0]["field"] == "format"


def test_a_run_that_is_not_complete_takes_no_file(engineer: APIClient) -> None:
    run = a_run(system=a_system(), state="open", outcome="", ended_at=None, sealed_at=None)
    answer = attach(engineer, run, "perf-script", content("perf/script.txt"))
    assert (answer.status_code, fields_of(answer)) == (409, ["run"])


def test_strangers_and_readers_attach_nothing(client: Any, sealed: Run) -> None:
    assert attach(APIClient(), sealed, "perf-script", content("perf/script.txt")).status_code in (401, 403)
    assert not Artifact.objects.filter(name__startswith="perf").exists()


def test_no_name_of_an_attached_file_is_that_of_a_tools_output() -> None:
    assert accept.ARTIFACT_NAME.match("pt-query-digest.20.json")
