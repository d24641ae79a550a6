"""Findings to which something happens, subscriptions, and a receiver of webhooks that answers as it is told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.utils import timezone

from apps.accounts.models import User
from apps.notifications import services
from apps.notifications.models import Subscription, Team
from apps.regressions.models import Finding, Note
from tests.support.builders import a_system, a_user


def a_finding(**fields: Any) -> Finding:
    system = a_system()
    defaults: dict[str, Any] = {
        "kind": "change",
        "platform": system.release.platform,
        "release": system.release,
        "hardware_class": system.hardware_class,
        "family": f"family{Finding.objects.count()}",
        "title": "10.11.19: Throughput −12 %, oltp_write_only, 4 threads",
        "verdict": "worse",
        "largest": 0.12,
        "changed_at": timezone.now(),
    }
    return Finding.objects.create(**{**defaults, **fields})


def a_note(
    finding: Finding, what: str = "found", *, by: User | None = None, text: str = "", was: str = "", **detail: Any
) -> Note:
    """`was`: the detail "from"."""
    usual: dict[str, Any] = {"changes": [1]} if what == "found" else {"from": was}
    return Note.objects.create(finding=finding, what=what, by=by, text=text, detail=usual | detail)


def a_team(name: str = "storage", *members: User) -> Team:
    return services.keep_team(team_id=None, name=name, members=[user.username for user in members])


def a_subscription(**fields: Any) -> Subscription:
    """Of a webhook, notified of everything at once."""
    team = fields.pop("team", None) or Team.objects.first() or a_team()
    defaults: dict[str, Any] = {
        "by": User.objects.first() or a_user(),
        "team": team.pk,
        "kind": "webhook",
        "address": "https://example.com/hook",
        "events": ["found", "reopened", "verify", "state"],
        "asks": {},
        "digest": "at once",
        "hour": 7,
        "zone": "UTC",
    }
    return services.keep_subscription(**{"subscription_id": None, **defaults, **fields})


@dataclass
class Receiver:
    """`answers`: status codes, the last for all that follow; `received`: (path, headers, body)."""

    said: bytes = b"said by the receiver"
    retry_after: str = ""

    url: str = ""
    answers: list[int] = field(default_factory=lambda: [200])
    received: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def a_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append((self.path, dict(self.headers), body))
            status = receiver.answers.pop(0) if len(receiver.answers) > 1 else receiver.answers[0]
            said = receiver.said
            self.send_response(status)
            if receiver.retry_after:
                self.send_header("Retry-After", receiver.retry_after)
            if 300 <= status < 400:
                self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
