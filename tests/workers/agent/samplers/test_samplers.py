import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.paths import DATA
from workers.agent.samplers import SourceFailed, host, mysql, process

TICKS = 100


@pytest.fixture(scope="module")
def seconds() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / "host" / "single_120s.two_seconds.json").read_text())
    return found


def test_cpu_time_between_two_seconds_is_that_of_all_cpus(seconds: list[dict[str, Any]]) -> None:
    before, after = (host.parse(second["files"], ticks=TICKS) for second in seconds)
    states = [key for key in before if key.startswith("host.cpu.")]
    spent = sum((after[key] or 0) - (before[key] or 0) for key in states)
    assert before["host.cpus"] == 2
    assert spent == pytest.approx(2 * (seconds[1]["t"] - seconds[0]["t"]), rel=0.05)


def test_of_some_cpus_only_their_time_counts_and_nothing_that_the_kernel_reports_for_all(
    seconds: list[dict[str, Any]],
) -> None:
    files = seconds[0]["files"]
    whole, *parts = (host.parse(files, ticks=TICKS, cpus=cpus) for cpus in ((), (0,), (1,)))
    for state in host.CPU_STATES:
        key = f"host.cpu.{state}"
        # The kernel rounds each CPU's ticks for itself.
        assert sum(part[key] or 0 for part in parts) == pytest.approx(whole[key], abs=0.03)
    assert [part["host.cpus"] for part in parts] == [1, 1]
    assert "host.procs_running" in whole
    assert "host.procs_running" not in parts[0]


def test_a_sampler_of_some_cpus_says_that_waiting_tasks_are_not_known() -> None:
    found = host.HostCounters(cpus={0}).read()
    assert found.values["host.cpus"] == 1
    assert "host.load.1m" not in found.values
    assert "host.pressure.cpu.some" not in found.values
    assert [hidden.what for hidden in found.hidden] == [host.OF_ALL_CPUS.what]


def test_disk_counters_are_in_bytes_and_seconds_and_of_whole_disks_only(seconds: list[dict[str, Any]]) -> None:
    line = next(line for line in seconds[0]["files"]["diskstats"].splitlines() if " vda " in line).split()
    values = host.parse(seconds[0]["files"], ticks=TICKS, disks=frozenset({"vda", "loop0"}))
    assert values["host.disk.vda.reads"] == int(line[3])
    assert values["host.disk.vda.write_bytes"] == int(line[9]) * 512
    assert values["host.disk.vda.io_time"] == int(line[12]) / 1000
    assert {key.split(".")[2] for key in values if key.startswith("host.disk.")} == {"vda"}


def test_every_promised_host_counter_is_there(seconds: list[dict[str, Any]]) -> None:
    values = host.parse(seconds[0]["files"], ticks=TICKS)
    disk = ["reads", "writes", "read_bytes", "write_bytes", "read_time", "write_time", "io_time", "io_weighted_time"]
    network = ["rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_drops", "tx_drops", "rx_errors", "tx_errors"]
    wanted = [
        *(f"host.cpu.{state}" for state in host.CPU_STATES),
        *(f"host.disk.vda.{name}" for name in [*disk, "in_flight"]),
        *(f"host.net.eth0.{name}" for name in network),
        *("host.cpus", "host.load.1m", "host.procs_running", "host.procs_blocked", "host.context_switches"),
        *("host.memory.MemAvailable", "host.memory.Active_anon", "host.vmstat.pgfault"),
        *("host.pressure.cpu.some", "host.pressure.io.full"),
    ]
    assert [key for key in wanted if key not in values] == []
    assert values["host.memory.MemTotal"] == 24684084 * 1024
    assert values["host.pressure.cpu.some"] == pytest.approx(188, rel=0.5)
    assert not any(" " in key or "(" in key for key in values)


def test_a_kernel_without_pressure_files_gives_the_other_counters(
    tmp_path: Path, seconds: list[dict[str, Any]]
) -> None:
    (tmp_path / "net").mkdir()
    for name, text in seconds[0]["files"].items():
        if not name.startswith("pressure/"):
            (tmp_path / name).write_text(text)
    values = host.HostCounters(tmp_path).read().values
    assert values["host.cpus"] == 2
    assert not any("pressure" in key for key in values)


def test_a_proc_that_cannot_be_read_is_a_failure_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match=f"{tmp_path}/stat: No such file"):
        host.HostCounters(tmp_path).read()


def test_this_very_host_can_be_read() -> None:
    values = host.HostCounters().read().values
    assert values["host.cpus"] == os.cpu_count()
    assert (values["host.memory.MemAvailable"] or 0) > 0


def test_a_servers_process_is_read_from_its_proc_files(seconds: list[dict[str, Any]]) -> None:
    pid = seconds[0]["pids"]["single"]
    values = process.parse(pid["stat"], pid["io"], ticks=TICKS, page_size=4096)
    fields = pid["stat"].split()
    assert values["process.cpu.user"] == int(fields[13]) / TICKS
    assert values["process.rss"] == int(fields[23]) * 4096
    assert (values["process.io.write_bytes"] or 0) > 1_000_000
    assert set(process.parse(pid["stat"], "", ticks=TICKS, page_size=4096)) == {
        "process.cpu.user",
        "process.cpu.system",
        "process.rss",
        "process.threads",
        "process.faults.major",
    }


def test_a_process_name_with_blanks_and_parentheses_does_not_shift_the_fields() -> None:
    stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 200 300 0 0 20 0 1 0 5 99 50 0"
    assert process.parse(stat, "", ticks=100, page_size=10) == {
        "process.cpu.user": 2.0,
        "process.cpu.system": 3.0,
        "process.rss": 500,
        "process.threads": 1,
        "process.faults.major": 9,
    }


def test_a_process_that_went_away_is_looked_for_again() -> None:
    pids = iter([2**22 + 1, os.getpid()])
    source = process.ServerProcess(lambda: next(pids))
    with pytest.raises(SourceFailed):
        source.read()
    assert (source.read().values["process.rss"] or 0) > 0


def test_a_server_that_is_not_found_on_this_host_is_said_so() -> None:
    with pytest.raises(SourceFailed, match="was not found on this host"):
        process.ServerProcess(lambda: None).read()


def test_status_holds_every_number_and_no_text() -> None:
    for name in ("single_120s", "galera_120s"):
        for status in json.loads((DATA / "mysql" / f"{name}.status.json").read_text()):
            found = mysql.numbers(status.items())
            texts = {key for key in status if f"mysql.status.{key}" not in found}
            assert texts.isdisjoint({"Questions", "Threads_running", "Innodb_data_fsyncs", "wsrep_ready"})
            assert len(found) > 500
            assert {"wsrep_provider_version", "Rpl_status", "Ssl_cipher"} <= texts
            assert found["mysql.status.Questions"] == int(status["Questions"])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-3", -3),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", -1),
        ("0.250000", 0.25),
        ("1.5e+06", 1_500_000.0),
        ("ON", 1),
        ("Off", 0),
        ("YES", 1),
        ("No", 0),
        ("false", 0),
        ("", None),
        ("NULL", None),
        ("nan", None),
        ("inf", None),
        ("0x1F", None),
        ("4.23(rXXXX)", None),
        ("1_000", None),
        ("٣", None),
    ],
)
def test_a_status_value_is_a_number_or_nothing(text: str, number: float | None) -> None:
    assert mysql.number_of(text) == number


def test_the_replication_latency_of_galera_is_five_numbers() -> None:
    rows = [("wsrep_evs_repl_latency", "9.14e-05/0.001/0.0667139/0/2707"), ("wsrep_evs_state", "OPERATIONAL")]
    found = mysql.numbers(rows)
    assert found["mysql.status.wsrep_evs_repl_latency_avg"] == 0.001
    assert found["mysql.status.wsrep_evs_repl_latency_samples"] == 2707
    assert mysql.numbers([("wsrep_evs_repl_latency", "none")]) == {}
