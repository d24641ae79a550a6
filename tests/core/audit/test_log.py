"""The audit log: who, what and from where; nothing in it can be changed; old entries go by one way only."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts import services
from apps.core.audit.api import Action, record
from apps.core.audit.models import AuditEntry
from tests.support.builders import a_system, a_token, a_user
from tests.support.pages import data, element

PRICE = {"usd_per_hour": 1.5, "source": "the price list", "date": "2026-01-31"}


def set_price(client: APIClient) -> int:
    slug = a_system().hardware_class.slug
    return client.put(f"/api/v1/hardware-classes/{slug}/price", PRICE, format="json").status_code


def test_entry_names_the_token_its_owner_the_address_and_both_states(db: None) -> None:
    _, secret = a_token(a_user(username="ann"), "pipeline")
    client = APIClient(REMOTE_ADDR="192.0.2.7", HTTP_AUTHORIZATION=f"Token {secret}")
    assert set_price(client) == 200
    entry = AuditEntry.objects.get(action=Action.PRICE_SET)
    assert (entry.kind, entry.who, entry.credential, entry.address) == ("token", "ann", "pipeline", "192.0.2.7")
    assert (entry.before, entry.after) == ("", "1.5 USD/h")
    assert secret not in str(list(AuditEntry.objects.values()))


def test_person_with_a_session_is_named_without_a_token(db: None, client: Client) -> None:
    client.force_login(a_user(username="ann"))
    client.post("/notifications/teams/new/", {"name": "storage", "members": ["ann"]})
    entry = AuditEntry.objects.get(action=Action.TEAM_SAVE)
    assert (entry.kind, entry.who, entry.credential, entry.after) == ("person", "ann", "", "ann")


def test_outside_a_request_it_is_a_command(db: None) -> None:
    record(Action.TEAM_SAVE, "a\nteam", after="x" * 400)
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.address, entry.subject, len(entry.after)) == ("command", "", "a team", 300)


def test_the_database_refuses_to_change_or_delete_entries(db: None) -> None:
    record(Action.SIGN_OUT, "person ann")
    for statement in ("UPDATE audit_auditentry SET who = 'bob'", "DELETE FROM audit_auditentry"):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert AuditEntry.objects.count() == 1


def test_pruning_keeps_the_last_90_days_and_is_recorded(db: None) -> None:
    now = timezone.now()
    for days in (400, 100, 1):
        AuditEntry.objects.create(at=now - timedelta(days=days), kind="person", who="ann", action="sign_in")
    with pytest.raises(CommandError, match="90 days"):
        call_command("prune_audit", f"{now - timedelta(days=30):%Y-%m-%d}")
    with pytest.raises(CommandError, match="is not a day"):
        call_command("prune_audit", "yesterday")
    call_command("prune_audit", f"{now - timedelta(days=200):%Y-%m-%d}")
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == [
        *["sign_in", "sign_in"],
        Action.AUDIT_PRUNE,
    ]
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.objects.all().delete()


def test_sign_ins_failures_and_lock_outs_are_recorded_without_what_was_typed(db: None, client: Client) -> None:
    user = a_user(username="ann")
    user.set_password("a long one, 1")
    user.save()
    client.post("/sign-in/", {"username": "my password", "password": "x"})
    for _ in range(11):
        client.post("/sign-in/", {"username": "ann", "password": "wrong"})
    link = services.create_sign_in_link(user=user, now=timezone.now())
    client.post(f"/sign-in/{link}/")
    client.post("/sign-out/")
    actions = list(AuditEntry.objects.order_by("id").values_list("action", "subject"))
    assert actions[0] == (Action.PERSON_PASSWORD, "person ann")
    assert actions[1] == (Action.SIGN_IN_FAILED, "an unknown name")
    assert actions.count((Action.SIGN_IN_FAILED, "person ann")) in (9, 10)
    assert (Action.SIGN_IN_LOCKED, "person ann") in actions
    assert actions[-3:] == [(action, "person ann") for action in ("sign_in.link", "sign_in", "sign_out")]
    assert not AuditEntry.objects.filter(subject__contains="my password").exists()


def test_page_is_for_administrators_and_filters(db: None, client: Client) -> None:
    assert client.get("/audit/").status_code == 302
    client.force_login(a_user())
    assert client.get("/audit/").status_code == 403
    for who in ("ann", "bob"):
        AuditEntry.objects.create(kind="person", who=who, action=Action.TEAM_SAVE, subject="team 1")
    client.force_login(a_user(role="administrator"))
    shown = client.get("/audit/?who=ann&action=team.save").content.decode()
    assert data(shown, "entry") == ["team.save"]
    assert client.get("/audit/?until=2020-01-01").status_code == 200
    assert data(client.get("/audit/?until=2020-01-01").content.decode(), "entry") == []
    assert client.get("/audit/?since=soon").status_code == 400
    assert client.get("/audit/?unknown=1").status_code == 400


def test_page_has_a_pager(db: None, client: Client) -> None:
    AuditEntry.objects.bulk_create(AuditEntry(kind="person", who="ann", action=Action.SIGN_IN) for _ in range(60))
    client.force_login(a_user(role="administrator"))
    first = client.get("/audit/?who=ann").content.decode()
    assert len(data(first, "entry")) == 50
    older = element(first, ".pager a[rel=next]").attributes["href"]
    assert len(data(client.get(str(older)).content.decode(), "entry")) == 10


def test_api_is_for_administrators(db: None) -> None:
    client = APIClient()
    assert client.get("/api/v1/audit/").status_code in (401, 403)
    client.force_authenticate(a_user())
    assert client.get("/api/v1/audit/").status_code == 403
    record(Action.TEAM_SAVE, "team 1")
    client.force_authenticate(a_user(role="administrator"))
    (row,) = client.get("/api/v1/audit/?action=team.save").json()["results"]
    assert (row["kind"], row["subject"]) == ("command", "team 1")
