"""The worker looks at the certificates of this server's public addresses."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.utils import timezone

from apps.operations import certificates
from apps.operations.models import WatchedCertificate
from workers import tasks
from workers.celery import app

pytestmark = pytest.mark.django_db
EXPIRES = datetime(2040, 1, 31, 12, tzinfo=UTC)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Address of a server whose certificate nobody known signed, until EXPIRES."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "splash.example")])
    made = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), EXPIRES - timedelta(days=9999), EXPIRES
    ).sign(key, hashes.SHA256())
    (folder / "certificate.pem").write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with listening.accept()[0] as connection, context.wrap_socket(connection, server_side=True) as secured:
                secured.recv(1)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_the_day_of_a_certificate_is_kept_whoever_signed_it_and_when_a_later_look_fails(
    tmp_path: Path, settings: Any
) -> None:
    now = timezone.now()
    with serving(tmp_path) as address:
        settings.ADDRESS, settings.CSRF_TRUSTED_ORIGINS = address, [address, "https://*.example", "http://localhost"]
        assert tasks.look_at_certificates() == 1
    kept = WatchedCertificate.objects.get()
    assert (kept.address, kept.expires_at, kept.problem) == (address, EXPIRES, "")
    assert certificates.look(now=now) == 0
    kept.refresh_from_db()
    assert (kept.looked_at, kept.expires_at) == (now, EXPIRES)
    assert "refused" in kept.problem


def test_addresses_that_are_no_longer_stated_are_forgotten(settings: Any) -> None:
    WatchedCertificate.objects.create(address="https://before.example", looked_at=timezone.now())
    settings.ADDRESS, settings.CSRF_TRUSTED_ORIGINS = "http://127.0.0.1:8000", []
    assert certificates.look(now=timezone.now()) == 0
    assert not WatchedCertificate.objects.exists()


def test_an_address_without_a_host_is_a_problem_of_its_own(settings: Any) -> None:
    settings.ADDRESS, settings.CSRF_TRUSTED_ORIGINS = "https://:443", []
    certificates.look(now=timezone.now())
    assert WatchedCertificate.objects.get().problem == "it names no host"


def test_the_beat_asks_for_it() -> None:
    assert tasks.look_at_certificates.name in {entry["task"] for entry in app.conf.beat_schedule.values()}
