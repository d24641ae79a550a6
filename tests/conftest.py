"""Fixtures of every test. A missing program skips its tests with the reason, but never in CI."""

import os
import shutil

import pytest

NEEDS = {"mariadb": ("mariadbd", "mariadb-install-db", "sysbench"), "browser": ("chromium",)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker, programs in NEEDS.items():
            missing = [name for name in programs if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")]
            if item.get_closest_marker(marker) and missing and not os.environ.get("CI"):
                item.add_marker(pytest.mark.skip(reason=f"not on PATH: {', '.join(missing)}"))
