"""Panels that say what a test wants them to."""

from collections.abc import Mapping

from apps.runs.models import Run
from apps.use_method.engine import VERSION
from apps.use_method.models import UsePanel
from apps.use_method.panels import panels
from apps.use_method.resource_table import RESOURCES
from apps.use_method.values import Aspect, Panel, Reading, UseLevel

Levels = Mapping[str, UseLevel]


def indicator(resource: str) -> str:
    """One that tells utilization or saturation."""
    [found] = [each for each in RESOURCES if each.key == resource]
    return next(each.key for each in found.indicators if each.aspect is not Aspect.ERRORS)


def panel(value: float = 50.0, **levels: UseLevel | Levels) -> Panel:
    """Levels by resource, of the node "db1" or by node."""
    readings = [
        Reading(indicator(resource), node, level, None if level is UseLevel.NOT_OBSERVABLE else value, "words")
        for resource, each in levels.items()
        for node, level in ({"db1": each} if isinstance(each, UseLevel) else each).items()
    ]
    return Panel((0.0, 60.0), tuple((one.node, "writer") for one in readings), tuple(readings))


def keep(run: Run, found: Panel) -> None:
    """As if the run had been judged so."""
    run.refresh_from_db()
    UsePanel.objects.create(run=run, version=VERSION, sealed_at=run.sealed_at, content=panels.to_json(found))
