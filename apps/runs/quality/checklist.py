"""The checks in display order. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apps.runs.quality.rules import (
    agreement,
    asked_rate,
    errors,
    generator,
    network,
    noisy_neighbours,
    reproducibility,
    sample_gaps,
    standstill,
    steady_state,
    tool_checks,
    work_done,
)
from apps.runs.quality.values import QualityFacts, RuleFinding

REPRODUCIBLE = "reproducible"


@dataclass(frozen=True)
class QualityCheck:
    """`title`: its name in lists of failures; `limits`: the condition to pass, in words."""

    key: str
    title: str
    question: str
    limits: str
    rule: Callable[[QualityFacts], RuleFinding]


CHECKS: Mapping[str, QualityCheck] = {
    check.key: check
    for check in (
        QualityCheck(
            "happened", "work done", "Did the servers do what the client claims?", work_done.LIMITS, work_done.check
        ),
        QualityCheck(
            "agreement",
            "agreement",
            "Does what the tool reports fit together?",
            agreement.LIMITS,
            agreement.check,
        ),
        QualityCheck("asked", "asked rate", "Was as much done as was asked for?", asked_rate.LIMITS, asked_rate.check),
        QualityCheck("standstill", "standstill", "Did the load stand still?", standstill.LIMITS, standstill.check),
        QualityCheck("errors", "errors", "How many operations failed, and how?", errors.LIMITS, errors.check),
        QualityCheck("steady", "steady state", "Was a steady state measured?", steady_state.LIMITS, steady_state.check),
        QualityCheck(
            "generator", "load generator", "Was the load generator the limit?", generator.LIMITS, generator.check
        ),
        QualityCheck("network", "network", "Was the network the limit?", network.LIMITS, network.check),
        QualityCheck(
            "neighbours",
            "noisy neighbours",
            "Did other work share the hosts?",
            noisy_neighbours.LIMITS,
            noisy_neighbours.check,
        ),
        QualityCheck(
            REPRODUCIBLE,
            "reproducibility",
            "Does it agree with other runs under the same conditions?",
            reproducibility.LIMITS,
            reproducibility.check,
        ),
        QualityCheck("sampling", "sampling gaps", "Were samples complete?", sample_gaps.LIMITS, sample_gaps.check),
        QualityCheck(
            "told", "the tool's own checks", "What did the tool itself verify?", tool_checks.LIMITS, tool_checks.check
        ),
    )
}


def title_of(key: str) -> str:
    """The check's title; the key of a check that no longer exists."""
    return CHECKS[key].title if key in CHECKS else key


def evaluate(facts: QualityFacts) -> dict[str, RuleFinding]:
    return {key: check.rule(facts) for key, check in CHECKS.items()}
