"""Another user of the machine than the one who runs the tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

NOBODY = 65534


@contextmanager
def another_user() -> Iterator[None]:
    """This process has the rights of a user who owns nothing."""
    if os.geteuid() != 0:
        pytest.skip("becoming another user takes root")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
