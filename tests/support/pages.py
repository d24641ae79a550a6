"""What a page holds beside what it shows."""

import json
from typing import Any


def page_data(html: str, name: str) -> Any:
    """The data of a chart, as the page embeds it."""
    _, found, rest = html.partition(f'<script id="{name}" type="application/json">')
    assert found, f"the page has no data {name!r}"
    return json.loads(rest.partition("</script>")[0])
