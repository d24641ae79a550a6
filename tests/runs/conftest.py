"""An archive for tests of the warehouse."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test.utils import override_settings

from apps.core.stores import store_at


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The archive of this installation, a folder that is made with its first file."""
    place = tmp_path / "archive"
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(place))}):
        yield place
