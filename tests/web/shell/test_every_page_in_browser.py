"""Every page in Chromium, once: axe finds nothing, wide and narrow, light and dark; a platform has one colour in
charts, chips and bars; on paper of A4 nothing is cut off, and no control is printed."""

from typing import Any, Literal

import pytest
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize

from apps.accounts import services as accounts
from apps.catalog.models import Platform
from apps.comparison.pure import COLORS
from tests.paths import ROOT
from tests.support.browser import follow
from tests.support.builders import a_user
from tests.web.shell.every_page import addresses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
# Colours differ by scheme, and nothing else does.
SCHEMES: tuple[tuple[Literal["light", "dark"], dict[str, Any]], ...] = (
    ("dark", {"runOnly": ["color-contrast"]}),
    ("light", {}),
)
VIOLATIONS = """async (rules) => (await axe.run(document, {resultTypes: ["violations"], ...rules})).violations
  .map((each) => [each.id, each.impact, each.nodes.map((node) => node.html.slice(0, 160))])"""

# Their charts show what articles state, of other platforms too.
PUBLISHED = ("/published/",)
# Pages with charts, of which at least one must have been drawn.
DRAWN = ("/runs/", "/compare/?", "/timeline/?", "/findings/", "/trends/")
# Places in the palette of every colour that a chart is drawn with, and of every chip, bar or card of a system.
COLOURS = """() => {
  const style = getComputedStyle(document.documentElement);
  const palette = Array.from({length: 32}, (_, place) => style.getPropertyValue(`--side-${place}`).trim());
  const colours = (value) => Array.isArray(value) ? value.flatMap(colours) : typeof value === "string" ? [value] : [];
  const plots = [...document.querySelectorAll(".js-plotly-plot")];
  const charts = plots.flatMap((plot) => plot.data.flatMap((trace) =>
    [trace.line?.color, trace.marker?.color, trace.marker?.line?.color, trace.error_x?.color].flatMap(colours)));
  const systems = [...document.querySelectorAll("[style*='--side-']")]
    .filter((each) => /alpha|beta/.test(each.textContent));
  const named = systems.map((each) => Number(/--side-(\\d+)/.exec(each.getAttribute("style"))[1]));
  const places = charts.map((each) => palette.indexOf(each)).filter((place) => place >= 0);
  return {plots: plots.length, charts: places, named};
}"""

A4: ViewportSize = {"width": 718, "height": 1000}
LANDSCAPE: ViewportSize = {"width": 1047, "height": 700}
ORIENTATION = "() => getComputedStyle(document.querySelector('main') ?? document.body).page"
# Forms are filled in, not printed; schemas of the API are another program's page.
NOT_PRINTED = (
    *(
        "/campaigns/new",
        "/campaigns/file",
        "/schedules/",
        "/notifications/",
        "/runs/upload",
        "/thresholds/",
        "/sign-in",
    ),
)
# Labels at the edge of a track, cards that open on hover, and layers of charts that are empty.
UNPRINTED = "svg, .visually-hidden, .lane__tick, .matrix__words, .js-plotly-plot"
# What lies beyond the edge of the paper and is not cut off there by its own box.
BEYOND = """(unprinted) => [...document.querySelectorAll("main *")]
  .filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1 && !one.closest(unprinted))
  .map((one) => `${one.tagName}#${one.id}.${one.getAttribute("class")}`).slice(0, 5)"""
CONTROLS = """() => [...document.querySelectorAll("main .button, main button:not(.sort)")]
  .filter((one) => one.getClientRects().length > 0).map((one) => one.textContent.trim()).slice(0, 5)"""


def test_every_page_keeps_nobody_out_has_its_platforms_colours_and_fits_paper(browser_page: Page) -> None:
    every = addresses()
    (own,) = Platform.objects.filter(releases__systems__isnull=False).distinct().values_list("color", flat=True)
    secret = accounts.create_sign_in_link(user=a_user(username="ann"), now=timezone.now())
    browser_page.goto(f"/sign-in/{secret}/")
    follow(browser_page.get_by_role("button", name="Sign in"))
    axe, found, drawn = AXE.read_text(), list[tuple[Any, ...]](), set[str]()
    for address in every:
        answer = browser_page.goto(address)
        assert answer is not None
        assert answer.status == 200, address
        browser_page.wait_for_load_state("networkidle")
        colours = browser_page.evaluate(COLOURS)
        drawn |= {start for start in DRAWN if colours["charts"] and address.startswith(start)}
        places = colours["named"] + ([] if address.startswith(PUBLISHED) else colours["charts"])
        found += [(address, "colour", place) for place in places if place % COLORS != own]
        browser_page.evaluate(axe)
        for size in (NARROW, WIDE):
            browser_page.set_viewport_size(size)
            found += [(address, *each) for each in violations(browser_page, size)]
        if not address.startswith(NOT_PRINTED):
            found += [(address, *each) for each in _on_paper(browser_page)]
    assert not found, "\n".join(map(str, found))
    assert drawn == set(DRAWN)


def violations(page: Page, size: ViewportSize) -> list[tuple[Any, ...]]:
    """Of both schemes; axe is in the page."""
    found: list[tuple[Any, ...]] = []
    for scheme, rules in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found += [(size["width"], scheme, *each) for each in page.evaluate(VIOLATIONS, rules)]
    return found


def _on_paper(page: Page) -> list[tuple[str, list[str]]]:
    """What sticks out, and the controls that are printed; the screen is as before afterwards."""
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size(LANDSCAPE if page.evaluate(ORIENTATION) == "wide" else A4)
    found = [("beyond", page.evaluate(BEYOND, UNPRINTED)), ("control", page.evaluate(CONTROLS))]
    page.emulate_media(media="screen")
    page.set_viewport_size(WIDE)
    return [each for each in found if each[1]]
