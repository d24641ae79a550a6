"""Allowed targets of webhooks: public addresses, and networks configured for the installation. Prevents requests to
this server's own network, or to itself.

A name is resolved when it is entered, for an immediate error, and right before each request, which goes to the
address that was checked.
"""

import socket
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings

from apps.core.problems import FieldProblem, Invalid

LONGEST = 500
# s
LOOKUP = 3.0
# IPv6 addresses whose last four bytes are an IPv4 address: NAT64, and "IPv4-compatible" ones.
_CARRIERS = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


class Forbidden(Exception):
    """The address must not be requested."""


class UnknownHost(Exception):
    """The name cannot be resolved at present."""


def check(url: str) -> str:
    """A webhook's address as stored. Raises Invalid (`address`); unknown names pass, as they may exist later."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    problem = ""
    if parts.scheme not in ("http", "https") or not host:
        problem = "is not a webhook address"
    elif parts.username or parts.password:
        problem = "has a user name or password, which would not be sent"
    elif len(url) > LONGEST or any(character.isspace() or not character.isprintable() for character in url):
        problem = f"has white space, or more than {LONGEST} characters"
    if problem:
        raise Invalid([FieldProblem("address", problem, "use https://host/path")])
    try:
        _resolve_soon(str(host), port or (443 if parts.scheme == "https" else 80))
    except Forbidden as error:
        remedy = "use a public one, or see SPLASHBOARD_WEBHOOK_NETWORKS"
        raise Invalid([FieldProblem("address", str(error), remedy)]) from error
    except (UnknownHost, TimeoutError):
        pass
    return url


def _resolve_soon(host: str, port: int) -> None:
    """Raises as `resolve`, and TimeoutError: a form does not wait for an unreachable name server."""
    pool = ThreadPoolExecutor(1)
    try:
        pool.submit(resolve, host, port).result(LOOKUP)
    finally:
        pool.shutdown(wait=False)


def resolve(host: str, port: int) -> list[str]:
    """IP addresses of the host, the best first; also of `0x7f.1` and `2130706433`, which are 127.0.0.1 to inet_aton(3).
    Raises UnknownHost; Forbidden if one of them is not allowed."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnknownHost(f"the name {host} cannot be resolved ({error})") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if forbidden := [each for each in addresses if not is_allowed(each)]:
        subject = host if forbidden[0] == host else f"{host} is {forbidden[0]}, which"
        raise Forbidden(f"{subject} is not public")
    return addresses


def is_allowed(text: str) -> bool:
    """Raises ValueError for text that is not an IP address."""
    address = ip_address(text.partition("%")[0])
    networks = [ip_network(each) for each in settings.WEBHOOK_NETWORKS]
    if any(address in network for network in networks if network.version == address.version):
        return True
    if isinstance(address, IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if any(address in network for network in _CARRIERS):
            carried = ip_address(int(address) & 0xFFFF_FFFF)  # type: ignore[assignment]  # an IPv4Address
        if carried is not None:
            return is_allowed(str(carried))
    return address.is_global and not address.is_multicast and not (address.version == 6 and address.is_site_local)
