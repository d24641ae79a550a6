"""Changes of level in a series of results. Pure: numbers in, numbers out; nothing is stored.

Build a `ResultSeries`, then call `changes` (all at once), `follow` (after runs were added to an analysed series),
`detectable` (the smallest change that can be found) or `patterns` (drift, weekdays, machines, the host's speed,
sessions, bursts). `resets` finds changed conditions. The modules are internal.
"""

from apps.regressions.detection.analyses import RULES, Followed, changes, follow
from apps.regressions.detection.conditions import Conditions, resets
from apps.regressions.detection.covariates import Effect, Season
from apps.regressions.detection.drift import Burst, Drift, Patterns, patterns
from apps.regressions.detection.host_measures import CANARY_STEP, HostMeasure
from apps.regressions.detection.power import Detectable, detectable
from apps.regressions.detection.series import (
    DEFAULT_LIMITS,
    LEAST_SIGNIFICANT,
    SHORTEST,
    ChangeLimits,
    ChangePoint,
    ResultSeries,
)
from apps.regressions.detection.sessions import SessionSpread

__all__ = [
    "CANARY_STEP",
    "DEFAULT_LIMITS",
    "LEAST_SIGNIFICANT",
    "RULES",
    "SHORTEST",
    "Burst",
    "ChangeLimits",
    "ChangePoint",
    "Conditions",
    "Detectable",
    "Drift",
    "Effect",
    "Followed",
    "HostMeasure",
    "Patterns",
    "ResultSeries",
    "Season",
    "SessionSpread",
    "changes",
    "detectable",
    "follow",
    "patterns",
    "resets",
]
