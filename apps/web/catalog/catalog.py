"""The Catalog page: platforms, systems at AWS, hardware, workloads and metrics."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.accounts.current_user import may_write
from apps.aws import queries as aws
from apps.catalog.api import queries
from apps.catalog.models import Metric
from apps.comparison.api import baselines, choices
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.web.components.lists import typed
from apps.web.components.pages import render_page
from workers.protocol.workloads import WORKLOADS

NO_RESOURCE = "of the load, or of no one resource"
Listed = TypeVar("Listed")


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    resources = queries.list_resources()
    chosen, problems = queries.MetricFilter(), tuple[FieldProblem, ...]()
    try:
        chosen = read(request, resources)
    except Invalid as error:
        problems = error.errors
    pins = baselines.pins()
    context = {
        "platforms": queries.list_platforms(),
        "at_aws": aws.list_systems(),
        "hardware": queries.list_hardware(),
        "workloads": (workloads := queries.list_workloads()),
        "tools": [
            (tool, [(each, pins.get(each.id)) for each in of_tool])
            for tool, of_tool in _grouped(workloads, lambda each: each.tool)
        ],
        "slugs": choices.slugs() if may_write(request) else [],
        "may_write": may_write(request),
        "kinds": [spec for spec in WORKLOADS.values() if not spec.free or spec.parameters],
        "metrics": _grouped(queries.list_metrics(chosen), lambda each: each.resource or NO_RESOURCE),
        "counts": queries.count_metrics(),
        "resources": resources,
        "directions": Metric.Direction.choices,
        "aspects": Metric.Aspect.choices,
        "chosen": chosen,
        "filtered": chosen != queries.MetricFilter(),
        "problems": problems,
    }
    return render_page(request, "web/catalog/catalog.html", context, status=400 if problems else 200)


def read(request: HttpRequest, resources: list[str]) -> queries.MetricFilter:
    """Raises Invalid naming each parameter that is not known."""
    address = Address(request.GET, "text", "resource", "direction", "aspect", "undescribed")
    found = queries.MetricFilter(
        text=typed(request, "text", most=80),
        resource=address.choice("resource", resources),
        direction=address.choice("direction", Metric.Direction.values),
        aspect=address.choice("aspect", Metric.Aspect.values),
        undescribed=bool(address.choice("undescribed", ("1",))),
    )
    address.check()
    return found


def _grouped(listed: Iterable[Listed], name: Callable[[Listed], str]) -> list[tuple[str, list[Listed]]]:
    """Groups sorted by name; each in list order."""
    groups: dict[str, list[Listed]] = defaultdict(list)
    for each in listed:
        groups[name(each)].append(each)
    return sorted(groups.items())
