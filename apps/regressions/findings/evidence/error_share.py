"""How much of a change of throughput the operations that failed can explain. Pure.

An attempt that fails ends early, so that it costs no more than one that succeeds: where 3 % of the operations fail,
throughput is at most 3 % lower for it. Errors that come after a wait have no such bound.
"""

import math

from apps.regressions.findings.evidence.use_difference import ERROR_NUMBER, IndicatorDifference, UseDifference
from apps.use_method.pure import RESOURCE_OF

RESOURCE, SHARE = "errors", "errors.share"
# Kinds whose errors end early; numbers of those that come after a wait, for a lock or until a deadline.
EARLY = ("errors.conflict", "errors.refused", "errors.other")
AFTER_A_WAIT = {"1205", "1969", "3024"}
# Resources whose indicators may make operations fail.
MAKE_FAIL = (
    *(RESOURCE, "connections", "disk", "galera", "group_replication", "memory", "proxy", "replication"),
    *("row_locks", "service", "table_locks"),
)


def of_change(use: UseDifference, throughput: float | None) -> float | None:
    """Greatest share of the change, 0 to 1. `throughput`: after / before. None: not known."""
    own = [each for each in use.differences if RESOURCE_OF[each.indicator.key].key == RESOURCE]
    shares = next((each.sides for each in own if each.indicator.key == SHARE), None)
    kinds = [each for each in own if each.indicator.key != SHARE]
    if shares is None or not throughput or not kinds or not all(map(_ends_early, kinds)):
        return None
    succeeded = [1 - (side.value or 0.0) / 100 for side in shares]
    change = math.log(throughput)
    if min(succeeded) <= 0 or not change:
        return None
    return min(max(math.log(succeeded[1] / succeeded[0]) / change, 0.0), 1.0)


def _ends_early(kind: IndicatorDifference) -> bool:
    numbers = {number for side in kind.sides for number in ERROR_NUMBER.findall(side.words)}
    return kind.indicator.key in EARLY and bool(numbers) and not numbers & AFTER_A_WAIT
