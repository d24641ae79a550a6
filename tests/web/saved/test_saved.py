"""Saved comparisons on pages: what was seen stays on the page, in the same templates, and tells when it is old."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts import shared_links
from apps.catalog.models import System, Workload
from apps.comparison.models import PinnedBaseline, SavedComparison, Snapshot
from apps.comparison.selection import baselines
from apps.rest.comparisons.comparisons import INCLUDES
from apps.rig.examples import load
from apps.runs.models import Measurement, Run
from apps.saved import services
from apps.web.compare.parts import PARTS
from apps.web.compare.view import CompareAddress
from tests.paths import EXAMPLES
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user, a_workload
from tests.support.pages import data, element, elements, page_data, states, text

pytestmark = pytest.mark.django_db

REFRESH = "form[action$='/refresh/']"

TPS, P95, ERRORS = "client.throughput", "client.latency.p95", "client.errors"
A = (1000.0, 1012.0, 991.0)
B = (1302.0, 1318.0, 1287.0)


def measure(system: System, values: tuple[float, ...], *, at: int = 0, threads: int = 4) -> None:
    for number, value in enumerate(values):
        a_measured_run(
            {TPS: value, P95: 20_000 / value, ERRORS: 0.0},
            system=system,
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(hours=at, minutes=number),
        )


@pytest.fixture
def workload() -> Workload:
    return a_workload()


@pytest.fixture
def sides(workload: Workload) -> tuple[System, System]:
    a, b = a_system("a", name="Alpha"), a_system("b", name="Beta", settings={"sync_binlog": "0"})
    for system, values, threads in ((a, A, 4), (b, B, 4), (a, A, 8), (b, B[:1], 8)):
        measure(system, values, threads=threads)
    return a, b


def question(workload: Workload, **changes: object) -> CompareAddress:
    return CompareAddress(**{"sides": ("a", "b"), "workload": workload.pk, **changes})  # type: ignore[arg-type]


def save(client: Client, workload: Workload, **changes: object) -> str:
    """The address of the page."""
    form = {"title": "Beta beats Alpha", "note": "before\nthe upgrade", "query": question(workload, **changes).query()}
    answer = client.post("/comparisons/save/", form)
    assert answer.status_code == 302, answer.content[:500]
    return str(answer.headers["Location"])


def page(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, response.content[:500]
    return response.content.decode()


def answer_of(html: str) -> str:
    """From the answer to the end of the page's tabs, without addresses: those name the snapshot."""
    start, end = html.index('<section class="compare-answer"'), html.index("</main>")
    return re.sub(r'(href|hx-get)="[^"]*"', "", html[start:end])


def test_it_shows_what_compare_showed_in_the_same_words(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    live = page(engineer, question(workload).url())
    url = save(engineer, workload)
    assert url == "/comparisons/beta-beats-alpha/"
    shown = page(engineer, url)
    assert answer_of(shown) == answer_of(live)
    assert page_data(shown, "compare-data") == page_data(live, "compare-data")
    assert text(shown, "h1") == "Beta beats Alpha"
    assert element(shown, ".saved-note p").inner_html == "before<br>the upgrade"
    assert elements(shown, "[data-up-to-date]")


def test_every_part_of_the_page_is_kept(engineer: Client, var_folder: object) -> None:
    call_command("seed_catalog", stdout=StringIO())
    load.load(folder=EXAMPLES)
    call_command("judge_runs", stdout=StringIO())
    workload = Run.objects.values_list("workload", flat=True).distinct().get()
    question = CompareAddress(sides=("example-flush-1", "example-flush-2"), workload=workload, level="4")
    live = {part.name: page(engineer, question.part_url(part.name)) for part in PARTS}
    asked = f"/api/v1/comparisons/?{question.query()}&include={','.join(INCLUDES)}"
    included = engineer.get(asked).json()
    answer = engineer.post("/comparisons/save/", {"title": "all of it", "query": question.query()})
    Measurement.objects.all().delete()
    for part in PARTS:
        shown = page(engineer, f"{answer.headers['Location']}part/{part.name}/")
        assert 'data-state="not-kept"' not in shown, part.name
        assert part_of(shown) == part_of(live[part.name]), part.name
    snapshot = engineer.get("/api/v1/comparisons/saved/all-of-it/").json()
    beside = {"claim_limits": snapshot["claim_limits"]}
    assert snapshot["comparison"] | snapshot["parts"] | beside == included
    assert all(snapshot["parts"][name] for name in ("steadiness", "work", "everything", "ladder"))


def part_of(html: str) -> list[str]:
    """Its figures: the tables and the charts' data, without addresses, and without the small lines of the seconds."""
    main = html[html.index("<h1>") : html.index("</main>")]
    main = re.sub(r'\s*<svg class="spark".*?</svg>\s*', "", main, flags=re.DOTALL)
    found = re.findall(r"<table.*?</table>|<p[ >].*?</p>|<script.*?</script>", main, re.DOTALL)
    found = [re.sub(r"\s+<", "<", each) for each in found]
    return [re.sub(r'(href|hx-get|action|value)="[^"]*"', "", each) for each in found]


def test_nothing_that_happens_later_changes_what_was_seen(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    url = save(engineer, workload)
    before = answer_of(page(engineer, url))
    measure(sides[1], (900.0, 910.0, 905.0), at=3)
    Measurement.objects.filter(run__system=sides[0]).update(value=1.0)
    System.objects.filter(slug="a").update(name="Renamed")
    html = page(engineer, url)
    assert answer_of(html) == before
    assert "Renamed" not in html
    changes = services.standing(services.load("beta-beats-alpha")).changes
    assert changes
    assert [each.text() for each in elements(html, "[data-out-of-date] .saved-changes li")] == list(changes)


def test_a_refresh_shows_the_new_answer_and_the_old_snapshot_stays_readable(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    url = save(engineer, workload)
    first = answer_of(page(engineer, url))
    measure(sides[1], (900.0, 910.0, 905.0), at=3)
    assert len(elements(page(engineer, url), REFRESH)) == 1
    assert engineer.post(f"{url}refresh/").headers["Location"] == url
    html = page(engineer, url)
    assert answer_of(html) != first
    assert text(html, "[data-message=info]") == "Snapshot 2 shows the current result."
    assert states(html, ".saved-state", "snapshot", "newest") == [("2", "2")]
    assert not elements(html, REFRESH)
    old = page(engineer, f"{url}?snapshot=1")
    assert answer_of(old) == first
    assert states(old, ".saved-state", "snapshot", "newest") == [("1", "2")]
    assert elements(old, f"[data-out-of-date] a[href='{url}']")
    engineer.post(f"{url}refresh/")
    unchanged = "Nothing has changed; no new snapshot was made."
    assert text(page(engineer, url), "[data-message=info]") == unchanged
    assert Snapshot.objects.count() == 2


def test_another_load_level_of_a_snapshot_is_still_the_snapshot(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    url = save(engineer, workload, level="4")
    html = page(engineer, url)
    assert text(html, "#answer") == "Answer at 4 threads"
    assert elements(html, f".compare-loads a[href='{url}?level=8']")
    html = page(engineer, f"{url}?snapshot=1&level=8&tab=latency")
    assert text(html, "#answer") == "Answer at 8 threads"
    assert elements(html, f"a[href='{url}?snapshot=1&level=4&tab=latency#latency']")
    tab = engineer.get(f"{url}?tab=latency", headers={"HX-Request": "true"}).content.decode()
    assert elements(tab, "#latency")
    assert "<html" not in tab
    page(engineer, f"{url}?level=77", status=404)
    page(engineer, f"{url}?snapshot=7", status=404)
    page(engineer, f"{url}?snapshot=x", status=404)
    page(engineer, f"{url}?series=sideways", status=404)
    page(engineer, "/comparisons/nothing/", status=404)
    # What is compared is not the address's to say.
    assert "Beta" in page(engineer, f"{url}?side=c&workload=99")


def test_links_of_earlier_releases_lead_to_the_snapshot(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    url = save(engineer, workload)
    response = engineer.get(f"{url}?edition=1&level=8")
    assert (response.status_code, response.headers["Location"]) == (301, f"{url}?level=8&snapshot=1")


def test_what_a_snapshot_does_not_hold_is_said_and_never_taken_from_today(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    url = save(engineer, workload)
    snapshot = Snapshot.objects.get()
    del snapshot.content["parts"]["cost"]
    snapshot.save()
    assert elements(page(engineer, f"{url}part/cost/"), "[data-state=not-kept]")
    del snapshot.content["comparison"]["cells"]
    snapshot.save()
    html = page(engineer, url)
    assert elements(html, f"[data-state=older-form] {REFRESH}")
    assert elements(html, "a[href='/api/v1/comparisons/saved/beta-beats-alpha/?snapshot=1']")
    assert engineer.get("/api/v1/comparisons/saved/beta-beats-alpha/?snapshot=1").json()["content"] == snapshot.content


def test_the_page_takes_as_many_queries_however_many_runs(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    few = save(engineer, workload)
    page(engineer, few)
    with CaptureQueriesContext(connection) as before:
        page(engineer, few)
    measure(sides[0], A * 4, at=2)
    measure(sides[1], B * 4, at=2)
    many = save(engineer, workload)
    with CaptureQueriesContext(connection) as after:
        page(engineer, many)
    assert len(after) <= len(before)


def test_readers_see_but_neither_save_nor_refresh_nor_pin(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    author = a_user()
    query = {"side": ["a", "b"], "workload": [str(workload.pk)]}
    services.save(query=query, title="seen", note="", by=author)
    measure(sides[0], (900.0,), at=3)
    seen = page(client, "/comparisons/seen/")
    assert elements(seen, "[data-out-of-date]")
    assert not elements(seen, REFRESH)
    assert "/comparisons/save/" not in page(client, question(workload).url())
    client.force_login(a_user(role="reader"))
    for address in ("save/", "seen/refresh/", "seen/describe/", "seen/delete/"):
        assert client.post(f"/comparisons/{address}", {"title": "x"}).status_code == 403
    assert client.post(f"/workloads/{workload.pk}/baseline/", {"system": "a"}).status_code == 403
    assert (SavedComparison.objects.count(), Snapshot.objects.count(), PinnedBaseline.objects.count()) == (1, 1, 0)


def test_a_comparison_that_cannot_be_kept_leads_back_with_the_reason(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    answer = engineer.post("/comparisons/save/", {"title": " ", "query": question(workload).query()})
    assert answer.headers["Location"] == question(workload).url()
    assert text(page(engineer, answer.headers["Location"]), "[data-message=error]").startswith("title: ")
    query = question(workload).with_option("objective", "soon").query()
    answer = engineer.post("/comparisons/save/", {"title": "x", "query": query})
    html = page(engineer, answer.headers["Location"])
    assert elements(html, "[data-message=error]")[0].text().startswith("objective: ")
    assert not SavedComparison.objects.exists()


def test_title_and_note_can_be_mended_and_the_address_stays(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    url = save(engineer, workload)
    engineer.post(f"{url}describe/", {"title": "Alpha loses", "note": ""})
    assert text(page(engineer, url), "h1") == "Alpha loses"


def test_the_list_says_what_there_is_and_which_is_out_of_date(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    assert elements(page(engineer, "/comparisons/"), "[data-state=empty]")
    url = save(engineer, workload)
    assert elements(page(engineer, "/comparisons/"), f"[data-saved=beta-beats-alpha] a[href='{url}']")
    assert data(page(engineer, f"{url}standing/"), "state") == ["up-to-date"]
    measure(sides[0], (900.0,), at=3)
    part = engineer.get(f"{url}standing/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert data(part, "state") == ["out-of-date"]
    assert data(page(engineer, "/comparisons/?text=beats+ann"), "saved") == ["beta-beats-alpha"]
    assert elements(page(engineer, "/comparisons/?text=nothing"), "[data-state=empty]")
    assert elements(page(engineer, "/search/?q=beats"), f"a[href='{url}']")


def test_one_side_is_held_against_the_pinned_baseline(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    live = question(workload).url()
    sides_tab = question(workload, tab="differences").url()
    form = f"form[action='/workloads/{workload.pk}/baseline/'] [name=system][value=a]"
    assert elements(page(engineer, sides_tab), form)
    answer = engineer.post(f"/workloads/{workload.pk}/baseline/", {"system": "a", "next": live})
    assert answer.headers["Location"] == live
    pinned = page(engineer, sides_tab)
    assert states(pinned, "[data-pinned]", "pinned", "by") == [("a", "ann")]
    assert workload.name in (element(pinned, "[data-pinned]").attributes["title"] or "")
    assert engineer.get(f"/compare/?side=b&workload={workload.pk}").headers["Location"] == live
    assert engineer.get(f"/compare/?side=a&workload={workload.pk}").status_code == 200
    engineer.post(f"/workloads/{workload.pk}/baseline/", {"system": "", "next": "https://elsewhere.example/"})
    assert not PinnedBaseline.objects.exists()


def test_runs_and_suggestions_begin_with_the_pinned_baseline(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    runs = ",".join(str(pk) for pk in Run.objects.values_list("pk", flat=True))
    assert "side=a&side=b" in engineer.get(f"/compare/?runs={runs}").headers["Location"]
    baselines.pin(workload=workload, system=sides[1], note="", by=a_user())
    assert "side=b&side=a" in engineer.get(f"/compare/?runs={runs}").headers["Location"]
    assert "side=b&amp;side=a" in page(engineer, "/compare/")


def test_the_catalog_shows_and_changes_the_pinned_baseline(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    assert data(page(engineer, "/catalog/"), "pinned") == [""]
    form = {"system": "b", "note": "the release of May", "next": "/catalog/#workloads"}
    assert engineer.post(f"/workloads/{workload.pk}/baseline/", form).headers["Location"] == "/catalog/#workloads"
    html = page(engineer, "/catalog/")
    assert states(html, "[data-pinned]", "pinned", "by") == [("b", "ann")]
    assert "the release of May" in (element(html, "[data-pinned]").attributes["title"] or "")
    engineer.post(f"/workloads/{workload.pk}/baseline/", {"system": "nobody", "next": "/catalog/"})
    refused = text(page(engineer, "/catalog/"), "[data-message=error]")
    assert refused.startswith("system: ")
    assert "'nobody'" in refused
    assert PinnedBaseline.objects.get().system == sides[1]


def test_its_author_and_administrators_delete_it_and_its_links_lead_nowhere(
    engineer: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    url = save(engineer, workload)
    kept = SavedComparison.objects.get()
    link, _ = shared_links.create(
        by=kept.author, view="saved", path=url, query={"snapshot": "1"}, title="x", days=30, now=timezone.now()
    )
    other = Client()
    other.force_login(a_user(username="other", role="engineer"))
    assert not elements(page(other, url), f"form[action='{url}delete/']")
    assert other.post(f"{url}delete/").status_code == 403
    assert elements(page(engineer, url), f"form[action='{url}delete/']")
    said = engineer.post(f"{url}delete/", follow=True).content.decode()
    assert "is deleted" in text(said, "[data-message]")
    assert (SavedComparison.objects.count(), Snapshot.objects.count()) == (0, 0)
    assert Run.objects.count() > 0
    page(engineer, url, status=404)
    link.refresh_from_db()
    assert link.withdrawn_at is not None, "another comparison may have this address some day"
    assert engineer.post(f"{url}delete/").status_code == 404
