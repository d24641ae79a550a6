"""Health check for HAProxy: whether a cluster's node is writable, 200 or 503, on one port per node.

    clustercheck.py FILE    a JSON file: {"mariadb": program, "user", "password_file", "nodes": [[socket, port], …],
                            "question", "yes": the statements and the answer of a writable node; else Galera's}

Standalone script, standard library only. Each node is queried by its own client every 200 ms.
"""

import json
import os
import select
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

INTERVAL = 0.2  # s
TIMEOUT = 1.0  # s; a frozen node accepts connections without answering
# The result has three lines. LIKE, because WHERE would make the server compute all of its counters. read_only is a
# number, or a name since MariaDB 12.0.1.
QUESTION = (
    b"SHOW GLOBAL STATUS LIKE 'wsrep_local_state'; SHOW GLOBAL STATUS LIKE 'wsrep_cluster_status';"
    b" SELECT 'read_only', CONCAT(@@global.read_only) NOT IN ('0', 'OFF');\n"
)
YES = b"wsrep_local_state\t4\nwsrep_cluster_status\tPrimary\nread_only\t0\n"


class CheckedNode:
    """The last answer of one node, and the client that queries it."""

    def __init__(self, argv: list[str], environment: dict[str, str], question: bytes, yes: bytes) -> None:
        self.answer = b"not asked yet\n"
        self._question, self.yes = question, yes
        self._argv = argv
        self._environment = environment

    def watch(self) -> None:
        while True:
            client = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
            )
            try:
                while self._ask(client):
                    time.sleep(INTERVAL)
            except OSError:
                self.answer = b"the client ended\n"
            client.kill()
            client.wait()
            time.sleep(INTERVAL)

    def _ask(self, client: "subprocess.Popen[bytes]") -> bool:
        """False: a new client is needed."""
        if client.stdin is None or client.stdout is None:
            raise ValueError("the client needs pipes")
        client.stdin.write(self._question)
        client.stdin.flush()
        answer = b""
        deadline = time.monotonic() + TIMEOUT
        while answer.count(b"\n") < self.yes.count(b"\n"):
            if not select.select([client.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.answer = b"no answer\n"
                return False
            part = os.read(client.stdout.fileno(), 4096)
            if not part:
                self.answer = b"cannot be reached\n"
                return False
            answer += part
        self.answer = answer
        return True


class CheckHandler(BaseHTTPRequestHandler):
    node: CheckedNode

    def do_GET(self) -> None:
        answer = self.node.answer
        self.send_response(200 if answer == self.node.yes else 503)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Disabled: HAProxy's own log shows when a node went down or came up."""


def main(file: str) -> None:
    configuration = json.loads(Path(file).read_text())
    password = Path(configuration["password_file"]).read_text()
    question = configuration.get("question", QUESTION.decode()).encode()
    yes = configuration.get("yes", YES.decode()).encode()
    for socket, port in configuration["nodes"]:
        argv = [configuration["mariadb"], "--no-defaults", f"--socket={socket}", f"--user={configuration['user']}"]
        argv += ["--unbuffered", "--skip-reconnect", "--connect-timeout=1", "-N", "-B", "-n"]
        node = CheckedNode(argv, {**os.environ, "MYSQL_PWD": password}, question, yes)
        handler = type("AnswerOfNode", (CheckHandler,), {"node": node})
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        threading.Thread(target=node.watch, daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
