"""What a page holds, shown or not."""

import json
import re
from typing import Any


def page_data(html: str, name: str) -> Any:
    """The data of a chart, as the page embeds it."""
    _, found, rest = html.partition(f'<script id="{name}" type="application/json">')
    assert found, f"the page has no data {name!r}"
    return json.loads(rest.partition("</script>")[0])


def squeezed(html: str) -> str:
    """On one line: templates break lines where white space is not seen."""
    return re.sub(r" (/?>)", r"\1", " ".join(html.split()))
