"""Contrast of the colours in which words are written, in light and dark."""

import re
from itertools import product

import pytest
from django.conf import settings

STYLES = settings.BASE_DIR / "frontend" / "src" / "styles" / "components" / "tokens.css"
LIGHT, DARK = STYLES.read_text().split("@media (prefers-color-scheme: dark)")
SURFACES = ("page", "surface", "surface-sunken", "surface-hover")
PAIRS = [
    *product(("ink", "ink-muted", "accent"), SURFACES),
    *product(("better", "worse", "equivalent", "unknown"), SURFACES),
    *((word, f"{word}-soft") for word in ("better", "worse", "equivalent", "unknown", "accent")),
    ("live", "better-soft"),
    ("accent-ink", "accent"),
]


def _colors(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css))


def _luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("css", [LIGHT, DARK], ids=["light", "dark"])
def test_words_have_a_contrast_of_at_least_4_5(css: str) -> None:
    colors = _colors(css)
    poor = {pair: round(_contrast(colors[pair[0]], colors[pair[1]]), 2) for pair in PAIRS}
    assert {pair: contrast for pair, contrast in poor.items() if contrast < 4.5} == {}


@pytest.mark.parametrize("css", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_and_bars_have_a_contrast_of_at_least_3(css: str) -> None:
    colors = _colors(css)
    poor = {side: round(_contrast(colors[f"side-{side}"], colors["surface"]), 2) for side in range(8)}
    assert {side: contrast for side, contrast in poor.items() if contrast < 3} == {}
