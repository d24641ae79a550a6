"""Where a webhook may lead: to the public, or into networks that the installation names. Nobody makes this server
ask its neighbours, or itself.

A name is looked up when it is stated, so that people hear of it, and right before each request, which goes to the
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
# IPv6 that stands for IPv4: NAT64.
_NAT64 = IPv6Network("64:ff9b::/96")


class Forbidden(Exception):
    """The address is none that may be asked."""


class UnknownHost(Exception):
    """The name is not known, now."""


def check(url: str) -> str:
    """The address of a webhook as it is kept. Raises Invalid (`address`); a name that is not known now may be later."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    problem = ""
    if parts.scheme not in ("http", "https") or not host:
        problem = "is no address of a webhook"
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
    """Raises as `resolve`, and TimeoutError: a form does not wait for a name server that is away."""
    pool = ThreadPoolExecutor(1)
    try:
        pool.submit(resolve, host, port).result(LOOKUP)
    finally:
        pool.shutdown(wait=False)


def resolve(host: str, port: int) -> list[str]:
    """The addresses to ask, the best first; of `0x7f.1` and `2130706433`, too, which are 127.0.0.1 to inet_aton(3).
    Raises Unknown; Forbidden where one of them may not be asked."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnknownHost(f"the name {host} is not known here ({error})") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if forbidden := [each for each in addresses if not is_allowed(each)]:
        said = host if forbidden[0] == host else f"{host} is {forbidden[0]}, which"
        raise Forbidden(f"{said} is not public")
    return addresses


def is_allowed(text: str) -> bool:
    """Raises ValueError for what is no IP address."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            carried = ip_address(int(address) & 0xFFFF_FFFF)  # type: ignore[assignment]  # an IPv4Address
        if carried is not None:
            return is_allowed(str(carried))
    networks = [ip_network(each) for each in settings.WEBHOOK_NETWORKS]
    if any(address in network for network in networks if network.version == address.version):
        return True
    return address.is_global and not address.is_multicast
