"""Findings: what changed between releases, along a series of runs, or did not arrive; and what people decided about it.

Grain: one change of one metric of one system under one workload at one load level; a finding groups changes that belong
together. detection finds changes in a series (pure), trends applies it to stored series, releases compares a release
with the one before it (the release gate), findings is the review. Sending messages about findings is notifications.
"""
