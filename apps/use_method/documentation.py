"""Generated part of docs/reference/use-method.md: every resource with its indicators. Pure."""

from collections.abc import Iterable

from apps.catalog.pure import rewritten
from apps.core.units import NBSP
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.resource_table import RESOURCES
from apps.use_method.values import Aspect

BEGIN = "<!-- resources: written by manage.py write_use_method -->"
END = "<!-- end of resources -->"
SUMMARY_HEAD = ("| resource | layer | utilization | saturation | errors |", "|---|---|---|---|---|")
HEAD = (
    "| indicator | formula, unit and series | levels | reason | source of the counters |",
    "|---|---|---|---|---|",
)


def with_entries(text: str) -> str:
    """`text` with the part between BEGIN and END rewritten. Raises ValueError if one is missing."""
    return rewritten(text, begin=BEGIN, end=END, entries=entries(RESOURCES))


def entries(resources: Iterable[Resource]) -> str:
    """Markdown: one table of all resources, then a table of indicators for each."""
    listed = list(resources)
    summary = "\n".join([*SUMMARY_HEAD, *map(_summary, listed)])
    return "\n\n".join([summary, *map(_section, listed)])


def _summary(resource: Resource) -> str:
    aspects = [
        ", ".join(one.title for one in resource.indicators if one.aspect is aspect) or "no indicator"
        for aspect in Aspect
    ]
    return _line(resource.title, resource.layer, *aspects)


def _section(resource: Resource) -> str:
    rows = "\n".join([*HEAD, *map(_row, resource.indicators)])
    return f"### {resource.title}\n\n{resource.question}\n\n{rows}"


def _row(one: Indicator) -> str:
    series = ", ".join(f"`{key}`" for key in one.metrics)
    formula = f"{one.formula}; {one.unit}" if one.unit else one.formula
    return _line(
        f"**{one.title}** ({one.aspect}) `{one.key}`",
        f"{formula}<br>{series}" if series else formula,
        one.limits or "none",
        f"{one.reason} <br>{one.literature}" if one.literature else one.reason,
        "; ".join(f"{platform}: {source}" for platform, source in one.sources.items()),
    )


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ").replace(NBSP, " ") for cell in cells) + " |"
