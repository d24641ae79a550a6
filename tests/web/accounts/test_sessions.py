"""The page Account lists a person's sessions and ends them."""

from django.test import Client
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import User
from apps.core.audit.api import Action
from apps.core.audit.models import AuditEntry
from tests.support.builders import a_user
from tests.support.pages import data, elements

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
CHROME = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36"


def signed_in(user: User, browser: str, address: str) -> Client:
    client = Client(HTTP_USER_AGENT=browser, REMOTE_ADDR=address)
    client.post(f"/sign-in/{services.create_sign_in_link(user=user, now=timezone.now())}/")
    return client


def page(client: Client) -> str:
    return client.get("/account/").content.decode()


def test_it_lists_each_with_browser_and_address_and_marks_its_own(db: None) -> None:
    ann = a_user()
    here = signed_in(ann, FIREFOX, "192.0.2.7")
    signed_in(ann, CHROME, "192.0.2.8")
    signed_in(a_user(), CHROME, "192.0.2.9")
    html = page(here)
    rows = [[cell.text(strip=True) for cell in row.css("th, td")] for row in elements(html, "tr[data-session]")]
    assert sorted(row[:2] for row in rows) == [["Chrome on Windows", "192.0.2.8"], ["Firefox on Linux", "192.0.2.7"]]
    assert [row[0] for row in rows if row[-1] == "this browser"] == ["Firefox on Linux"]
    assert str(here.session.session_key) not in html


def test_one_is_ended_by_its_button(db: None) -> None:
    ann = a_user(username="ann")
    here, there = signed_in(ann, FIREFOX, "192.0.2.7"), signed_in(ann, CHROME, "192.0.2.8")
    (action,) = (str(form.attributes["action"]) for form in elements(page(here), "tr[data-session] form"))
    assert here.get(action).status_code == 405
    assert Client().post(action).status_code == 302
    assert there.get("/account/").status_code == 200
    assert here.post(action).status_code == 302
    assert there.get("/account/").status_code == 302
    assert here.post(action).status_code == 404
    entry = AuditEntry.objects.get(action=Action.SESSION_END)
    assert (entry.who, entry.address, entry.subject) == ("ann", "192.0.2.7", "person ann")
    assert entry.before.startswith("Chrome on Windows, 192.0.2.8, since ")


def test_nobody_ends_the_session_of_another(db: None) -> None:
    ann = signed_in(a_user(), FIREFOX, "192.0.2.7")
    (handle,) = data(page(ann), "session")
    other = signed_in(a_user(), FIREFOX, "192.0.2.7")
    assert other.post(f"/account/sessions/{handle}/end/").status_code == 404
    assert ann.get("/account/").status_code == 200


def test_all_others_are_ended_at_once_and_this_one_stays(db: None) -> None:
    ann = a_user(username="ann")
    here, *others = (signed_in(ann, FIREFOX, f"192.0.2.{number}") for number in range(3))
    other_person = signed_in(a_user(), CHROME, "192.0.2.9")
    assert elements(page(here), "form[action='/account/sessions/end/']")
    assert here.post("/account/sessions/end/").status_code == 302
    assert [each.get("/account/").status_code for each in (here, *others, other_person)] == [200, 302, 302, 200]
    assert not elements(page(here), "form[action='/account/sessions/end/']")
    assert AuditEntry.objects.get(action=Action.SESSION_END).before == "all other sessions: 2"
