"""Runs that `splashboard run` kept, and what `splashboard submit --pending` makes of them."""

import json
import os
import re
import shutil
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.runs.models import Run
from splashboard import submitting
from splashboard.failures import Misuse
from splashboard.server import Server
from splashboard.wrap import pending
from splashboard.wrap.pending import PendingRun
from tests.client.answers import a_stored_run
from tests.client.conftest import Answered, Command, FakeServer
from tests.rest.submissions import POINT_SELECT, a_description

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


@pytest.mark.django_db(transaction=True)
def test_a_run_that_another_call_sent_is_found_as_it_is_stored(engineer: Command) -> None:
    url, output = os.environ["SPLASHBOARD_URL"], POINT_SELECT.read_bytes()
    described = a_description(uid=str(uuid.uuid4()), started_at="2026-11-20T10:00:00.123456+00:00")
    kept = pending.keep(url=url, description=described, output=output, name="output")
    assert engineer("submit", "--pending").code == 0
    run = Run.objects.get()
    found = kept.send(Server(url=url, token=os.environ["SPLASHBOARD_TOKEN"]), {})
    assert (found["id"], found["outcome"], found["created"]) == (run.pk, "succeeded", False)
    assert submitting.sentences(found)[0] == f"Run {run.pk} is already stored, identical; succeeded"
    other = replace(kept, description={**described, "uid": str(uuid.uuid4())})
    with pytest.raises(Misuse, match="is not whole"):
        other.send(Server(url=url), {})


def test_a_run_that_another_call_removes_at_the_same_time_is_sent(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = a_kept_run(fake, "a")

    def send(*_: object) -> dict[str, Any]:
        shutil.rmtree(kept.place)
        return a_stored_run()

    monkeypatch.setattr(submitting, "send", send)
    assert kept.send(Server(url=fake.url), {})["id"] == 7
