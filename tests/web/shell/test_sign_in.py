"""Signing in and out, and who may read or write pages."""

import pytest
from django.conf import LazySettings
from django.contrib.auth.hashers import make_password
from django.test import Client, RequestFactory
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import SignInLink, User
from apps.core.audit.models import AuditEntry
from apps.core.client_address import client_address, client_network
from tests.support.builders import a_user
from tests.support.pages import data, element, elements, text


def the_link(client: Client) -> str:
    return f"/sign-in/{services.create_sign_in_link(user=a_user(username='ann'), now=timezone.now())}/"


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_looking_at_a_link_uses_nothing_up(db: None, client: Client) -> None:
    link = the_link(client)
    for _ in range(3):
        page = client.get(link)
        assert page.status_code == 200
        assert text(page.content.decode(), "h1").split()[-1] == "ann"
        assert elements(page.content.decode(), "main form[method=post] button")
    assert client.head(link).status_code == 200
    assert not signed_in(client)
    assert SignInLink.objects.get().used_at is None


def test_pressing_its_button_signs_in_once(db: None, client: Client) -> None:
    link = the_link(client)
    assert client.post(link).headers["Location"] == "/"
    assert signed_in(client)
    other = Client()
    assert other.post(link).status_code == 410
    assert not signed_in(other)
    used = other.get(link).content.decode()
    assert elements(used, "[data-state=no-longer-valid] a[href='/sign-in/']")
    assert elements(used, "main form") == []


def test_link_needs_a_token_against_forgery(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(the_link(client)).status_code == 403


def test_password_signs_in_and_goes_on_where_one_was(db: None, client: Client) -> None:
    a_user(username="ann", password="correct horse")
    assert data(client.get("/sign-in/").content.decode(), "problems") == []
    page = client.post("/sign-in/", {"username": "ann", "password": "wrong", "next": "/agents/"}).content.decode()
    assert data(page, "problems") == ["1"]
    assert element(page, "[name=username]").attributes["value"] == "ann"
    answer = client.post("/sign-in/", {"username": "ann", "password": "correct horse", "next": "/agents/"})
    assert answer.headers["Location"] == "/agents/"
    assert signed_in(client)


def test_a_name_is_locked_for_an_address_that_guesses(db: None, client: Client, settings: LazySettings) -> None:
    a_user(username="ann", password="correct horse")
    wrong = {"username": "ann", "password": "wrong"}
    answers = [client.post("/sign-in/", wrong).status_code for _ in range(settings.AXES_FAILURE_LIMIT)]
    assert (set(answers[:-1]), answers[-1]) == ({200}, 429)
    right = {"username": "ann", "password": "correct horse"}
    locked = client.post("/sign-in/", right)
    assert locked.status_code == 429
    assert "try again in 15 minutes" in text(locked.content.decode(), "main")
    assert not signed_in(client)
    # Nobody locks another address out, and a link works meanwhile.
    assert client.post("/sign-in/", right, REMOTE_ADDR="192.0.2.7").status_code == 302
    assert (
        Client()
        .post(f"/sign-in/{services.create_sign_in_link(user=User.objects.get(), now=timezone.now())}/")
        .status_code
        == 302
    )


def test_a_name_is_locked_for_all_addresses_that_one_machine_may_have(
    db: None, client: Client, settings: LazySettings
) -> None:
    a_user(username="ann", password="correct horse")
    wrong, right = {"username": "ann", "password": "wrong"}, {"username": "ann", "password": "correct horse"}
    for number in range(settings.AXES_FAILURE_LIMIT):
        answer = client.post("/sign-in/", wrong, REMOTE_ADDR=f"2001:db8::{number:x}:1")
    assert answer.status_code == 429
    assert client.post("/sign-in/", right, REMOTE_ADDR="2001:db8::ffff").status_code == 429
    assert client.post("/sign-in/", right, REMOTE_ADDR="2001:db8:0:1::1").status_code == 302
    recorded = AuditEntry.objects.filter(action="sign_in.failed").values_list("address", flat=True)
    assert {"2001:db8::1:1", "2001:db8::2:1"} <= set(recorded)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", ""),
    ],
)
def test_limits_count_a_machine_not_each_of_its_addresses(rf: RequestFactory, address: str, network: str) -> None:
    assert client_network(rf.get("/", REMOTE_ADDR=address)) == network


@pytest.mark.parametrize(
    ("behind", "forwarded", "address"),
    [
        (True, "203.0.113.9, 198.51.100.4", "198.51.100.4"),
        (True, "", "192.0.2.1"),
        (True, "no address", "192.0.2.1"),
        (False, "198.51.100.4", "192.0.2.1"),
    ],
)
def test_an_address_is_the_one_that_our_proxy_saw(
    settings: LazySettings, rf: RequestFactory, behind: bool, forwarded: str, address: str
) -> None:
    settings.BEHIND_TLS_PROXY = behind
    request = rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == address


def test_passwords_are_hashed_with_argon2_and_older_hashes_are_renewed(db: None, client: Client) -> None:
    user = a_user(username="ann", password="correct horse")
    assert user.password.startswith("argon2")
    User.objects.update(password=make_password("correct horse", hasher="pbkdf2_sha256"))
    assert client.post("/sign-in/", {"username": "ann", "password": "correct horse"}).status_code == 302
    assert User.objects.get().password.startswith("argon2")


@pytest.mark.parametrize(("public", "words"), [(True, "Reading needs no account"), (False, "Reading needs an account")])
def test_the_sign_in_page_says_who_may_read(
    db: None, client: Client, settings: LazySettings, public: bool, words: str
) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = public
    assert words in text(client.get("/sign-in/").content.decode(), "main")


def test_next_never_leads_to_another_host(db: None, client: Client) -> None:
    a_user(username="ann", password="correct horse")
    form = {"username": "ann", "password": "correct horse", "next": "https://elsewhere.example/"}
    assert client.post("/sign-in/", form).headers["Location"] == "/"


def test_sign_out_is_a_post(db: None, client: Client) -> None:
    client.force_login(a_user())
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/").status_code == 302
    assert not signed_in(client)


@pytest.mark.parametrize("path", ["/", "/agents/", "/campaigns/", "/runs/"])
def test_pages_are_public_unless_reading_is_made_private(
    db: None, client: Client, settings: LazySettings, path: str
) -> None:
    assert client.get(path).status_code == 200
    settings.SPLASHBOARD_PUBLIC_READ = False
    assert client.get(path).headers["Location"] == f"/sign-in/?next={path}"
    client.force_login(a_user(role="reader"))
    assert client.get(path).status_code == 200


def test_private_installation_lets_strangers_sign_in(db: None, client: Client, settings: LazySettings) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False
    assert client.get("/sign-in/").status_code == 200
    assert client.post(the_link(client)).status_code == 302


def test_private_api_answers_with_a_problem(db: None, client: Client, settings: LazySettings) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False
    answer = client.get("/api/v1/platforms/")
    assert (answer.status_code, answer.headers["Content-Type"]) == (401, "application/problem+json")
    assert client.get("/api/v1/nothing/").status_code == 404
    client.force_login(a_user(role="reader"))
    assert client.get("/api/v1/platforms/").status_code == 200


@pytest.mark.parametrize(
    ("page", "back"),
    [
        ("http://testserver/runs/?platform=mha&tab=limits#x", "/runs/%3Fplatform%3Dmha%26tab%3Dlimits"),
        ("https://elsewhere.example/runs/", "/"),
        ("http://testserver//elsewhere.example/", "/"),
        ("", "/"),
    ],
)
def test_a_part_whose_session_ended_opens_the_sign_in_page_instead_of_showing_it(
    db: None, client: Client, settings: LazySettings, page: str, back: str
) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False
    answer = client.get("/runs/", headers={"HX-Request": "true", "HX-Current-URL": page})
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["HX-Redirect"] == f"/sign-in/?next={back}"
    client.force_login(a_user(role="reader"))
    assert "HX-Redirect" not in client.get("/runs/", headers={"HX-Request": "true"}).headers


def test_an_action_whose_session_ended_leads_to_sign_in_and_back_to_its_page(db: None, client: Client) -> None:
    page = {"HX-Request": "true", "HX-Current-URL": "http://testserver/campaigns/7/"}
    answer = client.post("/campaigns/7/cancel/", headers=page)
    assert answer.headers["HX-Redirect"] == "/sign-in/?next=/campaigns/7/"
    assert client.post("/campaigns/7/cancel/").headers["Location"] == "/sign-in/?next=/"
    # The browser's way back asks for the page itself.
    restored = client.post("/campaigns/7/cancel/", headers={**page, "HX-History-Restore-Request": "true"})
    assert restored.status_code == 302
