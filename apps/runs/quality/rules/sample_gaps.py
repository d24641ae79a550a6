"""Sampling gaps: parts of the measured phase without samples of a node. Pure."""

import numpy as np

from apps.runs.quality.values import (
    AGENT,
    QualityFacts,
    RuleFinding,
    cannot_tell,
    failed,
    limit,
    listed,
    passed,
    percent,
    plain,
)

# Rates span the gap, so totals stay right, but peaks within it are lost.
MOST_MISSING = 0.05
LONGEST = 5.0  # intervals between samples, at least as many seconds
LIMITS = f"at most {limit(MOST_MISSING)} of a node's samples missing, and no gap of over {LONGEST:g} intervals"


def check(facts: QualityFacts) -> RuleFinding:
    sampled = [node for node in facts.nodes if len(node.clock) > 1]
    if not sampled:
        return cannot_tell("No node was sampled: submitted without an agent.")
    if facts.measured is None:
        return cannot_tell("The measured phase is not known.")
    troubles, worst = [], 0.0
    for node in sampled:
        missing, longest, interval = gaps(node.clock, facts.measured)
        worst = max(worst, missing)
        if missing > MOST_MISSING or longest > LONGEST * max(interval, 1.0):
            troubles.append(f"{node.name} lacks {percent(missing)} of its samples, {plain(longest, 's')} in a row")
    blind = [node.name for node in facts.nodes if not len(node.clock) and node.role != AGENT]
    also = f" Not sampled at all: {listed(blind)}." if blind else ""
    if not troubles:
        text = f"{len(sampled)} node{'s' if len(sampled) > 1 else ''} sampled"
        return passed(f"{text}, at most {percent(worst)} of the samples missing.{also}", missing=worst)
    if facts.faults:
        return passed(f"A faulted node was not sampled: {listed(troubles)}.{also}", missing=worst)
    return failed(f"Samples are missing: {listed(troubles)}.{also}", missing=worst)


def gaps(
    clock: "np.ndarray[tuple[int], np.dtype[np.float64]]", measured: tuple[float, float]
) -> tuple[float, float, float]:
    """Share of missing samples in the measured phase; longest and median interval between samples, s.

    `clock`: times of at least two samples, s.
    """
    start, end = measured
    usual = float(np.median(np.diff(clock)))
    inside = clock[(clock >= start) & (clock < end)]
    edges = np.concatenate([[start], inside, [end]])
    between = np.diff(edges)
    # One sample is due per interval; a slightly late one is not missing.
    missed = np.floor(between / usual + 0.5) - 1
    missing = float(np.clip(missed, 0, None).sum())
    return missing / max(missing + len(inside), 1.0), float(between.max()), usual
