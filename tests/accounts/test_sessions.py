"""Sessions end when they are ended, when the role or the password changes, and each end is in the audit log."""

from datetime import timedelta
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.sessions.backends.base import UpdateError
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import PersonSession, User
from apps.accounts.sessions import sessions
from apps.accounts.sessions.store import SessionStore
from apps.core.audit.api import Action
from apps.core.audit.models import AuditEntry
from tests.support.builders import a_user
from workers import tasks
from workers.celery import app


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    assert is_signed_in(client)
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def ends() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.filter(action=Action.SESSION_END).order_by("id").values_list("subject", "before"))


def test_it_is_the_engine_of_all_sessions() -> None:
    assert import_module(settings.SESSION_ENGINE).SessionStore is SessionStore


def test_ended_session_is_signed_out_and_no_other(db: None) -> None:
    ann = a_user(username="ann")
    one, two = signed_in(ann), signed_in(ann)
    key = one.session.session_key
    (handle,) = (row.handle for row in sessions.of_person(user=ann, current=key, now=timezone.now()) if row.is_current)
    assert str(key) not in handle
    assert not sessions.end(user=a_user(), handle=handle)
    assert sessions.end(user=ann, handle=handle)
    assert (is_signed_in(one), is_signed_in(two)) == (False, True)
    assert not sessions.end(user=ann, handle=handle)
    ((subject, before),) = ends()
    assert subject == "person ann"
    assert "since" in before


def test_request_under_way_cannot_bring_an_ended_session_back(db: None) -> None:
    ann = a_user()
    store = SessionStore(signed_in(ann).session.session_key)
    store["something"] = 1
    assert sessions.end_all(user=ann) == 1
    with pytest.raises(UpdateError):
        store.save()
    assert not PersonSession.objects.filter(user=ann).exists()


def test_changed_role_ends_all_sessions_of_the_person(db: None) -> None:
    ann, bob = a_user(username="ann"), a_user(username="bob")
    one, two, other = signed_in(ann), signed_in(ann), signed_in(bob)
    call_command("set_user", "ann", email="ann@example.org", stdout=StringIO(), stderr=StringIO())
    assert is_signed_in(one)
    call_command("set_user", "ann", role="reader", stdout=StringIO(), stderr=StringIO())
    assert [is_signed_in(each) for each in (one, two, other)] == [False, False, True]
    assert ends() == [("person ann", "all sessions: 2")]


def test_locked_account_has_no_sessions(db: None) -> None:
    ann = a_user(username="ann")
    signed_in(ann)
    call_command("set_user", "ann", inactive=True, stdout=StringIO(), stderr=StringIO())
    assert not ann.sessions.exists()


def test_changed_password_ends_all_sessions_and_a_hash_that_is_renewed_none(db: None, settings: Any) -> None:
    settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
    ann = a_user(username="ann", password="correct horse")
    client = signed_in(ann)
    settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
    assert authenticate(Client().get("/").wsgi_request, username="ann", password="correct horse")
    assert ann.sessions.count() == 1
    ann.set_password("battery staple")
    ann.save()
    assert not ann.sessions.exists()
    assert not is_signed_in(client)
    assert ends() == [("person ann", "all sessions: 1")]


def test_command_ends_all_sessions_of_a_person(db: None) -> None:
    client = signed_in(a_user(username="ann"))
    out = StringIO()
    call_command("end_sessions", "ann", stdout=out)
    assert out.getvalue() == "Ended 1 session of ann.\n"
    assert not is_signed_in(client)
    with pytest.raises(CommandError, match="no user 'bob'"):
        call_command("end_sessions", "bob")


def test_last_seen_is_written_once_a_minute(db: None) -> None:
    client = signed_in(a_user())
    long_ago = timezone.now() - timedelta(hours=1)
    PersonSession.objects.update(last_seen_at=long_ago)
    with CaptureQueriesContext(connection) as queries:
        client.get("/account/")
        client.get("/account/")
    assert sum(query["sql"].startswith('UPDATE "accounts_personsession"') for query in queries) == 1
    row = PersonSession.objects.get()
    assert row.last_seen_at > timezone.now() - timedelta(minutes=1)
    assert row.started_at > long_ago


def test_saved_session_keeps_its_beginning_and_its_browser(db: None) -> None:
    ann = a_user()
    link = services.create_sign_in_link(user=ann, now=timezone.now())
    client = Client(HTTP_USER_AGENT="Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0", REMOTE_ADDR="192.0.2.7")
    client.post(f"/sign-in/{link}/")
    before = PersonSession.objects.get()
    store = client.session
    store["something"] = 1
    store.save()
    after = PersonSession.objects.get()
    for row in (before, after):
        assert (row.user, row.address, row.browser) == (ann, "192.0.2.7", "Firefox on Linux")
    assert after.started_at == before.started_at


def test_expired_sessions_are_not_listed_and_the_beat_deletes_them(db: None) -> None:
    ann = a_user()
    signed_in(ann)
    PersonSession.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    signed_in(ann)
    assert len(sessions.of_person(user=ann, current=None, now=timezone.now())) == 1
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} >= {tasks.forget_sessions.name}
    tasks.forget_sessions()
    assert PersonSession.objects.get().expire_date > timezone.now()
