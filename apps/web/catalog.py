"""The page catalog: what can be compared, on what, with which workloads, and what is measured."""

from django.http import HttpRequest, HttpResponse

from apps.catalog import queries
from apps.catalog.models import Metric
from apps.web.pages import render_page


def show(request: HttpRequest) -> HttpResponse:
    chosen = queries.MetricFilter(
        text=request.GET.get("text", "").strip()[:80],
        resource=request.GET.get("resource", ""),
        direction=request.GET.get("direction", ""),
        aspect=request.GET.get("aspect", ""),
        undescribed=request.GET.get("undescribed") == "1",
    )
    context = {
        "platforms": queries.list_platforms(),
        "hardware": queries.list_hardware(),
        "workloads": queries.list_workloads(),
        "metrics": queries.list_metrics(chosen),
        "counts": queries.count_metrics(),
        "resources": queries.list_resources(),
        "directions": Metric.Direction.choices,
        "aspects": Metric.Aspect.choices,
        "chosen": chosen,
        "filtered": chosen != queries.MetricFilter(),
    }
    return render_page(request, "web/catalog.html", context)
