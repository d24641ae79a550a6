"""When a job stops ramping up its load levels: the system is saturated or refuses connections. Pure.

Saturation is judged by throughput alone, level by level, against the best level before:

- two consecutive levels that gain less than the required share. Levels roughly double, and an unsaturated system
  then gains tens of percents; one flat level may be a checkpoint or a neighbour's burst, two in a row seldom are;
- or one level that falls by more than that share. A smaller fall cannot be distinguished from no change and counts
  as a level without gain; a larger one means that the knee is passed, where more threads only wait for each other.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from uuid import UUID

from workers.agent.runtime.stop import Stopped
from workers.protocol import wire

# Too many connections; more than max_user_connections; more than an account's own limit; no server greeting.
REFUSALS = re.compile(
    r"(?:\berror:? |\()(?:1040|1203|1226|2013(?=[^;]*initial communication packet))\b[^;]*|too many connections",
    re.IGNORECASE,
)
REFUSED = "client.connections.refused"
SYSBENCH_TOTAL = re.compile(rb"^\s*transactions:\s+\d+\s+\(([\d.]+) per sec\.\)", re.MULTILINE)
REPORT_TOTAL = re.compile(rb'^\{"kind":\s*"total".*\}\s*$', re.MULTILINE)


def is_saturated(throughputs: Sequence[float], *, least_gain: float) -> bool:
    """After the last of `throughputs` (1/s, in level order); `least_gain` as a share, 0.05 for 5 %."""
    return has_fallen(throughputs, least_gain=least_gain) or is_flat(throughputs, least_gain=least_gain)


def has_fallen(throughputs: Sequence[float], *, least_gain: float) -> bool:
    return len(throughputs) > 1 and throughputs[-1] < (1 - least_gain) * max(throughputs[:-1])


def is_flat(throughputs: Sequence[float], *, least_gain: float) -> bool:
    best = list(accumulate(throughputs, max))
    gained = [now > (1 + least_gain) * before for before, now in zip(best, throughputs[1:], strict=False)]
    return len(gained) > 1 and not any(gained[-2:])


def saturation(threads: Sequence[int], throughputs: Sequence[float], *, least_gain: float) -> str:
    """The reason text for a saturated ramp."""
    fell = has_fallen(throughputs, least_gain=least_gain)
    before = throughputs[:-1] if fell else throughputs[:-2]
    best = max(range(len(before)), key=before.__getitem__)
    summary = f"saturated at {threads[best]} threads ({throughputs[best]:.4g}/s)"
    if fell:
        return f"{summary}; {threads[-1]} threads fell to {throughputs[-1]:.4g}/s"
    return f"{summary}; {threads[-2]} and {threads[-1]} threads gained less than {100 * least_gain:.3g} %"


def refusal(reason: str) -> str:
    """The part of a failed run's `reason` that reports refused connections; empty if none."""
    found = REFUSALS.search(reason)
    return found[0].strip() if found else ""


@dataclass(frozen=True)
class LevelOutcome:
    """Throughput of the measured phase, transactions/s (None: not reported), and refused connections."""

    throughput: float | None
    refused: int = 0


def read_outcome(output: bytes) -> LevelOutcome:
    """Parses the end of a tool's output."""
    lines = REPORT_TOTAL.findall(output)
    if lines:
        return _of_report(lines[-1])
    totals = SYSBENCH_TOTAL.findall(output)
    return LevelOutcome(float(totals[-1]) if totals else None)


def _of_report(line: bytes) -> LevelOutcome:
    try:
        total = json.loads(line)
        counts, values = total.get("counts", {}), total.get("values", {})
        refused = int(values.get(REFUSED, counts.get(REFUSED, 0)))
        seconds = float(total["to"]) - float(total["from"])
        transactions = counts.get("transactions")
        return LevelOutcome(None if transactions is None or seconds <= 0 else transactions / seconds, refused)
    except (ValueError, KeyError, TypeError, AttributeError):
        return LevelOutcome(None)


class Ramp:
    """A job's progress through its load levels; `skipped` is empty as long as it continues."""

    def __init__(self, job: wire.JobMessage) -> None:
        self.skipped: list[wire.SkippedRun] = []
        self._runs = job.runs
        self._ending = job.ladder
        self._threads: list[int] = []
        self._throughputs: list[float] = []

    def measured(self, planned: wire.PlannedRun, outcome: LevelOutcome) -> None:
        """Records a successful run, possibly with refused connections. Saturation needs its throughput."""
        threads = planned.load_level.threads
        if self._ending and outcome.refused:
            self._skip_after(planned, f"not run: {outcome.refused} connections were refused at {threads} threads")
            return
        least_gain = self._ending.least_gain if self._ending else None
        if least_gain is None or outcome.throughput is None:
            return
        self._threads.append(threads)
        self._throughputs.append(outcome.throughput)
        if is_saturated(self._throughputs, least_gain=least_gain):
            words = saturation(self._threads, self._throughputs, least_gain=least_gain)
            self._skip_after(planned, f"not run: {words}")

    def stopped(self, planned: wire.PlannedRun, stopped: Stopped) -> None:
        """Records a failed run. Refused connections are a result, and no higher level can do better.

        Re-raises `stopped` for any other reason.
        """
        words = refusal(stopped.stop.reason) if stopped.stop.run == "failed" else ""
        if self._ending is None or not words:
            raise stopped
        self.skipped.append(wire.SkippedRun(uid=UUID(planned.uid), reason=f"connections refused: {words}"))
        self._skip_after(planned, f"not run: connections were refused at {planned.load_level.threads} threads")

    def _skip_after(self, planned: wire.PlannedRun, reason: str) -> None:
        above = self._runs[self._runs.index(planned) + 1 :]
        self.skipped += [wire.SkippedRun(uid=UUID(run.uid), reason=reason) for run in above]
