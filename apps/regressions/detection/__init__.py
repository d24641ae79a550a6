"""Changes of level in a series of results. Pure: numbers in, numbers out; nothing is stored.

Build a `ResultSeries`, then ask `changes` (all at once), `follow` (after runs were added to an analysed series) or
`detectable` (what it could show). `resets` finds where conditions differ. The modules inside are this package's own.
"""

from apps.regressions.detection.change_points import changes
from apps.regressions.detection.conditions import Conditions, resets
from apps.regressions.detection.known_changes import RULES, Followed, follow
from apps.regressions.detection.noise import Floats
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
    "Floats",
    "Followed",
    "ResultSeries",
    "changes",
    "detectable",
    "follow",
    "resets",
]
