"""Platforms, releases, hardware classes, systems and their nodes, workloads, load levels, metrics.

Grain: one row per named object. A metric's unit, kind, direction and resource are defined here, once: curated, derived
by formula, or by counter rules. Values of metrics are in runs, published results in published.
"""
