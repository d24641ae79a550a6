"""The address from which a request came."""

from collections.abc import Mapping
from ipaddress import ip_address
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
