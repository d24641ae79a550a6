"""Latency of the sides: ratios of the runs' percentiles, and the percentiles of all transactions together."""

from typing import Any

from apps.comparison.api import LATENCY_SECTION, PERCENTILES_SECTION, ComparedPercentiles
from apps.comparison.pure import FEWEST_BEYOND, NotKept
from apps.web.compare.charts import chart_metrics
from apps.web.compare.view import CompareView
from apps.web.compare.wording import AnswerCell, entry
from apps.web.runs import latency


def context(seen: CompareView) -> dict[str, Any]:
    sides = seen.read(LATENCY_SECTION)
    found = latency.of_sides(sides)
    compared = _compared(seen)
    return {
        "latency": found,
        "rows": [(side, [(row, compared.get((side.slug, row.label))) for row in rows]) for side, rows in found.sides],
        "any_compared": bool(compared),
        "fewest_beyond": FEWEST_BEYOND,
        "ratio_metrics": [metric for metric in chart_metrics(seen.comparison)[1:] if metric.kind == "latency"],
    }


def _compared(seen: CompareView) -> dict[tuple[str, str], AnswerCell]:
    """(side, name of the percentile) -> its ratio to the baseline's. Empty for a snapshot without this section."""
    try:
        read: ComparedPercentiles | None = seen.read(PERCENTILES_SECTION)
    except NotKept:
        return {}
    if read is None:
        return {}
    names = {side.slug: side.name for side in seen.comparison.sides}
    metrics = {metric.key: metric for metric in read.metrics}
    found = {(cell.side, metrics[cell.metric].name): entry(metrics[cell.metric], cell, names) for cell in read.cells}
    return {place: each for place, each in found.items() if each.judged}
