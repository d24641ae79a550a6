"""One running product for all tests of the folder, which run in one process."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.stack import Product
from tests.launch.conftest import pids_in, some_places
from tests.support.object_store import object_store


@pytest.fixture(scope="session")
def product() -> Iterator[Product]:
    folder = Path(tempfile.mkdtemp(prefix="sb-"))  # pytest's own folders are closed to other users
    folder.chmod(0o711)
    with pytest.MonkeyPatch.context() as patch, object_store(patch, bucket="splashboard") as store:
        running = Product(some_places(folder), store=store)
        try:
            yield running
        finally:
            running.close()
    assert pids_in(folder) == []
    shutil.rmtree(folder)
