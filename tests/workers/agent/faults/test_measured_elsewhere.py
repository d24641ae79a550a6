"""Failovers and schema changes that others measured: recorded by another probe, judged by our rules, and submitted."""

import csv
import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from apps.runs.tool_output.formats import SUBMITTED, NotThisFormat
from apps.runs.tool_output.values import Output
from tests.paths import RECORDINGS
from workers.agent.cli import main

RECORDED: dict[str, dict[str, Any]] = {
    run["run"]: run for run in json.loads(gzip.decompress((RECORDINGS / "failover.json.gz").read_bytes()))
}
BEGAN = 1795190901.0  # s since 1970
INTERVAL = 0.05  # s between the recorded probes' inserts


def a_csv(folder: Path, run: dict[str, Any], *, zero: float = 0.0) -> Path:
    """The recorded attempts, in s from the fault on, which came at `zero`."""
    file = folder / "attempts.csv"
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["start", "end", "ok", "server", "error"])
        for start, end, port in run["attempts"]:
            error = "" if port else "2013 Lost connection"
            rows.writerow([zero + start / 1000, zero + end / 1000, int(bool(port)), port or "", error])
    return file


def submitted(capsys: pytest.CaptureFixture[str], *arguments: str | Path, kind: str = "failover") -> Output:
    """What the server reads of the printed report."""
    assert main(["report", kind, *map(str, arguments)]) == 0
    read = SUBMITTED[f"{kind}-report"].read(capsys.readouterr().out.encode())
    assert (read.output.complete, read.output.unparsed, read.threads) == (True, (), 1)
    return read.output


def values(output: Output) -> dict[str, float]:
    return {headline.metric: headline.value for headline in output.headlines}


@pytest.mark.parametrize("name", [name for name, run in RECORDED.items() if run["interruption"]])
def test_the_downtime_is_that_which_the_other_probe_stated(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RECORDED[name]
    told = ("--fault", "kill_writer", "--fault-at", "0", "--node", "db1")
    output = submitted(capsys, a_csv(tmp_path, run), *told)
    assert values(output)["failover.outage"] == pytest.approx(run["interruption"], abs=2 * INTERVAL)
    failed = sum(not port for _, _, port in run["attempts"])
    assert values(output)["failover.errors"] == failed
    assert {"fault", "outage"} <= {event.kind for event in output.events}


def test_logs_of_manager_and_proxy_tell_when_the_fault_was_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def at(after: float, layout: str) -> str:
        return datetime.fromtimestamp(BEGAN + after).strftime(layout)  # noqa: DTZ006  (logs have local time)

    manager, proxy, states = (tmp_path / name for name in ("manager.log", "haproxy.log", "states.csv"))
    ping = f"{at(1, '%a %b %d %H:%M:%S %Y')} - [warning] Got error on MySQL select ping: 2006\n"
    manager.write_text(f"{ping}{at(4, '%a %b %d %H:%M:%S %Y')} - [warning] Master is down!\n  more words\n")
    proxy.write_text(f"{at(2, '%b %d %H:%M:%S')} host haproxy[1]: Server writer/db1 is DOWN, reason: L4TOUT\n")
    states.write_text(f"t,node,answers,writable\n{BEGAN - 5},db2,1,0\n{BEGAN + 6},db2,1,1\n")
    attempts = a_csv(tmp_path, RECORDED["mha_kill9_source_run1"], zero=BEGAN)
    told = ["--fault", "kill_writer", "--fault-at", datetime.fromtimestamp(BEGAN).astimezone().isoformat()]
    logs = ["--manager", str(manager), "--proxy", str(proxy), "--states", str(states), "--node", "db1"]
    output = submitted(capsys, attempts, *told, *logs)
    assert values(output)["failover.detect"] == pytest.approx(4, abs=0.01)
    events = {event.kind: event.label for event in output.events}
    assert "detected by the manager: [warning] Master is down!; its first sign 1.00 s" in events["detect"]
    assert "is DOWN, reason: L4TOUT" in events["proxy"]


def test_an_alter_over_a_csv_of_transactions_has_the_stall_that_they_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RECORDED["ddl_toi_galera"]
    told = ("--statement", "ALTER TABLE t ADD COLUMN c INT, ALGORITHM=COPY", "--from", "0", "--to", "7.5")
    output = submitted(capsys, a_csv(tmp_path, run), *told, kind="schema-change")
    assert values(output)["ddl.gap"] == pytest.approx(run["interruption"], abs=2 * INTERVAL)
    (event,) = (event for event in output.events if event.kind == "ddl")
    assert event.detail["statement"].startswith("ALTER TABLE t ADD COLUMN c INT")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start,end\n1,2\n", "line 1 lacks the column ok"),
        ("start,end,ok\n", "it has no rows"),
        ("start,end,ok\nsoon,2,1\n", "line 2: 'soon' is no time: give s, or ISO 8601"),
        ("start,end,ok\n2,1,1\n", "line 2: the attempt ends before it starts"),
        ("start,end,ok\n1,2,maybe\n", "line 2: ok is 'maybe': give 1 or 0"),
        ("start,end,ok\n1,2,1\n2,3,1\n", "--fault-at 99 is not between the first and the last attempt"),
    ],
)
def test_what_is_wrong_with_a_file_is_named_by_its_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "attempts.csv"
    file.write_text(text)
    assert main(["report", "failover", str(file), "--fault", "kill_writer", "--fault-at", "99"]) == 1
    assert said in capsys.readouterr().err


def test_a_report_of_another_tool_is_refused_by_its_name() -> None:
    content = b'{"kind":"begin","tool":"failover"}\n{"kind":"end"}\n'
    with pytest.raises(NotThisFormat, match="the report of ddl_under_load, but of failover"):
        SUBMITTED["schema-change-report"].read(content)
    with pytest.raises(NotThisFormat, match="a report, whose first line is"):
        SUBMITTED["failover-report"].read(b"sysbench 1.0.20\n")
