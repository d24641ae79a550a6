from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.notifications.made import Receiver, a_receiver
from tests.web.conftest import engineer, enqueued  # noqa: F401  fixtures of the pages' tests


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with a_receiver() as found:
        yield found
