"""Interface of this app for other apps. pure has what needs no database, models the tables; the rest is internal."""

from apps.use_method.bottlenecks import limits
from apps.use_method.bottlenecks.limits import SECTION as LIMITS_SECTION
from apps.use_method.bottlenecks.limits import ComparedUse, ResourceAtLevel, SideUse, panels_of
from apps.use_method.panels import panels

__all__ = [
    "LIMITS_SECTION",
    "ComparedUse",
    "ResourceAtLevel",
    "SideUse",
    "limits",
    "panels",
    "panels_of",
]
