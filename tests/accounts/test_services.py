"""Tokens and sign-in links: only digests are kept, and a link works once."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection

from apps.accounts import services, tokens
from apps.accounts.credentials import new_secret
from apps.accounts.models import ApiToken, SignInLink, User
from apps.core.problems import Invalid
from tests.support.builders import START, a_token, a_user, owner_of_token
from tests.support.waiting import LIMIT

SECOND = timedelta(seconds=1)


def test_token_is_found_by_its_secret_and_not_kept(db: None) -> None:
    user = a_user()
    token, secret = a_token(user, "nightly")
    assert owner_of_token(secret, START) == user
    assert len(secret) >= 43
    assert token.prefix == secret[:8]
    stored = " ".join(str(value) for value in ApiToken.objects.values().get().values())
    assert secret not in stored


def test_no_secret_looks_like_an_option_of_a_program() -> None:
    # Without the rule one in 64 would: all of these pass by chance once in 10^13 runs.
    assert not [secret for secret in (new_secret() for _ in range(2_000)) if secret.startswith("-")]


def test_unknown_revoked_and_inactive_tokens_are_nobody(db: None) -> None:
    user = a_user()
    token, secret = a_token(user, "nightly")
    assert owner_of_token("", START) is None
    assert owner_of_token(secret + "x", START) is None
    assert owner_of_token(token.digest, START) is None
    User.objects.update(is_active=False)
    assert owner_of_token(secret, START) is None
    User.objects.update(is_active=True)
    assert tokens.revoke(token=token, now=START)
    assert not tokens.revoke(token=token, now=START + SECOND)
    assert owner_of_token(secret, START) is None


def test_last_use_is_written_at_most_once_a_minute(db: None) -> None:
    token, secret = a_token(a_user(), "nightly")
    for now, written in [(0, 0), (30, 0), (60, 0), (61, 61), (90, 61), (122, 122)]:
        owner_of_token(secret, START + now * SECOND)
        token.refresh_from_db()
        assert token.last_used_at == START + written * SECOND


def test_link_works_once_within_an_hour(db: None) -> None:
    user = a_user()
    secret = services.create_sign_in_link(user=user, now=START)
    assert secret not in str(SignInLink.objects.values().get())
    assert services.owner_of_sign_in_link(secret=secret, now=START) == user
    assert services.use_sign_in_link(secret=secret, now=START + 3599 * SECOND) == user
    assert services.use_sign_in_link(secret=secret, now=START + 3599 * SECOND) is None
    assert services.owner_of_sign_in_link(secret=secret, now=START) is None


def test_old_unknown_and_inactive_links_are_nobody(db: None) -> None:
    secret = services.create_sign_in_link(user=a_user(), now=START)
    assert services.use_sign_in_link(secret=secret, now=START + timedelta(hours=1)) is None
    assert services.use_sign_in_link(secret="made up", now=START) is None
    User.objects.update(is_active=False)
    assert services.use_sign_in_link(secret=secret, now=START) is None


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_is_signed_in() -> None:
    secret = services.create_sign_in_link(user=a_user(), now=START)
    barrier, users = Barrier(6), []

    def use() -> None:
        barrier.wait(timeout=LIMIT)
        users.append(services.use_sign_in_link(secret=secret, now=START))
        connection.close()

    threads = [Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LIMIT)
    assert len(users) == 6
    assert sum(user is not None for user in users) == 1


def test_administrator_is_made_once(db: None) -> None:
    admin = services.first_administrator()
    assert (admin.username, admin.role, admin.has_usable_password()) == ("admin", "administrator", False)
    assert services.first_administrator() == admin


def test_existing_administrator_is_preferred(db: None) -> None:
    ann = a_user(username="ann", role="administrator")
    assert services.first_administrator() == ann
    assert not User.objects.filter(username="admin").exists()


def test_name_taken_by_a_reader_is_refused_with_the_remedy(db: None) -> None:
    a_user(username="admin", role="reader")
    with pytest.raises(Invalid, match="'admin' is taken"):
        services.first_administrator()
