"""Reproducibility: a run compared with its siblings. Pure."""

import numpy as np
from scipy import special

from apps.core.text import counted
from apps.runs.quality.values import (
    QualityFacts,
    RuleFinding,
    Siblings,
    cannot_tell,
    failed,
    limit,
    passed,
    percent,
    plain,
)

FEWEST, NEWEST = 3, 10
# One in a hundred runs under equal conditions lies outside.
CONFIDENCE = 0.99
# A smaller deviation never fails, however close the others are: an effect of this size takes ten repetitions to find.
LEAST = 0.05
LIMITS = (
    f"within the {limit(CONFIDENCE)} prediction interval of {FEWEST} to {NEWEST} other runs under the same conditions, "
    f"or within {limit(LEAST)} of their geometric mean"
)


def check(facts: QualityFacts) -> RuleFinding:
    return judge(facts.siblings)


def judge(found: Siblings | None) -> RuleFinding:
    """Student's prediction interval of one more run, on logarithms: m ± t(.995, n−1)·s·√(1+1/n)."""
    if found is None:
        return cannot_tell("The run has no comparable value, or is excluded.")
    others = found.others[found.others > 0]
    if len(others) < FEWEST or found.own <= 0:
        runs = counted(len(others), "other run")
        return cannot_tell(f"{runs} under the same conditions so far; {FEWEST} are needed.", runs=len(others))
    logs = np.log(others)
    middle, spread = float(logs.mean()), float(logs.std(ddof=1))
    reach = float(special.stdtrit(len(logs) - 1, 0.5 + CONFIDENCE / 2)) * spread * float(np.sqrt(1 + 1 / len(logs)))
    off = float(np.log(found.own)) - middle
    low, high = np.exp(middle - reach), np.exp(middle + reach)
    detail = {
        "value": found.own,
        "mean": float(np.exp(middle)),
        "low": float(low),
        "high": float(high),
        "runs": len(logs),
    }
    text = (
        f"{found.name} {plain(found.own, found.unit)}; {len(logs)} other runs under the same conditions have "
        f"{plain(float(np.exp(middle)))} and predict {plain(float(low))} to {plain(float(high))}"
    )
    share = float(np.expm1(off))
    if abs(off) > reach and abs(share) > LEAST:
        return failed(f"{percent(abs(share))} {'above' if off > 0 else 'below'} its siblings: {text}.", **detail)
    return passed(f"{text[:1].upper()}{text[1:]}.", **detail)
