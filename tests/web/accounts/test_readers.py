"""What readers are refused at each address, and what of others no address shows them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from django.conf import LazySettings
from django.conf import settings as configured
from django.test import Client
from django.utils import timezone

from apps.accounts import services as accounts
from apps.accounts import shared_links, tokens
from apps.accounts.models import SavedFilter, User
from apps.core.audit.api import Action
from apps.core.audit.models import AuditEntry
from apps.dispatch.jobs import bindings
from apps.dispatch.models import Campaign
from apps.notifications.models import Delivery, Subscription
from apps.regressions.models import Finding, Trend
from apps.runs.models import Run
from tests.notifications.made import a_subscription, a_team
from tests.support.builders import a_token, a_user, an_agent
from tests.web.shell.every_page import addresses
from tests.web.shell.test_leaks import METHODS, every_address

UNSAFE = METHODS[2:]
# Refused also to look at.
ADMINISTRATORS = {"web:health", "web:audit", "web:people", "api:audit"}
FORMS = {
    *("web:run-upload", "web:run-attach", "web:campaign-new", "web:campaign-file", "web:schedule-new"),
    *("web:schedule-edit", "web:article-new", "web:price", "web:short-name", "web:share"),
    *("web:team-new", "web:team", "web:subscription-new", "web:subscription"),
}
# What readers may send, and why.
OWN = {
    "web:account": "own tokens",
    "web:token-revoke": "own tokens; others' are not found",
    "web:session-end": "own sessions",
    "web:sessions-end": "own sessions",
    "web:password": "the own one",
    "web:notifications": "the own address",
    "web:run-filters": "own filters",
    "web:sign-in": "the way in",
    "web:sign-in-link": "the way in",
    "web:sign-out": "the way out",
    "api:own-address": "the own address",
}
UNKNOWN, REFUSED, NOT_TAKEN = 401, 403, 405  # agents' addresses know agents alone


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def reader(db: None, settings: LazySettings, enqueued: object) -> User:
    settings.SPLASHBOARD_PUBLIC_READ = False
    return a_user(role="reader", username="rea", email="rea@bench.example")


def test_readers_are_refused_the_pages_of_administrators_and_the_forms_of_engineers(reader: User) -> None:
    client = signed_in(reader)
    found = {name for name, address in every_address() if client.get(address).status_code == REFUSED}
    assert found == ADMINISTRATORS | FORMS


def test_readers_change_nothing_but_what_is_their_own(reader: User) -> None:
    answered = set()
    for name, address in every_address():
        client = signed_in(reader)
        answers = {getattr(client, method)(address).status_code for method in UNSAFE}
        if not answers <= {UNKNOWN, REFUSED, NOT_TAKEN}:
            answered.add(name)
    queries = {name for name, _ in every_address() if name.startswith("prometheus:")}
    assert answered == OWN.keys() | queries


# ---------------------------------------------------------------- others' secrets


@dataclass(frozen=True)
class Others:
    """What an administrator has. `secrets`: name -> text that no reader may see; `ids`: by their names in addresses."""

    by: User
    secrets: Mapping[str, str]
    ids: Mapping[str, int]
    pages: list[str]


@pytest.fixture
def others(reader: User, settings: LazySettings) -> Others:
    settings.SPLASHBOARD_PUBLIC_READ = True
    pages = addresses()
    settings.SPLASHBOARD_PUBLIC_READ = False
    now = timezone.now()
    by = a_user(role="administrator", username="ada", email="ada.planted@bench.example", invited_as="ada.invited@x.org")
    team = a_team("observed", by)
    hook = a_subscription(
        team=team, by=by, address="https://hooks.example/planted-path", secret="planted-secret-of-the-webhook"
    )
    chat = a_subscription(team=team, by=by, kind="slack", address="https://hooks.example/services/T0/B0/planted")
    mail = a_subscription(team=team, by=by, kind="e-mail", address="box.planted@bench.example")
    content = {"subject": "planted-subject", "text": "planted-text"}
    own = Delivery.objects.create(
        person=by, to=by.email, content=content, answer="no mailbox ada.planted@bench.example"
    )
    for each in (hook, chat, mail):
        Delivery.objects.create(subscription=each, to="", content=content | {"subject": "a", "text": "b"})
    token, of_token = a_token(by)
    SavedFilter.objects.create(user=by, name="planted-filter", query="state=sealed")
    link, of_link = shared_links.create(
        by=by, view="finding", path="/findings/1/", query={}, title="planted-title", days=7, now=now
    )
    browser = signed_in(by)
    an_agent(secret="planted-of-agent")
    secrets = {
        "token": of_token,
        "shared link": of_link,
        "title of a shared link": "planted-title",
        "sign-in link": accounts.create_sign_in_link(user=by, now=now),
        "code for an agent": bindings.make_enrolment(systems=["alpha"], by=by, now=now),
        "secret of a webhook": "planted-secret-of-the-webhook",
        "path of a webhook": "planted-path",
        "path of a chat": "B0/planted",
        "mailbox of a person": by.email,
        "mailbox of an invitation": by.invited_as,
        "mailbox of a team": mail.address,
        "message to a person": "planted-text",
        "filter": "planted-filter",
        "secret of an agent": "planted-of-agent",
        "session": str(browser.session.session_key),
        "password": by.password,
        "secret key": configured.SECRET_KEY,
    }
    ids = {
        "user_id": by.pk,
        "token_id": token.pk,
        "link_id": link.pk,
        "delivery_id": own.pk,
        "subscription_id": hook.pk,
        "team_id": team.pk,
        "run_id": Run.objects.order_by("pk")[0].pk,
        "finding_id": Finding.objects.order_by("pk")[0].pk,
        "history_id": Trend.objects.order_by("pk")[0].pk,
        "campaign_id": Campaign.objects.order_by("pk")[0].pk,
    }
    return Others(by, secrets, ids, pages)


def asked(others: Others) -> Iterator[str]:
    yield from others.pages
    yield from (address for _, address in every_address(others.ids))


def test_no_address_shows_readers_the_secrets_of_others(reader: User, others: Others) -> None:
    client = signed_in(reader)
    shown = []
    for address in asked(others):
        body = client.get(address).getvalue().decode(errors="replace")
        shown += [(what, address) for what, secret in others.secrets.items() if secret in body]
    assert shown == []


def test_what_others_have_stays_whatever_readers_send(reader: User, others: Others) -> None:
    before = AuditEntry.objects.order_by("-pk")[0].pk
    for name, address in every_address(others.ids):
        for method in UNSAFE if name not in ("web:sign-in", "web:sign-out") else ():
            getattr(signed_in(reader), method)(address)
    others.by.refresh_from_db()
    assert tokens.of_secret(others.secrets["token"], timezone.now()) is not None
    assert shared_links.of_secret(others.secrets["shared link"], timezone.now()) is not None
    assert others.by.sessions.filter(session_key=others.secrets["session"]).exists()
    assert Subscription.objects.filter(pk=others.ids["subscription_id"]).exists()
    made = AuditEntry.objects.filter(pk__gt=before, who=reader.username).values_list("action", flat=True)
    assert set(made) <= {Action.SESSION_END, Action.PERSON_ADDRESS, Action.SIGN_IN}
