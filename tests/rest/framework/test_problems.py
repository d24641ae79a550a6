"""Every error of the API is a problem document that says what happened, and where."""

import errno
import logging
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404
from django.test import Client, RequestFactory
from rest_framework import exceptions

from apps.core.problems import FieldProblem, Invalid
from apps.rest.framework import problems
from apps.runs.api import artifacts
from tests.support.builders import a_user


def answer(error: Exception, method: str = "POST") -> Any:
    request = RequestFactory().generic(method, "/api/v1/somewhere/")
    return problems.as_problem(error, {"request": request})


@pytest.mark.parametrize(
    ("error", "status", "title"),
    [
        (Http404(), 404, "Not Found"),
        (Http404("no run 7"), 404, "Not Found"),
        (exceptions.NotFound(), 404, "Not Found"),
        (PermissionDenied(), 403, "Forbidden"),
        (exceptions.PermissionDenied(), 403, "Forbidden"),
        (exceptions.ParseError("no JSON"), 400, "Bad Request"),
        (exceptions.MethodNotAllowed("PATCH"), 405, "Method Not Allowed"),
        (exceptions.UnsupportedMediaType("text/csv"), 415, "Unsupported Media Type"),
        (exceptions.Throttled(wait=30), 429, "Too Many Requests"),
        (RequestDataTooBig("The body is too big."), 413, "Request Entity Too Large"),
        (problems.ApiProblem(status=409, kind="lease-lost", title="Lease lost", detail="gone"), 409, "Lease lost"),
        (KeyError("secret inside"), 500, "Internal Server Error"),
        (OSError(errno.EIO, "Input/output error"), 500, "Internal Server Error"),
        (OSError(errno.ENOSPC, "No space left on device", "/secret/path"), 507, "Insufficient Storage"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), 507, "Insufficient Storage"),
    ],
)
def test_each_error_has_its_members(error: Exception, status: int, title: str) -> None:
    response = answer(error)
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert (response.data["status"], response.data["title"]) == (status, title)
    assert response.data["detail"]
    assert set(response.data) == {"type", "title", "status", "detail"}


def test_kind_makes_the_type_and_its_absence_is_about_blank() -> None:
    assert answer(problems.ApiProblem(status=409, kind="lease-lost", detail="x")).data["type"] == (
        "urn:splashboard:problem:lease-lost"
    )
    assert answer(Http404()).data["type"] == "about:blank"


def test_unforeseen_error_shows_nothing_of_its_inside_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = answer(KeyError("secret inside"))
    assert "secret" not in str(response.data)
    assert caplog.records[0].exc_info is not None
    assert "POST /api/v1/somewhere/" in caplog.text


def test_an_error_of_the_server_claims_nothing_about_what_was_stored() -> None:
    assert (
        "What was stored is uncertain. Sending the same again is safe except for a campaign"
        in (answer(KeyError()).data["detail"])
    )
    assert answer(KeyError(), "GET").data["detail"] == "Internal error; details are in the server's log."


def full_database() -> OperationalError:
    """As Django raises it."""
    error = OperationalError("could not extend file: No space left on device")
    error.__cause__ = psycopg.errors.DiskFull()
    return error


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device", "/secret"), full_database()])
def test_full_disk_has_its_remedy_and_is_logged(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    response = answer(error)
    assert (response.status_code, response.data["type"]) == (507, "urn:splashboard:problem:disk-full")
    assert "free some space" in response.data["detail"]
    assert "send the same again" in response.data["detail"]
    assert "/secret" not in str(response.data)
    assert "No space left on device" in caplog.text


def test_a_store_that_may_not_be_written_says_that_nothing_was_stored(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    response = answer(artifacts.StoreClosed())
    assert (response.status_code, response.data["type"]) == (503, "urn:splashboard:problem:store-closed")
    assert "Nothing was stored" in response.data["detail"]
    assert "chown -R" in response.data["detail"]
    assert response.headers["Retry-After"]
    assert "stored" not in answer(artifacts.StoreClosed(), "GET").data["detail"]


@pytest.mark.parametrize("state", [None, "08006", "57P01", "57P03", "53300"])
def test_a_database_that_is_away_asks_to_come_again(state: str | None) -> None:
    cause = psycopg.OperationalError("connection to /secret failed")
    cause.sqlstate = state
    error = OperationalError("connection to /secret failed")
    error.__cause__ = cause
    response = answer(error)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.data["type"] == "urn:splashboard:problem:out-of-service"
    assert "/secret" not in str(response.data)


def test_a_deadlock_is_no_outage() -> None:
    error = OperationalError("deadlock detected")
    error.__cause__ = psycopg.errors.DeadlockDetected()
    assert answer(error).status_code == 500


def test_nested_errors_become_dotted_fields() -> None:
    error = exceptions.ValidationError(
        {"name": ["is empty"], "runs": [{}, {"threads": ["too many"]}], "non_field_errors": ["no"], "tags": ["a", "b"]}
    )
    response = answer(error)
    assert response.status_code == 422
    assert [(entry["field"], entry["message"]) for entry in response.data["errors"]] == [
        ("name", "is empty"),
        ("runs.1.threads", "too many"),
        ("", "no"),
        ("tags", "a"),
        ("tags", "b"),
    ]


def test_wrong_parameter_of_an_address_is_400_and_a_wrong_body_422() -> None:
    error = Invalid([FieldProblem("limit", "is 0", "use 1 to 500")])
    assert answer(error, "GET").status_code == 400
    response = answer(error, "POST")
    assert response.status_code == 422
    assert response.data["errors"] == [{"field": "limit", "message": "is 0", "remedy": "use 1 to 500"}]
    assert response.data["detail"] == "limit: is 0 (use 1 to 500)"


def test_throttled_caller_gets_the_time_to_retry_after() -> None:
    assert answer(exceptions.Throttled(wait=30)).headers["Retry-After"] == "30"


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/v1/", "/api/v2/runs/", "/api/v1/nothing/", "/api/v1/agent/nothing"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unknown_address_is_a_problem(client: Client, path: str, method: str) -> None:
    response = client.generic(method, path)
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    assert path in response.json()["detail"]


def test_forgotten_slash_is_pointed_out(client: Client) -> None:
    assert client.post("/api/v1/systems").json()["detail"].endswith("use /api/v1/systems/.")
    assert client.post("/api/v1/agent/claim/").json()["detail"].endswith("use /api/v1/agent/claim.")


def test_wrong_method_names_the_right_ones(db: None, client: Client) -> None:
    client.force_login(a_user())
    response = client.delete("/api/v1/platforms/")
    assert response.status_code == 405
    assert response.headers["Content-Type"] == "application/problem+json"
    assert "GET" in response.headers["Allow"]


@pytest.mark.parametrize("header", ["", "Bearer abc", "abc"])
@pytest.mark.parametrize(
    ("address", "scheme", "remedy"),
    [("/api/v1/runs/", "Token", "create_token"), ("/api/v1/agent/hello", "Agent", "register_agent")],
)
def test_missing_credentials_are_refused_with_the_form_of_the_header(
    db: None, client: Client, header: str, address: str, scheme: str, remedy: str
) -> None:
    response = client.post(address, headers={"Authorization": header} if header else {})
    assert response.status_code == 401
    said = response.json()["detail"]
    assert f"send the header 'Authorization: {scheme} <secret>'" in said
    assert remedy in said
    assert "abc" not in said
