"""Fixtures of every test. A missing program skips its tests with the reason, but never in CI."""

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings
from django.test.utils import override_settings

from lab import packages
from lab.galera import Galera
from lab.mha import MHA
from tests.browser import browser_page  # noqa: F401  a fixture for every folder
from tests.databases import (  # noqa: F401
    galera,
    installation,
    lab_directory,
    mariadb,
    mha,
    running_galera,
    running_mha,
    start_mariadb,
)

# CI judges the change at hand: new examples are looked for on the developers' machines.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")

NEEDS = {
    "mariadb": ("mariadbd", "mariadb-install-db", "sysbench"),
    "galera": (*Galera.needs, "sysbench"),
    "mha": (*MHA.needs, "sysbench"),
    "browser": ("chromium",),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker, programs in NEEDS.items():
            missing = packages.missing(programs)
            if item.get_closest_marker(marker) and missing and not os.environ.get("CI"):
                item.add_marker(pytest.mark.skip(reason=f"not on PATH: {', '.join(missing)}"))


@pytest.fixture(scope="session", autouse=True)
def var_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the product would write below var/ goes to a folder of this session's own."""
    folder = tmp_path_factory.mktemp("var")
    (folder / "static").mkdir()
    store = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": folder / "artifacts", "allow_overwrite": True},
    }
    with override_settings(STATIC_ROOT=folder / "static", STORAGES=settings.STORAGES | {"default": store}):
        yield folder
