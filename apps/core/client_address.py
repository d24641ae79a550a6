"""The address from which a request came, and the one by which its sender is counted."""

from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any, Protocol

from django.conf import settings


class HasMeta(Protocol):
    """A request of Django or of Django REST Framework."""

    @property
    def META(self) -> Mapping[str, Any]: ...  # noqa: N802  Django's name


def client_address(request: HasMeta) -> str:
    """Behind our proxy what it appended last to X-Forwarded-For: all before came from the client."""
    direct = str(request.META.get("REMOTE_ADDR", ""))
    if not settings.BEHIND_TLS_PROXY:
        return direct
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip()
    try:
        return str(ip_address(forwarded))
    except ValueError:
        return direct


def client_network(request: HasMeta) -> str:
    """What limits count: of IPv6 the first address of the /64, since one machine has all addresses of it."""
    address = client_address(request)
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), 64), strict=False).network_address)
