"""The docs hold together: every link leads somewhere, every page is short and in the index, every path exists."""

import re
from pathlib import Path

import pytest

from apps.web.help.documents import anchor_of
from tests.paths import DOCS, ROOT

MOST_WORDS = 1500
GENERATED = re.compile(r"^<!-- .*?^<!-- (?:end of .*?|to here) -->$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES = sorted(DOCS.rglob("*.md"))
LINKING = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub and GitLab make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {anchor_of(heading) for heading in headings}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_no_page_is_too_long(page: Path) -> None:
    assert len(GENERATED.sub("", page.read_text()).split()) <= MOST_WORDS


def test_the_index_has_every_page() -> None:
    index = DOCS / "README.md"
    listed = {(DOCS / link).resolve() for link in LINK.findall(index.read_text())}
    assert [str(page.relative_to(DOCS)) for page in PAGES if page != index and page not in listed] == []


def test_paths_that_the_docs_name_exist() -> None:
    named = re.compile(r"`((?:apps|bench|campaigns|client|config|frontend|lab|tests|workers)/[\w./-]*\w\.\w+)`")
    missing = {
        f"{page.relative_to(ROOT)}: {path}"
        for page in LINKING
        for path in named.findall(page.read_text())
        if not (ROOT / path).exists()
    }
    assert missing == set()


def test_code_names_pages_that_exist() -> None:
    named = re.compile(r"docs/[\w/-]+\.md")
    files = [
        file
        for folder in ("apps", "bench", "client", "config", "lab", "tests", "workers")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".py", ".html", ".json", ".yml"} and "node_modules" not in file.parts
    ]
    missing = {
        f"{file.relative_to(ROOT)}: {page}"
        for file in [*files, ROOT / "Makefile", ROOT / "docker-compose.yml"]
        for page in named.findall(file.read_text(errors="replace"))
        if not (ROOT / page).exists()
    }
    assert missing == set()
