"""The table of all verdicts: value, ratio and verdict of each side at each load level."""

from typing import Any

from apps.comparison.api import compare
from apps.comparison.pure import Comparison, label
from apps.core.text import and_list
from apps.runs.pure import asked_rate
from apps.web.compare.charts import chart_metrics
from apps.web.compare.view import CompareView
from apps.web.compare.wording import table, value_note, value_words


def context(seen: CompareView) -> dict[str, Any]:
    comparison = seen.comparison
    no_errors, rows = _no_errors(comparison), table(comparison)
    shown = [metric for metric in comparison.metrics if metric.kind != "errors" or not no_errors]
    return {
        "rows": rows,
        "columns": [
            {"metric": metric, "label": label(metric), "value_words": value_words(comparison, metric)}
            for metric in shown
        ],
        "value_note": value_note(comparison, shown),
        "rate_rule": asked_rate.LIMITS if any(level.rate is not None for level in comparison.levels) else "",
        "no_errors": no_errors,
        "few_runs": all(row.few_runs for row in rows),
        "no_history": not any(cell.history for cell in comparison.cells),
        "replicates": _replicates(comparison),
        "ratio_metrics": [metric for metric in chart_metrics(comparison)[1:] if metric.kind != "latency"],
    }


def _replicates(comparison: Comparison) -> str:
    """What the intervals take as repetitions."""
    kinds = dict.fromkeys(cell.ratio.replicates.value for cell in comparison.cells if cell.ratio and cell.ratio.low)
    return and_list(list(kinds)) or "runs"


def _no_errors(comparison: Comparison) -> bool:
    """Errors were counted, and no run had any."""
    counted = [cell for cell in comparison.cells if cell.metric == compare.ERRORS and cell.replicates]
    return bool(counted) and all(each.value == 0 for cell in counted for each in cell.replicates)
