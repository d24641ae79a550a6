"""How a receiver knows that a webhook comes from here: HMAC-SHA256 over the moment and the body. Pure.

    X-Splashboard-Signature: t=1767268800,v1=5f8a…

`v1` is the HMAC-SHA256 of `<t>.<body>` with the subscription's secret, in hexadecimal digits; `t` is the moment of the
attempt in seconds since 1970. Receivers refuse a `t` that is minutes old, so that nobody plays a request back.
"""

import hashlib
import hmac

HEADER = "X-Splashboard-Signature"
# s; as long as a receiver should take a signature for fresh.
FRESH_FOR = 300


def signed(body: bytes, *, secret: str, at: int) -> str:
    """The header's value."""
    return f"t={at},v1={_digest(body, secret, at)}"


def verify(header: str, body: bytes, *, secret: str, now: int) -> bool:
    """What a receiver does."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    at = parts.get("t", "")
    if not at.isascii() or not at.isdecimal() or abs(now - int(at)) > FRESH_FOR:
        return False
    return hmac.compare_digest(parts.get("v1", "").encode(), _digest(body, secret, int(at)).encode())


def _digest(body: bytes, secret: str, at: int) -> str:
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
