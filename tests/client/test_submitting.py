"""Runs submitted to a real server."""

import json
from pathlib import Path

import pytest

from apps.runs.models import Run
from splashboard.submitting import describe
from tests.client.conftest import Command
from tests.rest.runs.test_own_results import LADDER, LADDER_YAML
from tests.rest.submissions import NO_TABLE, POINT_SELECT, a_description

LIVE = pytest.mark.django_db(transaction=True)


@LIVE
def test_a_run_is_submitted_once_however_often_it_is_sent(engineer: Command, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(a_description(tags=["nightly"])))
    wanted = ("submit", POINT_SELECT, "--description", tmp_path / "run.json", "--tag", "from CI")
    first = engineer(*wanted)
    assert first.code == 0, first.err
    run = Run.objects.get()
    assert first.out.startswith(f"Run {run.pk} is submitted; succeeded\n  http://")
    assert "client.throughput 44980.1 transactions/s" in first.out
    assert run.tags == ["from CI", "nightly"]
    assert engineer(*wanted).out.startswith(f"Run {run.pk} is already stored")

    # Once known, system and workload are named.
    known = ("submit", POINT_SELECT, "--system", "my-server", "--workload", run.workload_id, "--json")
    again = engineer(*known, "--started-at", "2026-11-20T11:00:00Z", "--repetition", 2)
    assert json.loads(again.out)["created"] is True
    failed = engineer("submit", NO_TABLE, *known[2:], "--started-at", "2026-11-20T12:00:00Z", "--failed", "no table")
    assert json.loads(failed.out)["outcome"] == "failed"
    assert Run.objects.count() == 3

    refused = engineer("submit", POINT_SELECT, "--system", "my-server", "--threads", 3)
    assert refused.code == 4
    assert "  workload: " in refused.err
    assert "  started_at: " in refused.err
    assert engineer("submit", POINT_SELECT, "--token-file", tmp_path / "run.json").code == 3


@LIVE
def test_a_csv_of_ones_own_becomes_a_run_for_each_value_of_the_columns(engineer: Command, tmp_path: Path) -> None:
    for name, content in (("ladder.csv", LADDER), ("ladder.yaml", LADDER_YAML)):
        (tmp_path / name).write_bytes(content)
    workload = {"parameters": {"benchmark": "checkout"}}
    (tmp_path / "run.json").write_text(json.dumps(a_description(workload=workload)))
    known = ("--mapping", tmp_path / "ladder.yaml", "--format", "own", "--description", tmp_path / "run.json")
    wanted = ("submit", tmp_path / "ladder.csv", *known)
    assert engineer(*wanted).code == 4
    lacking = engineer(*wanted, "--split", "threads")
    assert (lacking.code, "no column 'threads'; there are clients" in lacking.err) == (3, True)
    sent = engineer(*wanted, "--split", "clients", "--split", "repetition")
    assert sent.code == 0, sent.err
    assert "ladder.csv (clients 8, repetition 2)\nRun " in sent.out
    runs = Run.objects.order_by("pk").values_list("load_level__threads", "repetition")
    assert list(runs) == [(8, 1), (8, 2), (32, 1)]


@LIVE
def test_without_a_token_it_says_where_one_comes_from(engineer: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPLASHBOARD_TOKEN")
    said = engineer("submit", POINT_SELECT, "--system", "my-server")
    assert said.code == 4
    assert "manage.py create_token" in said.err


def test_options_count_before_the_file() -> None:
    stated = {"system": "a", "repetition": 1, "load_level": {"threads": 8, "rate": 5}, "tags": ["x"]}
    options = {"system": "b", "threads": 16, "tag": ["y"], "failed": "out of disk", "workload": None}
    assert describe(stated, options) == {
        "system": "b",
        "repetition": 1,
        "load_level": {"threads": 16, "rate": 5},
        "tags": ["x", "y"],
        "outcome": "failed",
        "reason": "out of disk",
    }
