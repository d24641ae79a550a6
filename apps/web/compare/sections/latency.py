"""Latency of the sides: ratios of the runs' percentiles, and the percentiles of all transactions together."""

from typing import Any

from apps.comparison.api import LATENCY_SECTION
from apps.web.compare.charts import chart_metrics
from apps.web.compare.view import CompareView
from apps.web.runs import latency


def context(seen: CompareView) -> dict[str, Any]:
    sides = seen.read(LATENCY_SECTION)
    return {
        "latency": latency.of_sides(sides),
        "ratio_metrics": [metric for metric in chart_metrics(seen.comparison)[1:] if metric.kind == "latency"],
    }
