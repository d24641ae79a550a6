"""The commands of an installation print one secret each, or one clear sentence."""

from io import StringIO

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import ApiToken, User
from apps.dispatch.jobs.agents import agent_of_secret
from apps.dispatch.models import Agent
from tests.support.builders import a_token, a_user, an_agent, owner_of_token


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_sign_in_link_makes_the_administrator_and_prints_an_address_that_works(
    db: None, settings: LazySettings
) -> None:
    settings.ADDRESS = "https://bench.example"
    path = run("sign_in_link").removeprefix("https://bench.example")
    assert path.startswith("/sign-in/")
    user = services.use_sign_in_link(secret=path.split("/")[-2], now=timezone.now())
    assert user is not None
    assert (user.username, user.role) == ("admin", "administrator")
    run("sign_in_link")
    assert User.objects.count() == 1


def test_sign_in_link_for_somebody_else(db: None) -> None:
    a_user(username="ann")
    secret = run("sign_in_link", "ann").split("/")[-2]
    user = services.use_sign_in_link(secret=secret, now=timezone.now())
    assert user is not None
    assert user.username == "ann"
    with pytest.raises(CommandError, match="no active user 'bob'"):
        run("sign_in_link", "bob")


def test_token_is_printed_and_works(db: None) -> None:
    ann = a_user(username="ann")
    assert owner_of_token(run("create_token", "ann", "nightly"), timezone.now()) == ann


def test_token_refusals_say_what_to_do(db: None) -> None:
    a_user(username="ann")
    run("create_token", "ann", "nightly")
    with pytest.raises(CommandError, match=r"already has a token 'nightly' \(choose another name"):
        run("create_token", "ann", "nightly")
    with pytest.raises(CommandError, match=r"no user 'bob'\. Users: ann"):
        run("create_token", "bob", "nightly")
    with pytest.raises(CommandError, match="1 to 100 printable characters"):
        run("create_token", "ann", " ")
    User.objects.update(is_active=False)
    with pytest.raises(CommandError, match="not active"):
        run("create_token", "ann", "other")


def test_revoked_token_lets_nobody_in_and_leaves_the_others(db: None) -> None:
    ann, bob = a_user(username="ann"), a_user(username="bob")
    lost, other, bobs = (run("create_token", *words) for words in (("ann", "laptop"), ("ann", "ci"), ("bob", "laptop")))
    assert run("revoke_token", "ann", "laptop") == "Revoked the token 'laptop' of ann."
    owners = [owner_of_token(secret, timezone.now()) for secret in (lost, other, bobs)]
    assert owners == [None, ann, bob]
    # Its name is free again, and the new one can be revoked in its turn.
    again = run("create_token", "ann", "laptop")
    run("revoke_token", "ann", "laptop")
    assert owner_of_token(again, timezone.now()) is None


def test_all_working_tokens_of_one_name_end_together(db: None) -> None:
    ann = a_user(username="ann")
    secrets = [a_token(ann, name)[1] for name in ("laptop", "other")]
    ApiToken.objects.update(name="laptop")  # as before names were unique
    run("revoke_token", "ann", "laptop")
    assert [owner_of_token(secret, timezone.now()) for secret in secrets] == [None, None]


def test_token_that_cannot_be_revoked_is_named_with_those_that_can(db: None) -> None:
    a_user(username="ann")
    run("create_token", "ann", "laptop")
    with pytest.raises(CommandError, match="no user 'bob'"):
        run("revoke_token", "bob", "laptop")
    with pytest.raises(CommandError, match=r"no working token 'lap'\. Working ones: 'laptop'"):
        run("revoke_token", "ann", "lap")
    run("revoke_token", "ann", "laptop")
    with pytest.raises(CommandError, match=r"no working token 'laptop'\. Working ones: none"):
        run("revoke_token", "ann", "laptop")


def test_agent_is_registered_once_and_its_secret_works(db: None) -> None:
    secret = run("register_agent", "box-1")
    agent = agent_of_secret(secret=secret, now=timezone.now())
    assert agent is not None
    assert agent.name == "box-1"
    with pytest.raises(CommandError, match="agent 'box-1' already exists"):
        run("register_agent", "box-1")


def test_rotation_ends_the_old_secret(db: None) -> None:
    old = run("register_agent", "box-1")
    new = run("register_agent", "box-1", "--rotate")
    now = timezone.now()
    assert agent_of_secret(secret=old, now=now) is None
    assert agent_of_secret(secret=new, now=now) is not None
    with pytest.raises(CommandError, match="no agent 'box-2'"):
        run("register_agent", "box-2", "--rotate")


def test_rotation_lets_a_revoked_agent_in_again(db: None) -> None:
    agent = an_agent(revoked_at=timezone.now())
    assert agent_of_secret(secret=run("register_agent", agent.name, "--rotate"), now=timezone.now()) == agent


def test_revoked_agent_is_not_let_in_until_its_secret_is_rotated(db: None) -> None:
    now, secret, other = timezone.now(), run("register_agent", "box-1"), run("register_agent", "box-2")
    assert run("register_agent", "box-1", "--revoke") == "Revoked the agent box-1."
    first = Agent.objects.get(name="box-1").revoked_at
    assert agent_of_secret(secret=secret, now=now) is None
    assert agent_of_secret(secret=other, now=now) is not None
    assert run("register_agent", "box-1", "--revoke") == "The agent box-1 was already revoked."
    assert Agent.objects.get(name="box-1").revoked_at == first
    assert agent_of_secret(secret=run("register_agent", "box-1", "--rotate"), now=now) is not None


def test_agent_that_cannot_be_revoked_is_named(db: None) -> None:
    with pytest.raises(CommandError, match="no agent 'box-3'"):
        run("register_agent", "box-3", "--revoke")
    with pytest.raises(CommandError, match="not allowed with"):
        run("register_agent", "box-3", "--revoke", "--rotate")


@pytest.mark.parametrize("name", ["", "two words", "ümlaut", "a/b"])
def test_agent_names_are_slugs(db: None, name: str) -> None:
    with pytest.raises(CommandError, match="is not an agent's name"):
        run("register_agent", name)
    assert not Agent.objects.exists()


def test_set_user_makes_a_user_who_can_sign_in_and_changes_their_role_later(db: None) -> None:
    path = run("set_user", "alice", "--role", "engineer", "--email", "alice@example.com")
    user = services.use_sign_in_link(secret=path.split("/")[-2], now=timezone.now())
    assert user is not None
    assert (user.username, user.role, user.email) == ("alice", "engineer", "alice@example.com")
    run("set_user", "alice", "--role", "administrator")
    user.refresh_from_db()
    assert (user.role, user.email) == ("administrator", "alice@example.com")
    out, said = StringIO(), StringIO()
    call_command("set_user", "alice", "--inactive", stdout=out, stderr=said)
    assert (out.getvalue(), "alice is Administrator, locked" in said.getvalue()) == ("", True)
    assert services.use_sign_in_link(secret=path.split("/")[-2], now=timezone.now()) is None


def test_set_user_says_what_is_wrong_with_a_name(db: None) -> None:
    with pytest.raises(CommandError, match="username"):
        run("set_user", "no blanks allowed")
