"""Saved comparisons: snapshots of a comparison, and whether they are out of date.

Grain: one snapshot. Ranked above everything that a comparison shows, so that every section can be stored with it.
Computing a comparison belongs to comparison; the tables are in comparison.models.
"""
