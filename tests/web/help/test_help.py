import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from apps.aws.clients import ALLOW
from apps.dispatch.campaigns.file import HELP as CAMPAIGN_HELP
from apps.published.parse import HELP as PUBLISHED_HELP
from apps.web.help import documents
from apps.web.help.documents import INDEX
from apps.web.templatetags.splash import with_help
from tests.paths import DOCS
from tests.support.pages import data, elements

NAMES = documents.names(DOCS)
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", NAMES)
def test_every_page_of_the_docs_is_shown_with_links_that_lead_somewhere(client: Client, name: str) -> None:
    address = reverse("web:help") if name == INDEX else reverse("web:help-page", args=[name])
    html = client.get(address).content.decode()
    text = re.split(r'<article class="help__text">|</article>', html)[1]
    assert re.search(r"<h1 id=", text)
    assert "&lt;!--" not in text
    anchors = set(re.findall(r' id="([^"]+)"', text))
    for link in re.findall(r'href="([^"]+)"', text):
        path, _, anchor = link.partition("#")
        if not path:
            assert anchor in anchors
        elif path.startswith("/help/"):
            assert client.get(path).status_code == 200, link
        else:
            assert path.startswith(("https://", "http://")), link


def test_html_in_a_page_is_shown_as_text(tmp_path: Path) -> None:
    links = "[out](../README.md) [script](javascript:alert(1))"
    (tmp_path / "page.md").write_text(f"# Page\n\n<script>alert(1)</script> and `<b>`\n\n{links}\n")
    found = documents.load(tmp_path, "page", known=["page"], address=lambda name: name, picture=lambda name: name)
    assert "<script" not in found.html
    assert "&lt;script&gt;" in found.html
    assert "href" not in found.html


def test_pictures_of_the_docs_are_shown(client: Client) -> None:
    page = client.get(reverse("web:help-page", args=["start/tour"])).content.decode()
    shown = [str(image.attributes["src"]) for image in elements(page, ".help__text img")]
    assert len(shown) > 5
    for address in shown:
        answer = client.get(address)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png"), address
        assert b"".join(answer.streaming_content).startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert client.get(reverse("web:help-picture", args=["none"])).status_code == 404


def test_what_is_no_page_is_not_found(client: Client) -> None:
    for name in ("none", "../README", "howto/../../config/settings", "why/architecture.md"):
        assert client.get(f"/help/{name}/").status_code == 404


def test_search_finds_the_section_that_has_every_word(client: Client) -> None:
    def found(words: str) -> str:
        return client.get(reverse("web:help-search"), {"words": words}).content.decode()

    page = found("Benjamini Hochberg")
    hits = [link.attributes["href"] or "" for link in elements(page, "[data-hits] li > a")]
    assert data(page, "hits") == [str(len(hits))]
    path, _, anchor = hits[0].partition("#")
    assert elements(client.get(path).content.decode(), f"[id='{anchor}']")
    nothing = found("zzqx")
    assert (data(nothing, "hits"), len(elements(nothing, "[data-state=no-matches]"))) == ([], 1)
    asked = found("")
    assert (data(asked, "hits"), elements(asked, "[data-state=no-matches]")) == ([], [])


def test_titles_count_more_than_text() -> None:
    about = documents.HelpDocument("b", "Leases", "", (documents.HelpSection("Leases", "leases", "x"),), ())
    mention = documents.HelpDocument("a", "Jobs", "", (documents.HelpSection("Jobs", "jobs", "leases end"),), ())
    found = documents.search([mention, about], ["leases"])
    assert [hit.document.title for hit in found] == ["Leases", "Jobs"]


def test_a_word_begins_where_it_is_sought() -> None:
    page = documents.HelpDocument("a", "Releases", "", (documents.HelpSection("Gate", "gate", "a release"),), ())
    assert documents.search([page], ["lease"]) == []
    assert len(documents.search([page], ["rel", "GATE"])) == 1


def test_a_document_named_in_a_problem_is_a_link_to_its_help_page(client: Client) -> None:
    for text in (ALLOW, PUBLISHED_HELP, CAMPAIGN_HELP):
        html = str(with_help(f"<{text}>"))
        (link,) = elements(html, "a")
        assert client.get(link.attributes["href"] or "").status_code == 200
        assert "docs/" not in html
        assert html.startswith("&lt;")
