"""The address from which a request came."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Behind our proxy what it appended last to X-Forwarded-For: all before came from the client."""
    direct = str(request.META.get("REMOTE_ADDR", ""))
    if not settings.BEHIND_TLS_PROXY:
        return direct
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip()
    try:
        return str(ip_address(forwarded))
    except ValueError:
        return direct
