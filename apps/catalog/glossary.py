"""The generated part of docs/reference/metrics.md: one entry per curated or derived metric. Pure."""

from apps.catalog.metrics import derived_metrics, families, standard
from apps.catalog.metrics.counter_rules import MetricSpec
from apps.catalog.metrics.derived_metrics import DerivedSpec

BEGIN = "<!-- metrics: written by manage.py write_glossary -->"
END = "<!-- end of metrics -->"
GROUPS = (
    ("Load generator", standard.CLIENT_KEYS),
    ("Single workloads", standard.WORKLOAD_KEYS),
    ("Computed for releases", standard.RUN_VALUE_KEYS),
    ("MariaDB and MySQL", standard.SERVER_KEYS),
    ("PostgreSQL", standard.POSTGRESQL_KEYS),
    ("Replication, proxy and agent", standard.SAMPLED_KEYS),
    ("Machine and process", standard.HOST_KEYS),
    ("Aurora and RDS, by CloudWatch", standard.CLOUD_KEYS),
    ("Published figures", standard.PUBLISHED_KEYS),
)
TABLE_HEAD = ("| key | unit | kind | direction | meaning |", "|---|---|---|---|---|")
FAMILIES_HEAD = (
    "### Families",
    "",
    "One metric per backend and server of a proxy, class of waits, source of samples, or replication connection of a "
    "multi-source replica.",
    "",
    *TABLE_HEAD,
)
DERIVED_HEAD = (
    "### Derived metrics",
    "",
    "Computed from others on the same node; a counter in a formula means its rate, and a `*` the sum over all keys "
    "that fit.",
    'Division by zero gives "not observed". `<disk>` and `<interface>`: one per disk or interface of the node.',
    "",
    "| key | unit | direction | formula | meaning |",
    "|---|---|---|---|---|",
)
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neutral": "neither is better"}


def metric_entries() -> str:
    """Markdown: one table per group, in the order of the metric tables."""
    parts = []
    for title, keys in GROUPS:
        lines = [f"### {title}", "", *TABLE_HEAD]
        lines += [_line(standard.CURATED[key]) for key in keys]
        parts.append("\n".join(lines))
    parts.append("\n".join([*FAMILIES_HEAD, *map(_line, families.FAMILIES)]))
    parts.append("\n".join([*DERIVED_HEAD, *(_derived_line(spec) for spec in derived_metrics.ALL)]))
    return "\n\n".join(parts)


def with_entries(text: str) -> str:
    """`text` with the entries between its two markers regenerated. Raises ValueError when a marker is missing."""
    return rewritten(text, begin=BEGIN, end=END, entries=metric_entries())


def rewritten(text: str, *, begin: str, end: str, entries: str) -> str:
    """`text` with `entries` between two markers. Raises ValueError when a marker is missing."""
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"the text must hold the lines {begin!r} and {end!r}")
    return f"{before}{begin}\n\n{entries}\n\n{end}{after}"


def _line(spec: MetricSpec) -> str:
    return f"| `{spec.key}` | {spec.unit or '-'} | {spec.kind} | {DIRECTIONS[spec.direction]} | {_meaning(spec)} |"


def _derived_line(spec: DerivedSpec) -> str:
    direction = DIRECTIONS[spec.direction]
    return f"| `{spec.key}` | {spec.unit} | {direction} | `{spec.formula.text}` | {_meaning(spec)} |"


def _meaning(spec: MetricSpec) -> str:
    use = ", ".join(part for part in (spec.resource, spec.aspect) if part)
    return f"{spec.name}. {spec.description}" + (f" ({use})" if use else "")
