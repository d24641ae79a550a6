"""The WSGI environment of an ASGI request (PEP 3333)."""

import sys
from collections.abc import Mapping
from typing import IO, Any
from urllib.parse import unquote_to_bytes

UNPREFIXED = {"CONTENT_TYPE", "CONTENT_LENGTH"}


def environ_of(scope: Mapping[str, Any], body: IO[bytes]) -> dict[str, Any]:
    server = scope.get("server") or ("localhost", 80)
    client = scope.get("client") or ("", 0)
    raw = scope.get("raw_path")
    path = unquote_to_bytes(raw) if raw else scope["path"].encode()
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": path.decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or 0),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        # X_Forwarded_Proto would pass for X-Forwarded-Proto, which a proxy removes from what strangers send.
        if b"_" in name:
            continue
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key in UNPREFIXED else f"HTTP_{key}"
        text = value.decode("latin-1")
        between = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{between}{text}" if key in environ else text
    return environ
