"""Standstill: intervals in which nothing was done. Pure."""

import numpy as np

from apps.runs.quality.values import QualityFacts, RuleFinding, cannot_tell, failed, limit, passed, percent, plain

MOST_STANDING = 0.05  # of the measured phase
LONGEST = 2.0  # s
# Fewer operations an interval than this are zero now and then by chance: of 20, once in 500 million intervals.
MOST_BY_CHANCE = 20.0
LIMITS = f"nothing is done in at most {limit(MOST_STANDING)} of the measured phase, and in no {LONGEST:g} s in a row"


def check(facts: QualityFacts) -> RuleFinding:
    seconds, measured = facts.seconds, facts.measured
    if seconds is None or len(seconds.values) < 2:
        return cannot_tell("The tool printed totals only, no intervals.")
    length = float(np.median(np.diff(seconds.at)))
    start, end = measured or (-np.inf, np.inf)
    inside = (seconds.at - length / 2 >= start) & (seconds.at - length / 2 < end)
    values = seconds.values[inside]
    standing = values == 0
    if not standing.any():
        return passed(f"Something was done in each of the {len(values)} intervals.", share=0.0, longest=0.0)
    usual = float(np.median(values[~standing])) if not standing.all() else 0.0
    if 0 < usual * length < MOST_BY_CHANCE:
        return cannot_tell(f"{plain(usual, seconds.unit)} are so few that some intervals have none by chance.")
    share, longest = float(standing.mean()), longest_run(standing) * length
    text = f"{plain(standing.sum() * length, 's')} of {plain(len(values) * length, 's')} at zero ({percent(share)})"
    text += f", the longest {plain(longest, 's')}"
    detail = {"share": share, "longest": longest}
    if facts.faults or facts.unsteady:
        return passed(f"{text}; {facts.tool} measures that.", **detail)
    if share > MOST_STANDING or longest > LONGEST:
        return failed(f"The load stood still: {text}.", **detail)
    return passed(f"{text}.", **detail)


def longest_run(flags: "np.typing.NDArray[np.bool_]") -> int:
    """Length of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))
