"""Data that pages embed for their scripts: id of the element -> type.

Written as by the REST API, and generated for the front end by `make types`.
"""

from typing import Any

from apps.published.values import BarChart
from apps.rest.api import field_of
from apps.web.compare.charts import CompareCharts
from apps.web.compare.sections.load_level_charts import GrowthChart, LoadLevelCharts
from apps.web.compare.sections.steadiness import SteadinessChart
from apps.web.compare.sections.work import WorkChart
from apps.web.findings.chart import FindingChart
from apps.web.runs.run import RunPageData
from apps.web.schema_changes.charts import ChangeChart
from apps.web.timeline.timeline import TimelinePageData
from apps.web.trends.chart import TrendChart

PAGE_DATA: dict[str, Any] = {
    "change-charts": list[ChangeChart],
    "compare-data": CompareCharts,
    "finding-chart": FindingChart,
    "growth-data": GrowthChart,
    "load-levels-data": LoadLevelCharts,
    "published-charts": list[BarChart],
    "run-data": RunPageData,
    "steadiness-data": SteadinessChart,
    "timeline-data": TimelinePageData,
    "trend-charts": list[TrendChart],
    "work-data": WorkChart,
}


def as_json(element_id: str, value: Any) -> Any:
    """Plain JSON of the type of this element."""
    return field_of(PAGE_DATA[element_id]).to_representation(value)
