"""Where a webhook may lead: to the public, or into networks that the installation names. Nobody makes this server
ask its neighbours, or itself.

A name is looked up right before each request, and the request goes to the address that was checked.
"""

import socket
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings

from apps.core.problems import FieldProblem, Invalid

LONGEST = 500
# IPv6 that stands for IPv4: NAT64.
_NAT64 = IPv6Network("64:ff9b::/96")


class Forbidden(Exception):
    """The address is none that may be asked."""


class Unknown(Exception):
    """The name is not known, now."""


def check(url: str) -> str:
    """The address of a webhook as it is kept. Raises Invalid (`address`). Names are not looked up: they may change."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
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
        ip_address(str(host))
    except ValueError:
        return url
    if not is_allowed(str(host)):
        raise Invalid([FieldProblem("address", f"{host} is not public", "see SPLASHBOARD_WEBHOOK_NETWORKS")])
    return url


def resolve(host: str, port: int) -> list[str]:
    """The addresses to ask, the best first. Raises Unknown; Forbidden where one of them may not be asked."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unknown(f"the name {host} is not known here ({error})") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if forbidden := [each for each in addresses if not is_allowed(each)]:
        raise Forbidden(f"{host} is {forbidden[0]}, which is not public; SPLASHBOARD_WEBHOOK_NETWORKS can allow it")
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
