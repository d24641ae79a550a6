from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.notifications.made import Receiver, a_receiver


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with a_receiver() as found:
        yield found
