"""Campaigns become jobs, and agents execute them under a lease.

Grain: one job, a repetition of one workload on one system; one attempt of it for each lease. campaigns plans and
cancels, jobs matches, leases and takes uploads, schedules starts campaigns again and again. What a job measured belongs
to runs.
"""
