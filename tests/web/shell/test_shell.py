"""The frame of every page."""

import pytest
from django.test import Client

from tests.support.pages import elements, text

pytestmark = pytest.mark.django_db


def test_every_page_has_landmarks_and_a_way_past_the_navigation(client: Client) -> None:
    page = client.get("/").content.decode()
    for selector in ("a.skip[href='#main']", "main#main", "h1", "[role=search]"):
        assert len(elements(page, selector)) == 1, selector


def test_the_navigation_marks_where_the_reader_is(client: Client) -> None:
    page = client.get("/runs/").content.decode()
    assert text(page, "a[href='/runs/'][aria-current=page]") == "Runs"
    assert len(elements(page, "[aria-current=page]")) == 1
