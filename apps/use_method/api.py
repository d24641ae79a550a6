"""Interface of this app for other apps; everything else is internal. Tables are in models."""

from apps.use_method import engine
from apps.use_method.bottlenecks import limits
from apps.use_method.bottlenecks.find import Kind
from apps.use_method.bottlenecks.limits import READING as LIMITS_SECTION
from apps.use_method.bottlenecks.limits import ComparedUse, ResourceAtLevel, SideUse, panels_of
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.levels import HOLD, SHARE
from apps.use_method.panels import cells, panels
from apps.use_method.panels.cells import AspectCell, IndicatorReading, ResourceCells
from apps.use_method.panels.repetitions import Typical, typical
from apps.use_method.resource_table import INDICATORS, RESOURCE_OF, RESOURCES
from apps.use_method.values import Aspect, Panel, Reading, Span, UseLevel

__all__ = [
    "HOLD",
    "INDICATORS",
    "LIMITS_SECTION",
    "RESOURCES",
    "RESOURCE_OF",
    "SHARE",
    "Aspect",
    "AspectCell",
    "ComparedUse",
    "Indicator",
    "IndicatorReading",
    "Kind",
    "Panel",
    "Reading",
    "Resource",
    "ResourceAtLevel",
    "ResourceCells",
    "SideUse",
    "Span",
    "Typical",
    "UseLevel",
    "cells",
    "engine",
    "limits",
    "panels",
    "panels_of",
    "typical",
]
