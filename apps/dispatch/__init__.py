"""Plans campaigns as jobs, which agents execute under a lease.

Grain: one job, which is one repetition of one workload on one system, with one attempt per lease. `campaigns` plans and
cancels, `jobs` matches, leases and accepts uploads, `schedules` starts campaigns periodically. Measurements belong to
runs.
"""
