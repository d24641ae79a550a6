"""Badges: the result of a release as a small SVG for a README or a wiki: words and colour, no script. Pure."""

from html import escape

# Text on these has a contrast of at least 4.5:1.
COLOURS = {"better": "#116329", "worse": "#b3261e", "unknown": "#76580b", "none": "#47525e"}
LABEL = "#3d434a"
WIDE, NARROW = "MWmw%@", "fijltIr.,:;|!' "


def width_of(text: str) -> int:
    """Approximate width of the text in pixels, in an 11 px sans-serif font."""
    return round(sum(10 if sign in WIDE else 4 if sign in NARROW else 6.6 for sign in text))


def draw(label: str, words: str, kind: str) -> str:
    """SVG. `kind` is one of COLOURS."""
    left, right = width_of(label) + 14, width_of(words) + 14
    whole = left + right
    title = escape(f"{label}: {words}")
    # textLength fixes both widths, so that no other font overflows.
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<clipPath id="r"><rect width="{whole}" height="20" rx="3"/></clipPath><g clip-path="url(#r)">'
        f'<rect width="{left}" height="20" fill="{LABEL}"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{COLOURS[kind]}"/></g>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f'<text x="7" y="14" textLength="{left - 14}">{escape(label)}</text>'
        f'<text x="{left + 7}" y="14" textLength="{right - 14}">{escape(words)}</text></g></svg>\n'
    )
