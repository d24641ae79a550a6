"""Runs that `splashboard run` kept, and what `splashboard submit --pending` makes of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from splashboard.wrap import pending
from splashboard.wrap.pending import PendingRun
from tests.client.answers import a_stored_run
from tests.client.conftest import Answered, Command, FakeServer
from tests.rest.submissions import a_description

CREATED: Answered = (201, {"Content-Type": "application/json"}, json.dumps(a_stored_run()).encode())
LEVEL = {"threads": 8, "rate": 50}
REFUSED: Answered = (422, {"Content-Type": "application/problem+json"}, b'{"detail": "workload: is not known"}')


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def a_kept_run(fake: FakeServer, uid: str, *, refused: str = "", **described: Any) -> PendingRun:
    described = a_description(**{"uid": uid, "tags": ["nightly"], "load_level": LEVEL, **described})
    return pending.keep(url=fake.url, description=described, output=b"x", name="output", refused=refused)


def sent(fake: FakeServer) -> dict[str, dict[str, Any]]:
    """Descriptions by uid, as they were sent last."""
    found = [
        re.search(rb'filename="description.json".*?\r\n\r\n(.*?)\r\n--', body, re.DOTALL)
        for _, _, _, body in fake.received
    ]
    described = [json.loads(each[1]) for each in found if each]
    return {each["uid"]: each for each in described}


def test_a_pending_run_survives_a_cut_off_write() -> None:
    described = a_description(uid="a")
    kept = pending.keep(url="http://a", description=described, output=b"x", name="output", samples=[b"1", b"2"])
    assert [each.state["samples"] for each in pending.every()] == [["samples-000000.gz", "samples-000001.gz"]]
    (kept.place / "state.json").unlink()
    assert pending.every() == []


def test_options_change_refused_runs_alone_and_keep_what_they_do_not_name(command: Command, fake: FakeServer) -> None:
    a_kept_run(fake, "fine")
    a_kept_run(fake, "wrong", refused="workload: not known", workload=...)
    fake.answers = [CREATED]
    said = command("submit", "--url", fake.url, "--pending", "--workload", 5, "--tag", "late", "--threads", 16)
    assert said.code == 0, said.err
    assert said.out.count("was not refused, so it is sent as it was measured") == 1
    assert sent(fake)["fine"] == {**a_description(), "uid": "fine", "tags": ["nightly"], "load_level": LEVEL}
    wrong = sent(fake)["wrong"]
    assert (wrong["workload"], wrong["tags"]) == (5, ["nightly", "late"])
    assert wrong["load_level"] == {"threads": 16, "rate": 50}
    assert pending.every() == []


def test_a_run_that_is_refused_can_be_changed_from_then_on(command: Command, fake: FakeServer) -> None:
    a_kept_run(fake, "a")
    fake.answers = [REFUSED, CREATED]
    submit = ("submit", "--url", fake.url, "--pending", "--workload", 5)
    assert command(*submit).code == 4
    assert sent(fake)["a"]["workload"] == a_description()["workload"]
    assert command(*submit).code == 0
    assert sent(fake)["a"]["workload"] == 5
