"""A platform has one colour on every page, as the browser draws it: in charts, chips and bars."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from apps.accounts import services as accounts
from apps.catalog.models import Platform
from apps.comparison.pure import COLORS
from tests.support.browser import follow
from tests.support.builders import a_user
from tests.web.shell.every_page import addresses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Their charts show what articles state, of other platforms too.
PUBLISHED = ("/published/",)
# Pages with charts, of which at least one must have been drawn.
DRAWN = ("/runs/", "/compare/?", "/timeline/?", "/findings/", "/trends/")
# Places in the palette of every colour that a chart is drawn with, and of every chip, bar or card of a system.
FOUND = """() => {
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


def test_everything_of_a_platform_is_drawn_in_tones_of_its_colour(browser_page: Page) -> None:
    every = addresses()
    (own,) = Platform.objects.filter(releases__systems__isnull=False).distinct().values_list("color", flat=True)
    secret = accounts.create_sign_in_link(user=a_user(username="ann"), now=timezone.now())
    browser_page.goto(f"/sign-in/{secret}/")
    follow(browser_page.get_by_role("button", name="Sign in"))
    wrong, drawn = [], set()
    for address in every:
        browser_page.goto(address)
        browser_page.wait_for_load_state("networkidle")
        found = browser_page.evaluate(FOUND)
        drawn |= {start for start in DRAWN if found["charts"] and address.startswith(start)}
        places = found["named"] + ([] if address.startswith(PUBLISHED) else found["charts"])
        wrong += [(address, place) for place in places if place % COLORS != own]
    assert not wrong, "\n".join(map(str, wrong))
    assert drawn == set(DRAWN)
