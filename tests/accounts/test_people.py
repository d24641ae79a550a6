"""What two write to one person at the same moment: neither undoes what the other did."""

import pytest

from apps.accounts import people, services
from apps.accounts.models import User
from apps.core.problems import Invalid
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db
OLD, NEW = "correct horse battery staple", "another long password"


def test_a_password_that_is_set_while_its_owner_is_demoted_leaves_the_demotion() -> None:
    ann = a_user(username="ann", role="administrator", password=OLD)
    User.objects.update(role="reader", email="ann@example.com")
    people.change_password(user=ann, old=OLD, new=NEW)
    kept = User.objects.get()
    assert (kept.role, kept.email, kept.check_password(NEW)) == ("reader", "ann@example.com", True)


def test_nobody_whose_account_was_disabled_meanwhile_sets_a_password() -> None:
    ann = a_user(username="ann", password=OLD)
    User.objects.update(is_active=False)
    with pytest.raises(Invalid, match="disabled"):
        people.change_password(user=ann, old=OLD, new=NEW)
    kept = User.objects.get()
    assert (kept.is_active, kept.check_password(OLD)) == (False, True)


def test_a_role_that_is_given_while_others_write_leaves_what_they_wrote() -> None:
    a_user(username="root", role="administrator")
    seen = a_user(username="ann", password=OLD)
    people.change_password(user=User.objects.get(username="ann"), old=OLD, new=NEW)
    User.objects.filter(username="ann").update(email="ann@example.com", is_active=False)
    people.change(user=seen, role="reader")
    kept = User.objects.get(username="ann")
    assert (kept.role, kept.email, kept.is_active) == ("reader", "ann@example.com", False)
    assert kept.check_password(NEW)


def test_a_person_who_is_kept_has_the_password_that_was_set_meanwhile() -> None:
    seen = a_user(username="ann", password=OLD)
    people.change_password(user=User.objects.get(), old=OLD, new=NEW)
    services.keep_person(user=seen)
    assert User.objects.get().check_password(NEW)
