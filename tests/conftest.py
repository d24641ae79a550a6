"""Fixtures of every test."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import hypothesis
import pytest
from django.conf import settings
from django.test.utils import override_settings

from apps.core.server import space
from apps.rest.framework import request_counts
from tests import examples, runner
from tests.core.audit.watch import watched_changes  # noqa: F401  of every test
from tests.support import stores
from tests.support.browser import browser_page, close_browser  # noqa: F401  fixtures for every folder
from tests.support.databases import (  # noqa: F401
    galera,
    group,
    installation,
    lab_directory,
    mariadb,
    mha,
    running_galera,
    running_group,
    running_mha,
    running_semisync,
    semisync,
    start_mariadb,
)

pytest_plugins = ["tests.runner"]

hypothesis.settings.load_profile(examples.PROFILE)
runner.own_broker()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    name = stores.template()
    if name:
        settings.DATABASES["default"]["TEST"]["TEMPLATE"] = name


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


@pytest.fixture(autouse=True)
def space_gate(monkeypatch: pytest.MonkeyPatch) -> space.SpaceGate:
    """Each test's own: a write that found no space in one does not close it for the next."""
    gate = space.SpaceGate()
    monkeypatch.setattr(space, "gate", gate)
    return gate


@pytest.fixture(autouse=True)
def request_counter(monkeypatch: pytest.MonkeyPatch) -> request_counts.RequestCounter:
    """Each test's own: all come from one address, and some ask more often than anybody would."""
    counter = request_counts.RequestCounter(prefix=f"tests:{uuid4()}")
    monkeypatch.setattr(request_counts, "counter", counter)
    return counter
