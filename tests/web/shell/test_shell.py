"""The frame of every page."""

import pytest
from django.test import Client

from tests.support.builders import a_user
from tests.support.pages import elements
from tests.web.shell.every_page import addresses

pytestmark = pytest.mark.django_db


def test_every_page_has_landmarks_and_a_way_past_the_navigation(client: Client) -> None:
    page = client.get("/").content.decode()
    for selector in ("a.skip[href='#main']", "main#main", "h1", "[role=search]"):
        assert len(elements(page, selector)) == 1, selector


def test_the_navigation_marks_where_the_reader_is(client: Client) -> None:
    page = client.get("/runs/").content.decode()
    assert [each.attributes["href"] for each in elements(page, "[aria-current]")] == ["/runs/"]


def test_a_group_of_the_navigation_shows_its_pages_where_the_reader_is_on_one(client: Client) -> None:
    home, matrix = (client.get(address).content.decode() for address in ("/", "/matrix/"))
    assert len(elements(home, ".nav nav > ul:first-child > li")) == 6
    assert elements(home, ".nav ul ul") == []
    inner = [each.attributes["href"] for each in elements(matrix, ".nav ul ul a")]
    assert inner == ["/compare/", "/matrix/", "/comparisons/", "/published/"]
    assert [each.attributes["href"] for each in elements(matrix, "[aria-current]")] == ["/matrix/"]


def test_every_page_runs_scripts_of_our_own_files_alone(client: Client, enqueued: object) -> None:
    pages = [*addresses(), "/account/", "/people/", "/audit/", "/health/", "/share/?page=/findings/1/", "/none/"]
    client.force_login(a_user(role="administrator"))
    for address in pages:
        policy = client.get(address).headers["Content-Security-Policy"]
        directives = {name: values for name, *values in map(str.split, policy.split(";"))}
        assert {name: values for name, values in directives.items() if "script" in name} == {
            "script-src": ["'self'"]
        }, address
        assert [name for name, values in directives.items() if "'unsafe-inline'" in values] == ["style-src-attr"]
        assert "unsafe-eval" not in policy, address
