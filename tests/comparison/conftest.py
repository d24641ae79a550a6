"""Fixtures of every test of comparisons."""

from tests.comparison.compared import a, b, workload  # noqa: F401
