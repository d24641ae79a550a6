"""Comparison of sides: ratios with intervals and verdicts, corrected for multiple testing.

Grain: one metric of one side at one load level. selection finds the runs, comparability finds the differences between
the sides, stats holds the methods (pure), sections the further parts of the page; failovers and schema_changes stand
apart. Two to four sides: compare; many workloads: matrix. Changes over time belong to regressions, snapshots to saved.
"""
