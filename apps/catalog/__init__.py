"""What is compared: platforms, releases, hardware classes, systems with their nodes, workloads, load levels, metrics.

Grain: one row for each thing that has a name. Metrics are described here once: unit, kind, direction, resource; curated
ones, derived ones by formula, counters by rule. Values of metrics belong to runs, figures of articles to published.
"""
