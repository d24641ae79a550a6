"""Pages for what went wrong."""

import base64
import errno
import hashlib
import re
from typing import Any

import psycopg
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import URLPattern, path

from apps.core.server import space
from apps.runs.api import artifacts
from apps.web.templatetags.splash import GROUPS, SETTINGS
from apps.web.urls import urlpatterns as pages
from config import urls
from config.urls import urlpatterns as product
from tests.support.builders import a_user
from tests.support.pages import elements, text


def _fail(_request: HttpRequest) -> HttpResponse:
    raise RuntimeError("on purpose")


def _without_database(_request: HttpRequest) -> HttpResponse:
    raise OperationalError("connection refused") from psycopg.OperationalError("connection refused")


def _full(_request: HttpRequest) -> HttpResponse:
    raise OSError(errno.ENOSPC, "No space left on device")


def _closed_store(_request: HttpRequest) -> HttpResponse:
    raise artifacts.StoreClosed


def _without_store(_request: HttpRequest) -> HttpResponse:
    raise OSError("file not written") from EndpointConnectionError(endpoint_url="http://store")


def _store_refuses(_request: HttpRequest) -> HttpResponse:
    answer: Any = {"Error": {"Code": "NoSuchBucket"}, "ResponseMetadata": {"HTTPStatusCode": 404}}
    raise ClientError(answer, "PutObject")


def _store_breaks(_request: HttpRequest) -> HttpResponse:
    answer: Any = {"Error": {"Code": "InternalError"}, "ResponseMetadata": {"HTTPStatusCode": 500}}
    raise ClientError(answer, "PutObject")


def _deadlocked(_request: HttpRequest) -> HttpResponse:
    raise OperationalError("deadlock detected") from psycopg.errors.DeadlockDetected("deadlock detected")


urlpatterns: list[URLPattern] = [
    path("fails/", _fail),
    path("without-database/", _without_database),
    path("deadlocked/", _deadlocked),
    path("full/", _full),
    path("closed-store/", _closed_store),
    path("without-store/", _without_store),
    path("store-refuses/", _store_refuses),
    path("store-breaks/", _store_breaks),
    *product,  # type: ignore[list-item]
]
handler500 = urls.handler500


@pytest.mark.django_db
def test_an_unknown_address_says_so_within_the_frame(client: Client) -> None:
    answer = client.get("/no/such/page/")
    assert answer.status_code == 404
    page = answer.content.decode()
    assert text(page, "[data-state=not-found] code") == "/no/such/page/"
    assert elements(page, "#search")


@pytest.mark.urls("tests.web.shell.test_errors")
@pytest.mark.parametrize("address", ["/fails/", "/without-database/"])
def test_the_pages_that_stand_alone_may_use_their_style(client: Client, address: str) -> None:
    client.raise_request_exception = False
    answer = client.get(address)
    (style,) = re.findall("<style>(.*?)</style>", answer.content.decode(), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in answer["Content-Security-Policy"]


@pytest.mark.urls("tests.web.shell.test_errors")
def test_a_failure_has_its_page_without_database_or_front_end(client: Client) -> None:
    client.raise_request_exception = False
    answer = client.get("/fails/")
    assert answer.status_code == 500
    assert elements(answer.content.decode(), "[data-state=failed] a[href='/']")


@pytest.mark.urls("tests.web.shell.test_errors")
def test_while_the_database_is_away_a_page_says_so_and_when_to_come_again(client: Client) -> None:
    client.raise_request_exception = False
    answer = client.get("/without-database/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert elements(answer.content.decode(), "[data-state=out-of-service]")
    assert client.get("/deadlocked/").status_code == 500


@pytest.mark.urls("tests.web.shell.test_errors")
@pytest.mark.parametrize("address", ["/without-store/", "/store-breaks/"])
def test_while_the_object_store_is_away_a_page_says_so_and_when_to_come_again(client: Client, address: str) -> None:
    client.raise_request_exception = False
    answer = client.get(address)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert text(answer.content.decode(), "[data-state=out-of-service] h1") == "The object store does not answer"
    assert client.get("/store-refuses/").status_code == 500, "a wrong bucket does not come back by itself"


@pytest.mark.django_db
def test_with_too_little_space_pages_answer_and_say_so_and_forms_do_not(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(a_user(role="administrator"))
    assert not elements(client.get("/agents/").content.decode(), "[data-state=read-only]")
    monkeypatch.setattr(space, "free_bytes", lambda _folder: 1)
    answer = client.get("/agents/")
    assert answer.status_code == 200
    assert "has 1 B free and needs" in text(answer.content.decode(), "[data-state=read-only]").replace("\u00a0", " ")
    refused = client.post("/agents/enrolments/", {})
    assert (refused.status_code, refused["Retry-After"]) == (507, "30")
    assert elements(refused.content.decode(), "[data-state=disk-full]")
    assert client.post("/sign-out/").status_code == 302


@pytest.mark.urls("tests.web.shell.test_errors")
def test_a_write_that_finds_no_space_is_said_on_the_page_and_closes(
    client: Client, space_gate: space.SpaceGate
) -> None:
    client.raise_request_exception = False
    answer = client.get("/full/")
    assert answer.status_code == 507
    assert elements(answer.content.decode(), "[data-state=disk-full]")
    assert space_gate.shortage() == space.Shortage()


@pytest.mark.django_db
@pytest.mark.urls("tests.web.shell.test_errors")
def test_artifacts_that_may_not_be_written_are_said_on_the_page_with_the_remedy(client: Client) -> None:
    client.raise_request_exception = False
    answer = client.get("/closed-store/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "Nothing was stored: the server may not write its artifacts" in text(answer.content.decode(), "h1")
    assert "chown -R" in text(answer.content.decode(), ".lede")


@pytest.mark.django_db
def test_a_form_without_its_token_is_not_accepted() -> None:
    answer = Client(enforce_csrf_checks=True).post("/search/", {"q": "x"})
    assert answer.status_code == 403
    assert elements(answer.content.decode(), "[data-state=form-not-accepted]")


def test_every_page_of_the_navigation_has_an_address() -> None:
    named = {name for _, group in GROUPS for name, _ in group} | {name for name, _ in SETTINGS}
    assert named <= {pattern.name for pattern in pages}
