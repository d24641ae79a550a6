"""Which format an answer comes in: as Accept says with its qualities, or as the address names it."""

from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.runs.models import Run
from tests.rest.series.test_series import RUNNING, sealed
from tests.rest.submissions import ADDRESS, fields_of

JSON, CSV = "application/json", "text/csv"
ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.fixture
def run(db: None) -> Run:
    return sealed()


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        ("", JSON),
        ("*/*", JSON),
        (BROWSER, JSON),
        (CSV, CSV),
        ("TEXT/CSV", CSV),
        ("text/csv; charset=utf-8", CSV),
        ("text/*", CSV),
        (ARROW, ARROW),
        (PARQUET, PARQUET),
        (f"{PARQUET}, {CSV};q=0.5", PARQUET),
        (f"{PARQUET};q=0.4, {CSV};q=0.5", CSV),
        (f"{ARROW}, */*", ARROW),
        (f"{ARROW};q=0.1, */*;q=0.2", JSON),
        ("application/json;q=0, */*", CSV),
        ("application/*;q=0.1, application/json;q=0, text/csv;q=0.05", ARROW),
        (f"text/html, {CSV};q=0.001", CSV),
        (f"{PARQUET};q=never, {CSV}", CSV),
        (f",, {CSV} ,", CSV),
    ],
)
def test_the_format_is_the_one_that_is_liked_best(anyone: APIClient, run: Run, accept: str, given: str) -> None:
    for path in (f"{ADDRESS}{run.pk}/series/?metric={RUNNING}", f"{ADDRESS}{run.pk}/series-index/"):
        answer = anyone.get(path, headers={"Accept": accept})
        assert answer.status_code == 200
        assert answer["Content-Type"].partition(";")[0] == given
        assert "Accept" in answer["Vary"]


@pytest.mark.parametrize(
    "accept", ["text/html", "image/*", f"{CSV};q=0", "application/json;q=0", "nonsense", "a/b;q=x"]
)
def test_a_format_that_there_is_not_is_answered_by_those_there_are(anyone: APIClient, run: Run, accept: str) -> None:
    answer = anyone.get(f"{ADDRESS}{run.pk}/series/", headers={"Accept": accept})
    assert (answer.status_code, answer["Content-Type"]) == (406, "application/problem+json")
    problem = answer.json()
    assert problem["type"] == "urn:splashboard:problem:not-acceptable"
    assert all(media_type in problem["detail"] for media_type in (JSON, CSV, ARROW, PARQUET))


@pytest.mark.parametrize(("name", "given"), [("json", JSON), ("csv", CSV), ("arrow", ARROW), ("parquet", PARQUET)])
def test_the_address_may_name_the_format_whatever_a_browser_accepts(
    anyone: APIClient, run: Run, name: str, given: str
) -> None:
    answer = anyone.get(f"{ADDRESS}{run.pk}/series/?metric={RUNNING}&format={name}", headers={"Accept": "text/html"})
    assert answer["Content-Type"].partition(";")[0] == given
    if name != "json":
        assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}-series.{name}"'


def test_a_format_that_is_not_known_is_a_wrong_parameter(anyone: APIClient, run: Run) -> None:
    answer = anyone.get(f"{ADDRESS}{run.pk}/series/?format=xlsx")
    assert (answer.status_code, fields_of(answer)) == (400, ["format"])


@pytest.mark.parametrize("accept", [CSV, ARROW, PARQUET])
def test_a_problem_is_a_problem_in_whatever_format_the_answer_was_to_be(anyone: APIClient, accept: str) -> None:
    missing = anyone.get(f"{ADDRESS}999/series/", headers={"Accept": accept})
    assert (missing.status_code, missing["Content-Type"]) == (404, "application/problem+json")
    assert missing.json()["detail"] == "There is no run 999."
    wrong = anyone.get("/api/v1/series/?run=999", headers={"Accept": accept})
    assert (wrong.status_code, fields_of(wrong)) == (400, ["run"])


@pytest.mark.parametrize("accept", [JSON, CSV, ARROW, PARQUET])
def test_no_format_is_given_to_strangers_where_reading_needs_an_account(
    anyone: APIClient, reader: APIClient, run: Run, accept: str
) -> None:
    with override_settings(SPLASHBOARD_PUBLIC_READ=False):
        for path in (f"{ADDRESS}{run.pk}/series/", f"{ADDRESS}{run.pk}/series-index/", f"/api/v1/series/?run={run.pk}"):
            assert anyone.get(path, headers={"Accept": accept}).status_code == 401
            assert reader.get(path, headers={"Accept": accept}).status_code == 200


@pytest.mark.parametrize("path", [f"series/?metric={RUNNING}&points=100", "series-index/", "series/"])
def test_each_format_has_its_own_etag(anyone: APIClient, run: Run, path: str) -> None:
    address = f"{ADDRESS}{run.pk}/{path}"
    tags = {accept: anyone.get(address, headers={"Accept": accept})["ETag"] for accept in (JSON, CSV, ARROW, PARQUET)}
    assert len(set(tags.values())) == 4
    for accept, tag in tags.items():
        held = anyone.get(address, headers={"Accept": accept, "If-None-Match": tag})
        assert (held.status_code, held.content, held["ETag"]) == (304, b"", tag)
        assert "Accept" in held["Vary"]
        other = anyone.get(address, headers={"Accept": JSON if accept != JSON else CSV, "If-None-Match": tag})
        assert other.status_code == 200


def test_an_etag_made_weak_by_compression_still_counts(anyone: APIClient, run: Run) -> None:
    headers = {"Accept": CSV, "Accept-Encoding": "gzip"}
    answer = anyone.get(f"{ADDRESS}{run.pk}/series/", headers=headers)
    assert (answer["Content-Encoding"], answer["ETag"][:2]) == ("gzip", "W/")
    again = anyone.get(f"{ADDRESS}{run.pk}/series/", headers={**headers, "If-None-Match": answer["ETag"]})
    assert again.status_code == 304


def test_a_head_request_reads_no_samples(anyone: APIClient, run: Run) -> None:
    whole = anyone.get(f"{ADDRESS}{run.pk}/series/?format=csv")
    with CaptureQueriesContext(connection) as queries:
        head: Any = anyone.head(f"{ADDRESS}{run.pk}/series/?format=csv")
    assert (head.status_code, b"".join(head.streaming_content), len(queries)) == (200, b"", 1)
    assert (head["ETag"], head["Content-Type"]) == (whole["ETag"], whole["Content-Type"])
    assert not head.has_header("Content-Length")
