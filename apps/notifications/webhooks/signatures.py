"""Signatures of webhooks: HMAC-SHA256 over the time and the body. Pure.

    X-Splashboard-Signature: t=1767268800,v1=5f8a…

`v1` is the HMAC-SHA256 of `<t>.<body>` with the subscription's secret, in hexadecimal digits; `t` is the time of the
attempt in seconds since 1970. Receivers reject a `t` that is minutes old, which prevents replays.
"""

import hashlib
import hmac

HEADER = "X-Splashboard-Signature"
# s; how long a receiver should accept a signature.
FRESH_FOR = 300


def signed(body: bytes, *, secret: str, at: int) -> str:
    """Value of the header."""
    return f"t={at},v1={_digest(body, secret, at)}"


def verify(header: str, body: bytes, *, secret: str, now: int) -> bool:
    """The receiver's check."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    at = parts.get("t", "")
    if not at.isascii() or not at.isdecimal() or abs(now - int(at)) > FRESH_FOR:
        return False
    return hmac.compare_digest(parts.get("v1", "").encode(), _digest(body, secret, int(at)).encode())


def _digest(body: bytes, secret: str, at: int) -> str:
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
