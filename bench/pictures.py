"""Pictures of every page for the docs, of a server that `make run` started and that has the example study.

eval "$(make env)"; .venv/bin/python -m bench.pictures [NAME ...]

`check` as the first argument takes no pictures: it prints, of every page at two widths, light and dark, its height,
layout shift, messages of the browser's console and violations of axe.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Playwright keeps an event loop in this thread, in which Django takes queries for a coroutine's.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
django.setup()

from django.urls import reverse  # noqa: E402 - models need the set-up
from django.utils import timezone  # noqa: E402
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, ViewportSize, sync_playwright  # noqa: E402

from apps.accounts import services as accounts  # noqa: E402
from apps.catalog.models import System, Workload  # noqa: E402
from apps.dispatch.models import Schedule  # noqa: E402
from apps.regressions.models import Finding, Trend  # noqa: E402
from apps.runs.models import Run  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "screenshots"
AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, NARROW = ViewportSize(width=1440, height=900), ViewportSize(width=390, height=844)
OBSERVERS = """window.shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((one) => {
  if (!one.hadRecentInput) window.shift += one.value;
})).observe({type: "layout-shift", buffered: true});
window.chart = null;
new MutationObserver(() => {
  if (window.chart === null && document.querySelector(".main-svg")) window.chart = Math.round(performance.now());
}).observe(document, {childList: true, subtree: true});"""
SEEN = """() => ({width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight,
  shift: window.shift, chart: window.chart})"""
VIOLATIONS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .map((each) => `${each.id} (${each.impact}) × ${each.nodes.length}: ${each.nodes[0].html.slice(0, 120)}`)"""
ARCHITECTURES = ("example-single", "example-galera", "example-mha")
RELEASES = ("example-release-old", "example-release-new")

LONGEST = 180_000  # ms for a page, on a machine that is busy


@dataclass(frozen=True)
class PicturedPage:
    """`narrow`: a picture at a phone's width too."""

    name: str
    path: str
    narrow: bool = False


def pages() -> Iterator[PicturedPage]:
    """Every page that shows something, each once."""
    oltp = _workload("oltp_read_write", ARCHITECTURES[0])
    sides = [("side", slug) for slug in ARCHITECTURES]
    compare = f"{reverse('web:compare')}?{urlencode([*sides, ('workload', oltp)])}"
    own = Run.objects.filter(system__slug=ARCHITECTURES[1], workload=oltp)
    run = own.filter(load_level__threads=8, load_level__rate=None).latest("pk")
    new = System.objects.select_related("release__platform").get(slug=RELEASES[1])
    finding = Finding.objects.filter(state=Finding.State.UNDER_REVIEW).latest("pk")
    trend = Trend.objects.filter(workload__name__contains="read_write").latest("runs")
    yield PicturedPage("home", reverse("web:overview"), narrow=True)
    yield PicturedPage("compare", compare, narrow=True)
    for tab in ("scalability", "limits", "latency", "steadiness", "work", "cost", "differences", "runs"):
        yield PicturedPage(f"compare-{tab}", f"{compare}&tab={tab}")
    yield PicturedPage("matrix", f"{reverse('web:matrix')}?{urlencode(sides)}")
    yield PicturedPage("published", reverse("web:published"))
    yield PicturedPage("runs", reverse("web:runs"), narrow=True)
    yield PicturedPage("run", reverse("web:run", args=[run.pk]), narrow=True)
    yield PicturedPage("use", reverse("web:run-use", args=[run.pk]))
    yield PicturedPage("timeline", f"{reverse('web:timeline')}?series={run.pk}:client.throughput:client")
    yield PicturedPage("findings", reverse("web:findings"))
    yield PicturedPage("finding", reverse("web:finding", args=[finding.pk]))
    yield PicturedPage("releases", reverse("web:releases"))
    yield PicturedPage("release", reverse("web:release", args=[new.release.platform.slug, new.release.version]))
    yield PicturedPage("trends", reverse("web:trends"))
    yield PicturedPage("trend", reverse("web:trend", args=[trend.pk]))
    yield PicturedPage("failovers", reverse("web:failovers"), narrow=True)
    yield PicturedPage("schema-changes", reverse("web:schema-changes"))
    yield PicturedPage("plan", f"{reverse('web:campaign-new')}?preset=failover")
    yield PicturedPage("campaigns", reverse("web:campaigns"))
    yield PicturedPage("schedule", reverse("web:schedule", args=[Schedule.objects.earliest("pk").pk]))
    yield PicturedPage("agents", reverse("web:agents"))
    yield PicturedPage("health", reverse("web:health"))
    yield PicturedPage("people", reverse("web:people"))
    yield PicturedPage("account", reverse("web:account"))
    yield PicturedPage("audit", reverse("web:audit"))
    yield PicturedPage("catalog", reverse("web:catalog"))
    yield PicturedPage("search", f"{reverse('web:search')}?q=galera")
    yield PicturedPage("help", reverse("web:help-page", args=["start/tour"]))


def _workload(test: str, system: str) -> int:
    return int(Workload.objects.filter(parameters__test=test, runs__system__slug=system).earliest("pk").pk)


def main(chosen: list[str]) -> None:
    address = f"http://127.0.0.1:{os.environ['SPLASHBOARD_PORT']}"
    every = list(pages())
    with sync_playwright() as playwright:
        argv = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=argv)
        names = [name for name in chosen if name != "check"]
        wanted = [each for each in every if not names or each.name in names]
        (_check if "check" in chosen else _take)(browser, address, wanted)
        browser.close()


def _take(browser: Browser, address: str, wanted: list[PicturedPage]) -> None:
    FOLDER.mkdir(exist_ok=True)
    page = _signed_in(browser, address, "light")
    for each in wanted:
        _open(page, each.path, WIDE)
        page.screenshot(path=FOLDER / f"{each.name}.png")
        if each.narrow:
            _open(page, each.path, NARROW)
            page.screenshot(path=FOLDER / f"{each.name}-phone.png")
        print(each.name)


def _check(browser: Browser, address: str, wanted: list[PicturedPage]) -> None:
    if not AXE.exists():
        raise SystemExit("axe-core is not installed: `make check` installs it")
    axe = AXE.read_text()
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page = _signed_in(browser, address, scheme)
        page.add_init_script(OBSERVERS)
        messages = _listen(page)
        for each in wanted:
            for size in (WIDE, NARROW):
                messages.clear()
                _open(page, each.path, size)
                seen = page.evaluate(SEEN)
                page.evaluate(axe)
                found = [*page.evaluate(VIOLATIONS), *messages]
                if seen["width"] > size["width"]:
                    found.append(f"scrolls sideways: {seen['width']} px")
                chart = f", first chart after {seen['chart']} ms" if seen["chart"] else ""
                where = f"{each.name} {size['width']} {scheme}"
                print(f"{where}: {seen['height']} px, shift {seen['shift']:.3f}{chart}", *found, sep="\n    ")


def _listen(page: Page) -> list[str]:
    """Gets every message of the console and every script's failure from now on."""
    found: list[str] = []

    def said(message: ConsoleMessage) -> None:
        found.append(f"{message.type}: {message.text}")

    def failed(error: Error) -> None:
        found.append(f"script: {error}")

    page.on("console", said)
    page.on("pageerror", failed)
    return found


def _signed_in(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> Page:
    page = browser.new_context(base_url=address, viewport=WIDE, color_scheme=scheme).new_page()
    page.set_default_timeout(LONGEST)
    secret = accounts.create_sign_in_link(user=accounts.first_administrator(), now=timezone.now())
    page.goto(reverse("web:sign-in-link", args=[secret]))
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    return page


def _open(page: Page, path: str, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    answer = page.goto(path)
    if answer is None or not answer.ok:
        raise SystemExit(f"{path}: {answer.status if answer else 'no answer'}")
    page.wait_for_load_state("networkidle")
    # Parts that load once the browser has nothing else to do.
    page.wait_for_function("() => !document.querySelector('main').innerText.includes('What limits it: loading')")
    page.wait_for_timeout(300)  # transitions of charts


if __name__ == "__main__":
    main(sys.argv[1:])
