"""What a page holds, shown or not.

Tests ask for values and states by data attributes (`data`, `states`), so that a reworded sentence breaks only the test
of the function that makes it.
"""

import json
import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode


def page_data(html: str, name: str) -> Any:
    """The data of a chart, as the page embeds it."""
    _, found, rest = html.partition(f'<script id="{name}" type="application/json">')
    assert found, f"the page has no data {name!r}"
    return json.loads(rest.partition("</script>")[0])


def elements(html: str, selector: str) -> list[LexborNode]:
    """All that the CSS selector finds, in the order of the page."""
    return LexborHTMLParser(html).css(selector)


def element(html: str, selector: str) -> LexborNode:
    """The only one that the CSS selector finds."""
    found = elements(html, selector)
    assert len(found) == 1, f"the page has {len(found)} of {selector!r}"
    return found[0]


def data(html: str, name: str) -> list[str]:
    """The values of the attribute `data-{name}`, in the order of the page."""
    return [node.attributes[f"data-{name}"] or "" for node in elements(html, f"[data-{name}]")]


def states(html: str, selector: str, *names: str) -> list[tuple[str | None, ...]]:
    """Of each element, the values of the attributes `data-{name}`; None: it has none."""
    return [tuple(node.attributes.get(f"data-{name}") for name in names) for node in elements(html, selector)]


def squeezed(html: str) -> str:
    """On one line: templates break lines where white space is not seen."""
    return re.sub(r" (/?>)", r"\1", " ".join(html.split()))


def text(html: str, selector: str) -> str:
    """What a person reads in the only one that the CSS selector finds, on one line."""
    return " ".join(element(html, selector).text().split())
