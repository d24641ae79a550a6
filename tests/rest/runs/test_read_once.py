"""A submission's output is read once in its request, although recognition, checks and seal each need it."""

from collections import Counter
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.runs import seal
from apps.runs.ingest import submit
from apps.runs.models import Run
from apps.runs.tool_output import foreign, plain_text
from apps.runs.tool_output.once import held, reading_once
from apps.runs.tool_output.parsers import sysbench
from tests.rest.submissions import POINT_SELECT, a_description, send
from tests.runs.tool_output.deformed import DEFORMED
from tests.runs.tool_output.parsers.outputs import content


def counted(patch: pytest.MonkeyPatch, place: Any, name: str, calls: Counter[str]) -> None:
    function = getattr(place, name)

    def count(*arguments: Any, **named: Any) -> Any:
        calls[name] += 1
        return function(*arguments, **named)

    patch.setattr(place, name, count)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    found: Counter[str] = Counter()
    counted(monkeypatch, sysbench._Reader, "read", found)
    counted(monkeypatch, foreign, "output_of", found)
    counted(monkeypatch, plain_text, "_without", found)
    counted(monkeypatch, submit, "require_no_secret", found)
    return found


@pytest.mark.parametrize("headless", [False, True])
def test_sysbenchs_output_is_parsed_once_until_its_run_is_sealed(
    engineer: APIClient, calls: Counter[str], *, headless: bool
) -> None:
    """`headless`: without the line that it is recognised by, so that recognition parses it, too."""
    text = POINT_SELECT.read_bytes()
    text = text.partition(b"\n")[2] if headless else text
    answer = send(engineer, a_description(), DEFORMED["docker compose logs"](text))
    assert (answer.status_code, answer.json()["state"]) == (201, "sealed"), answer.content
    # In the file and in its plain text.
    assert calls == {"read": 1, "_without": 1, "require_no_secret": 2}


def test_another_tools_output_is_parsed_once_until_its_run_is_sealed(engineer: APIClient, calls: Counter[str]) -> None:
    text = DEFORMED["docker compose logs"](content("pgbench/select.txt"))
    answer = send(engineer, a_description(format="pgbench", workload={"parameters": {}}), text)
    assert (answer.status_code, answer.json()["state"]) == (201, "sealed"), answer.content
    assert calls == {"output_of": 1, "_without": 1, "require_no_secret": 2}


def test_nothing_is_held_after_a_request(engineer: APIClient, calls: Counter[str]) -> None:
    assert send(engineer, a_description()).status_code == 201
    before = calls["read"]
    assert seal.reseal(run_id=Run.objects.get().pk)
    assert calls["read"] == before + 1


def test_what_fails_is_tried_again_and_one_reading_ends_before_the_next() -> None:
    with reading_once():
        with pytest.raises(ValueError, match="x"):
            held("key", lambda: int("x"))
        assert held("key", lambda: 1) == 1
        assert held("key", lambda: 2) == 1
        with reading_once():
            assert held("key", lambda: 3) == 3
        assert held("key", lambda: 4) == 1
    assert held("key", lambda: 5) == 5
