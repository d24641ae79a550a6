"""The generated part of docs/glossary.md: an entry for every curated metric. Pure."""

from apps.catalog import metrics
from apps.catalog.rules import MetricSpec

BEGIN = "<!-- metrics: written by manage.py write_glossary -->"
END = "<!-- end of metrics -->"
GROUPS = (
    ("Load generator", metrics.CLIENT_KEYS),
    ("Database server", metrics.SERVER_KEYS),
    ("Machine and process", metrics.HOST_KEYS),
    ("Published figures", metrics.PUBLISHED_KEYS),
)
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neutral": "neither is better"}


def metric_entries() -> str:
    """Markdown: a table per group, in the order of the metrics' table."""
    parts = []
    for title, keys in GROUPS:
        lines = [f"### {title}", "", "| key | unit | kind | direction | meaning |", "|---|---|---|---|---|"]
        lines += [_line(metrics.CURATED[key]) for key in keys]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def with_entries(text: str) -> str:
    """`text` with what stands between the two marks written anew. Raises ValueError when a mark is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the glossary must hold the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{metric_entries()}\n\n{END}{after}"


def _line(spec: MetricSpec) -> str:
    use = ", ".join(part for part in (spec.resource, spec.aspect) if part)
    meaning = f"{spec.name}. {spec.description}" + (f" ({use})" if use else "")
    return f"| `{spec.key}` | {spec.unit or '-'} | {spec.kind} | {DIRECTIONS[spec.direction]} | {meaning} |"
