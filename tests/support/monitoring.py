"""A real Prometheus that scrapes both exporters of a MariaDB each second, as Debian packages them."""

import datetime
import ipaddress
import os
import shutil
import ssl
import subprocess
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from lab.packages import program
from lab.ports import free_port
from tests.support.waiting import eventually

PROGRAMS = ("prometheus", "prometheus-node-exporter", "prometheus-mysqld-exporter")
USER, PASSWORD = "reader", "let-me-in"
# bcrypt of the password.
HASH = "$2b$04$766Q2QYz0FUGJkmBfPKaLerawK5wATXLhKaaL9hMlY.5dZxZLFWjS"


@dataclass(frozen=True)
class Monitoring:
    """`url` with its prefix, to which only USER comes, over TLS that `ca` vouches for. `instances` of the exporters."""

    url: str
    ca: Path
    instances: tuple[str, str]

    def ask(self, query: str) -> str:
        """The raw answer."""
        pair = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        request = urllib.request.Request(
            f"{self.url}/api/v1/query?query={quote(query)}", headers={"Authorization": f"Basic {pair}"}
        )
        with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=str(self.ca))) as answer:
            return str(answer.read().decode())


@contextmanager
def monitored(port: int, user: str, password: str, folder: Path) -> Iterator[Monitoring]:
    """`port`, `user` and `password` of the server."""
    node, mysqld, own = (free_port(folder) for _ in range(3))
    ca, key = _certificate(folder)
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
        f"- {{job_name: node, static_configs: [{{targets: ['127.0.0.1:{node}']}}]}}\n"
        f"- {{job_name: mysql, static_configs: [{{targets: ['127.0.0.1:{mysqld}']}}]}}\n"
    )
    (folder / "web.yml").write_text(
        f"tls_server_config: {{cert_file: {ca}, key_file: {key}}}\nbasic_auth_users: {{{USER}: '{HASH}'}}\n"
    )
    found = Monitoring(f"https://127.0.0.1:{own}/metrics/db", ca, (f"127.0.0.1:{node}", f"127.0.0.1:{mysqld}"))
    with ExitStack() as running:
        # Without this it leaves out the loopback.
        every = "--collector.netdev.device-exclude=^$"
        address = f"--web.listen-address=127.0.0.1:{node}"
        running.enter_context(_started("prometheus-node-exporter", folder, address, every))
        source = {"DATA_SOURCE_NAME": f"{user}:{password}@(127.0.0.1:{port})/"}
        address = f"--web.listen-address=127.0.0.1:{mysqld}"
        running.enter_context(_started("prometheus-mysqld-exporter", folder, address, environment=source))
        running.enter_context(
            _started(
                "prometheus",
                folder,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'tsdb'}",
                f"--web.config.file={folder / 'web.yml'}",
                f"--web.listen-address=127.0.0.1:{own}",
                f"--web.external-url={found.url}",
            )
        )
        eventually(lambda: _is_up(found), what="Prometheus has scraped both", seen=lambda: _log(folder))
        yield found
    shutil.rmtree(folder / "tsdb")


def _is_up(found: Monitoring) -> bool:
    try:
        return '"1"' in found.ask('count(mysql_up == 1 and on() count(up{job="node"} == 1) == 1)')
    except OSError:
        return False


def _log(folder: Path) -> str:
    return "".join(file.read_text()[-2000:] for file in folder.glob("*.log"))


@contextmanager
def _started(name: str, folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[None]:
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [program(name), *options], stdout=log, stderr=log, env={**os.environ, **(environment or {})}
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Files of a certificate of 127.0.0.1, signed by itself, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "ca.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files
