"""How many examples Hypothesis tries: few at each run, many in `make nightly`, by HYPOTHESIS_PROFILE=deep."""

import os
from typing import Any

import hypothesis

USUAL, DEEP = "usual", "deep"
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or USUAL
DEEPER = 20

# A run judges the change at hand, with the same examples everywhere.
hypothesis.settings.register_profile(USUAL, derandomize=True, deadline=None)
hypothesis.settings.register_profile(DEEP, max_examples=100 * DEEPER, deadline=None)


def examples(count: int, **more: Any) -> hypothesis.settings:
    """Of a test whose examples take long: `count`, and DEEPER times as many for those who ask."""
    return hypothesis.settings(max_examples=count * (DEEPER if PROFILE == DEEP else 1), deadline=None, **more)


def seeds(count: int) -> range:
    """Of a test with chance in it: `count`, and ten times as many for those who ask."""
    return range(count * (DEEPER // 2 if PROFILE == DEEP else 1))
