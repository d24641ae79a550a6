"""The pages of docs/ as HTML, with their sections for search. Pure.

CommonMark with tables; embedded HTML is shown as text. Anchors of headings are those of GitHub.
"""

import json
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

INDEX = "README"
NOTEBOOK = ".ipynb"
# Markers around generated parts.
_COMMENT = re.compile(r"^<!--.*?-->\n?", re.MULTILINE | re.DOTALL)
MOST_HITS = 30
SNIPPET = 160  # characters


@dataclass(frozen=True)
class HelpSection:
    """Text below one heading, as plain text; `anchor` is empty above the first heading."""

    title: str
    anchor: str
    text: str


@dataclass(frozen=True)
class HelpDocument:
    """`name`: path below docs/ without its ending, as in `howto/agent`. `headings`: (anchor, title) of level 2."""

    name: str
    title: str
    html: str
    sections: tuple[HelpSection, ...]
    headings: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class HelpHit:
    document: HelpDocument
    section: HelpSection
    snippet: str

    @property
    def title(self) -> str:
        page, section = self.document.title, self.section.title
        return page if section in ("", page) else f"{page}: {section}"


def anchor_of(heading: str) -> str:
    """The anchor as GitHub and GitLab generate it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def names(folder: Path) -> tuple[str, ...]:
    """Of pages in Markdown and of notebooks."""
    files = (file for ending in (".md", NOTEBOOK) for file in folder.rglob(f"*{ending}"))
    return tuple(sorted(str(file.relative_to(folder).with_suffix("")) for file in files))


def load(
    folder: Path, name: str, *, known: Sequence[str], address: Callable[[str], str], picture: Callable[[str], str]
) -> HelpDocument:
    """`name` is one of `known`; `address` gives the address of a page by its name, `picture` that of a picture of
    docs/screenshots. Raises OSError."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_COMMENT.sub("", _source(folder, name)))
    sections, headings, title = [], [], name
    heading, lines = ("", ""), list[str]()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            sections.append(HelpSection(*heading, "\n".join(lines)))
            text = _plain(tokens[place + 1])
            heading, lines = (text, anchor_of(text)), []
            token.attrSet("id", heading[1])
            if token.tag == "h1":
                title = text
            elif token.tag == "h2":
                headings.append((heading[1], text))
        elif token.type == "inline":
            _lead(token, name, known, address)
            _show(token, picture)
            if tokens[place - 1].type != "heading_open":
                lines.append(_plain(token))
        elif token.type == "fence":
            lines.append(token.content)
    sections.append(HelpSection(*heading, "\n".join(lines)))
    html = markdown.renderer.render(tokens, markdown.options, {}).replace("<pre>", '<pre tabindex="0">')
    # Wide tables scroll on their own, as on all pages.
    html = html.replace("<table>", '<div class="table-scroll" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )
    kept = tuple(section for section in sections if section.title or section.text)
    return HelpDocument(name, title, html, kept, tuple(headings))


def _source(folder: Path, name: str) -> str:
    """A page as Markdown; of a notebook its texts and its code."""
    notebook = folder / f"{name}{NOTEBOOK}"
    if not notebook.exists():
        return (folder / f"{name}.md").read_text()
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(notebook.read_text())["cells"]]
    return "\n\n".join(text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in cells)


def search(documents: Sequence[HelpDocument], words: Sequence[str]) -> list[HelpHit]:
    """Sections with a match for each word as a prefix; matches in their title first, then in their page's
    title; at most MOST_HITS."""
    wanted = [re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE) for word in words]
    found = []
    for document in documents:
        for place, section in enumerate(document.sections):
            texts = (section.title, document.title, section.text)
            if wanted and all(any(word.search(text) for text in texts) for word in wanted):
                above = [sum(bool(word.search(text)) for word in wanted) for text in texts[:2]]
                rank = (-above[0], -above[1], document.name, place)
                found.append((rank, HelpHit(document, section, _snippet(section.text, wanted))))
    return [hit for _, hit in sorted(found, key=lambda each: each[0])[:MOST_HITS]]


def _plain(token: Token) -> str:
    texts = {"text", "code_inline"}
    return "".join(
        " " if child.type == "softbreak" else child.content if child.type in texts else ""
        for child in token.children or ()
    )


def _lead(token: Token, name: str, known: Sequence[str], address: Callable[[str], str]) -> None:
    """Links between pages lead to their addresses; those to other files of the checkout become plain text."""
    kept: list[Token] = []
    dropped = 0
    for child in token.children or ():
        if child.type == "link_open":
            link = str(child.attrGet("href"))
            path, _, anchor = link.partition("#")
            page = path.removesuffix(".md").removesuffix(NOTEBOOK)
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), page))
            if re.match(r"[a-z]+:", link) or not path:
                pass
            elif target in known:
                child.attrSet("href", address(target) + (f"#{anchor}" if anchor else ""))
            else:
                dropped += 1
                continue
        elif child.type == "link_close" and dropped:
            dropped -= 1
            continue
        kept.append(child)
    token.children = kept


def _show(token: Token, picture: Callable[[str], str]) -> None:
    for child in token.children or ():
        if child.type == "image":
            child.attrSet("src", picture(Path(str(child.attrGet("src"))).stem))
            child.attrSet("loading", "lazy")


def _snippet(text: str, words: Sequence[re.Pattern[str]]) -> str:
    flat = " ".join(text.split())
    at = min((match.start() for word in words if (match := word.search(flat))), default=0)
    start = flat.rfind(" ", 0, max(0, at - SNIPPET // 3)) + 1
    return ("…" if start else "") + flat[start : start + SNIPPET] + ("…" if len(flat) > start + SNIPPET else "")
