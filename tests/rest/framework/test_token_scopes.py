"""A token may do what its scope allows, never more than its owner's role, and nothing once it has expired."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import ApiToken, User
from tests.support.builders import a_token, a_user
from tests.support.pages import element, elements, text

TEAM, CAMPAIGN = "/api/v1/teams/", "/api/v1/campaigns/"


def with_token(user: User, *, scope: str, name: str = "nightly") -> APIClient:
    return APIClient(HTTP_AUTHORIZATION=f"Token {a_token(user, name, scope=scope)[1]}")


# 422: the permission was there, the body was not.
@pytest.mark.parametrize(
    ("scope", "campaign", "team"), [("read", 403, 403), ("submit", 422, 403), ("review", 422, 422)]
)
def test_scopes_include_one_another(db: None, scope: str, campaign: int, team: int) -> None:
    client = with_token(a_user(), scope=scope)
    assert client.get(TEAM).status_code == 200
    assert client.post(CAMPAIGN, {}, format="json").status_code == campaign
    assert client.post(TEAM, {}, format="json").status_code == team


def test_refusal_names_the_scope_that_is_needed(db: None) -> None:
    client = with_token(a_user(), scope="read", name="pipeline")
    for address, needed in ((TEAM, "review"), (CAMPAIGN, "submit")):
        said = client.post(address, {}, format="json").json()["detail"]
        assert f"scope {needed}" in said
        assert "'pipeline' has the scope read" in said


def test_reader_changes_the_own_address_by_a_token_that_only_reads(db: None) -> None:
    ann = a_user(role="reader")
    client = with_token(ann, scope="read")
    assert client.put("/api/v1/own-address", {"address": "ann@example.org"}, format="json").status_code == 200
    ann.refresh_from_db()
    assert ann.email == "ann@example.org"


def test_token_loses_what_its_owner_loses(db: None) -> None:
    user = a_user()
    client = with_token(user, scope="review")
    User.objects.filter(pk=user.pk).update(role="reader")
    assert client.post(TEAM, {}, format="json").status_code == 403


def test_expired_token_is_told_when(db: None, client: Client) -> None:
    token, secret = a_token(a_user())
    ended = timezone.now() - timedelta(days=1)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=ended)
    answer = client.get(TEAM, headers={"Authorization": f"Token {secret}"})
    assert answer.status_code == 401
    assert f"expired on {ended:%Y-%m-%d at %H:%M} UTC" in answer.json()["detail"]
    token.refresh_from_db()
    assert token.last_used_at is None


def test_page_makes_a_token_shows_it_once_and_revokes_it(db: None, client: Client) -> None:
    assert client.get("/account/").status_code == 302
    client.force_login(a_user())
    made = client.post("/account/", {"name": "nightly", "scope": "submit", "days": "90"}).content.decode()
    secret = text(made, "[data-secret]")
    row = ApiToken.objects.get()
    assert row.expires_at is not None
    assert (row.scope, (row.expires_at - timezone.now()).days) == ("submit", 89)
    assert APIClient(HTTP_AUTHORIZATION=f"Token {secret}").get(TEAM).status_code == 200
    assert secret not in client.get("/account/").content.decode()
    client.post(f"/account/tokens/{row.pk}/revoke/")
    assert APIClient(HTTP_AUTHORIZATION=f"Token {secret}").get(TEAM).status_code == 401
    assert element(client.get("/account/").content.decode(), "[data-state=revoked]")


def test_only_an_administrator_makes_one_without_end(db: None, client: Client) -> None:
    stated = {"name": "for ever", "scope": "read", "days": "never"}
    client.force_login(a_user())
    assert client.post("/account/", stated).status_code == 422
    client.force_login(a_user(role="administrator"))
    made = client.post("/account/", stated).content.decode()
    assert text(made, "[data-expires]") == "does not expire"


def test_reader_is_offered_the_scope_read_alone(db: None, client: Client) -> None:
    client.force_login(a_user(role="reader"))
    page = client.get("/account/").content.decode()
    assert [each.attributes["value"] for each in elements(page, "#id_scope option")] == ["read"]
    assert client.post("/account/", {"name": "x", "scope": "review", "days": "30"}).status_code == 422


def test_nobody_revokes_the_token_of_another(db: None, client: Client) -> None:
    token, _ = a_token(a_user())
    client.force_login(a_user())
    assert client.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
