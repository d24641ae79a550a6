"""A second, independent reading of what load tools print, so that the product's parsers are not their own witnesses."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

WARMUP = 1  # s, of every run here


@dataclass(frozen=True)
class Reading:
    """`values`: metric key -> as the tool printed it for the measured phase. `seconds`: throughput of each second of
    it, 1/s, and `lengths`: how long each was, s. `latencies`: ms of a histogram's step -> transactions; `transactions`
    are those that the tool counts."""

    values: dict[str, float]
    seconds: tuple[float, ...]
    lengths: tuple[float, ...]
    latencies: dict[float, int]
    transactions: int

    def has_whole_histogram(self, threads: int) -> bool:
        """sysbench parts a few transactions from their histogram at a checkpoint, on a busy machine more."""
        return abs(sum(self.latencies.values()) - self.transactions) <= max(threads, 0.0005 * self.transactions)


def read_sysbench(text: str) -> Reading:
    """Its last report: the part after the last checkpoint."""
    last = text[text.rindex("SQL statistics:") :]
    throughput, queries, errors, p95 = (
        float(re.findall(pattern, last)[-1])
        for pattern in (
            r"transactions:\s+\d+\s+\((\S+) per sec\.\)",
            r"queries:\s+\d+\s+\((\S+) per sec\.\)",
            r"ignored errors:\s+\d+\s+\((\S+) per sec\.\)",
            r"95th percentile:\s+(\S+)",
        )
    )
    printed = re.findall(r"^\[ (\d+)s \].* tps: (\S+) qps", text, re.MULTILINE)
    seconds = [float(rate) for at, rate in printed if int(at) > WARMUP]
    buckets = text[text.rindex("Latency histogram") :] if "Latency histogram" in text else ""
    latencies: Counter[float] = Counter()
    for value, count in re.findall(r"^\s*([\d.]+) \|[* ]*\s(\d+)$", buckets, re.MULTILINE):
        latencies[float(value)] += int(count)
    return Reading(
        {
            "client.throughput": throughput,
            "client.queries": queries,
            "client.errors": errors,
            "client.latency.p95": p95,
        },
        tuple(seconds),
        (1.0,) * len(seconds),
        dict(latencies),
        int(re.findall(r"total number of events:\s+(\d+)", last)[-1]),
    )


def total_of(report: str) -> dict[str, Any]:
    """The last one."""
    return next(line for line in reversed(_lines(report)) if line["kind"] == "total")


def _lines(report: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in report.splitlines() if line.startswith("{")]


def read_report(text: str) -> Reading:
    """Our own tools' JSON lines."""
    lines, total = _lines(text), total_of(text)
    length = total["to"] - total["from"]
    reported = total.get("values", {})
    values = {f"client.{name}" if name.startswith("latency.") else name: float(reported[name]) for name in reported}
    values["client.throughput"] = total["counts"]["transactions"] / length
    values["client.errors"] = total["counts"]["errors"] / length
    intervals = [line for line in lines if line["kind"] == "interval"]
    # One that a busy machine printed late belongs to the phase that holds its middle.
    usual = float(np.median(np.diff([line["t"] for line in intervals])))
    seconds = [line for line in intervals if line["t"] - usual / 2 >= total["from"]]
    histogram = next(line for line in lines if line["kind"] == "histogram" and line["metric"] == "client.latency")
    return Reading(
        values,
        tuple(line["counts"]["transactions"] / line["seconds"] for line in seconds),
        tuple(line["seconds"] for line in seconds),
        {float(value): int(count) for value, count in histogram["buckets"]},
        int(total["counts"]["transactions"]),
    )
