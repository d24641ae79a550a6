"""Reading the HTML of pages."""

import re


def squeezed(html: str) -> str:
    """On one line: templates break lines where white space is not seen."""
    return re.sub(r" (/?>)", r"\1", " ".join(html.split()))
