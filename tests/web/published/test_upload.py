"""An article's file, sent by browser or API: taken as a whole, or refused with the entry that is wrong."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from apps.catalog import services as catalog
from apps.core.audit.models import AuditEntry
from apps.published import services
from apps.published.models import Article, Figure
from apps.web.published.upload import EXAMPLE
from tests.published.files import a_file
from tests.support.builders import a_user
from tests.support.pages import elements

pytestmark = pytest.mark.django_db
PAGE, ADDRESS = "/published/new/", "/api/v1/published/"


@pytest.fixture(autouse=True)
def seeded(db: None) -> None:
    catalog.seed()


def test_the_example_on_the_page_is_an_article(engineer: Client) -> None:
    answer = engineer.post(PAGE, {"text": EXAMPLE})
    assert answer.status_code == 302
    page = engineer.get(answer["Location"]).content.decode()
    assert "Two servers under sysbench" in page
    assert "about 1,210" in page


def test_a_file_is_taken_before_the_text_and_one_of_the_same_slug_replaces_it(engineer: Client, tmp_path: Path) -> None:
    for value in (12, 14):
        content = a_file(tmp_path, ("figures.0.value", value)).read_bytes()
        engineer.post(PAGE, {"file": SimpleUploadedFile("mine.yaml", content), "text": EXAMPLE})
    assert [article.slug for article in Article.objects.all()] == ["example-2026"]
    assert Figure.objects.filter(value=14).count() == 1
    loaded = AuditEntry.objects.filter(action="article.load").order_by("id")
    assert [(entry.before, entry.after) for entry in loaded] == [("", "2 figures"), ("2 figures", "2 figures")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("figures.0.unit", "h"), "figures[0].unit"),
        (("figures.0.metric", "throughputs"), "figures[0].metric"),
        (("slug", "aurora-pxc-2016"), "comes with the product"),
        (("slug", "figures"), "that of a page"),
        (("source.title", ...), "title"),
        (("notes", ["a\0b"]), "notes[0]"),
        (("conditions", {"limit": float("nan")}), "conditions.limit"),
    ],
)
def test_what_is_wrong_is_named_and_the_text_is_kept(
    engineer: Client, tmp_path: Path, change: tuple[str, object], said: str
) -> None:
    text = a_file(tmp_path, change).read_text()
    answer = engineer.post(PAGE, {"text": text})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert any(said in each.text() for each in elements(page, "[role=alert]"))
    assert "An example" in page or change[0] == "source.title"
    assert not Article.objects.exists()


def test_a_text_that_unfolds_or_is_too_long_is_refused(engineer: Client) -> None:
    unfolding = "a: &a [x]\nb: [*a, *a]\n"
    assert engineer.post(PAGE, {"text": unfolding}).status_code == 422
    long = SimpleUploadedFile("long.yaml", b"#" * (services.LARGEST + 1))
    answer = engineer.post(PAGE, {"file": long})
    assert "is larger than 1,048,576 bytes" in answer.content.decode()


def test_a_reader_adds_nothing(client: Client, tmp_path: Path) -> None:
    assert client.post(PAGE, {"text": a_file(tmp_path).read_text()}).status_code in (302, 403)
    assert not Article.objects.exists()


def test_the_api_takes_the_same_file(tmp_path: Path) -> None:
    api = APIClient()
    api.force_authenticate(a_user(role="engineer"))
    content = a_file(tmp_path).read_bytes()
    answer = api.post(ADDRESS, content, content_type="application/yaml")
    assert (answer.status_code, answer.json()) == (201, {"slug": "example-2026", "figures": 2})
    refused = api.post(ADDRESS, a_file(tmp_path, ("figures.0.unit", "h")).read_bytes(), content_type="text/yaml")
    assert refused.status_code == 422
    assert "figures[0].unit" in refused.content.decode()
    assert api.post(ADDRESS, b"\xff", content_type="application/yaml").status_code == 422
