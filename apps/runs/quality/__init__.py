"""The benchmark checklist on each run: rules over values (pure), read, stored and kept up to date by `checking`.

docs/reference/quality-checks.md says what each check asks, its limits and why they are what they are.
"""
