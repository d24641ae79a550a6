"""Saved comparisons: snapshots of what a comparison showed, and whether they are out of date.

Grain: one snapshot. Above everything that a comparison shows, so that every section can be kept with it. Computing a
comparison belongs to comparison; the tables are in comparison.models.
"""
