"""Agreement: whether what the tool reports fits together: totals, rates, latencies and intervals. Pure."""

from itertools import pairwise

import numpy as np

from apps.runs.quality.values import (
    QualityFacts,
    RuleFinding,
    ThroughputSeconds,
    cannot_tell,
    failed,
    limit,
    listed,
    passed,
    percent,
    plain,
)

# Tools print two decimals, and round the elapsed time.
TOTALS_DIFFER = 0.01
# The measured phase does not begin and end with an interval.
INTERVALS_DIFFER, AT_EDGES = 0.05, 2  # share; intervals
# Percentiles are bounds of a histogram's buckets, of at most this width.
BUCKETS_DIFFER = 0.08
GAP = 1.5  # intervals
MOST_NAMED = 3
ORDERED = ("client.latency.min", "client.latency.p50", "client.latency.p95", "client.latency.p99", "client.latency.max")
LIMITS = (
    f"no number is negative; throughput × time is within {limit(TOTALS_DIFFER)} of the transactions counted; the mean "
    f"of the intervals within {limit(INTERVALS_DIFFER)} and {AT_EDGES} intervals of the throughput; latencies are in "
    "order; no interval is missing"
)


def check(facts: QualityFacts) -> RuleFinding:
    heads = facts.headlines
    troubles = [f"{key} is {plain(value)}" for key, value in sorted(heads.items()) if value < 0 and _counts(key)]
    troubles += facts.contradictions[:MOST_NAMED]
    checked = len(facts.contradictions)
    done, elapsed, total = (heads.get(f"client.{name}") for name in ("throughput", "elapsed", "transactions"))
    if done is not None and elapsed and total is not None:
        checked += 1
        # One transaction, and the last digit that a tool prints.
        most = TOTALS_DIFFER * max(total, done * elapsed) + 1 + 0.005 * elapsed
        if abs(done * elapsed - total) > most:
            counted = f"{plain(done)} transactions/s × {plain(elapsed, 's')} = {plain(done * elapsed)}"
            troubles.append(f"{counted}, but {plain(total)} transactions were counted")
    ordered = [(key, heads[key]) for key in ORDERED if heads.get(key) is not None]
    checked += len(ordered) > 1
    troubles += [
        f"{_name(one)} of {plain(low)} ms is above {_name(other)} of {plain(high)} ms"
        for (one, low), (other, high) in pairwise(ordered)
        if low > high * (1 + BUCKETS_DIFFER)
    ]
    if facts.seconds is not None and len(facts.seconds.at) > 2 * AT_EDGES:
        checked += 1
        troubles += _of_intervals(facts, facts.seconds, done)
    if troubles:
        return failed(f"{listed(troubles)[:1].upper()}{listed(troubles)[1:]}.")
    if not checked:
        return cannot_tell("The tool reported too little to compare.")
    return passed("Totals, rates, latencies and intervals fit together.")


def _of_intervals(facts: QualityFacts, seconds: ThroughputSeconds, done: float | None) -> list[str]:
    steps = np.diff(seconds.at)
    length = float(np.median(steps))
    start, end = facts.measured or (-np.inf, np.inf)
    inside = (seconds.at[1:] > start) & (seconds.at[:-1] < end)
    gaps = np.flatnonzero((steps > GAP * length) & inside)
    found = []
    if len(gaps):
        missing = round(float((steps[gaps] / length - 1).sum()))
        first = float(seconds.at[gaps[0]])
        found.append(f"{missing} intervals of {plain(length, 's')} are missing, the first after {plain(first, 's')}")
    middles = seconds.at - length / 2
    values = seconds.values[(middles >= start) & (middles < end)]
    # Another quantity than transactions has no total to be compared with.
    if done is None or seconds.unit != "transactions/s" or len(values) <= 2 * AT_EDGES or len(gaps):
        return found
    mean = float(values.mean())
    most = INTERVALS_DIFFER * max(mean, done) + AT_EDGES * float(values.max()) / len(values)
    if abs(mean - done) > most:
        differ = percent(abs(mean / done - 1)) if done else "all of it"
        found.append(
            f"its intervals have a mean of {plain(mean, seconds.unit)}, its total says {plain(done)}: {differ}"
        )
    return found


def _counts(key: str) -> bool:
    """A rate, total or latency; others may be negative, as a difference of clocks is."""
    return key.startswith("client.") and not key.startswith("client.clock.")


def _name(key: str) -> str:
    name = key.rpartition(".")[2]
    return {"min": "the least latency", "max": "the greatest"}.get(name, name)
