"""A page shared by a link: what makes it, what it shows, and what ends it."""

from datetime import timedelta
from urllib.parse import quote

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from apps.accounts import shared_links
from apps.accounts.models import SharedLink, User
from apps.catalog.models import HardwareClass, System
from apps.comparison.models import SavedComparison
from apps.core.audit.api import Action
from apps.core.audit.models import AuditEntry
from apps.saved import services as saved
from apps.web.compare.parts import PARTS
from tests.regressions.releases.released import NEW, OLD, a_release, the_hardware, two_releases
from tests.support.builders import a_load_level, a_measured_run, a_system, a_user, a_workload
from tests.support.pages import element, elements, text
from tests.web.findings.found import a_finding
from tests.web.releases.checked import checked

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def private(settings: LazySettings) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False


def measured(system: System, *values: float) -> None:
    for value in values:
        a_measured_run({"client.throughput": value}, system=system, workload=a_workload(), load_level=a_load_level(4))


@pytest.fixture
def comparison() -> SavedComparison:
    for slug, level in (("alpha", 1000.0), ("beta", 1300.0)):
        measured(a_system(slug), level, level + 9, level - 9)
    return saved.save(query=question(), title="Beta beats Alpha", note="", by=a_user())


def question() -> dict[str, list[str]]:
    return {"side": ["alpha", "beta"], "workload": [str(a_workload().pk)]}


def signed_in(role: str = "engineer", username: str = "ann") -> Client:
    client = Client()
    client.force_login(a_user(role=role, username=username))
    return client


def made(client: Client, page: str, days: str = "30") -> str:
    answer = client.post("/share/", {"page": page, "days": days}, HTTP_HOST="localhost")
    assert answer.status_code == 200, answer.content.decode()
    address = text(answer.content.decode(), "code[data-link]")
    assert address.startswith("http://localhost/shared/")
    return address.removeprefix("http://localhost")


def opened(link: str) -> tuple[Client, str]:
    """A stranger's browser, and where the link leads."""
    stranger = Client()
    answer = stranger.get(link)
    assert answer.status_code == 302, answer.content.decode()
    return stranger, answer.headers["Location"]


def test_a_comparison_is_shared_as_the_snapshot_that_was_seen(comparison: SavedComparison) -> None:
    ann = signed_in()
    page = ann.get(f"/comparisons/{comparison.slug}/").content.decode()
    (share,) = elements(page, "a[href^='/share/']")
    form = ann.get(str(share.attributes["href"])).content.decode()
    back = str(element(form, "input[name=page]").attributes["value"])
    assert back == f"/comparisons/{comparison.slug}/?snapshot=1"
    stranger, page = opened(made(ann, back))
    shown = stranger.get(page).content.decode()
    assert text(shown, "h1") == "Beta beats Alpha"
    assert "Shared by ann until" in text(shown, "[data-shared]")
    assert elements(shown, "nav[aria-label=Pages], form[role=search], nav.breadcrumbs, .saved-state") == []
    # Later snapshots, and what is true now, are not shared.
    measured(System.objects.get(slug="beta"), 1500.0, 1510.0)
    assert saved.refresh(slug=comparison.slug, by=a_user())[0] == 2
    assert stranger.get(page).status_code == 200
    for other in (f"/comparisons/{comparison.slug}/", page.replace("=1", "=2"), "/comparisons/", "/runs/"):
        assert stranger.get(other).status_code == 302, other
    assert stranger.get(f"/comparisons/{comparison.slug}/standing/?snapshot=1").status_code == 302
    part = f"/comparisons/{comparison.slug}/part/{PARTS[0].name}/"
    assert stranger.get(f"{part}?snapshot=1").status_code == 200
    assert stranger.get(f"{part}?snapshot=2").status_code == 302


def test_a_release_is_shared_with_its_own_baseline_alone() -> None:
    two_releases()
    stranger, page = opened(
        made(signed_in(), f"/releases/mariadb/{NEW}/?hardware={the_hardware().slug}&baseline={OLD}")
    )
    shown = stranger.get(page)
    assert shown.status_code == 200
    assert stranger.get(f"{page}&rows=all").status_code == 200
    for other in (f"/releases/mariadb/{NEW}/", page.replace(f"baseline={OLD}", "baseline=10.1"), "/releases/"):
        assert stranger.get(other).status_code == 302, other
    assert a_release().version == NEW


def test_a_release_shared_on_one_hardware_class_names_no_other() -> None:
    two_releases()
    large = HardwareClass.objects.create(slug="large", name="Large")
    for hardware in (the_hardware(), large):
        checked(hardware=hardware)
    ann = signed_in()
    own = f"/releases/mariadb/{NEW}/?hardware=small"
    assert "Large" in text(ann.get(own).content.decode(), "nav.release-others")
    stranger, page = opened(made(ann, own))
    shown = stranger.get(page).content.decode()
    assert elements(shown, "[data-result=regression]")
    assert "Large" not in shown


def test_a_browser_opens_two_snapshots_of_one_comparison(comparison: SavedComparison) -> None:
    measured(System.objects.get(slug="beta"), 1500.0, 1510.0)
    saved.refresh(slug=comparison.slug, by=a_user())
    ann, stranger = signed_in(), Client()
    pages = [f"/comparisons/{comparison.slug}/?snapshot={number}" for number in (1, 2)]
    for page in pages:
        assert stranger.get(made(ann, page)).headers["Location"] == page
    assert [stranger.get(page).status_code for page in pages] == [200, 200]
    assert stranger.get(f"/comparisons/{comparison.slug}/").status_code == 302


def test_a_release_whose_version_needs_quoting_is_shared() -> None:
    release = a_release()
    release.version = "11.8 r/1"
    release.save()
    stranger, page = opened(made(signed_in(), "/releases/mariadb/11.8%20r/1/"))
    assert page == "/releases/mariadb/11.8%20r/1/"
    assert stranger.cookies[shared_links.cookie(SharedLink.objects.get())]["path"] == page
    assert stranger.get(page).status_code == 200


def test_a_link_ends_with_its_day_when_it_is_withdrawn_and_with_its_maker() -> None:
    finding = f"/findings/{a_finding().pk}/"
    ann = signed_in()
    link = made(ann, finding, "7")
    stranger, _ = opened(link)
    assert stranger.get(finding).status_code == 200
    row = SharedLink.objects.get()
    assert row.last_used_at is not None
    assert timedelta(days=6.9) < row.expires_at - timezone.now() < timedelta(days=7)

    SharedLink.objects.update(expires_at=timezone.now())
    assert (stranger.get(finding).status_code, stranger.get(link).status_code) == (302, 410)
    SharedLink.objects.update(expires_at=timezone.now() + timedelta(days=1))
    assert stranger.get(finding).status_code == 200
    User.objects.filter(username="ann").update(is_active=False)
    assert (stranger.get(finding).status_code, stranger.get(link).status_code) == (302, 410)
    User.objects.filter(username="ann").update(is_active=True)
    assert ann.post(f"/share/{row.pk}/withdraw/", {"next": "/account/"}).headers["Location"] == "/account/"
    assert (stranger.get(finding).status_code, stranger.get(link).status_code) == (302, 410)
    assert "no longer works" in text(stranger.get(link).content.decode(), "h1")


def test_engineers_withdraw_their_own_and_administrators_all() -> None:
    finding = f"/findings/{a_finding().pk}/"
    ann, bob, eve = signed_in(), signed_in(username="bob"), signed_in("administrator", "eve")
    made(ann, finding)
    pk = SharedLink.objects.get().pk
    assert elements(bob.get("/account/").content.decode(), "tr[data-link]") == []
    assert bob.post(f"/share/{pk}/withdraw/").status_code == 404
    for client in (ann, eve):
        page = client.get("/account/").content.decode()
        assert [state.text() for state in elements(page, "tr[data-link] [data-state]")] == ["valid"]
    assert eve.post(f"/share/{pk}/withdraw/").status_code == 302
    page = eve.get("/account/").content.decode()
    assert [state.text() for state in elements(page, "tr[data-link] [data-state]")] == ["withdrawn"]
    entries = AuditEntry.objects.filter(action__in=(Action.LINK_SHARE, Action.LINK_WITHDRAW)).order_by("id")
    assert [(each.who, each.subject) for each in entries] == [("ann", finding), ("eve", finding)]


def test_readers_share_nothing() -> None:
    finding = f"/findings/{a_finding().pk}/"
    reader = signed_in("reader")
    assert elements(reader.get(finding).content.decode(), "a[href^='/share/']") == []
    assert reader.post("/share/", {"page": finding, "days": "7"}).status_code == 403


@pytest.mark.parametrize(
    "page",
    [
        "",
        "/runs/",
        "/findings/999/",
        "https://elsewhere.example/findings/1/",
        "/comparisons/none/",
        "/api/v1/runs/",
        "/releases/mariadb/1%00/",
    ],
)
def test_other_pages_are_refused_in_words(page: str) -> None:
    a_finding()
    answer = signed_in().get(f"/share/?page={quote(page)}")
    assert answer.status_code == 400
    assert "open one and press Share" in text(answer.content.decode(), "main")
    assert SharedLink.objects.count() == 0


def test_days_are_those_of_the_form() -> None:
    answer = signed_in().post("/share/", {"page": f"/findings/{a_finding().pk}/", "days": "9000"})
    assert answer.status_code == 422
    assert SharedLink.objects.count() == 0


def test_its_cookie_goes_to_the_page_alone() -> None:
    finding = f"/findings/{a_finding().pk}/"
    stranger, _ = opened(made(signed_in(), finding))
    cookie = stranger.cookies[shared_links.cookie(SharedLink.objects.get())]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (finding, True, "Lax")
    assert cookie.value not in SharedLink.objects.get().digest
