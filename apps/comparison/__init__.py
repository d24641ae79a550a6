"""Sides compared: ratios with intervals and verdicts, corrected for their number.

Grain: one metric of one side at one load level. selection finds the runs, comparability what differs between the sides,
stats has the methods (pure), sections what stands beside the answer, failovers and schema_changes their own questions.
Two to four sides: compare; many workloads at once: matrix. Changes over time belong to regressions, snapshots to saved.
"""
