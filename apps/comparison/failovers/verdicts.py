"""Verdicts on systems under the same fault: each against the one with the shortest write downtime.

Ratios as in apps.comparison.stats.welch, of the trials that count, corrected together: the faults are read together.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from apps.comparison.failovers.trials import Course
from apps.comparison.failovers.values import FILLERS, FaultVerdict, TrialGroup
from apps.comparison.stats import multiple_testing, welch
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.welch import Direction, DraftRatio, Ratio

NOT_INTERRUPTED = "not interrupted"
NOT_RECOVERED = "not every trial recovered"


def verdicts(groups: Iterable[TrialGroup]) -> tuple[FaultVerdict, ...]:
    """In the order of `groups`. Examples and synthetic trials are compared among themselves."""
    alike: dict[tuple[Any, ...], list[TrialGroup]] = defaultdict(list)
    for group in groups:
        if group.interruption.trials:
            alike[group.origins[0] in FILLERS, group.fault, group.load, group.hardware].append(group)
    pairs = [pair for own in alike.values() for pair in _against_shortest(own)]
    drafts = [_draft(shortest, group) for shortest, group in pairs]
    ratios = iter(multiple_testing.correct_for_many([draft for draft in drafts if draft]))
    return tuple(
        _verdict(shortest, group, next(ratios) if draft else None)
        for (shortest, group), draft in zip(pairs, drafts, strict=True)
    )


def was_interrupted(group: TrialGroup) -> bool:
    return any(course.interrupted for course in _counted(group))


def _against_shortest(own: Sequence[TrialGroup]) -> list[tuple[TrialGroup, TrialGroup]]:
    """`own`: under one fault and load."""
    ranked = sorted(own, key=lambda group: (group.interruption.not_recovered > 0, group.interruption.median or 0.0))
    return [(ranked[0], other) for other in ranked[1:]]


def _counted(group: TrialGroup) -> list[Course]:
    return [trial.course for trial in group.trials if not trial.doubt]


def _draft(shortest: TrialGroup, group: TrialGroup) -> DraftRatio | None:
    """None: there is nothing to compare, or no length of an outage that did not end."""
    if shortest.interruption.not_recovered or group.interruption.not_recovered:
        return None
    if not was_interrupted(shortest) and not was_interrupted(group):
        return None
    return welch.draft(_sample(shortest), _sample(group))


def _sample(group: TrialGroup) -> Sample:
    return Sample(tuple(course.outage for course in _counted(group) if course.outage is not None))


def _verdict(shortest: TrialGroup, group: TrialGroup, ratio: Ratio | None) -> FaultVerdict:
    lasting = shortest.interruption.not_recovered or group.interruption.not_recovered
    without = NOT_RECOVERED if lasting else NOT_INTERRUPTED
    return FaultVerdict(
        fault=group.fault,
        load=group.load,
        system=group.system,
        baseline=shortest.system,
        ratio=ratio,
        words=welch.words(ratio.verdict, Direction.LOWER) if ratio else without,
        group=group,
        shortest=shortest,
    )
