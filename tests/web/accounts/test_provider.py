"""Signing in at an OpenID Connect provider: a process of its own, which signs its answers."""

import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from apps.accounts import identities, provider, services
from apps.accounts.models import Identity, User
from apps.core.audit.models import AuditEntry
from tests.support.builders import a_token, a_user
from tests.support.pages import elements, text

SERVE = """
import sys, oidc_provider_mock
with oidc_provider_mock.run_server_in_thread() as server:
    print(server.server_port, flush=True)
    sys.stdin.read()
"""
BACK = "/sign-in/provider/callback/"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    program = [sys.executable, "-W", "ignore", "-c", SERVE]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield f"http://localhost:{int(process.stdout.readline())}"
        process.communicate(b"")


@pytest.fixture
def offered(db: None, issuer: str, settings: LazySettings) -> str:
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = issuer, "splashboard", "s3cret"
    settings.OIDC_NAME = "Example SSO"
    return issuer


def knows(issuer: str, subject: str, **claims: object) -> None:
    httpx.put(f"{issuer}/users/{subject}", json=claims).raise_for_status()


def to_the_provider(client: Client, next_page: str = "") -> str:
    """The address that the browser is sent to."""
    answer = client.get("/sign-in/provider/", {"next": next_page} if next_page else {})
    assert answer.status_code == 302, text(answer.content.decode(), "main")
    return str(answer.headers["Location"])


def back_from(address: str, subject: str = "", **form: str) -> str:
    """The path with which the provider sends `subject` back."""
    answer = httpx.post(address, data=form or {"sub": subject})
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["Location"])
    assert back.path == BACK
    return f"{back.path}?{back.query}"


def an_invited(username: str, email: str, **fields: Any) -> User:
    return a_user(username=username, email=email, invited_as=email, **fields)


def sign_in(subject: str, next_page: str = "") -> tuple[Client, Any]:
    client = Client()
    answer = client.get(back_from(to_the_provider(client, next_page), subject))
    return client, answer


def who(client: Client) -> str:
    pk = client.session.get("_auth_user_id")
    return User.objects.get(pk=pk).username if pk else ""


def why(answer: Any) -> str:
    return text(answer.content.decode(), "main")


def test_who_is_invited_by_a_verified_address_is_bound_and_stays_so_when_the_address_changes(offered: str) -> None:
    ann = an_invited("ann", "Ann@example.com", role="engineer")
    knows(offered, "a-1", email="ann@example.com", email_verified=True)
    client, answer = sign_in("a-1", "/runs/?page=2")
    assert (answer.status_code, answer.headers["Location"], who(client)) == (302, "/runs/?page=2", "ann")
    assert Identity.objects.get().subject == "a-1"
    knows(offered, "a-1", email="ann@elsewhere.example", email_verified=False)
    assert who(sign_in("a-1")[0]) == "ann"
    ann.refresh_from_db()
    assert (ann.role, ann.email) == ("engineer", "Ann@example.com")


def test_whom_nobody_invited_is_refused_with_the_address_and_recorded(offered: str) -> None:
    knows(offered, "s-1", email="stranger@example.com", email_verified=True)
    client, answer = sign_in("s-1")
    assert (answer.status_code, who(client)) == (403, "")
    assert "Nobody invited you with the address stranger@example.com. Ask an administrator." in why(answer)
    entry = AuditEntry.objects.get(action="sign_in.failed")
    assert f"{offered}: s-1" in entry.after
    assert User.objects.count() == 0


@pytest.mark.parametrize("claims", [{}, {"email_verified": False}])
def test_an_address_that_nobody_verified_opens_no_account(offered: str, claims: dict[str, object]) -> None:
    an_invited("ann", "ann@example.com")
    knows(offered, "m-1", email="ann@example.com", **claims)
    client, answer = sign_in("m-1")
    assert (answer.status_code, who(client)) == (403, "")
    assert "does not say that it verified ann@example.com" in why(answer)


def test_a_provider_that_administers_its_addresses_can_be_trusted_with_them(
    offered: str, settings: LazySettings
) -> None:
    settings.OIDC_TRUSTS_EMAIL = True
    an_invited("ann", "ann@example.com")
    knows(offered, "m-2", email="ann@example.com")
    assert who(sign_in("m-2")[0]) == "ann"


def test_an_address_given_to_somebody_else_later_opens_no_account_until_it_is_unbound(offered: str) -> None:
    ann = an_invited("ann", "ann@example.com")
    for subject in ("old-ann", "new-ann"):
        knows(offered, subject, email="ann@example.com", email_verified=True)
    assert who(sign_in("old-ann")[0]) == "ann"
    client, answer = sign_in("new-ann")
    assert (answer.status_code, who(client)) == (403, "")
    assert "ann is bound to another account there. An administrator unbinds it on the page People." in why(answer)
    admin = Client()
    admin.force_login(a_user(username="root", role="administrator"))
    people = admin.get("/people/").content.decode()
    assert len(elements(people, "[data-person=ann] [data-bound]")) == 1
    assert elements(people, "[data-person=root] [data-bound]") == []
    assert admin.post(f"/people/{ann.pk}/unbind/").status_code == 302
    assert who(sign_in("new-ann")[0]) == "ann"
    actions = list(
        AuditEntry.objects.filter(action__startswith="person.").order_by("pk").values_list("action", "after")
    )
    assert actions == [
        ("person.bind", f"{offered}: old-ann"),
        ("person.unbind", ""),
        ("person.bind", f"{offered}: new-ann"),
    ]


def test_an_address_that_a_token_set_for_notifications_leads_into_no_account(offered: str) -> None:
    root = a_user(username="root", role="administrator")
    stolen = APIClient(HTTP_AUTHORIZATION=f"Token {a_token(root, scope='read')[1]}")
    assert stolen.put("/api/v1/own-address", {"address": "thief@example.com"}, format="json").status_code == 200
    knows(offered, "thief", email="thief@example.com", email_verified=True)
    client, answer = sign_in("thief")
    assert (answer.status_code, who(client)) == (403, "")
    assert "Nobody invited you with the address thief@example.com" in why(answer)
    assert Identity.objects.count() == 0


def test_who_has_set_a_password_is_bound_by_no_address_until_invited_anew(offered: str) -> None:
    ann = an_invited("ann", "ann@example.com")
    there = Client()
    there.force_login(ann)
    there.post("/account/password/", {"new": "battery staple 1", "again": "battery staple 1"})
    knows(offered, "w-1", email="ann@example.com", email_verified=True)
    client, answer = sign_in("w-1")
    assert (answer.status_code, who(client)) == (403, "")
    call_command("set_user", "ann", email="ann@example.com", stdout=StringIO(), stderr=StringIO())
    entry = AuditEntry.objects.get(action="person.change")
    assert entry.before == "engineer, ann@example.com"
    assert entry.after == "engineer, ann@example.com, invited as ann@example.com"
    assert who(sign_in("w-1")[0]) == "ann"


def test_who_was_bound_before_the_password_is_bound_again_after_an_administrator_unbound_them(offered: str) -> None:
    an_invited("ann", "ann@example.com")
    for subject in ("old-ann", "new-ann"):
        knows(offered, subject, email="ann@example.com", email_verified=True)
    there, _ = sign_in("old-ann")
    there.post("/account/password/", {"new": "battery staple 1", "again": "battery staple 1"})
    assert who(sign_in("new-ann")[0]) == ""
    identities.unbind(user=User.objects.get())
    assert who(sign_in("new-ann")[0]) == "ann"


@pytest.mark.parametrize("lookalike", ["\u0131an@example.com", "\u017fian@example.com", "i\u0430n@example.com"])
def test_an_address_that_only_looks_like_the_invited_one_leads_into_no_account(offered: str, lookalike: str) -> None:
    an_invited("ian", "ian@example.com")
    an_invited("sian", "sian@example.com")
    knows(offered, "l-1", email=lookalike, email_verified=True)
    client, answer = sign_in("l-1")
    assert (answer.status_code, who(client)) == (403, "")


def test_an_address_of_two_people_and_a_disabled_account_are_refused(offered: str) -> None:
    an_invited("ann", "team@example.com")
    an_invited("bob", "team@example.com")
    an_invited("cyd", "cyd@example.com", is_active=False)
    knows(offered, "t-1", email="team@example.com", email_verified=True)
    knows(offered, "c-1", email="cyd@example.com", email_verified=True)
    assert "Several people here have the address team@example.com" in why(sign_in("t-1")[1])
    assert "This account is disabled" in why(sign_in("c-1")[1])
    assert Identity.objects.count() == 0


def test_a_bound_person_who_was_disabled_is_refused(offered: str) -> None:
    ann = an_invited("ann", "ann@example.com")
    knows(offered, "a-2", email="ann@example.com", email_verified=True)
    assert who(sign_in("a-2")[0]) == "ann"
    User.objects.filter(pk=ann.pk).update(is_active=False)
    client, answer = sign_in("a-2")
    assert (answer.status_code, who(client)) == (403, "")


def test_new_people_get_the_role_of_the_settings_and_a_name_that_is_free(offered: str, settings: LazySettings) -> None:
    settings.OIDC_NEW_PEOPLE = "reader"
    Identity.objects.create(user=a_user(username="dora"), issuer=offered, subject="d-0")
    knows(offered, "d-1", email="dora@example.com", email_verified=True, preferred_username="Dora")
    knows(offered, "e-1", email="eve@example.com", email_verified=True, preferred_username="eve")
    assert who(sign_in("d-1")[0]) == "dora@example.com"
    assert who(sign_in("e-1")[0]) == "eve"
    eve = User.objects.get(username="eve")
    assert (eve.role, eve.email, eve.has_usable_password()) == ("reader", "eve@example.com", False)


@pytest.mark.parametrize("known", [{"username": "ann"}, {"username": "ann.lee", "email": "Ann@example.com"}])
def test_who_is_here_already_gets_no_second_account_and_is_bound_once_invited_anew(
    offered: str, settings: LazySettings, known: dict[str, str]
) -> None:
    settings.OIDC_NEW_PEOPLE = "reader"
    name = a_user(password="correct horse", **known).username
    knows(offered, "n-1", email="ann@example.com", email_verified=True, preferred_username="ann")
    client, answer = sign_in("n-1")
    assert (answer.status_code, who(client), User.objects.count()) == (403, "", 1)
    assert f"set_user {name} --email ann@example.com" in why(answer)
    call_command("set_user", name, email="ann@example.com", stdout=StringIO(), stderr=StringIO())
    assert who(sign_in("n-1")[0]) == name


def test_who_is_disabled_gets_no_new_account(offered: str, settings: LazySettings) -> None:
    settings.OIDC_NEW_PEOPLE = "reader"
    a_user(username="ann", email="ann@example.com", password="correct horse", is_active=False)
    knows(offered, "n-2", email="ann@example.com", email_verified=True)
    client, answer = sign_in("n-2")
    assert (answer.status_code, who(client)) == (403, "")
    assert "This account is disabled" in why(answer)


def test_an_author_of_imported_records_does_not_keep_somebody_of_that_name_out(
    offered: str, settings: LazySettings
) -> None:
    settings.OIDC_NEW_PEOPLE = "reader"
    services.named("ann")
    knows(offered, "n-3", email="ann@example.com", email_verified=True)
    assert who(sign_in("n-3")[0]) == "ann@example.com"


def test_its_session_ends_the_same_day(offered: str) -> None:
    an_invited("ann", "ann@example.com")
    knows(offered, "a-3", email="ann@example.com", email_verified=True)
    client, _ = sign_in("a-3")
    assert client.session.get_expiry_age() == 12 * 3600


def test_an_attempt_of_another_browser_or_with_another_state_signs_nobody_in(offered: str) -> None:
    an_invited("ann", "ann@example.com")
    knows(offered, "a-4", email="ann@example.com", email_verified=True)
    mine, other = Client(), Client()
    back = back_from(to_the_provider(mine), "a-4")
    to_the_provider(other)
    for client in (other, Client()):
        answer = client.get(back)
        assert (answer.status_code, who(client)) == (400, "")
    forged = Client()
    forged.cookies["splashboard_provider"] = mine.cookies["splashboard_provider"].value + "x"
    assert forged.get(back).status_code == 400
    assert mine.get(back).status_code == 302
    # The provider takes a code once.
    again = Client()
    again.cookies["splashboard_provider"] = forged.cookies["splashboard_provider"].value[:-1]
    assert (again.get(back).status_code, who(again)) == (502, "")


def test_an_answer_to_another_attempt_is_refused_by_its_nonce(offered: str) -> None:
    """A code that somebody else obtained, put into an attempt of one's own."""
    an_invited("ann", "ann@example.com")
    knows(offered, "a-5", email="ann@example.com", email_verified=True)
    victim, thief = Client(), Client()
    stolen = parse_qs(urlsplit(back_from(to_the_provider(victim), "a-5")).query)["code"][0]
    state = parse_qs(urlsplit(to_the_provider(thief)).query)["state"][0]
    assert (thief.get(BACK, {"code": stolen, "state": state}).status_code, who(thief)) == (502, "")


def test_who_is_refused_by_the_provider_reads_why(offered: str) -> None:
    client = Client()
    address = to_the_provider(client)
    # This provider forgets the state when it refuses.
    answer = client.get(f"{back_from(address, action='deny')}&state={parse_qs(urlsplit(address).query)['state'][0]}")
    assert answer.status_code == 403
    assert "Example SSO refused: " in why(answer)
    state = parse_qs(urlsplit(to_the_provider(client)).query)["state"][0]
    hostile = client.get(BACK, {"error": "x", "error_description": "<script>alert(1)</script>", "state": state})
    assert b"<script>alert" not in hostile.content


@pytest.mark.parametrize("address", ["//elsewhere.example/", "https://elsewhere.example/", "javascript:alert(1)"])
def test_nobody_is_led_elsewhere_afterwards(offered: str, address: str) -> None:
    an_invited("ann", "ann@example.com")
    knows(offered, "a-6", email="ann@example.com", email_verified=True)
    assert sign_in("a-6", address)[1].headers["Location"] == "/"


def test_a_provider_that_does_not_answer_or_has_another_name_is_said(offered: str, settings: LazySettings) -> None:
    settings.OIDC_ISSUER = "http://localhost:9"
    silent = Client().get("/sign-in/provider/")
    assert silent.status_code == 502
    assert "Example SSO did not answer as an OpenID Connect provider. The server's log has the reason." in why(silent)
    settings.OIDC_ISSUER = offered.replace("localhost", "127.0.0.1") + "/."
    provider._client.cache_clear()
    other = Client().get("/sign-in/provider/")
    assert other.status_code == 502


def test_without_a_provider_there_is_no_way_to_it(db: None) -> None:
    assert Client().get("/sign-in/provider/").status_code == 404
    assert Client().get(BACK).status_code == 404
    assert elements(Client().get("/sign-in/").content.decode(), "[data-provider]") == []


def test_with_passwords_off_nobody_signs_in_or_sets_one(offered: str, settings: LazySettings) -> None:
    ann = a_user(username="ann", password="correct horse")
    settings.PASSWORDS = False
    page = Client().get("/sign-in/?next=/runs/").content.decode()
    assert elements(page, "[name=password]") == []
    (link,) = elements(page, "a[data-provider]")
    assert link.attributes["href"] == "/sign-in/provider/?next=/runs/"
    assert Client().post("/sign-in/", {"username": "ann", "password": "correct horse"}).status_code == 403
    signed_in = Client()
    signed_in.force_login(ann)
    assert elements(signed_in.get("/account/").content.decode(), "[name=new]") == []
    new = {"old": "correct horse", "new": "battery staple 1", "again": "battery staple 1"}
    assert signed_in.post("/account/password/", new).status_code == 403


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_browser_goes_to_the_provider_and_comes_back_to_the_page(offered: str, browser_page: Page) -> None:
    an_invited("ann", "ann@example.com", role="engineer")
    knows(offered, "a-7", email="ann@example.com", email_verified=True)
    for asset in ("**/pico.min.css", "**/favicon.ico"):  # of the provider's page, from elsewhere
        browser_page.route(asset, lambda route: route.fulfill(body=""))
    browser_page.goto("/account/")
    browser_page.get_by_role("link", name="Sign in with Example SSO").click()
    assert browser_page.url.startswith(offered)
    who_is_it = browser_page.get_by_role("textbox", name="sub")
    who_is_it.fill("a-7")
    who_is_it.press("Enter")
    expect(browser_page.locator("h1")).to_contain_text("Account")
    expect(browser_page.locator("body")).to_contain_text("ann")
