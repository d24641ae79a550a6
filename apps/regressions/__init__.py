"""Findings: changes between releases or within a trend, missing results, and people's decisions about them.

Grain: one change of one metric of one system under one workload at one load level; a finding groups related changes.
detection finds changes in a series (pure), trends applies it to stored series, releases compares a release with its
predecessor (the release gate), findings is the review. Sending messages about findings is notifications.
"""
