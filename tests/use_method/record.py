"""Makes the fixtures of recorded.py: `python -m tests.use_method.record RECORDINGS` with the folder of the recordings.

Of each recording the counters that rules could ask for, as the agent's own parsers read them, and what was done when.
"""

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from apps.catalog.metrics import derived_metrics
from apps.catalog.metrics.standard import CURATED
from tests.use_method.recorded import FOLDER, MISSING
from workers.agent.samplers import host, mysql, process, replication
from workers.protocol.wire import Number

# Beginning of the names of its files; where the variables of its nodes are.
SINGLE, GALERA, MHA = "single_120s/single", "galera_120s/galera_{}", "failover_mha/{}"
RECORDINGS = {
    "single_120s": ("single_120s/single", SINGLE),
    "galera_120s": ("galera_120s/galera", GALERA),
    **{f"ddl.{name}": (f"ddl/{name}", SINGLE) for name in ("copy", "inplace_rebuild", "instant")},
    **{
        name: (f"chaos/{name}", GALERA)
        for name in (
            *("sigstop_writer_12s", "sigstop_nonwriter_600ms_x3", "ftwrl_writer_6s", "ftwrl_nonwriter_6s"),
            "ddl_toi_galera",
        )
    },
    **{
        name: (f"failover_galera/{name}", GALERA)
        for name in (
            *("kill9_writer_node1_default", "kill9_nonwriter_node2_default", "kill9_writer_mixed_evs_quorum_loss"),
            *("kill9_writer_suspect1s_run1", "sigterm_writer_suspect1s_run1"),
        )
    },
    **{
        name: (f"failover_mha/{name}", MHA)
        for name in ("mha_kill9_source_run1", "mha_kill9_source_unreplicated_run3", "mha_online_switch_r1_to_r2")
    },
}
EVENTS = {"galera_120s": "galera_120s/events.ndjson"}
PLATFORMS = {SINGLE: "mariadb", GALERA: "mariadb-galera", MHA: "mha"}
STATUS = re.compile(
    r"mysql\.status\.(Innodb_|wsrep_|Threads_|Connection|Aborted_|Max_used_|Table_|Open|Opened_|Created_tmp|Sort_|Binlog_"
    r"|Com_(alter|begin|commit|rollback|select|insert|update|delete|lock|unlock|flush|create_index)|Handler_|Bytes_|Slow_"
    r"|Questions|Queries|Uptime$|Slave|Rpl_|Memory_used|Access_denied)"
)
OTHERS = re.compile(
    r"host\.(cpu|cpus|disk|net|pressure|procs|load|context|memory\.(Mem|Swap|Dirty|Commit)|vmstat\.(psw|pgmajfault|oom))|process\."
)
VARIABLES = re.compile(
    r"innodb_|max_connections|thread_|table_|open_files_limit|tmp_|max_heap|wsrep_|gtid_|read_only|relay_log_space|back_log"
    r"|version$|lock_wait_timeout|slave_|max_connect"
)
PRIVATE = re.compile(r"dir|address|hostname|_auth|log_file|socket|node_name|notify|sst_")
FAULTS = re.compile(r"kill|SIGSTOP|SIGCONT|FTWRL|quota|STOP SLAVE|restart")
CHANGES = re.compile(r"(?:DDL|ALTER) (start|end)(?:: (.*))?")
PHASES = re.compile(r"phase\d+ (start|end)(?:: (.*))?")
NODE = re.compile(r"\b(?:node(\d)|([rog]\d))\b")


def main(folder: Path) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (prefix, variables) in RECORDINGS.items():
        record(folder, name, prefix, variables)


def record(folder: Path, name: str, prefix: str, variables: str) -> None:
    status = lines(folder / f"{prefix}.status.ndjson.zst")
    zero = min(row["t"] for row in status)
    for row in status:
        # What a frozen server says is of when it wakes, not of when it was asked.
        row["t"] += row["took_ms"] / 1000 if row["took_ms"] > 500 else 0
    machine = {round(row["t"] - zero): row for row in lines(folder / f"{prefix}.proc.ndjson.zst")}
    replicas = {(row["node"], round(row["t"] - zero)): row for row in lines(folder / f"{prefix}.slave.ndjson.zst")}
    names = sorted({row["node"] for row in status})
    last = round(max(row["t"] for row in status) - zero)
    arrays: dict[str, Any] = {}
    header: dict[str, Any] = {
        "platform": PLATFORMS[variables],
        "nodes": {},
        "events": events(folder / EVENTS.get(name, f"{prefix}.events.ndjson"), zero),
        "tool_start": tool_start(folder / f"{prefix}.sysbench.txt.meta", zero),
    }
    if name == "single_120s":
        header["events"] = phases_of_tools(folder / "single_120s", zero)
    for node in names:
        own = {round(row["t"] - zero): row for row in status if row["node"] == node}
        rows, states = [], {}
        for second in range(last + 1):
            seen_then = own.get(second)
            values, state = at_second(seen_then, machine.get(second), replicas.get((node, second)), node)
            rows.append(((seen_then or {}).get("t", zero + second) - zero, values))
            states[second] = state
        whole, decimal, constants = columns([values for _, values in rows])
        arrays |= {
            f"{node}.clock": np.round([t for t, _ in rows], 3),
            f"{node}.whole": np.diff(np.array(list(whole.values()), np.int64), axis=1, prepend=0),
            f"{node}.decimal": np.array(list(decimal.values()), np.float64),
        }
        header["nodes"][node] = {
            "role": "writer" if node == writer(header["events"], names) else "reader",
            "whole": list(whole),
            "decimal": list(decimal),
            "constants": constants,
            "variables": server_variables(folder / f"{variables.format(node)}.variables.tsv"),
        }
        header["events"] += changes(node, states)
    header["events"].sort(key=lambda event: event["starts_at"])
    arrays["told"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


def at_second(
    row: Mapping[str, Any] | None, machine: Mapping[str, Any] | None, replica: Mapping[str, Any] | None, node: str
) -> tuple[dict[str, Number], dict[str, str]]:
    values: dict[str, Number] = {}
    states: dict[str, str] = {}
    if machine:
        values |= host.parse(machine["files"], ticks=100)
        if files := machine["pids"].get(node):
            values |= process.parse(files["stat"], files.get("io") or "", ticks=100, page_size=4096)
    if row and "status" in row:
        values |= mysql.numbers(row["status"].items())
        states |= {name: row["status"][name] for name in mysql.STATES if name in row["status"]}
    if row is None or "error" in row:
        states["answers"] = "no"
    elif row:
        states["answers"] = "yes"
    if replica and "ro" in replica:
        values[f"{replication.PREFIX}read_only"] = replica["ro"]
        if replica.get("binlog_pos"):
            values[f"{replication.PREFIX}gtid_position"] = replication.transactions(replica["binlog_pos"])
        if replica["slave"]:
            values |= replication.numbers(replica["slave"])
            states |= replication.states_of(replica["slave"])
    kept = {key: value for key, value in values.items() if is_kept(key)}
    return kept, states


def is_kept(key: str) -> bool:
    inputs = {pattern for spec in derived_metrics.ALL for pattern in spec.formula.inputs}
    return key in CURATED or key in inputs or bool(STATUS.match(key) or OTHERS.match(key)) or "replication" in key


def columns(
    rows: list[dict[str, Number]],
) -> tuple[dict[str, list[int]], dict[str, list[float]], dict[str, Number]]:
    whole: dict[str, list[int]] = {}
    decimal: dict[str, list[float]] = {}
    constants: dict[str, Number] = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(key) for row in rows]
        if len(set(values)) == 1:
            constants[key] = values[0]
        elif any(isinstance(value, float) for value in values):
            decimal[key] = [np.nan if value is None else float(value) for value in values]
        else:
            whole[key] = [MISSING if value is None else int(value) for value in values]
    return whole, decimal, constants


def changes(node: str, states: Mapping[int, Mapping[str, str]]) -> Iterable[dict[str, Any]]:
    """As the agent tells of what a node says of itself."""
    known: dict[str, str] = {}
    for second, state in states.items():
        for what, now in state.items():
            before, known[what] = known.get(what), now
            if before not in (None, now):
                detail = {"what": what, "from": before, "to": now}
                label = f"{what}: {before} → {now}"
                yield {"kind": "node_state", "label": label, "starts_at": second, "node": node, "detail": detail}


def events(file: Path, zero: float) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if not file.exists():
        return found
    for entry in map(json.loads, file.read_text().splitlines()):
        label, at = entry["event"], round(entry["t"] - zero, 3)
        span = CHANGES.fullmatch(label) or PHASES.fullmatch(label)
        if span and span[1] == "end":
            open_one = next(one for one in reversed(found) if one["kind"] != "fault" and "ends_at" not in one)
            open_one["ends_at"] = at
        elif span:
            kind = "ddl" if CHANGES.fullmatch(label) else "phase"
            found.append({"kind": kind, "label": span[2], "starts_at": at, "node": ""})
        else:
            kind = "fault" if FAULTS.search(label) else "note"
            found.append({"kind": kind, "label": label, "starts_at": at, "node": node_of(label)})
    return found


def writer(found: list[dict[str, Any]], names: list[str]) -> str:
    """As what was done to it says."""
    writers = (event["node"] for event in found if re.search(r"writer\)|writer node|source [ro]", event["label"]))
    return next(writers, names[0])


def node_of(label: str) -> str:
    found = NODE.search(label)
    return "" if found is None else f"g{found[1]}" if found[1] else str(found[2])


def tool_start(meta: Path, zero: float) -> float | None:
    if not meta.exists():
        return None
    return round(float(re.findall(r"^start=(.*)", meta.read_text(), re.MULTILINE)[0]) - zero, 3)


def phases_of_tools(folder: Path, zero: float) -> list[dict[str, Any]]:
    found = []
    for file in sorted(folder.glob("phase*.meta")):
        span = dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)
        start, end = (round(float(span[name]) - zero, 3) for name in ("start", "end"))
        found.append(
            {"kind": "phase", "label": file.name.partition(".")[0], "starts_at": start, "ends_at": end, "node": ""}
        )
    return found


def server_variables(file: Path) -> dict[str, str]:
    rows = (line.split("\t", 1) for line in file.read_text().splitlines() if "\t" in line)
    return {name: value for name, value in rows if VARIABLES.match(name) and not PRIVATE.search(name)}


def lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    found = subprocess.run(["zstd", "-dc", str(file)], capture_output=True, check=True)
    return [json.loads(line) for line in io.BytesIO(found.stdout)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
