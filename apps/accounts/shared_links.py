"""Links that show one page to whoever has them: made by a writer, until a day, withdrawn at any time.

Opening one sets a cookie of its own for that page's path alone, so that the secret stands in no later address, and a
browser may hold several, also of one page.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, QueryDict
from django.utils.encoding import escape_uri_path

from apps.accounts.credentials import digest_of, new_secret
from apps.accounts.models import SharedLink, User
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid

# Its name begins so.
COOKIE = "splashboard_shared"
# View of a page that may be shared -> its parameters that change what is shown, not how; a link states them.
PINNED = {"saved": ("snapshot",), "finding": (), "release": ("hardware", "baseline")}
# Views below a page that its browser asks for.
PARTS = {"saved": ("saved-part",)}
USUAL_DAYS, MOST_DAYS = 30, 90
LAST_USED_WRITTEN_EVERY = timedelta(minutes=1)
MOST_LISTED = 200
_VALID = Q(withdrawn_at=None, created_by__is_active=True)


@transaction.atomic
def create(
    *, by: User, view: str, path: str, query: Mapping[str, str], title: str, days: int, now: datetime
) -> tuple[SharedLink, str]:
    """The link and its secret, which is not stored. `query`: of the page's address. Raises Invalid (`page`, `days`)."""
    problems = []
    if view not in PINNED:
        remedy = "share a saved comparison, a finding or a release"
        problems.append(FieldProblem("page", f"{path[:80]!r} cannot be shared", remedy))
    if not 1 <= days <= MOST_DAYS:
        problems.append(FieldProblem("days", f"{days} is out of range", f"use 1 to {MOST_DAYS} days"))
    if problems:
        raise Invalid(problems)
    secret = new_secret()
    link = SharedLink.objects.create(
        view=view,
        path=path,
        pinned={name: query[name] for name in PINNED[view] if query.get(name)},
        title=title[:200],
        digest=digest_of(secret),
        created_by=by,
        expires_at=now + timedelta(days=days),
    )
    record(Action.LINK_SHARE, address(link.path, link.pinned), after=f"until {link.expires_at:%Y-%m-%d}")
    return link, secret


def address(path: str, pinned: Mapping[str, str]) -> str:
    """Of the page, as it is shared."""
    return f"{escape_uri_path(path)}?{urlencode(pinned)}" if pinned else escape_uri_path(path)


def of_secret(secret: str, now: datetime) -> SharedLink | None:
    """The link, noted as used; None when it is unknown, expired or withdrawn, or who made it is disabled."""
    return next((_used(link, now) for link in _valid([secret], now)), None)


def cookie(link: SharedLink) -> str:
    """Name of its cookie: snapshots of one page are links with the same path."""
    return f"{COOKIE}_{link.pk}"


def opened(request: HttpRequest, view: str, now: datetime) -> SharedLink | None:
    """The link in whose cookie's right the page may be read; `view`: the name of the page's view."""
    secrets = [value for name, value in request.COOKIES.items() if name.startswith(COOKIE)]
    if not secrets or request.method not in ("GET", "HEAD"):
        return None
    covering = (link for link in _valid(secrets, now) if _covers(link, view, request.path, request.GET))
    return next((_used(link, now) for link in covering), None)


def _valid(secrets: Sequence[str], now: datetime) -> "QuerySet[SharedLink]":
    return live(now).filter(digest__in=[digest_of(each) for each in secrets])


def live(now: datetime) -> "QuerySet[SharedLink]":
    """Those that open their page."""
    return SharedLink.objects.filter(_VALID, expires_at__gt=now)


def _used(link: SharedLink, now: datetime) -> SharedLink:
    unwritten = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_WRITTEN_EVERY)
    SharedLink.objects.filter(unwritten, pk=link.pk).update(last_used_at=now)
    return link


def _covers(link: SharedLink, view: str, path: str, query: QueryDict) -> bool:
    is_page = view == link.view and path == link.path
    is_part = view in PARTS.get(link.view, ()) and path.startswith(link.path)
    states = {name: query[name] for name in PINNED[link.view] if query.get(name)}
    return (is_page or is_part) and states == link.pinned


def listed(user: User, path: str = "") -> "QuerySet[SharedLink]":
    """The newest first: the user's own, an administrator's all; of one page if `path` is given."""
    found = SharedLink.objects.select_related("created_by")
    if not user.is_administrator:
        found = found.filter(created_by=user)
    return (found.filter(path=path) if path else found)[:MOST_LISTED]


@transaction.atomic
def withdraw(*, link_id: int, by: User, now: datetime) -> SharedLink | None:
    """None: there is none, or it is not the user's to withdraw."""
    own = {} if by.is_administrator else {"created_by": by}
    link = SharedLink.objects.select_for_update(of=("self",)).filter(pk=link_id, **own).first()
    if link is None or link.withdrawn_at is not None:
        return link
    link.withdrawn_at = now
    link.save(update_fields=["withdrawn_at"])
    record(Action.LINK_WITHDRAW, address(link.path, link.pinned))
    return link


@transaction.atomic
def withdraw_of(*, view: str, path: str, now: datetime) -> int:
    """Withdraw all links of the page, which is deleted; returns how many."""
    links = SharedLink.objects.select_for_update().filter(view=view, path=path, withdrawn_at=None)
    for link in links:
        record(Action.LINK_WITHDRAW, address(link.path, link.pinned))
    return links.update(withdrawn_at=now)


def state(link: SharedLink, now: datetime) -> str:
    if link.withdrawn_at is not None:
        return "withdrawn"
    if not link.created_by.is_active:
        return "its maker is disabled"
    return "expired" if link.expires_at <= now else "valid"
