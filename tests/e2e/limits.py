"""What the USE method says of runs and of a side, computed anew from raw samples as docs/reference/use-method.md and
docs/reference/bottlenecks.md tell it: without the product's own code."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.e2e import numbers
from tests.support.browser import reveal
from tests.support.waiting import LIMIT, eventually

Floats = NDArray[np.float64]
Readings = Mapping[tuple[str, str], Mapping[str, Any]]
STATUS = "mysql.status."
POOL = STATUS + "Innodb_buffer_pool_pages_"
CPU = tuple(f"host.cpu.{name}" for name in ("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal"))
BUSY = 5  # of them, from the front
GAUGES = tuple(
    STATUS + name
    for name in (
        *("Threads_running", "Threads_connected", "Innodb_checkpoint_age", "Innodb_checkpoint_max_age"),
        "Innodb_row_lock_current_waits",
    )
)
ASKED = (
    *(*CPU, "host.cpus", "host.procs_running", *GAUGES, STATUS + "Innodb_row_lock_time"),
    *(POOL + name for name in ("total", "free", "dirty")),
)
# From when on each is watch, and saturated.
LIMITS: Mapping[str, tuple[float | None, float | None]] = {
    "cpu.busy": (70, 95),
    "cpu.run_queue": (1.5, 2),
    "cpu.steal": (2, 10),
    "connections.used": (80, 95),
    "row_locks.waiting": (10, 50),
    "row_locks.now": (10, 50),
    "redo_log.age": (90, 95),
    "buffer_pool.used": (None, None),
    "threads.running": (None, None),
}
# These count only while the CPUs are so busy.
WHILE_BUSY, BUSY_FROM = ("cpu.run_queue",), 70  # %
SHARE, HOLD, SLACK = 0.2, 3.0, 0.05
# A value may lie on a limit, and be a hair beside it in one of two computations.
HAIR = 1e-9


@dataclass(frozen=True)
class Samples:
    """`since`: starts of the intervals that values cover, which end at `at`; None: values of instants."""

    at: Floats
    values: Floats
    since: Floats | None = None

    @property
    def lengths(self) -> Floats:
        """How long each counts for a level, s: its interval, or since the one before; the first of instants, and one
        after a gap, as long as is usual."""
        between = np.diff(self.at) if self.since is None else self.at - self.since
        usual = np.sort(between)[len(between) // 2] if len(between) else 1.0
        counted = np.where(between > 3 * usual, usual, between)
        return np.concatenate(([usual], counted))[: len(self.at)] if self.since is None else counted

    @property
    def mean(self) -> float:
        seen = ~np.isnan(self.values)
        weights = self.lengths if self.since is None else self.at - self.since
        return float(np.average(self.values[seen], weights=weights[seen]))

    def rates(self) -> "Samples":
        """Of a counter, per second since it was observed last."""
        seen = ~np.isnan(self.values)
        found = np.full(len(self.at), np.nan)
        risen = np.diff(self.values[seen])
        found[np.flatnonzero(seen)[1:]] = np.where(risen < 0, np.nan, risen / np.diff(self.at[seen]))
        before = np.concatenate((self.at[:1], self.at[:-1]))
        before[np.flatnonzero(seen)[1:]] = self.at[seen][:-1]
        return Samples(self.at[1:], found[1:], before[1:])

    def within(self, phase: Sequence[float]) -> "Samples":
        """Intervals belong to the phase that has their middle."""
        when = self.at if self.since is None else (self.since + self.at) / 2
        kept = (when >= phase[0]) & (when <= phase[1])
        return Samples(self.at[kept], self.values[kept], None if self.since is None else self.since[kept])

    def held(self, at: Floats) -> Floats:
        """The value of the interval that has each time; NaN: none has."""
        assert self.since is not None
        inside = (self.since < at[:, None]) & (at[:, None] <= self.at)
        return np.array([self.values[row][0] if row.any() else np.nan for row in inside])

    def level(self, watch: float | None, saturated: float | None) -> tuple[str, list[tuple[float, float]]]:
        """The level, and when it was beyond its limit."""
        for word, limit in (("saturated", saturated), ("watch", watch)):
            if limit is None:
                continue
            over = ~np.isnan(self.values) & (np.nan_to_num(self.values) >= limit)
            stretches = list(self._stretches(over))
            held = [span for span in stretches if span[1] - span[0] >= HOLD - SLACK]
            observed = self.lengths[~np.isnan(self.values)].sum()
            if (held or over.sum() > 1) and self.lengths[over].sum() >= SHARE * observed:
                return word, stretches
            if held:
                return "watch", held
        return "ok", []

    def _stretches(self, over: NDArray[np.bool_]) -> Iterator[tuple[float, float]]:
        begun: float | None = None
        for place in np.flatnonzero(over):
            follows = place + 1 < len(over) and over[place + 1]
            begun = self.at[place] - self.lengths[place] if begun is None else begun
            if not follows:
                yield begun, self.at[place]
                begun = None


def _raw(url: str, run: int) -> dict[str, dict[str, Samples]]:
    """By node and metric."""
    asked: dict[str, Any] = {"metric": ASKED, "raw": "true", "format": "csv"}
    answer = httpx.get(f"{url}/api/v1/runs/{run}/series/", params=asked, timeout=LIMIT)
    assert answer.status_code == 200, answer.text
    found: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for row in csv.DictReader(io.StringIO(answer.text)):
        if row["seconds"]:
            value = float(row["value"]) if row["value"] else np.nan
            found[row["node"]][row["metric"]].append((float(row["seconds"]), value))
    return {
        node: {key: Samples(*np.array(pairs).T) for key, pairs in of_node.items()} for node, of_node in found.items()
    }


def _series(raw: Mapping[str, Samples], variables: Mapping[str, str], threads: int, phase: Sequence[float]) -> Any:
    """(indicator, its samples) on a node."""
    gauge = {key: raw[key].values for key in raw}
    status = raw[STATUS + "Threads_running"]
    rates = [raw[key].rates() for key in CPU]
    spent = np.sum([each.values for each in rates], axis=0)
    spent = np.where(spent > 0, spent, np.nan)
    at, since = rates[0].at, rates[0].since
    yield "cpu.busy", Samples(at, 100 * np.sum([each.values for each in rates[:BUSY]], axis=0) / spent, since)
    yield "cpu.steal", Samples(at, 100 * rates[-1].values / spent, since)
    waiting = np.maximum(gauge["host.procs_running"] - 1, 0) / np.nanmean(gauge["host.cpus"])
    yield "cpu.run_queue", Samples(raw["host.procs_running"].at, waiting)
    yield "threads.running", status
    connected = Samples(status.at, gauge[STATUS + "Threads_connected"])
    yield "connections.used", Samples(status.at, 100 * connected.values / float(variables["max_connections"]))
    pages = gauge[POOL + "total"]
    yield "buffer_pool.used", Samples(status.at, 100 * (pages - gauge[POOL + "free"]) / pages)
    age = 100 * gauge[STATUS + "Innodb_checkpoint_age"] / gauge[STATUS + "Innodb_checkpoint_max_age"]
    yield "redo_log.age", Samples(status.at, np.minimum(age, 100))
    seen = connected.within(phase).values
    seen = seen[~np.isnan(seen)]
    here = max(1.0, float(np.percentile(seen, 90)) - 1) if len(seen) else float(threads)
    clients = min(float(threads), here) if threads > 1 else here
    waited = raw[STATUS + "Innodb_row_lock_time"].rates()
    yield "row_locks.waiting", Samples(waited.at, waited.values / 1000 * 100 / clients, waited.since)
    yield "row_locks.now", Samples(status.at, 100 * gauge[STATUS + "Innodb_row_lock_current_waits"] / clients)


def check_panel(url: str, run: int) -> Readings:
    """What the API's panel says of a run, by indicator and node; those of LIMITS are held against its samples."""
    reported = httpx.get(f"{url}/api/v1/runs/{run}/", timeout=LIMIT).json()
    panel = httpx.get(f"{url}/api/v1/runs/{run}/use/", timeout=LIMIT).json()
    readings = {(one["indicator"], one["node"]): one for one in panel["readings"]}
    phase = (reported["measured_from"], reported["measured_to"])
    assert panel["measured"] == pytest.approx(phase, abs=1e-3)
    variables = {node["name"]: node["variables"] for node in reported["nodes"]}
    checked = set()
    for node, raw in _raw(url, run).items():
        if STATUS + "Threads_running" not in raw:
            continue
        found = dict(_series(raw, variables[node], reported["load_level"]["threads"], phase))
        assert found.keys() == LIMITS.keys()
        busy = found["cpu.busy"].within(phase)
        for indicator, whole in found.items():
            where = f"{indicator} of {node} in run {run}"
            _check_reading(readings[indicator, node], whole.within(phase), busy, where=where)
        checked.add(node)
    servers = {node["name"] for node in reported["nodes"] if node["variables"]}
    assert checked, f"run {run} has samples of no server"
    assert checked == servers, f"run {run}: {checked} were checked of {servers}"
    for one in panel["readings"]:
        if one["unit"] == "%" and one["aspect"] == "utilization" and one["value"] is not None:
            assert all(0 <= one[key] <= 100 for key in ("value", "peak") if one[key] is not None), one
    return readings


def _check_reading(reported: Mapping[str, Any], own: Samples, busy: Samples, *, where: str) -> None:
    if np.isnan(own.values).all():
        assert reported["level"] == "not_observable", where
        return
    assert reported["value"] == pytest.approx(own.mean, rel=1e-4, abs=1e-9), where
    assert reported["peak"] <= np.nanmax(own.values) * (1 + 1e-4), where
    watch, saturated = LIMITS[reported["indicator"]]
    beside = []
    for hair in (1 - HAIR, 1 + HAIR):
        counts = own
        if reported["indicator"] in WHILE_BUSY:
            counts = Samples(own.at, np.where(busy.held(own.at) >= BUSY_FROM * hair, own.values, 0.0))
        beside.append(counts.level(watch and watch * hair, saturated and saturated * hair))
    assert any(
        reported["level"] == level and np.ravel(reported["spans"]) == pytest.approx(np.ravel(spans), abs=2e-3)
        for level, spans in beside
        if len(reported["spans"]) == len(spans)
    ), f"{where}: {reported} is not {beside}"


def check_page(page: Page, url: str, run: int, readings: Readings) -> None:
    """The cells of a run's panel that show what was held against its samples."""
    page.goto(f"{url}/runs/{run}/use/")
    expect(page.locator(".use-table")).to_be_visible()
    checked = set()
    for cell in page.locator(".use-cell").all():
        link = cell.locator("a.use-cell__value[data-use]")
        if not link.count():
            continue
        indicator, _, node = (link.get_attribute("data-use") or "").partition("@")
        if indicator not in LIMITS:
            continue
        reported = readings[indicator, node]
        text = link.evaluate("e => e.firstChild.textContent").split()[0]
        assert numbers.shows(text, reported["value"]), f"{indicator} of run {run}: {text} is not {reported['value']}"
        assert f"use-cell--{reported['level']}" in (cell.get_attribute("class") or "")
        checked.add(indicator)
    # The only indicators of what they tell of their resource.
    alone = {"connections.used", "buffer_pool.used", "redo_log.age"}
    assert {key for (key, _), reported in readings.items() if key in alone and reported["value"] is not None} <= checked


def check_limits(page: Page, url: str, *, workload: int, runs: Mapping[str, Mapping[int, Sequence[Readings]]]) -> None:
    """What limits each side; `runs`: panels by side and threads. The page that is open is that comparison."""
    # Fetched when it comes into view.
    reveal(page, "#use")
    for reported in _judged(url, sorted(runs), workload)["sides"]:
        levels = runs[reported["side"]]
        found = reported["found"]
        onsets = {one["resource"]: one for one in found["onsets"]}
        wanted = dict(_onsets(levels))
        assert {key: one["threads"] for key, one in onsets.items()} == wanted, reported["side"]
        assert bool(found["first"]) == bool(wanted)
        for one in found["first"]:
            same = levels[one["threads"]]
            held = sum(_is_saturated(one["resource"], each) for each in same)
            assert one["share"] == {"saturated": held, "judged": len(same)}
            reading = one["reading"]
            place = (reading["indicator"], reading["node"])
            values = sorted(each[place]["value"] for each in same if each[place]["level"] == "saturated")
            assert reading["value"] == pytest.approx(values[(len(values) - 1) // 2], rel=1e-4)
        line = page.locator(f"[data-limits='{reported['side']}']")
        expect(line.locator("strong")).to_have_text(reported["headline"])
        for evidence in reported["evidence"]:
            expect(line).to_contain_text(evidence)


def _onsets(levels: Mapping[int, Sequence[Readings]]) -> Iterator[tuple[str, int]]:
    """Resources, and the threads from which on most repetitions show them saturated."""
    resources = {one["resource"] for runs in levels.values() for readings in runs for one in readings.values()}
    for resource in resources:
        most = [
            2 * sum(_is_saturated(resource, readings) for readings in levels[threads]) > len(levels[threads])
            for threads in sorted(levels)
        ]
        for place, threads in enumerate(sorted(levels)):
            above = most[place + 1 :]
            if most[place] and (not above or (above[0] and 2 * sum(above) >= len(above))):
                yield resource, threads
                break


def _is_saturated(resource: str, readings: Readings) -> bool:
    return any(one["resource"] == resource and one["level"] == "saturated" for one in readings.values())


def wait_until_judged(url: str, sides: Sequence[str], workload: int) -> None:
    """Runs are judged after they are sealed; one is compared with the others when its panel is read."""
    eventually(lambda: not _judged(url, sides, workload)["pending"], what="all runs are judged")


def _judged(url: str, sides: Sequence[str], workload: int) -> dict[str, Any]:
    asked: dict[str, Any] = {"side": list(sides), "workload": workload, "include": "use"}
    answer = httpx.get(f"{url}/api/v1/comparisons/", params=asked, timeout=LIMIT)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["use"]
    return found
