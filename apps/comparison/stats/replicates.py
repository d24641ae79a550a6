"""What repeats: sessions, blocks of interleaved runs, or runs; and one value of each. Pure.

Runs lie within sessions (one start of a server, one host, one day), and sessions differ more than the runs of one do.
A mean over runs of one session does not average that out, so the replicate is the session's mean (Kalibera and Jones,
ISMM 2013): its variance is σ²(between) + σ²(within) / runs, estimated from such means, never divided by runs.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from apps.comparison.stats.power import FEWEST_RUNS

FEWEST_SESSIONS = 2
# Matched pairs: with fewer, the degrees of freedom that pairing costs weigh more than what it removes.
FEWEST_PAIRS = 4
# Minimum of earlier runs, or sessions, used.
FEWEST_HISTORY = 3
# Earlier runs used, of as many sessions as they have.
MOST_EARLIER_RUNS = 30


class Replicates(StrEnum):
    """What the interval of a ratio takes as one independent repetition."""

    RUNS = "runs"
    SESSIONS = "sessions"
    PAIRED_SESSIONS = "sessions with both sides"
    ONE_SESSION = "runs of one session"
    BLOCKS = "blocks of one session"


PAIRED = (Replicates.PAIRED_SESSIONS, Replicates.BLOCKS)
# How sessions differ is not known: a verdict holds for these sessions alone.
WITHIN_ONE = (Replicates.ONE_SESSION, Replicates.BLOCKS)


@dataclass(frozen=True)
class Sample:
    """One side: a value per run, and the values of earlier runs of the same configuration, the newest first.

    `resolution`: relative step between neighbouring values read from a grid, such as percentiles of a histogram; 0: no
    grid. `sessions`: number of each run's session, equal on both sides if the session measured both; empty: each run
    counts as a replicate. `blocks`: of a plan that interleaved the sides, equal on both for runs made side by side;
    empty: it did not. `is_coarse`: its values are so few steps of a clock that the true ones may be next to nothing.
    """

    values: tuple[float, ...]
    history: tuple[float, ...] = ()
    resolution: float = 0.0
    sessions: tuple[int, ...] = ()
    history_sessions: tuple[int, ...] = ()
    blocks: tuple[str, ...] = ()
    is_coarse: bool = False


@dataclass(frozen=True)
class Replicated:
    """Both sides with one value per replicate; those of paired kinds match in order. `runs` of each."""

    kind: Replicates
    baseline: Sample
    side: Sample
    runs: tuple[int, int]


def replicates(baseline: Sample, side: Sample) -> Replicated:
    """Values must be positive.

    Sessions are the replicates if how they differ is known of either side: by two of them (and enough runs), or by
    earlier ones. Else runs are, or the blocks of a plan that interleaved them."""
    both = baseline, side
    runs = len(baseline.values), len(side.values)
    if not all(sample.sessions for sample in both):
        return Replicated(Replicates.RUNS, baseline, side, runs)
    if any(_knows_sessions(sample) for sample in both):
        one, other = (_by_session(sample) for sample in both)
        matched = sorted(set(baseline.sessions))
        is_paired = matched == sorted(set(side.sessions)) and len(matched) >= FEWEST_PAIRS
        return Replicated(Replicates.PAIRED_SESSIONS if is_paired else Replicates.SESSIONS, one, other, runs)
    blocks = [sorted(set(sample.blocks)) for sample in both]
    is_blocked = blocks[0] == blocks[1] and len(blocks[0]) >= FEWEST_PAIRS
    if is_blocked and all(len(sample.values) == len(blocks[0]) for sample in both):
        return Replicated(Replicates.BLOCKS, _in_order(baseline), _in_order(side), runs)
    return Replicated(Replicates.ONE_SESSION, baseline, side, runs)


def session_means(values: Sequence[float], sessions: Sequence[int]) -> tuple[float, ...]:
    """Geometric means, in order of the sessions' numbers."""
    members: dict[int, list[float]] = defaultdict(list)
    for value, session in zip(values, sessions, strict=True):
        members[session].append(value)
    return tuple(geometric_mean(members[session]) for session in sorted(members))


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values. Clipped to their range against rounding."""
    if min(values) == max(values):
        return float(values[0])
    return min(max(float(np.exp(np.log(np.asarray(values, dtype=np.float64)).mean())), min(values)), max(values))


def _knows_sessions(sample: Sample) -> bool:
    own = set(sample.sessions)
    if len(own) >= FEWEST_SESSIONS and len(sample.values) >= FEWEST_RUNS:
        return True
    return len(set(sample.history_sessions) - own) >= FEWEST_HISTORY


def _by_session(sample: Sample) -> Sample:
    """Earlier runs of the same session say nothing about how sessions differ."""
    earlier = [
        (value, session)
        for value, session in zip(sample.history, sample.history_sessions, strict=True)
        if session not in sample.sessions and value > 0
    ]
    past = session_means([value for value, _ in earlier], [-session for _, session in earlier]) if earlier else ()
    return Sample(session_means(sample.values, sample.sessions), past, sample.resolution, is_coarse=sample.is_coarse)


def _in_order(sample: Sample) -> Sample:
    ordered = sorted(zip(sample.blocks, sample.values, strict=True))
    return Sample(tuple(value for _, value in ordered), (), sample.resolution, is_coarse=sample.is_coarse)
