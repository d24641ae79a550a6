"""Quality checks of runs: pure rules over values; `check` evaluates, stores and updates them.

docs/reference/quality-checks.md documents the checks, their limits and the reasons for these limits.
"""
