"""People, one-time sign-in links and saved filters; tokens are in tokens."""

from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from apps.accounts.credentials import digest_of, new_secret
from apps.accounts.models import SavedFilter, SignInLink, User
from apps.accounts.sessions import sessions
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid

SIGN_IN_LINK_LASTS = timedelta(hours=1)
LONGEST_NAME, LONGEST_QUERY = 60, 2000  # of a saved filter, characters
MOST_FILTERS = 30
# Of a person whom an administrator changes; a password and the last sign-in may be written at the same moment.
KEPT = ("role", "email", "invited_as", "is_active")


def named(username: str) -> User:
    """The user of this name. An unknown name, from another installation, is created as a user who cannot sign in."""
    nobody = {"role": User.Role.READER, "is_active": False, "password": make_password(None)}
    return User.objects.get_or_create(username=username, defaults=nobody)[0]


@transaction.atomic
def create_sign_in_link(*, user: User, now: datetime, lasts: timedelta = SIGN_IN_LINK_LASTS) -> str:
    """The link's secret, valid once."""
    secret = new_secret()
    SignInLink.objects.create(user=user, digest=digest_of(secret), expires_at=now + lasts)
    record(Action.SIGN_IN_LINK, f"person {user.username}")
    return secret


def owner_of_sign_in_link(*, secret: str, now: datetime) -> User | None:
    """The link's user; None when the link is unknown, used or expired. Does not use the link."""
    links = SignInLink.objects.filter(
        digest=digest_of(secret), used_at=None, expires_at__gt=now, user__is_active=True
    ).select_related("user")
    link = links.first()
    return link.user if link else None


def use_sign_in_link(*, secret: str, now: datetime) -> User | None:
    """Marks the link as used and returns its user, whom the caller signs in; None: unknown, used or expired."""
    user = owner_of_sign_in_link(secret=secret, now=now)
    won = SignInLink.objects.filter(digest=digest_of(secret), used_at=None, expires_at__gt=now).update(used_at=now)
    return user if won == 1 else None


def first_administrator() -> User:
    """The oldest active administrator; without one, a new user "admin" without a password.

    Raises Invalid when "admin" exists but is not an active administrator.
    """
    administrators = User.objects.filter(role=User.Role.ADMINISTRATOR, is_active=True)
    user = administrators.order_by("pk").first()
    if user is not None:
        return user
    user = User(username="admin", role=User.Role.ADMINISTRATOR)
    user.set_unusable_password()
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            record(Action.PERSON_CREATE, f"person {user.username}", after=user.role)
    except IntegrityError:  # created by another process at this moment, or the name is taken
        other = administrators.filter(username="admin").first()
        if other is None:
            remedy = "name an active user, or make that one an administrator"
            raise Invalid([FieldProblem("username", "'admin' is taken, but no active administrator", remedy)]) from None
        return other
    return user


@transaction.atomic
def keep_person(*, user: User) -> None:
    """Store a new or changed person, whose sessions end with the role or the account.

    Raises django's ValidationError by field.
    """
    known = User.objects.select_for_update().filter(pk=user.pk).first()
    user.full_clean()
    user.save(update_fields=KEPT if known else None)
    action = Action.PERSON_CREATE if known is None else Action.PERSON_CHANGE
    record(action, f"person {user.username}", before=_state(known) if known else "", after=_state(user))
    if known and (known.role != user.role or not user.is_active):
        sessions.end_all(user=user)


def _state(user: User) -> str:
    invited = f"invited as {user.invited_as}" if user.invited_as else ""
    words = [user.role, user.email, invited, "" if user.is_active else "disabled"]
    return ", ".join(word for word in words if word)


def filters_of(user: User) -> list[SavedFilter]:
    return list(user.saved_filters.all())


def save_filter(*, user: User, name: str, query: str) -> SavedFilter:
    """Replaces the user's filter of this name. Raises Invalid."""
    name = name.strip()
    problems = []
    if not name or not name.isprintable():
        problems.append(FieldProblem("name", "is empty", "give the filter a name, for example nightly failures"))
    elif len(name) > LONGEST_NAME:
        problems.append(FieldProblem("name", f"has {len(name)} characters", f"use at most {LONGEST_NAME}"))
    if not query:
        problems.append(FieldProblem("filters", "none is set", "choose a filter or an order first"))
    elif len(query) > LONGEST_QUERY:
        problems.append(FieldProblem("filters", "are too many to be saved", "choose fewer values"))
    others = user.saved_filters.exclude(name=name)
    if not problems and others.count() >= MOST_FILTERS:
        problems.append(FieldProblem("name", f"you have {MOST_FILTERS} saved filters", "remove one first"))
    if problems:
        raise Invalid(problems)
    with transaction.atomic():
        kept, _ = SavedFilter.objects.update_or_create(user=user, name=name, defaults={"query": query})
        record(Action.FILTER_SAVE, f"filter {name}", after=query)
    return kept


@transaction.atomic
def remove_filter(*, user: User, name: str) -> bool:
    """False: the user has none of this name."""
    found = user.saved_filters.filter(name=name).first()
    if found is None:
        return False
    found.delete()
    record(Action.FILTER_REMOVE, f"filter {name}", before=found.query)
    return True
