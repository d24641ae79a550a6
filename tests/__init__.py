"""Tests by the layout of what they test. Helpers' assertions say what they saw, as pytest does in test files alone."""

import pkgutil
import sys

if "pytest" in sys.modules:  # some modules are programs, which run without it
    sys.modules["pytest"].register_assert_rewrite(
        *(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
    )
