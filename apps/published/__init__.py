"""Results of articles, kept apart from measured runs: figures with their qualifier and source, never an interval.

Grain: one figure. Files in YAML are loaded whole or refused whole. A figure is shown beside a measured value, never
mixed with it.
"""
