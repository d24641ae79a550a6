"""Texts of strangers on pages, in feeds, mails and tables: no markup, nothing unseen, nothing that turns a line."""

import csv
import io
import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db.models import Model
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts import shared_links
from apps.accounts.models import ApiToken, PersonSession, SavedFilter, SharedLink, User
from apps.catalog.models import HardwareClass, Metric, Platform, System, Workload
from apps.comparison.models import Acknowledgement, SavedComparison
from apps.core import tabular
from apps.core.audit.models import AuditEntry
from apps.core.text import visible
from apps.dispatch.models import Agent, Campaign, Job, Schedule, ScheduledRun
from apps.notifications.models import Delivery, Notice, Subscription, Team
from apps.notifications.wording import content
from apps.published.models import Article, Figure
from apps.regressions.models import Change, Finding, Note, SignOff, Trend
from apps.runs.models import Event, Run, RunCheck, RunNode
from tests.regressions.releases.released import NEW
from tests.support.builders import a_token, a_user
from tests.support.pages import elements
from tests.web.shell.every_page import addresses

TEXT = "=<b onx>\u202e\a\u2066\"'</script>{{7}}%{y}" + "W" * 300
UNSEEN = re.compile("[\0-\b\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
AUDITED = ("who", "credential", "address", "subject", "before", "after")
# Pages that administrators alone have, and how many planted texts each shows at least.
OF_ADMINISTRATORS = {"/account/": 2, "/people/": 1, "/audit/": 5, "/health/": 0, "/agents/": 1, "/notifications/": 1}
NARROW = 20  # of the addresses: each kind of page with texts of its own
FIELDS: dict[type[Model], tuple[str, ...]] = {
    User: ("username",),
    ApiToken: ("name",),
    SharedLink: ("title",),
    PersonSession: ("browser",),
    SavedFilter: ("name",),
    Platform: ("name", "replication", "description"),
    HardwareClass: ("name", "provider", "instance_type", "storage", "region", "price_source", "label"),
    System: ("name", "short_name", "endpoint"),
    Workload: ("name", "description"),
    Metric: ("name", "unit", "description"),
    Acknowledgement: ("reason",),
    SavedComparison: ("title", "note"),
    Agent: ("name", "version"),
    Campaign: ("name",),
    Job: ("reason", "progress"),
    Schedule: ("name",),
    ScheduledRun: ("reason",),
    Team: ("name",),
    Delivery: ("answer",),
    Article: ("title", "author", "publisher"),
    Figure: ("note",),
    Finding: ("title", "reason", "labels"),
    Trend: ("reason",),
    Change: ("reason",),
    Note: ("text",),
    SignOff: ("note",),
    Run: ("reason", "server_version", "tool_version", "command", "unparsed_lines", "tags"),
    RunNode: ("name",),
    RunCheck: ("evidence",),
    Event: ("label", "node"),
}


def planted(field: Any, number: int) -> Any:
    """As long as the field allows; it differs from row to row."""
    base = getattr(field, "base_field", None)
    if base is not None:
        return [planted(base, number)]
    most = field.max_length or len(TEXT)
    return f"{TEXT[: most - 4]}{number % 10_000}"


def plant() -> None:
    for model, names in FIELDS.items():
        rows = model._default_manager.all()
        # The load generator's node is known by its name.
        keys = (rows.exclude(name="client") if model is RunNode else rows).order_by("pk").values_list("pk", flat=True)
        for number, pk in enumerate(keys):
            values = {name: planted(model._meta.get_field(name), number) for name in names}
            model._default_manager.filter(pk=pk).update(**values)


@pytest.fixture
def hostile(engineer: Client, enqueued: object) -> list[str]:
    found = addresses()
    plant()
    return found


def test_no_page_shows_markup_or_what_is_unseen_of_a_text(engineer: Client, hostile: list[str]) -> None:
    shown = 0
    for address in hostile:
        answer = engineer.get(address)
        assert answer.status_code == 200, address
        html = answer.content.decode()
        assert not UNSEEN.search(html), address
        assert elements(html, "[onx]") == [], address
        shown += html.count("&lt;b onx&gt;")
        for script in elements(html, 'script[type="application/json"]'):
            json.loads(script.text())
    assert shown > len(FIELDS)


def test_the_feed_is_xml_of_visible_texts(engineer: Client, hostile: list[str]) -> None:
    feed = engineer.get("/findings/feed.atom").content.decode()
    assert not UNSEEN.search(feed)
    titles = [each.text for each in ElementTree.fromstring(feed).iter("{http://www.w3.org/2005/Atom}title")]
    assert any("<b onx>\\u202e\\u0007" in (title or "") for title in titles)


def test_no_page_of_administrators_shows_markup_or_what_is_unseen_of_a_text(client: Client, hostile: list[str]) -> None:
    by, page = a_user(role="administrator"), next(each for each in hostile if each.startswith("/findings/"))
    a_token(by)
    client.force_login(by)
    shared_links.create(by=by, view="finding", path=page, query={}, title="t", days=7, now=timezone.now())
    plant()
    texts = {name: TEXT[: getattr(AuditEntry._meta.get_field(name), "max_length", None)] for name in AUDITED}
    AuditEntry.objects.create(kind="person", action="run.open", **texts)
    for address, least in {**OF_ADMINISTRATORS, f"/share/?page={page}": 1}.items():
        answer = client.get(address)
        assert answer.status_code == 200, address
        html = answer.content.decode()
        assert not UNSEEN.search(html), address
        assert elements(html, "[onx]") == [], address
        assert html.count("&lt;b onx&gt;") >= least, address


# Those whose rows name slugs, versions and numbers alone hold no text of others.
OF_SLUGS = ("/failovers/failovers.csv", "/schema-changes/schema-changes.csv", f"/releases/mariadb/{NEW}/release.csv")
TABLES = ("/matrix/matrix.csv?side=alpha&side=beta", "/compare/everything.csv?", *OF_SLUGS)


@pytest.mark.parametrize("address", TABLES)
def test_no_cell_of_a_table_is_a_formula(engineer: Client, hostile: list[str], address: str) -> None:
    compared = next(each for each in hostile if each.startswith("/compare/?"))
    answer = engineer.get(address.replace("everything.csv?", f"everything.csv?{compared.partition('?')[2]}"))
    assert answer.status_code == 200
    shown = answer.content.decode()
    assert ("<b onx>" in shown) == (address not in OF_SLUGS)
    assert_no_formula(shown)


@pytest.mark.parametrize("part", ["series/?format=csv", "series-index/?format=csv"])
def test_no_cell_of_the_apis_tables_is_a_formula(engineer: Client, hostile: list[str], part: str) -> None:
    run = next(each for each in hostile if each.startswith("/runs/"))
    RunNode.objects.filter(run=int(run.split("/")[2])).exclude(name="client").update(name="\t\u00a0\x07=<b onx>")
    answer = engineer.get(f"/api/v1{run}{part}")
    assert answer.status_code == 200
    shown = answer.getvalue().decode()
    assert "<b onx>" in shown
    assert_no_formula(shown)


def assert_no_formula(text: str) -> None:
    """Nor what a spreadsheet could take for one without the blanks and control characters before it."""
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert len(cells) > 20
    assert [cell for cell in cells if re.match(r"[\s\x00-\x1f]*[=+@-]", cell) and not NUMBER.fullmatch(cell)] == []


def test_a_mail_has_visible_texts_and_one_line_of_subject(hostile: list[str]) -> None:
    finding = Finding.objects.filter(notes__isnull=False).first()
    assert finding is not None
    note = finding.notes.first()
    assert note is not None
    notices = [Notice(note=note, event="found")]
    for kind in Subscription.Kind:
        for text in content(notices, kind=kind, team=TEXT).values():
            assert not UNSEEN.search(str(text)), kind
    mail = content(notices, kind=Subscription.Kind.EMAIL, team="")
    assert elements(mail["html"], "[onx]") == []
    assert "\n" not in mail["subject"]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_long_words_make_no_page_wider_than_a_phone(browser_page: Page, enqueued: object) -> None:
    found = addresses()
    plant()
    browser_page.set_viewport_size({"width": 390, "height": 844})
    wide = []
    for address in found[:NARROW]:
        browser_page.goto(address)
        if browser_page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(address)
    assert wide == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_chart_draws_a_text_as_it_is(browser_page: Page, enqueued: object) -> None:
    found = addresses()
    plant()
    browser_page.goto(next(address for address in found if address.startswith("/timeline/?")))
    plot = browser_page.locator(".js-plotly-plot").first
    expect(plot.locator(".main-svg").first).to_be_visible()
    drawn = plot.evaluate("plot => plot.querySelector('.main-svg').parentNode.textContent")
    assert "<b onx>" in drawn.replace("\u200b", "")
    assert browser_page.locator("[onx], .js-plotly-plot b").count() == 0


@pytest.mark.parametrize("text", ["=1", "\a=1", " =1", "\u202e=1", "@x", "+1", "-1"])
def test_what_is_hidden_before_a_formula_does_not_make_it_one(text: str) -> None:
    (line,) = tabular.comma_separated([], [[text]]).split("\r\n")[1:-1]
    assert line[0] in "'\\"


def test_no_heading_of_a_table_is_a_formula() -> None:
    assert tabular.comma_separated(["=1", "@x"], []) == "'=1,'@x\r\n"


def test_only_what_is_unseen_is_written_as_an_escape() -> None:
    text = "ü – 95 % ×\n\t日本 \N{ZERO WIDTH JOINER}"
    assert visible(text) == text
    assert visible("a\u202eb\0") == "a\\u202eb\\u0000"
