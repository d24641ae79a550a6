"""The frame of every page."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_every_page_has_landmarks_and_a_way_past_the_navigation(client: Client) -> None:
    page = client.get("/").content.decode()
    assert '<a class="skip" href="#main">' in page
    assert '<main id="main"' in page
    assert page.count("<h1") == 1
    assert 'role="search"' in page


def test_the_navigation_marks_where_the_reader_is(client: Client) -> None:
    page = client.get("/runs/").content.decode()
    assert '<a href="/runs/" aria-current="page">Runs</a>' in page
    assert page.count('aria-current="page"') == 1
