"""`python -m config.serving --host HOST --port PORT --workers N`: becomes the web server, with all its options."""

import argparse
import os
import resource
import sys
from collections.abc import Sequence

# Of a process: each connection is an open file, and those of slow senders must leave room for all others.
CONNECTIONS = 4096
FILES = 2 * CONNECTIONS
HEADERS_WITHIN = 10_000  # ms


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m config.serving", description="The web server.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default="8000")
    parser.add_argument("--workers", default="1")
    options = parser.parse_args(arguments)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(FILES, hard)), hard))
    os.execv(  # noqa: S606 - no shell is wanted
        sys.executable,
        [
            sys.executable, "-m", "granian", "--interface", "asgi", "--no-ws",
            # Guessing the version waits for its first bytes without a limit.
            "--http", "1",
            "--host", options.host, "--port", options.port, "--workers", options.workers,
            "--backlog", str(CONNECTIONS), "--backpressure", str(CONNECTIONS),
            "--http1-header-read-timeout", str(HEADERS_WITHIN), "--workers-kill-timeout", "10",
            "config.asgi:application",
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
