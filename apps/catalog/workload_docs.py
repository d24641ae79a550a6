"""The generated part of docs/reference/workloads.md: workloads with their parameters and headline metrics. Pure."""

from apps.catalog.glossary import rewritten
from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

BEGIN = "<!-- workloads: written by manage.py write_glossary -->"
END = "<!-- end of workloads -->"


def workload_entries() -> str:
    """Markdown: one section per workload, with a table of its parameters."""
    return "\n\n".join(_section(spec) for spec in WORKLOADS.values())


def with_entries(text: str) -> str:
    """`text` with the entries between its two markers regenerated. Raises ValueError when a marker is missing."""
    return rewritten(text, begin=BEGIN, end=END, entries=workload_entries())


def _section(spec: WorkloadSpec) -> str:
    others = ", ".join(f"`{key}`" for key in spec.metrics if key != spec.primary_metric)
    lines = [
        f"### {spec.title}: `{spec.tool}`",
        "",
        spec.description,
        "",
        f"Headline metric `{spec.primary_metric}`" + (f"; also {others}." if others else "."),
    ]
    if spec.data_set:
        lines += ["", f"Data set: {', '.join(f'`{name}`' for name in spec.data_set)}."]
    if spec.parameters:
        lines += ["", "| parameter | default | may be | meaning |", "|---|---|---|---|"]
        lines += [_line(parameter) for parameter in spec.parameters]
    return "\n".join(lines)


def _line(parameter: Parameter) -> str:
    return f"| `{parameter.name}` | {parameter.usual()} | {parameter.allowed()} | {parameter.description} |"
