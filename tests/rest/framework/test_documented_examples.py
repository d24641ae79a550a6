"""The commands and snippets that the docs show are run as they stand, against a server, in the order of the pages."""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from pytest_django.live_server_helper import LiveServer

from apps.catalog.models import HardwareClass, Workload
from apps.catalog.services import seed
from apps.runs.models import Run
from apps.runs.queries import load_series
from tests.paths import DOCS, ROOT
from tests.rest.submissions import POINT_SELECT
from tests.support.builders import a_token, a_user

PAGES = (
    DOCS / "howto" / "submit-runs.md",
    DOCS / "reference" / "api.md",
    DOCS / "howto" / "read-series.md",
    DOCS / "howto" / "campaigns.md",
)
README = ROOT / "README.md"
STUDY = ROOT / "apps/rig/examples/data/ladders.tar.xz"
DOCUMENTED_SERVER = "http://127.0.0.1:8000"

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.needs("curl"),
]


def blocks(language: str, *pages: Path) -> list[str]:
    found: list[str] = re.findall(
        rf"^```{language}\n(.*?)^```$", "\n".join(page.read_text() for page in pages), re.MULTILINE | re.DOTALL
    )
    return found


def examples(*pages: Path) -> list[str]:
    return blocks("sh curl", *(pages or PAGES))


def run(command: str, *, server: LiveServer, folder: Path) -> Any:
    shown = command.replace(DOCUMENTED_SERVER, server.url).replace(
        "curl ", "curl --silent --show-error --fail-with-body ", 1
    )
    done = subprocess.run(["sh", "-c", shown], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{shown}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def a_hardware_class() -> None:
    """That of the examples; all that the catalog is filled with would have workload 1."""
    HardwareClass.objects.create(slug="m5.xlarge", name="m5.xlarge")


def test_they_all_work_one_after_another(live_server: LiveServer, tmp_path: Path) -> None:
    a_hardware_class()
    _, secret = a_token(a_user(), "documentation")
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "token").write_text(secret + "\n")
    (tmp_path / "sysbench.txt").write_bytes(POINT_SELECT.read_bytes())
    with connection.cursor() as cursor:
        # The pages refer to workload 1 and run 1.
        cursor.execute("ALTER SEQUENCE catalog_workload_id_seq RESTART; ALTER SEQUENCE runs_run_id_seq RESTART")
    submit, repeat, listed, series, campaign = examples()

    first = run(submit, server=live_server, folder=tmp_path)
    assert first["address"] == f"{live_server.url}/runs/1/"
    assert UUID(first["uid"])
    values = {entry["metric"]: entry["value"] for entry in first["measurements"]}
    assert values["client.throughput"] == 44980.11
    assert Run.objects.get().workload_id == 1

    assert run(repeat, server=live_server, folder=tmp_path)["id"] == 2
    found = run(listed, server=live_server, folder=tmp_path)["results"]
    assert [entry["id"] for entry in found] == [2, 1]
    drawn = run(series, server=live_server, folder=tmp_path)
    assert [entry["metric"] for entry in drawn["series"]] == ["client.throughput", "client.latency.p99"]
    assert drawn["series"][0]["values"][0] == 39886.9
    assert run(campaign, server=live_server, folder=tmp_path)["progress"]["runs"] == 6


def test_the_example_of_an_answer_is_what_the_server_says(live_server: LiveServer, tmp_path: Path) -> None:
    a_hardware_class()
    _, secret = a_token(a_user(), "documentation")
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "token").write_text(secret)
    (tmp_path / "sysbench.txt").write_bytes(POINT_SELECT.read_bytes())
    shown, *_ = [json.loads(text) for text in blocks("json", PAGES[0])]
    said = run(examples()[0], server=live_server, folder=tmp_path)
    assert shown.keys() == said.keys()
    (measurement,) = shown["measurements"]
    (same,) = [entry for entry in said["measurements"] if entry["metric"] == measurement["metric"]]
    described = {name: value for name, value in measurement.items() if value != "…" and name != "…"}
    assert described.items() <= same.items()
    raw = POINT_SELECT.read_bytes()
    assert float(raw[measurement["byte_start"] : measurement["byte_end"]]) == measurement["value"]


def test_the_snippets_load_runs_into_pandas_and_duckdb(live_server: LiveServer, tmp_path: Path) -> None:
    a_hardware_class()
    _, secret = a_token(a_user(), "documentation")
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "token").write_text(secret)
    (tmp_path / "sysbench.txt").write_bytes(POINT_SELECT.read_bytes())
    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE catalog_workload_id_seq RESTART; ALTER SEQUENCE runs_run_id_seq RESTART")
    for command in examples()[:2]:
        run(command, server=live_server, folder=tmp_path)
    (throughput,) = load_series(run_ids=[1], metrics=["client.throughput"])
    highest = throughput.values.max()

    described, aligned, aggregated, best = [
        executed(code, server=live_server, folder=tmp_path) for code in blocks("python", *PAGES)
    ]
    assert re.search(rf"^max +{highest:.6f}$", described, re.M)
    assert re.search(r"^\d+ +client\.throughput +client +transactions/s ", described, re.M)
    assert re.search(r"^run +1 +2$", aligned, re.M)
    assert f"{throughput.values[-1]:.2f}" in aligned
    assert re.search(rf"client\.throughput.*transactions/s.* {len(throughput.values)} ", aggregated)
    assert re.search(rf" 1 .* {highest} ", best)
    assert re.search(rf" 2 .* {highest} ", best)


def executed(code: str, *, server: LiveServer, folder: Path) -> str:
    """What it prints."""
    shown = code.replace(DOCUMENTED_SERVER, server.url)
    environment = {**os.environ, "COLUMNS": "200", "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-c", shown],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, f"{shown}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_what_pages_ask_of_the_example_study_names_a_workload_that_it_has() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE catalog_workload_id_seq RESTART")
    seed()
    with tarfile.open(STUDY) as study:
        measured = {path.split("/")[2][-8:] for path in study.getnames() if path.startswith("manifests/")}
    asked = {
        (page.name, int(number))
        for page in DOCS.rglob("*.md")
        for address in re.findall(r"=example-[^\s']*", page.read_text())
        for number in re.findall(r"workload=(\d+)", address)
    }
    assert len(asked) == 3
    missing = [each for each in asked if Workload.objects.get(pk=each[1]).content_hash[:8] not in measured]
    assert missing == []


def test_the_readme_submits_a_run_and_learns_its_address(live_server: LiveServer, tmp_path: Path) -> None:
    seed()
    _, secret = a_token(a_user(), "readme")
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "token").write_text(secret)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (submit,) = examples(README)
    assert submit.count("\n") == 1, "it is one line"
    said = run(submit, server=live_server, folder=tmp_path)
    assert said["address"] == f"{live_server.url}/runs/{said['id']}/"
    assert said["state"] == "sealed"
    assert said["measurements"]
