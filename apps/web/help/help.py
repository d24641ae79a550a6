"""Help: the documentation as pages of the product, with search."""

from collections.abc import Sequence
from functools import cache

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from apps.web.components.lists import typed
from apps.web.components.pages import render_page, takes_only
from apps.web.help import documents
from apps.web.help.documents import INDEX, HelpDocument, HelpHit

FOLDER = settings.BASE_DIR / "docs"
MOST_WORDS = 8


@require_safe
def show(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    if name not in _names():
        raise Http404(f"There is no help page {name}.")
    document = _document(name)
    context = {"document": document, "html": mark_safe(document.html)}  # noqa: S308 - HTML in the source is escaped
    return render_page(request, "web/help/page.html", context)


@require_safe
def picture(_request: HttpRequest, name: str) -> FileResponse:
    """One of docs/screenshots."""
    file = FOLDER / "screenshots" / f"{name}.png"
    if not file.is_file():
        raise Http404(f"There is no picture {name}.")
    return FileResponse(file.open("rb"), content_type="image/png")


@require_safe
@takes_only("words")
def search(request: HttpRequest) -> HttpResponse:
    text = typed(request, "words")
    return render_page(request, "web/help/search.html", {"typed": text, "hits": find(text.split()[:MOST_WORDS])})


def find(words: Sequence[str]) -> list[tuple[HelpHit, str]]:
    """Sections with each of the words, as in documents.search, with their addresses."""
    hits = documents.search([_document(name) for name in _names()], words)
    return [(hit, f"{_address(hit.document.name)}#{hit.section.anchor}") for hit in hits]


@cache
def _names() -> tuple[str, ...]:
    return documents.names(FOLDER)


@cache
def _document(name: str) -> HelpDocument:
    return documents.load(FOLDER, name, known=_names(), address=_address, picture=_picture)


def _picture(name: str) -> str:
    return reverse("web:help-picture", args=[name])


def _address(name: str) -> str:
    return reverse("web:help") if name == INDEX else reverse("web:help-page", args=[name])
