"""The page People: invitations, roles and sign-in links by administrators; and a person's own password."""

from urllib.parse import urlsplit

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.core.audit.models import AuditEntry
from tests.support.builders import a_user
from tests.support.pages import data, element, elements, text

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def admin(db: None) -> Client:
    return signed_in(a_user(username="root", role="administrator"))


def path_of_link(html: str) -> str:
    return urlsplit(text(html, "[data-link]")).path


def test_only_administrators_see_and_change_people(admin: Client) -> None:
    ann = a_user(username="ann", role="engineer")
    for method, address in (("get", "/people/"), ("post", "/people/"), ("post", f"/people/{ann.pk}/")):
        assert getattr(Client(), method)(address).status_code == 302
        assert getattr(signed_in(ann), method)(address).status_code == 403
    assert data(admin.get("/people/").content.decode(), "person") == ["ann", "root"]


def test_who_is_invited_signs_in_once_by_the_link_and_sets_a_password(admin: Client) -> None:
    invitation = {"username": "ann", "email": "ann@example.com", "role": "engineer"}
    html = admin.post("/people/", invitation).content.decode()
    ann = User.objects.get(username="ann")
    assert (ann.role, ann.email, ann.has_usable_password()) == ("engineer", "ann@example.com", False)
    there = Client()
    assert there.post(path_of_link(html)).status_code == 302
    assert Client().post(path_of_link(html)).status_code == 410
    assert elements(there.get("/account/").content.decode(), "[name=old]") == []
    assert there.post("/account/password/", {"new": PASSWORD, "again": PASSWORD}).status_code == 302
    assert there.get("/account/").status_code == 200  # still signed in
    assert Client().post("/sign-in/", {"username": "ann", "password": PASSWORD}).status_code == 302
    recorded = AuditEntry.objects.filter(subject="person ann").order_by("pk").values_list("action", "who")
    assert list(recorded)[:3] == [("person.create", "root"), ("sign_in.link", "root"), ("sign_in", "ann")]
    assert ("person.password", "ann") in recorded


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        ({"username": "root", "role": "reader"}, "username"),
        ({"username": "ROOT", "role": "reader"}, "username"),
        ({"username": "a b", "role": "reader"}, "username"),
        ({"username": "ann", "email": "no address", "role": "reader"}, "email"),
        ({"username": "ann", "role": "owner"}, "role"),
    ],
)
def test_a_refused_invitation_names_the_field_and_keeps_the_input(
    admin: Client, stated: dict[str, str], field: str
) -> None:
    response = admin.post("/people/", stated)
    html = response.content.decode()
    assert response.status_code == 422
    assert [each.attributes["data-field"] for each in elements(html, "[role=alert] [data-field]")] == [field]
    assert element(html, "#id_username").attributes["value"] == stated["username"]
    assert User.objects.count() == 1


def test_a_changed_role_or_a_disabled_account_ends_the_sessions(admin: Client) -> None:
    ann = a_user(username="ann", role="reader")
    there = signed_in(ann)
    admin.post(f"/people/{ann.pk}/", {"role": "engineer", "active": "yes"})
    assert there.get("/account/").status_code == 302
    admin.post(f"/people/{ann.pk}/", {"role": "reader"})
    there = signed_in(User.objects.get(pk=ann.pk, is_active=True, role="reader"))
    admin.post(f"/people/{ann.pk}/", {"role": "engineer", "active": "no"})
    assert there.get("/account/").status_code == 302
    assert admin.post(f"/people/{ann.pk}/link/").status_code == 404
    admin.post(f"/people/{ann.pk}/", {"role": "engineer", "active": "yes"})
    assert Client().post(path_of_link(admin.post(f"/people/{ann.pk}/link/").content.decode())).status_code == 302


def test_the_last_administrator_stays_one(admin: Client) -> None:
    root = User.objects.get(username="root")
    for change in ({"role": "reader", "active": "yes"}, {"role": "administrator", "active": "no"}):
        response = admin.post(f"/people/{root.pk}/", change)
        assert response.status_code == 409
        assert "last administrator" in text(response.content.decode(), "[role=alert]")
    a_user(username="second", role="administrator")
    assert admin.post(f"/people/{root.pk}/", {"role": "reader", "active": "yes"}).status_code == 302
    assert User.objects.get(username="root").role == "reader"


def test_a_password_is_changed_by_who_knows_it_and_ends_the_other_sessions() -> None:
    ann = a_user(username="ann")
    ann.set_password(PASSWORD)
    ann.save()
    here, there = signed_in(ann), signed_in(ann)
    new = "another long password"
    for stated, field in (
        ({"old": "wrong", "new": new, "again": new}, "old"),
        ({"old": PASSWORD, "new": "short", "again": "short"}, "new"),
        ({"old": PASSWORD, "new": new, "again": "something else"}, "again"),
    ):
        response = here.post("/account/password/", stated)
        found = elements(response.content.decode(), "[role=alert] [data-field]")
        assert (response.status_code, [each.attributes["data-field"] for each in found]) == (422, [field])
    assert here.post("/account/password/", {"old": PASSWORD, "new": new, "again": new}).status_code == 302
    assert (here.get("/account/").status_code, there.get("/account/").status_code) == (200, 302)
    assert User.objects.get(pk=ann.pk).check_password(new)
