"""Quality checks of runs: pure rules over values; `check` evaluates, stores and updates them.

docs/quality.md documents the checks, their limits and the reasons for these limits.
"""
