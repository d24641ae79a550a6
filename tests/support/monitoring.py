"""Real monitoring systems that scrape both exporters of a MariaDB each second, as Debian packages them."""

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

PROMETHEUS, VICTORIA_METRICS = "prometheus", "victoria-metrics"
EXPORTERS = ("prometheus-node-exporter", "prometheus-mysqld-exporter")
PROGRAMS = (PROMETHEUS, *EXPORTERS)
USER, PASSWORD = "reader", "let-me-in"
# bcrypt of the password.
HASH = "$2b$04$766Q2QYz0FUGJkmBfPKaLerawK5wATXLhKaaL9hMlY.5dZxZLFWjS"


@dataclass(frozen=True)
class Monitoring:
    """`url` with its prefix, to which only USER comes, over TLS that `ca` vouches for. `instances` of the exporters."""

    url: str
    ca: Path
    instances: tuple[str, str]

    def holds(self, query: str) -> bool:
        """Whether a query has a result by now, which VictoriaMetrics would otherwise answer as of some seconds ago."""
        try:
            return '"value":' in self._read(f"{self.url}/api/v1/query?nocache=1&query={quote(query)}")
        except OSError:
            return False

    def await_scrapes(self, *, after: float) -> None:
        """`after`: s since 1970."""
        both = f"count(timestamp(up) > {after:.3f}) == {len(self.instances)}"
        eventually(lambda: self.holds(both), what="both exporters are scraped once more")

    def flush(self) -> None:
        """Makes all that VictoriaMetrics has read visible."""
        self._read(f"{self.url.removesuffix('/prometheus')}/internal/force_flush")

    def _read(self, address: str) -> str:
        pair = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        request = urllib.request.Request(address, headers={"Authorization": f"Basic {pair}"})
        with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=str(self.ca))) as answer:
            return str(answer.read().decode())


@contextmanager
def monitored(port: int, user: str, password: str, folder: Path) -> Iterator[Monitoring]:
    """By Prometheus. `port`, `user` and `password` of the server."""
    with exported(port, user, password, folder) as instances, scraped_by(PROMETHEUS, instances, folder) as found:
        yield found


@contextmanager
def exported(port: int, user: str, password: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Addresses of both exporters of the server."""
    node, mysqld = (f"127.0.0.1:{free_port(folder)}" for _ in EXPORTERS)
    with ExitStack() as running:
        # Without this it leaves out the loopback.
        every = "--collector.netdev.device-exclude=^$"
        running.enter_context(_started(EXPORTERS[0], folder, f"--web.listen-address={node}", every))
        source = {"DATA_SOURCE_NAME": f"{user}:{password}@(127.0.0.1:{port})/"}
        running.enter_context(_started(EXPORTERS[1], folder, f"--web.listen-address={mysqld}", environment=source))
        yield node, mysqld


@contextmanager
def scraped_by(name: str, instances: tuple[str, str], folder: Path) -> Iterator[Monitoring]:
    """`name`: PROMETHEUS or VICTORIA_METRICS. `instances` of both exporters."""
    home = folder / name
    home.mkdir()
    ca, key = _certificate(home)
    (home / "scrapes.yml").write_text(
        "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
        f"- {{job_name: node, static_configs: [{{targets: ['{instances[0]}']}}]}}\n"
        f"- {{job_name: mysql, static_configs: [{{targets: ['{instances[1]}']}}]}}\n"
    )
    make = _prometheus if name == PROMETHEUS else _victoria_metrics
    url, options = make(home, f"127.0.0.1:{free_port(home)}", ca, key)
    found = Monitoring(url, ca, instances)
    up = 'count(mysql_up == 1 and on() count(up{job="node"} == 1) == 1)'
    with _started(name, home, *options):
        eventually(lambda: found.holds(up), what=f"{name} has scraped both", seen=lambda: _log(folder))
        yield found
    shutil.rmtree(home / "data")


def _prometheus(home: Path, address: str, ca: Path, key: Path) -> tuple[str, tuple[str, ...]]:
    """Its address and options."""
    (home / "web.yml").write_text(
        f"tls_server_config: {{cert_file: {ca}, key_file: {key}}}\nbasic_auth_users: {{{USER}: '{HASH}'}}\n"
    )
    url = f"https://{address}/metrics/db"
    return url, (
        f"--config.file={home / 'scrapes.yml'}",
        f"--storage.tsdb.path={home / 'data'}",
        f"--web.config.file={home / 'web.yml'}",
        f"--web.listen-address={address}",
        f"--web.external-url={url}",
    )


def _victoria_metrics(home: Path, address: str, ca: Path, key: Path) -> tuple[str, tuple[str, ...]]:
    """Its address and options."""
    return f"https://{address}/metrics/db/prometheus", (
        f"-promscrape.config={home / 'scrapes.yml'}",
        f"-storageDataPath={home / 'data'}",
        f"-httpListenAddr={address}",
        "-http.pathPrefix=/metrics/db",
        *(f"-httpAuth.username={USER}", f"-httpAuth.password={PASSWORD}"),
        *("-tls", f"-tlsCertFile={ca}", f"-tlsKeyFile={key}"),
        # As PMM has it; 30 s if not set.
        "-search.latencyOffset=5s",
    )


def _log(folder: Path) -> str:
    return "".join(file.read_text()[-2000:] for file in folder.rglob("*.log"))


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
