"""Interface of this app for other apps, as far as it needs no database. Pure."""

from apps.use_method import engine
from apps.use_method.bottlenecks.wording import name as resource_name
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.levels import HOLD, SHARE
from apps.use_method.panels import cells
from apps.use_method.panels.cells import AspectCell, IndicatorReading, ResourceCells
from apps.use_method.panels.repetitions import Typical, typical
from apps.use_method.resource_table import INDICATORS, RESOURCE_OF, RESOURCES
from apps.use_method.values import Aspect, Panel, Reading, Span, UseLevel

__all__ = [
    "HOLD",
    "INDICATORS",
    "RESOURCES",
    "RESOURCE_OF",
    "SHARE",
    "Aspect",
    "AspectCell",
    "Indicator",
    "IndicatorReading",
    "Panel",
    "Reading",
    "Resource",
    "ResourceCells",
    "Span",
    "Typical",
    "UseLevel",
    "cells",
    "engine",
    "resource_name",
    "typical",
]
