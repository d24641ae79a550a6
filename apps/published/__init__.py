"""Published results, separate from measured runs: figures with their qualifier and source, never an interval.

Grain: one figure. YAML files are loaded whole or rejected whole. A figure is shown beside a measured value, never
mixed with it.
"""
