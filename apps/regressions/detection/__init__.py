"""Changes of level in a series of results. Pure: numbers in, numbers out; nothing is stored.

Build a `ResultSeries`, then ask `changes` (all at once), `follow` (after runs were added to an analysed series) or
`detectable` (what it could show). `resets` finds where conditions differ. The modules inside are this package's own.
"""

from apps.regressions.detection.analyses import RULES, Followed, changes, follow
from apps.regressions.detection.conditions import Conditions, resets
from apps.regressions.detection.power import Detectable, detectable
from apps.regressions.detection.series import (
    DEFAULT_LIMITS,
    LEAST_SIGNIFICANT,
    SHORTEST,
    ChangeLimits,
    ChangePoint,
    ResultSeries,
)

__all__ = [
    "DEFAULT_LIMITS",
    "LEAST_SIGNIFICANT",
    "RULES",
    "SHORTEST",
    "ChangeLimits",
    "ChangePoint",
    "Conditions",
    "Detectable",
    "Followed",
    "ResultSeries",
    "changes",
    "detectable",
    "follow",
    "resets",
]
