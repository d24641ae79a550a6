"""Parts of pages that renew themselves leave the keyboard's focus where it is: htmx finds it by the element's id."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

TEMPLATES = ROOT / "apps" / "web" / "templates"
POLLED = re.compile(r"""<(\w+)\b[^<]*hx-trigger="every """)
FOCUSED = re.compile(r"""<(?:a|button|input|select|textarea|summary)\b[^<]*?>|<\w+\b[^<]*?\btabindex="0"[^<]*?>""")
TABLE = re.compile(r"""{% component "table".*?(?={% endcomponent|{% for|<t)""", re.DOTALL)
INCLUDED = re.compile(r"""{% include "([\w/.]+)"|{% component "(\w+)\"""")
TAG = re.compile(r"""{[%#].*?[%#]}|{{.*?}}""", re.DOTALL)
USE = re.compile(r"{% comment %}.*?{% endcomment %}", re.DOTALL)
ID = re.compile(r"""[\s}]id="|{% slot id %}""")


def polled() -> list[tuple[Path, str]]:
    """Every template with an element that asks again and again, and that element."""
    found = []
    for path in sorted(TEMPLATES.rglob("*.html")):
        text = path.read_text()
        found += [(path, _element(text, start)) for start in POLLED.finditer(text)]
    return found


def _element(text: str, start: re.Match[str]) -> str:
    depth = 0
    for tag in re.finditer(rf"</?{start[1]}\b", text[start.start() :]):
        depth += -1 if tag[0].startswith("</") else 1
        if depth == 0:
            return text[start.start() : start.start() + tag.end()]
    raise AssertionError(f"no end of {start[0]}")


def without_id(text: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """What can have the focus and has no id, in the templates that it includes too."""
    text = TAG.sub(lambda tag: re.sub(r"[<>]", " ", tag[0]), USE.sub("", text))
    found = [*TABLE.finditer(text), *FOCUSED.finditer(text)]
    yield from (each[0] for each in found if not ID.search(each[0]))
    for named in INCLUDED.finditer(text):
        name = named[1] or f"web/components/{named[2]}.html"
        if name not in seen:
            yield from without_id((TEMPLATES / name).read_text(), seen | {name})


@pytest.mark.parametrize(("path", "element"), polled(), ids=lambda value: value.name if isinstance(value, Path) else "")
def test_what_can_have_the_focus_in_a_part_that_renews_itself_has_an_id(path: Path, element: str) -> None:
    assert [*without_id(element)] == []


def test_every_part_that_renews_itself_is_found() -> None:
    assert len(polled()) >= 7
