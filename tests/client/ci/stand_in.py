"""A stand-in for the APIs of GitHub and GitLab, as far as comments of one request need them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

GITHUB = "/repos/acme/db/issues"
GITLAB = "/projects/acme%2Fdb/merge_requests/7/notes"


@dataclass
class StandInForge:
    """`failures`: answers to the next writing requests, instead of doing them: a status, or "lost": it is done and the
    connection breaks. `may_write` False: as of a fork. `login` empty: the token is the build's own."""

    url: str = ""
    token: str = "t0p"
    login: str = ""
    may_write: bool = True
    comments: list[dict[str, Any]] = field(default_factory=list)
    failures: list[int | str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def wrote(self, body: str, *, by: str, **more: Any) -> dict[str, Any]:
        number = len(self.comments) + 1
        who = {"login": by, "username": by}
        comment = {"id": number, "body": body, "user": who, "author": who, "system": False, **more}
        self.comments.append({**comment, "html_url": f"https://github.example/acme/db/pull/7#issuecomment-{number}"})
        return self.comments[-1]

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        if path == "/user":
            return (200, {"login": self.login, "username": self.login}) if self.login else (403, {"message": "no user"})
        is_list = path in (f"{GITHUB}/7/comments", GITLAB)
        if method == "GET" and is_list:
            page, size = int(query["page"][0]), int(query["per_page"][0])
            return 200, self.comments[(page - 1) * size : page * size]
        if not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        text = json.loads(body)["body"]
        if method == "POST" and is_list:
            return 201, self.wrote(text, by=self.login or "github-actions[bot]")
        prefix, _, number = path.rpartition("/")
        if (method, prefix) in (("PATCH", f"{GITHUB}/comments"), ("PUT", GITLAB)):
            comment = self.comments[int(number) - 1]
            comment["body"] = text
            return 200, comment
        return 404, {"message": "Not Found"}


@contextmanager
def a_forge() -> Iterator[StandInForge]:
    state = StandInForge()

    class ForgeHandler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = urlsplit(self.path)
            state.asked.append(f"{self.command} {self.path}")
            failure = state.failures.pop(0) if state.failures and self.command != "GET" else None
            secrets = (self.headers.get("Authorization"), self.headers.get("PRIVATE-TOKEN"))
            if isinstance(failure, int):
                status, answer = failure, {"message": "out of order"}
            elif secrets not in ((f"Bearer {state.token}", None), (None, state.token)):
                status, answer = 401, {"message": "Bad credentials"}
            else:
                status, answer = state.answer(self.command, parts.path, parse_qs(parts.query), body)
            if failure == "lost":
                self.close_connection = True
                return
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), ForgeHandler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
