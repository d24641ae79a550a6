"""People, for administrators: invited, with a role, disabled; and each one's own password."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from apps.accounts import services
from apps.accounts.models import Identity, User
from apps.core.problems import FieldProblem, Invalid

INVITATION_LASTS = timedelta(days=7)
MOST_LISTED = 500


@dataclass(frozen=True)
class PersonRow:
    """`tokens`: not revoked; `sessions`: that have not expired; `is_bound`: to an account at the provider."""

    id: int
    username: str
    email: str
    role: str
    is_active: bool
    last_sign_in: datetime | None
    tokens: int
    sessions: int
    is_bound: bool


def list_people(*, now: datetime) -> list[PersonRow]:
    """Active ones first, by name. One query."""
    rows = User.objects.annotate(
        token_count=Count("tokens", filter=Q(tokens__revoked_at=None), distinct=True),
        session_count=Count("sessions", filter=Q(sessions__expire_date__gt=now), distinct=True),
        is_bound=Exists(Identity.objects.filter(user=OuterRef("pk"))),
    ).order_by("-is_active", "username")[:MOST_LISTED]
    return [
        PersonRow(
            id=row.pk,
            username=row.username,
            email=row.email,
            role=row.role,
            is_active=row.is_active,
            last_sign_in=row.last_login,
            tokens=row.token_count,
            sessions=row.session_count,
            is_bound=row.is_bound,
        )
        for row in rows
    ]


@transaction.atomic
def invite(*, username: str, email: str, role: str, now: datetime) -> tuple[User, str]:
    """A new person without a password, and the secret of a link that signs in once. Raises Invalid."""
    if User.objects.filter(username__iexact=username).exists():
        raise Invalid([FieldProblem("username", "is taken", "choose another, or change the role of that person")])
    user = User(username=username, email=email, invited_as=email, role=role)
    user.set_unusable_password()
    try:
        services.keep_person(user=user)
    except ValidationError as refused:
        raise Invalid([FieldProblem(name, " ".join(texts)) for name, texts in refused.message_dict.items()]) from None
    return user, services.create_sign_in_link(user=user, now=now, lasts=INVITATION_LASTS)


@transaction.atomic
def change(*, user: User, role: str | None = None, is_active: bool | None = None) -> None:
    """None: as it is. Raises Invalid where nobody would be left to manage people."""
    # All of them, in order: two who demote each other wait, and the second is refused.
    administrators = User.objects.select_for_update().filter(role=User.Role.ADMINISTRATOR, is_active=True)
    known = {each.pk for each in administrators.order_by("pk")}
    user.refresh_from_db(from_queryset=User.objects.select_for_update())
    user.role = user.role if role is None else role
    user.is_active = user.is_active if is_active is None else is_active
    stays = user.is_active and user.is_administrator
    if known == {user.pk} and not stays:
        raise Invalid([FieldProblem("role", "this is the last administrator", "make another person one first")])
    services.keep_person(user=user)


@transaction.atomic
def change_password(*, user: User, old: str, new: str) -> None:
    """Ends all of the person's sessions, and an invitation that no account at the provider was bound by. `old`: of who
    has one. Raises Invalid."""
    # Under a lock: what an administrator changes meanwhile stays changed.
    user.refresh_from_db(from_queryset=User.objects.select_for_update())
    if not user.is_active:
        raise Invalid([FieldProblem("", "this account is disabled", "ask an administrator")])
    if user.has_usable_password() and not user.check_password(old):
        raise Invalid([FieldProblem("old", "is not the present password", "or sign in by a link and ask for help")])
    try:
        validate_password(new, user)
    except ValidationError as refused:
        raise Invalid([FieldProblem("new", " ".join(refused.messages))]) from None
    user.set_password(new)
    if not user.identities.exists():
        user.invited_as = ""
    user.save(update_fields=["password", "invited_as"])
