"""Command lines of YCSB, go-ycsb and go-tpc."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from splashboard.wrap.tool_command import PLAIN, ToolCommand, Value, spaced, value_of, whole

# Size of go-tpc's data, and its default.
SIZES = {"tpcc": ("warehouses", "10"), "ch": ("warehouses", "10"), "tpch": ("sf", "1")}
# Properties of YCSB that distinguish the work.
YCSB_WORK = re.compile(
    r"(?:record|field|insert)count|insertstart|fieldlength|fieldlengthdistribution|(?:read|update|insert|scan"
    r"|readmodifywrite)proportion|requestdistribution|readallfields|writeallfields|insertorder|maxscanlength"
)
THREADS = re.compile(r"^[ \t]*threadcount[ \t]*[=:][ \t]*(\d{1,9})[ \t]*$", re.MULTILINE)
URL = re.compile(r"jdbc:\w+:(?:\w+:)?//([^:/?,]+)[^/]*/?(\w*)")


def _go_tpc(words: Sequence[str]) -> ToolCommand | None:
    benchmark = next((word for word in words if word in SIZES), "")
    if not benchmark or "run" not in words:
        return None
    size, usual = SIZES[benchmark]
    found: dict[str, Value] = {"benchmark": benchmark, size: value_of(spaced(words, f"--{size}") or usual)}
    for option in ("parts", "partition-type", "weight", "isolation"):
        value = spaced(words, f"--{option}")
        if PLAIN.fullmatch(value):
            found[option.replace("-", "_")] = value_of(value)
    if "--wait" in words or "--wait=true" in words:
        found["wait"] = True
    is_plain = spaced(words, "--output") in ("", "plain")
    return ToolCommand(
        "go-tpc",
        "go-tpc",
        found,
        whole(spaced(words, "-T", "--threads") or "1"),
        host=spaced(words, "-H", "--host") or "127.0.0.1",
        schema=spaced(words, "-D", "--db") or "test",
        problem="" if is_plain else "go-tpc's table and JSON are not read: leave --output out",
    )


def _ycsb(words: Sequence[str], *, tool: str = "ycsb") -> ToolCommand | None:
    phase = "load" if words[:1] == ["load"] or "-load" in words else "run"
    if tool == "go-ycsb" and words[:1] not in (["load"], ["run"]):
        return None
    stated = (after for word, after in zip(words, words[1:]) if word in ("-p", "--prop"))
    properties = dict(each.split("=", 1) for each in stated if "=" in each)
    work = {name: value for name, value in sorted(properties.items()) if YCSB_WORK.fullmatch(name)}
    found: dict[str, Value] = {name: value_of(value) for name, value in work.items() if PLAIN.fullmatch(value)}
    file = spaced(words, "-P").rpartition("/")[2]
    if PLAIN.fullmatch(file):
        found["workload"] = file
    url = URL.match(properties.get("db.url", ""))
    threads = _option(words, "threads") or properties.get("threadcount") or _threads_by_file(words)
    return ToolCommand(
        tool,
        tool,
        {**found, "phase": phase},
        whole(threads),
        host=url[1] if url else properties.get("mysql.host", ""),
        schema=url[2] if url else properties.get("mysql.db", ""),
    )


def _threads_by_file(words: Sequence[str]) -> str:
    """By the last file of properties that states them, else 1; empty: one of the files cannot be read from here."""
    threads = "1"
    for name in (after for word, after in zip(words, words[1:]) if word in ("-P", "--property_file")):
        try:
            text = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        for found in THREADS.finditer(text):
            threads = found[1]
    return threads


def _option(words: Sequence[str], name: str) -> str:
    return spaced(words, f"-{name}", f"--{name}")


def _go_ycsb(words: Sequence[str]) -> ToolCommand | None:
    return _ycsb(words, tool="go-ycsb")


READERS: Mapping[str, Callable[[Sequence[str]], ToolCommand | None]] = {
    "go-tpc": _go_tpc,
    "tiup-bench": _go_tpc,
    "ycsb": _ycsb,
    "ycsb.sh": _ycsb,
    "site.ycsb.Client": _ycsb,
    "go-ycsb": _go_ycsb,
}
