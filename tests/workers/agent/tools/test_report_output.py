"""The client's counts against the server's."""

from collections import Counter
from pathlib import Path

import pytest

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.tools import Finished
from workers.agent.tools.report_output import Reported, writes_agree

SYSTEM = SystemConfig(
    slug="s",
    name="s",
    platform="mariadb",
    hardware_class="box",
    address=ServerAddress(),
    user="u",
    password="p",
    database="d",
    nodes=(),
    settings={},
)


@pytest.mark.parametrize(
    ("server", "held", "words"),
    [
        (10_000, True, "the server 10000"),
        (45_000, True, "the server 45000; others wrote too"),
        (9_000, False, "the server 9000"),
    ],
)
def test_a_run_is_not_failed_for_what_others_wrote_but_for_what_it_did_not(server: int, held: bool, words: str) -> None:
    before, after = {"Uptime": 5, "Com_update": 100}, {"Uptime": 15, "Com_update": 100 + server}
    finished = Finished(SYSTEM, "d", {}, Path("unread"), before, after)
    reported = Reported(Counter(writes=10_000), {}, Counter())
    (check,) = writes_agree(finished, reported)
    assert check.held is held
    assert check.label.endswith(words)
