"""Where reading needs a sign-in: what strangers, and holders of a shared link, read at each address. Nothing."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from types import MappingProxyType

import pytest
from django.conf import LazySettings
from django.http import QueryDict
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from apps.accounts import shared_links
from apps.regressions.models import Finding
from apps.saved import services as saved
from tests.core.audit.test_routes import ARGUMENTS, patterns
from tests.regressions.releases.released import NEW
from tests.support.builders import a_user
from tests.web.shell.every_page import addresses

METHODS = ("get", "head", "post", "put", "patch", "delete")
# Open to all, and why.
OPEN = {
    "web:sign-in": "the way in",
    "web:sign-in-link": "the way in",
    "web:sign-in-provider": "the way in; not found without a provider",
    "web:sign-in-provider-callback": "the way in; not found without a provider",
    "web:sign-out": "ends only the own session",
    "web:shared": "opens what its secret names",
    "livez": "for probes: no more than ok",
    "readyz": "for probes: the names of what is missing",
    "api:health": "for probes",
    "api:agent-enrol": "opens what its code names",
    "api:schema": "what the API takes and answers, no data",
}
SIGN_IN, REFUSED = 302, {401, 403}
_elsewhere = ip_network("10.0.0.0/8").hosts()


def every_address(ids: Mapping[str, int] = MappingProxyType({})) -> Iterator[tuple[str, str]]:
    """Name and an address of each, with arguments that need not exist, but for those of `ids`."""
    for name, pattern in patterns(get_resolver()):
        converters = pattern.pattern.converters
        values = {key: ids.get(key, ARGUMENTS.get(type(each).__name__, "x")) for key, each in converters.items()}
        regex = getattr(pattern.pattern, "regex", None)
        if regex is not None and not converters:
            values = {key: "md" if key == "ending" else "x" for key in regex.groupindex}
        yield name, reverse(name, kwargs=values)


def refuses(client: Client, method: str, address: str) -> bool:
    """Asks to sign in, before anything is looked for. Every request comes from elsewhere: that an address may ask so
    often a minute only is another test's, and would hide what this one asks."""
    answer = getattr(client, method)(address, REMOTE_ADDR=str(next(_elsewhere)))
    if answer.status_code == SIGN_IN:
        return bool(answer.headers["Location"].startswith("/sign-in/"))
    return answer.status_code in REFUSED


def test_no_address_answers_strangers_unless_it_says_why(db: None, settings: LazySettings, enqueued: object) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False
    answered = {
        name
        for name, address in every_address()
        for method in METHODS
        if not refuses(Client(raise_request_exception=True), method, address)
    }
    assert answered == OPEN.keys()


@pytest.fixture
def world(db: None, settings: LazySettings, enqueued: object) -> list[str]:
    found = addresses()
    settings.SPLASHBOARD_PUBLIC_READ = False
    return found


def holders(world: list[str]) -> Iterator[tuple[Client, str]]:
    """Browsers that opened a shared link each, and the page that it is of. (Django's client keeps one cookie of a name,
    whatever its path.)"""
    by, now = a_user(), timezone.now()
    compared = next(address for address in world if address.startswith("/compare/?"))
    query = dict(QueryDict(compared.partition("?")[2]).lists())
    snapshot = f"/comparisons/{saved.save(query=query, title='Beta beats Alpha', note='', by=by).slug}/?snapshot=1"
    finding = f"/findings/{Finding.objects.order_by('pk')[0].pk}/"
    for view, page in (("finding", finding), ("release", f"/releases/mariadb/{NEW}/"), ("saved", snapshot)):
        path, _, stated = page.partition("?")
        pinned = QueryDict(stated).dict()
        _, secret = shared_links.create(by=by, view=view, path=path, query=pinned, title=path, days=7, now=now)
        holder = Client()
        assert holder.get(f"/shared/{secret}/").headers["Location"] == page
        yield holder, page


def test_a_shared_link_opens_its_page_and_no_other(world: list[str]) -> None:
    for holder, page in holders(world):
        assert holder.get(page).status_code == 200
        own = page.partition("?")[0]
        others = [address for address in world if address.partition("?")[0] != own]
        assert [address for address in others if not refuses(holder, "get", address)] == ["/sign-in/"]
        # Of every kind of page one with the number 1, which the shared one may have.
        addresses = [address for name, address in every_address() if name not in OPEN and address != own]
        assert [each for each in addresses for method in METHODS if not refuses(holder, method, each)] == []


def test_a_shared_page_changes_nothing_for_its_holder(world: list[str]) -> None:
    for holder, page in holders(world):
        assert [method for method in METHODS[2:] if not refuses(holder, method, page)] == []
        assert refuses(holder, "post", f"{page.partition('?')[0]}refresh/")
