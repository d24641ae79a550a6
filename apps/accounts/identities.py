"""Which person somebody is whom an OpenID Connect provider vouches for."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from apps.accounts import services
from apps.accounts.models import Identity, User
from apps.accounts.provider import ProviderClaims
from apps.core.audit.api import Action, record


class NotAdmitted(Exception):
    """The provider knows who it is, and this installation does not let them in; the text says why and what to do."""


@transaction.atomic
def person_of(claims: ProviderClaims) -> User:
    """The person bound to this identity; else the one whom an administrator invited with its verified address, who is
    bound to it; else, where the settings say so, a new one. Raises NotAdmitted."""
    known = Identity.objects.filter(issuer=claims.issuer, subject=claims.subject).select_related("user").first()
    if known is not None:
        if not known.user.is_active:
            raise NotAdmitted("This account is disabled. Ask an administrator.")
        return known.user
    user = _invited(claims) or _new(claims)
    try:
        with transaction.atomic():
            Identity.objects.create(user=user, issuer=claims.issuer, subject=claims.subject)
    except IntegrityError:
        remedy = "An administrator unbinds it on the page People."
        raise NotAdmitted(f"{user.username} is bound to another account there. {remedy}") from None
    record(Action.PERSON_BIND, f"person {user.username}", after=f"{claims.issuer}: {claims.subject}")
    return user


def _invited(claims: ProviderClaims) -> User | None:
    found = [user for user in User.objects.exclude(invited_as="") if _is_same(user.invited_as, claims.email)]
    if not found:
        return None
    if not claims.is_verified:
        raise NotAdmitted(f"The provider does not say that it verified {claims.email}. Ask an administrator.")
    if len(found) > 1:
        raise NotAdmitted(f"Several people here have the address {claims.email}. Ask an administrator.")
    if not found[0].is_active:
        raise NotAdmitted("This account is disabled. Ask an administrator.")
    return found[0]


def _is_same(address: str, other: str) -> bool:
    """Only the case of ASCII letters is left out: other letters of one upper case are other addresses."""
    return address.encode().lower() == other.encode(errors="surrogatepass").lower()


def _new(claims: ProviderClaims) -> User:
    if not settings.OIDC_NEW_PEOPLE:
        whom = f"with the address {claims.email}" if claims.email else "with an address, which the provider must state"
        raise NotAdmitted(f"Nobody invited you {whom}. Ask an administrator.")
    name = claims.username or claims.email.partition("@")[0] or claims.subject
    _require_new(claims, name)
    if User.objects.filter(username__iexact=name).exists():
        name = claims.email
    email = claims.email if claims.is_verified else ""
    user = User(username=name, email=email, invited_as=email, role=settings.OIDC_NEW_PEOPLE)
    user.set_unusable_password()
    try:
        services.keep_person(user=user)
    except ValidationError as refused:
        reason = " ".join(refused.messages)
        raise NotAdmitted(f"The user name {name!r:.160} cannot be used: {reason} Ask an administrator.") from None
    return user


def _require_new(claims: ProviderClaims, name: str) -> None:
    """Who has set a password or another address is bound by none, and must not get a second account. Raises
    NotAdmitted."""
    unbound = User.objects.exclude(identities__issuer=claims.issuer).order_by("-is_active", "pk")
    found = [user for user in unbound.exclude(email="") if _is_same(user.email, claims.email)]
    # A name alone may be that of an author elsewhere, of whom only imported records are here.
    found += unbound.filter(username__iexact=name, is_active=True)
    if not found:
        return
    if not found[0].is_active:
        raise NotAdmitted("This account is disabled. Ask an administrator.")
    username = found[0].username
    raise NotAdmitted(
        f"{username} is here already, with this name or address, and not bound to an account there. Ask an "
        f"administrator: manage.py set_user {username} --email {claims.email or 'ADDRESS'} binds you to {username} at "
        "the next sign-in; if you are somebody else, an invitation by another user name lets you in."
    )


@transaction.atomic
def unbind(*, user: User) -> bool:
    """The next sign-in at the provider binds the person anew. False: the user was bound to none."""
    found = list(user.identities.all())
    for identity in found:
        identity.delete()
        record(Action.PERSON_UNBIND, f"person {user.username}", before=f"{identity.issuer}: {identity.subject}")
    return bool(found)
