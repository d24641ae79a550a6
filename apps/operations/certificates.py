"""Looks at the certificates of the addresses under which people find this server, which somebody has to renew."""

import socket
import ssl
from datetime import datetime
from urllib.parse import urlsplit

from cryptography.x509 import load_der_x509_certificate
from django.conf import settings

from apps.operations.models import WatchedCertificate

ANSWERS_WITHIN = 5.0  # s
LONGEST_PROBLEM = 200


def addresses() -> list[str]:
    """Those of settings that are https and name one host."""
    stated = [settings.ADDRESS, *settings.CSRF_TRUSTED_ORIGINS]
    return [each for each in dict.fromkeys(stated) if each.startswith("https://") and "*" not in each]


def look(*, now: datetime) -> int:
    """Number of certificates seen. For the worker: an address that does not answer takes ANSWERS_WITHIN."""
    seen, watched = 0, addresses()
    for address in watched:
        found: dict[str, object] = {"looked_at": now, "problem": ""}
        try:
            found["expires_at"] = expiry(address)
            seen += 1
        except (OSError, ValueError) as error:
            found["problem"] = (str(error) or type(error).__name__)[:LONGEST_PROBLEM]
        WatchedCertificate.objects.update_or_create(address=address, defaults=found)
    WatchedCertificate.objects.exclude(address__in=watched).delete()
    return seen


def expiry(address: str) -> datetime:
    """Whoever signed it, an authority of the organisation's own maybe. Raises OSError; ValueError for no address."""
    place = urlsplit(address)
    if not place.hostname:
        raise ValueError("it names no host")
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((place.hostname, place.port or 443), timeout=ANSWERS_WITHIN) as connection,
        context.wrap_socket(connection, server_hostname=place.hostname) as secured,
    ):
        content = secured.getpeercert(binary_form=True)
    if not content:
        raise ValueError("it shows no certificate")
    return load_der_x509_certificate(content).not_valid_after_utc
