"""The runs that `--baseline` names, and the comparison with them as the server judges it."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from splashboard.failures import Exit, Misuse, RequestRefused
from splashboard.server import Server, printable
from splashboard.wrap import machine

PAGE = 500  # runs
MOST_RUNS = 500  # of a baseline that are compared: their ids stand in an address
MOST_READ = 5_000  # newest runs of a name
INVALID = 400
TOLERANCE = 0.1
ROW: dict[str, Any] = {
    **{"id": int, "system": str, "outcome": str, "is_excluded": bool},
    "release": str,
    "workload": {"id": int, "name": str},
}
RUNS = {"results": [ROW], "next": Optional[str]}
DETAIL = {
    **{key: ROW[key] for key in ("id", "outcome", "is_excluded", "workload")},
    "system": {"slug": str},
    "state": str,
}
CELL = {
    "side": str,
    "level": int,
    "metric": str,
    "words": str,
    "replicates": [{"run": int}],
    "more": [{"runs": int, "unit": str}],
}
COMPARISON = {
    "levels": [{"id": int, "threads": int, "rate": Optional[float]}],
    "metrics": [{"key": str, "name": str, "unit": str, "direction": str, "primary": bool}],
    "cells": [CELL],
    "withheld": [str],
    "cautions": [{"head": str, "text": str}],
    "notes": [str],
}
WORSE, BETTER, EQUIVALENT, INCONCLUSIVE = "worse", "better", "equivalent", "inconclusive"
CUT = f"the baseline has more than {MOST_RUNS} runs of this workload: its newest {MOST_RUNS} are compared"
# Of throughput at a fixed rate.
HELD, NOT_HELD = "rate held", "rate not held"


@dataclass(frozen=True)
class BaselineRuns:
    """Runs by what named them, such as "tag before". `asked`: what the list of runs is asked for; empty: they were
    named one by one."""

    words: str
    rows: Sequence[Mapping[str, Any]]
    asked: Mapping[str, str] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(row["system"] for row in self.rows))

    def of_workload(self, server: Server, workload: int) -> list[int]:
        """Ids of those that count, the newest first. Raises RequestRefused, ServerUnreachable."""
        rows = self.rows
        if self.asked:
            asked = {**self.asked, "system": self.systems[0], "workload": str(workload)}
            rows = _counted(_rows(server, **asked))
        return [row["id"] for row in rows if row["workload"]["id"] == workload]


def find(server: Server, text: str, *, system: str, base: str, platform: str) -> BaselineRuns:
    """`text`: ids of runs, a tag, a variant, the key of a system, or a release of `platform`; the first that has runs.
    `system`: of the new runs; `base`: the same without its variant.

    Raises Misuse when nothing fits, or the baseline is no other system; RequestRefused, ServerUnreachable.
    """
    found = _named(server, text, base=base, platform=platform)
    counted = _counted(found.rows)
    if not counted:
        raise Misuse(
            f"--baseline: {text!r} names no run that counts: give ids of runs (12,13), a tag, a variant, the key of a "
            "system or a release"
        )
    found = replace(found, rows=counted)
    others = [each for each in found.systems if each != system]
    if not others:
        raise Misuse(
            f"--baseline: {found.words} is of system {system}, as these runs are, and a comparison has two: give what "
            "differs a name, --variant NAME"
        )
    if len(others) > 1:
        raise Misuse(f"--baseline: {found.words} is of several systems ({', '.join(others)}): name one of them")
    return replace(found, rows=[row for row in counted if row["system"] == others[0]])


def _counted(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["outcome"] == "succeeded" and not row["is_excluded"]]


def _named(server: Server, text: str, *, base: str, platform: str) -> BaselineRuns:
    if re.fullmatch(r"\d{1,18}(,\d{1,18})*", text):
        return BaselineRuns(f"run {text}", [run(server, int(each)) for each in text.split(",")])
    for words, asked in (
        (f"tag {text}", {"tag": text}),
        (f"variant {text}", {"system": machine.slug(base, text)}),
        (f"system {text}", {"system": text}),
    ):
        rows = _rows(server, **asked)
        if rows:
            return BaselineRuns(words, rows, asked)
    asked = {"q": text, "platform": platform}
    rows = _rows(server, **asked) if platform else []
    return BaselineRuns(f"release {text}", [row for row in rows if _is_release(row["release"], text)], asked)


def _is_release(version: str, text: str) -> bool:
    """Whether it is the version or its beginning, in whole parts."""
    return version == text or (version.startswith(text) and not version[len(text)].isalnum())


def _rows(server: Server, **asked: str) -> list[Mapping[str, Any]]:
    """The newest MOST_READ. Empty, too, where what is asked for cannot be the name of anything, or is not in the
    catalog."""
    parameters = [*asked.items(), ("outcome", "succeeded"), ("limit", str(PAGE))]
    found: list[Mapping[str, Any]] = []
    while parameters and len(found) < MOST_READ:
        try:
            page = server.read("runs/", parameters).json(RUNS)
        except RequestRefused as problem:
            if problem.status == INVALID and any(each.field in asked for each in problem.problems):
                return []
            raise
        found += page["results"]
        parameters = urllib.parse.parse_qsl(urllib.parse.urlsplit(page["next"] or "").query)
    return found


def run(server: Server, number: int) -> Mapping[str, Any]:
    """A run as in the list."""
    found = server.read(f"runs/{number}/").json(DETAIL)
    return {**found, "system": found["system"]["slug"]}


@dataclass(frozen=True)
class Compared:
    """`lines`: of each judged figure; `sentence`: the verdict."""

    sentence: str
    lines: Sequence[str]
    address: str
    exit: Exit
    notes: Sequence[str] = field(default_factory=tuple)


def compare(
    server: Server, baseline: BaselineRuns, *, system: str, workload: int, runs: Iterable[int], tolerance: float
) -> Compared:
    """Compares `runs` of `system` with those of the baseline under this workload.

    Raises RequestRefused, ServerUnreachable.
    """
    known = baseline.of_workload(server, workload)
    before = known[:MOST_RUNS]
    query = [("side", baseline.systems[0]), ("side", system), ("workload", str(workload))]
    query.append(("runs", ",".join(map(str, sorted({*before, *runs})))))
    address = f"{server.url}/compare/?{urllib.parse.urlencode(query, safe=',')}"
    if not before:
        sentence = f"cannot tell: {baseline.words} has no run of this workload"
        return Compared(sentence, [], address, Exit.CANNOT_TELL)
    found = server.read("comparisons/", query).json(COMPARISON)
    compared = judged(found, side=system, address=address, tolerance=tolerance)
    if len(known) > MOST_RUNS:
        compared = replace(compared, notes=[*compared.notes, CUT])
    return compared


def judged(found: Mapping[str, Any], *, side: str, address: str, tolerance: float) -> Compared:
    """The verdict on the primary metric and the latency, at each load level that `side` has runs at."""
    metrics = {
        metric["key"]: metric
        for metric in found["metrics"]
        if metric["primary"] or metric["key"] == "client.throughput" or ".latency." in metric["key"]
    }
    levels = {level["id"]: level for level in found["levels"]}
    cells = [
        cell
        for cell in found["cells"]
        if cell["side"] == side and cell["metric"] in metrics and cell["replicates"] and cell.get("ratio")
    ]
    lines = [_line(cell, metrics[cell["metric"]], levels[cell["level"]]) for cell in cells]
    notes = [f"{each['head']}: {each['text']}" for each in found["cautions"]] + list(found["notes"])
    worse = [line for line, cell in zip(lines, cells) if cell["words"] == WORSE]
    open_ = [
        line
        for line, cell in zip(lines, cells)
        if cell["words"] not in (WORSE, BETTER, EQUIVALENT, HELD)
        and not _is_tolerable(cell, metrics[cell["metric"]], tolerance)
    ]
    if worse:
        sentence, code = f"worse: {worse[0]}", Exit.REGRESSION
    elif found["withheld"]:
        sentence = (
            f"cannot tell: the sides differ in {', '.join(found['withheld'])}; accept it on the comparison's page"
        )
        code = Exit.CANNOT_TELL
    elif open_ or not cells:
        sentence, code = f"cannot tell: {open_[0] if open_ else 'no figure in common'}", Exit.CANNOT_TELL
    else:
        better = [line for line, cell in zip(lines, cells) if cell["words"] == BETTER]
        sentence, code = (f"better: {better[0]}" if better else "fine: nothing is worse"), Exit.FINE
    return Compared(printable(sentence), [printable(line) for line in lines], address, code, [*map(printable, notes)])


def _is_tolerable(cell: Mapping[str, Any], metric: Mapping[str, Any], tolerance: float) -> bool:
    """Whether an inconclusive figure is worse by at most the tolerance, by its interval."""
    ratio = cell["ratio"]
    low, high = ratio.get("low"), ratio.get("high")
    if cell["words"] != INCONCLUSIVE or low is None or high is None:
        return False
    worst = 1 - low if metric["direction"] == "higher" else high - 1
    return bool(worst <= tolerance)


def _line(cell: Mapping[str, Any], metric: Mapping[str, Any], level: Mapping[str, Any]) -> str:
    """For example "throughput at 4 threads 1.25 × (95 % interval 1.12 to 1.39), better", "throughput at 4 threads,
    200/s: rate held, 99 % of 200/s (baseline 100 %)"."""
    ratio = cell["ratio"]
    threads = f"{level['threads']} thread{'' if level['threads'] == 1 else 's'}"
    if level["rate"] is not None:
        threads += f", {level['rate']:g}/s"
    if cell["words"] in (HELD, NOT_HELD):
        return f"{metric['name']} at {threads}: {cell['words']}, {ratio.get('reason', '')}"
    value: float | None = ratio.get("value")
    size = "no ratio" if value is None else f"{value:.3f} ×"
    if ratio.get("low") is not None and ratio.get("high") is not None:
        size += f" (95 % interval {ratio['low']:.3f} to {ratio['high']:.3f})"
    needed = [f"{each['runs']} more {each['unit']}{'s' * (each['runs'] != 1)}" for each in cell["more"][:1]]
    return f"{metric['name']} at {threads} {size}, {'; '.join([cell['words'], *needed])}"
