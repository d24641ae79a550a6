"""Findings as an Atom feed."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.regressions.models import Finding
from tests.regressions.releases.released import two_releases
from tests.support.builders import START
from tests.support.pages import elements
from tests.web.compare.compared import page
from tests.web.releases.checked import a_finding, checked

pytestmark = pytest.mark.django_db


def test_findings_are_a_feed_the_last_changed_first_with_filters(client: Client) -> None:
    two_releases()
    check = checked()
    a_finding(check, title="first", changed_at=START)
    Finding.objects.create(
        kind="change", title="second <b>", verdict="worse", state="confirmed", changed_at=START + timedelta(hours=1)
    )
    response = client.get("/findings/feed.atom")
    text = response.content.decode()
    assert response["Content-Type"].startswith("application/atom+xml")
    assert text.index("<title>second &lt;b&gt;</title>") < text.index("<title>first</title>")
    assert [
        [each.attributes["term"] for each in elements(entry.html or "", "category")]
        for entry in elements(text, "entry")
    ] == [
        ["worse", "confirmed"],
        ["worse", "new"],
    ]
    assert "second" not in client.get("/findings/feed.atom?state=new").content.decode()
    assert client.get("/findings/feed.atom", headers={"If-None-Match": response["ETag"]}).status_code == 304
    assert page(client, "/findings/feed.atom?state=odd", 400).startswith("state: ")


def test_feeds_with_other_filters_are_other_feeds(client: Client) -> None:
    def names(query: str) -> tuple[str, ...]:
        head = html.unescape(client.get(f"/findings/feed.atom{query}").content.decode())
        own, key = re.findall(r'<link[^>]* rel="self"[^>]*>|<id>[^<]+</id>', head)[:2]
        return re.search(r'href="([^"]+)"', own)[1], key[4:-5]  # type: ignore[index]

    two_releases()
    host = "http://testserver/findings/"
    assert names("") == (f"{host}feed.atom", host)
    filters = "?state=new&platform=mariadb"
    assert names("?platform=mariadb&state=new") == (f"{host}feed.atom{filters}", f"{host}{filters}")


def test_more_findings_take_no_more_queries_of_the_feed(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        finding = Finding.objects.create(
            kind="change", title=f"{number}", part=number, verdict="worse", changed_at=START
        )
        for _ in range(7):
            finding.notes.create(what="comment", text="words", by=None)
    with django_assert_max_num_queries(5):
        text = client.get("/findings/feed.atom").content.decode()
    assert text.count("<entry>") == 5
    assert text.count("words") == 25
